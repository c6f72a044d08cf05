"""Keys light up at once; what the model was given follows with its chunk; the dial shows what is still to come."""

from __future__ import annotations

from PySide6.QtCore import QPoint, Qt
from pytestqt.qtbot import QtBot

from tests.app.conftest import OpenWindow
from worldpager.app import theme
from worldpager.app.input_feedback import InputFeedback
from worldpager.engine.types import Button


def test_lit_at_once_and_filled_with_the_chunk(qtbot: QtBot, open_window: OpenWindow) -> None:
    window, street = open_window({"show_input": True}, seconds=0.4)
    feedback = window.parts["input"]
    assert isinstance(feedback, InputFeedback)
    qtbot.waitUntil(feedback.card.isVisible)
    qtbot.keyPress(window, Qt.Key.Key_W)
    qtbot.waitUntil(lambda: feedback.card.state.held == Button.FORWARD, timeout=300)  # no chunk has come since
    qtbot.waitUntil(lambda: feedback.card.state.received.buttons == Button.FORWARD)
    assert any(action.buttons == Button.FORWARD for action in street.actions)
    image = feedback.card.grab().toImage()
    colours = {image.pixelColor(x, y).name() for x in range(image.width()) for y in range(image.height())}
    assert {theme.DEVICE.name(), theme.STALE.name()} <= colours
    qtbot.keyRelease(window, Qt.Key.Key_W)
    qtbot.waitUntil(lambda: feedback.card.state.received.buttons == Button.NONE)


def test_the_mouse_is_pending_until_its_chunk(qtbot: QtBot, open_window: OpenWindow) -> None:
    window, _ = open_window({"show_input": True, "mouse_look": "drag"}, seconds=0.3)
    feedback = window.parts["input"]
    assert isinstance(feedback, InputFeedback)
    qtbot.mousePress(window, Qt.MouseButton.LeftButton, pos=QPoint(600, 300))
    qtbot.mouseMove(window, QPoint(500, 300))
    qtbot.waitUntil(lambda: feedback.card.state.pending[0] > 5, timeout=1000)
    qtbot.mouseRelease(window, Qt.MouseButton.LeftButton, pos=QPoint(500, 300))
    qtbot.waitUntil(lambda: feedback.card.state.pending == (0, 0))


def test_off_it_costs_nothing_and_a_key_brings_it(qtbot: QtBot, open_window: OpenWindow) -> None:
    window, _ = open_window()
    feedback = window.parts["input"]
    assert isinstance(feedback, InputFeedback)
    assert not feedback.card.isVisible()
    qtbot.keyClick(window, Qt.Key.Key_F4)
    qtbot.waitUntil(feedback.card.isVisible)
    assert window.preferences.values.show_input
