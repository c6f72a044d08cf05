"""Every text of the window can be translated, and every language has all of them, with the same figures in them."""

from __future__ import annotations

import ast
import importlib.util
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
from PySide6.QtCore import QCoreApplication, QLocale
from PySide6.QtWidgets import QLabel, QPushButton
from pytestqt.qtbot import QtBot

from tests.app.conftest import OpenWindow
from worldpager.app.languages import SOURCE, Language, languages, read_table, wanted_language
from worldpager.app.words import tr

ROOT = Path(__file__).resolve().parents[2]
APP = ROOT / "app"
SHOWING = {
    "QLabel": 0, "QPushButton": 0, "QCheckBox": 0, "add_label": 0, "button": 0, "say": 0, "set_hint": 0, "setTitle": 0, "state": 1,
    "setAccessibleName": 0, "setAccessibleDescription": 0, "setPlaceholderText": 0, "setToolTip": 0, "show_progress": 0,
    "text": 2, "label": 2, "text_left_of": 2, "text_within": 3, "About": 1, "WindowAction": 1,
}  # fmt: skip
"""Calls that put a text before a person, and which argument it is."""
NAMES = frozenset(("WorldPager", "OpenGL", "fps", "MiB", "GiB", "ms", "dB", "B/s", "/s", "Hz"))
"""What is the same in every language."""
ENGLISH_ALONE = frozenset(("panels/workspace_panel.py", "workspace_window.py"))
"""The workspace has a window of its own, which speaks English so far."""


def called(node: ast.expr) -> str:
    if not isinstance(node, ast.Call):
        return ""
    return node.func.attr if isinstance(node.func, ast.Attribute) else node.func.id if isinstance(node.func, ast.Name) else ""


def literals(node: ast.expr) -> Iterator[str]:
    """Texts in an argument that don't go through `tr` or `later`."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, ast.JoinedStr):
        yield from (part.value for part in node.values if isinstance(part, ast.Constant) and isinstance(part.value, str))
    elif isinstance(node, ast.IfExp):
        yield from literals(node.body)
        yield from literals(node.orelse)
    elif isinstance(node, ast.BinOp):
        yield from literals(node.left)
        yield from literals(node.right)


def needs_words(text: str) -> bool:
    return any(word not in NAMES for word in re.findall(r"[A-Za-z][A-Za-z/']+", text))


def strays(file: Path) -> list[str]:
    """Places in ``file`` that show words which no language could replace."""
    return [
        f"{file.relative_to(APP)}:{node.lineno}: {text!r}"
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.Call) and (place := SHOWING.get(called(node))) is not None and len(node.args) > place
        for text in literals(node.args[place])
        if needs_words(text)
    ]


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    """The script that brings the .ts files up to date."""
    spec = importlib.util.spec_from_file_location("translations", ROOT / "packaging" / "translations.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def back_to_english() -> Iterator[None]:
    yield
    Language.use(SOURCE)


def test_every_text_can_be_translated() -> None:
    files = [file for file in sorted(APP.rglob("*.py")) if file.relative_to(APP).as_posix() not in ENGLISH_ALONE]
    found = [stray for file in files for stray in strays(file)]
    assert not found, "\n" + "\n".join(found)


@pytest.mark.parametrize("language", languages())
def test_no_text_is_missing(tool: ModuleType, language: str) -> None:
    table, texts = read_table(language), tool.texts()
    assert len(texts) > 200
    missing = [text for text in texts if text not in table]
    assert not missing, f"run packaging/translations.py and translate in assets/translations/{language}.ts:\n" + "\n".join(missing)


@pytest.mark.parametrize("language", languages())
def test_the_same_figures_are_in_every_language(language: str) -> None:
    field = re.compile(r"{(\w+)")
    wrong = [text for text, other in read_table(language).items() if set(field.findall(text)) != set(field.findall(other))]
    assert not wrong


def test_what_the_tool_writes_it_reads(tool: ModuleType, tmp_path: Path) -> None:
    table = {"a < b & c {x}": "甲 < 乙 & 丙 {x}", "plain": "平"}
    tool.write(tmp_path / "zz.ts", "zz", {**dict.fromkeys(table, "app/x.py"), "new": "app/y.py"}, table)
    assert tool.read(tmp_path / "zz.ts") == table


def test_the_system_decides_unless_a_person_does(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("worldpager.app.languages.QFontDatabase.families", lambda *system: ["a font"])
    assert wanted_language("auto", "zh_CN") == "zh_CN"
    assert wanted_language("auto", "zh_TW") == SOURCE
    assert wanted_language("auto", "en_GB") == SOURCE
    assert wanted_language("auto", "pl_PL") == SOURCE
    assert wanted_language("zh_CN", "en_GB") == "zh_CN"
    assert wanted_language("no_SUCH", "zh_CN") == SOURCE
    monkeypatch.setattr("worldpager.app.languages.QFontDatabase.families", lambda *system: [])
    assert wanted_language("auto", "zh_CN") == SOURCE
    assert QLocale("zh_CN").name() == "zh_CN"


def test_the_window_speaks_another_language_at_once(qtbot: QtBot, open_window: OpenWindow, back_to_english: None) -> None:
    window, _ = open_window()
    window.run_action("settings")
    window.preferences.set("language", "zh_CN")
    assert tr("Settings") == "设置"
    assert tr("opening world {seed}", seed=5) == "正在打开世界 5"
    assert tr("no translator knows this") == "no translator knows this"
    assert QCoreApplication.translate("QFileDialog", "Look in:") == "Look in:"  # Qt keeps its own words

    def shown() -> set[str]:
        panel = window.panel
        assert panel is not None
        return {each.text() for each in panel.findChildren(QLabel)} | {each.text() for each in panel.findChildren(QPushButton)}

    qtbot.waitUntil(lambda: "完成" in shown())
    assert "画面" in shown()
    window.preferences.set("language", "en")
    qtbot.waitUntil(lambda: "Done" in shown())
