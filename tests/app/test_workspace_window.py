"""The workspace's window on a small model: asks, lights the chosen blocks, shows their words, ends whole."""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path

from PySide6.QtCore import QPoint
from pytestqt.qtbot import QtBot

from tests.engine.workspace.test_workspace import add, opened
from worldpager.app.workspace_window import WorkspaceWindow
from worldpager.engine.errors import InputError
from worldpager.engine.workspace.workspace import Workspace


def test_a_question_in_the_window(qtbot: QtBot, tmp_path: Path) -> None:
    with opened(tmp_path) as made:
        add(made)
    window = WorkspaceWindow(lambda: opened(tmp_path), "notes")
    try:
        window.show()
        panel = window.panel
        qtbot.waitUntil(panel.button.isEnabled, timeout=20000)
        assert "tokens in" in panel.facts.text()
        panel.question.setText("which digit")
        panel.button.click()
        assert not panel.button.isEnabled()
        qtbot.waitUntil(panel.button.isEnabled, timeout=20000)
        assert panel.answer.toPlainText() == "7"
        assert "7 and some more" in panel.words.toPlainText().split("\n\n")[0]
        assert "blocks in a view of" in panel.moves.text()
        cell, line, share = panel.map.grid()
        assert share == 1
        assert panel.map.row_at(QPoint(cell // 2, cell // 2)) == 0
        assert panel.map.row_at(QPoint(cell * line + 1, 1)) == -1
        image = panel.map.grab().toImage()
        shown = panel.map._shown
        assert shown is not None
        alpha = [image.pixelColor(row % line * cell + cell // 2, row // line * cell + cell // 2).value() for row in range(len(shown.ids))]
        lit = [value for value, chosen in zip(alpha, shown.chosen, strict=True) if chosen]
        dim = [value for value, chosen in zip(alpha, shown.chosen, strict=True) if not chosen]
        assert min(lit) > max(dim)
    finally:
        window.close()


def test_a_workspace_that_cannot_open_says_why(qtbot: QtBot, tmp_path: Path) -> None:
    def refuse() -> AbstractContextManager[Workspace]:
        raise InputError("There is no workspace here.", "Make one.")

    window = WorkspaceWindow(refuse, "notes")
    try:
        qtbot.waitUntil(lambda: "no workspace here" in window.panel.moves.text(), timeout=5000)
        assert not window.panel.button.isEnabled()
    finally:
        window.close()
