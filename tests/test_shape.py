"""The house numbers: files of about 400 lines, functions mostly under 30."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("app", "engine", "kernels", "assets", "tests")

FILE_LINES = 420
FUNCTION_LINES = 60
SHORT_FUNCTION_LINES = 30
SHORT_SHARE = 0.9

LONG_FILES: dict[str, str] = {}
LONG_FUNCTIONS: dict[str, str] = {}
"""Allowed exceptions with their reasons: ``folder/file.py`` and ``folder/file.py:function``."""


def files() -> Iterator[Path]:
    for folder in FOLDERS:
        yield from sorted((ROOT / folder).rglob("*.py"))


def function_lengths() -> dict[str, int]:
    """Lines of every function, signature and docstring included, by ``folder/file.py:function``."""
    return {
        f"{file.relative_to(ROOT)}:{node.name}": (node.end_lineno or node.lineno) - node.lineno + 1
        for file in files()
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }


def test_files_are_short() -> None:
    lengths = {str(file.relative_to(ROOT)): len(file.read_text().splitlines()) for file in files()}
    assert len(lengths) > 20
    assert not {name: length for name, length in lengths.items() if length > FILE_LINES and name not in LONG_FILES}


def test_functions_are_short() -> None:
    lengths = function_lengths()
    assert not {name: length for name, length in lengths.items() if length > FUNCTION_LINES and name not in LONG_FUNCTIONS}
    short = sum(length <= SHORT_FUNCTION_LINES for length in lengths.values())
    assert short >= SHORT_SHARE * len(lengths)


def test_exceptions_are_still_needed() -> None:
    lengths = function_lengths()
    assert all(len((ROOT / name).read_text().splitlines()) > FILE_LINES for name in LONG_FILES)
    assert all(lengths[name] > FUNCTION_LINES for name in LONG_FUNCTIONS)
