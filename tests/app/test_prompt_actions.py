from __future__ import annotations

from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from tests.app.conftest import OpenWindow
from worldpager.app.prompt_actions import PromptPanel
from worldpager.engine.mailbox import Prompt


def test_a_prompt_is_asked_for_and_sent(qtbot: QtBot, open_window: OpenWindow) -> None:
    window, street = open_window()
    qtbot.keyClick(window, Qt.Key.Key_T, Qt.KeyboardModifier.ControlModifier)
    panel = window.panel
    assert isinstance(panel, PromptPanel)
    panel.text.setText("a harbour at dusk")
    qtbot.keyClick(panel.text, Qt.Key.Key_Return)
    assert window.panel is None
    qtbot.waitUntil(lambda: Prompt("a harbour at dusk") in street.commands)
