"""Who imports what: start-up stays light, the engine has never heard of Qt, and some libraries have one home each."""

from __future__ import annotations

import ast
import resource
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("app", "engine", "kernels", "assets")
HEAVY = {"torch", "PySide6", "shiboken6", "OpenGL", "sounddevice", "triton", "pygame"}

HOMES = {
    "PySide6": ("app/",),
    "shiboken6": ("app/",),
    "OpenGL": ("app/viewport/",),
    "sounddevice": ("app/audio", "app/machine_probe.py"),
    "pygame": ("app/input/",),
    "imageio_ffmpeg": ("engine/recorder/",),
    "triton": ("kernels/",),
    "sqlite3": ("engine/session/", "engine/memory/block_index.py", "engine/workspace/token_log.py"),
}
"""Library: where alone it may be imported."""

LOADED = """
import sys
{action}
print("loaded:", *sorted({{name.partition(".")[0] for name in sys.modules}}))
"""

RUN_PROGRAM = """
from worldpager.engine.cli import main
sys.argv = ["worldpager", {argument!r}]
try:
    main()
except SystemExit as end:
    assert not end.code, end.code
"""


def run(action: str) -> subprocess.CompletedProcess[str]:
    """Run Python statements in a fresh interpreter."""
    return subprocess.run([sys.executable, "-c", LOADED.format(action=action)], capture_output=True, text=True, check=True, timeout=50)


def loaded_by(action: str) -> set[str]:
    """Top-level modules that are loaded after ``action`` in a fresh interpreter."""
    return set(run(action).stdout.splitlines()[-1].split()[1:])


def imports(file: Path) -> Iterator[str]:
    """Top-level names that a source file imports, anywhere in it."""
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module.partition(".")[0]


def test_probe_sees_what_is_loaded() -> None:
    assert "sqlite3" in loaded_by("import sqlite3")
    assert "sqlite3" not in loaded_by("import json")


def test_engine_alone_loads_nothing_heavy() -> None:
    assert not loaded_by("import worldpager.engine") & HEAVY


@pytest.mark.parametrize("argument", ["--help", "--version"])
def test_program_answers_without_loading_anything_heavy(argument: str) -> None:
    assert not loaded_by(RUN_PROGRAM.format(argument=argument)) & HEAVY


def test_program_answers_at_once() -> None:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    answer = run(RUN_PROGRAM.format(argument="--help")).stdout
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert "play" in answer
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < 1.0, "seconds of processor time"


def test_street_loads_no_window() -> None:
    assert not loaded_by("import worldpager.engine.build") & (HEAVY - {"torch", "triton"})


@pytest.mark.parametrize("library", HOMES)
def test_library_stays_at_home(library: str) -> None:
    strays = [
        place
        for package in PACKAGES
        for file in (ROOT / package).rglob("*.py")
        if library in imports(file) and not (place := file.relative_to(ROOT).as_posix()).startswith(HOMES[library])
    ]
    assert not strays, f"{library} belongs in {HOMES[library]} alone"
