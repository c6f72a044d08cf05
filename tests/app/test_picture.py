"""How the picture is enlarged, held to its rate, and put on the whole screen."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from tests.app.conftest import OpenWindow
from worldpager.app.live_settings import LIVE_SETTINGS
from worldpager.app.play_actions import is_fullscreen
from worldpager.app.settings import ABOUT, Counts, Page
from worldpager.engine.mailbox import HoldRate

Key = Qt.Key


def edge_width(image: object) -> int:
    """Columns between red and green in the upper half."""
    from PySide6.QtGui import QImage

    assert isinstance(image, QImage)
    y = image.height() // 4
    pixels = [image.pixelColor(x, y) for x in range(image.width() // 2 - 20, image.width() // 2 + 20)]
    return sum(60 < colour.red() < 185 or 60 < colour.green() < 185 for colour in pixels)


@pytest.mark.parametrize("viewport", ["software", "opengl"])
def test_three_ways_to_enlarge(qtbot: QtBot, open_window: OpenWindow, viewport: str) -> None:
    window, _ = open_window({"viewport": viewport, "overlay": "none"}, first=40)
    qtbot.keyClick(window, Key.Key_Space)
    qtbot.waitUntil(lambda: window.snapshot is not None and window.snapshot.paused)
    widths, pictures = {}, {}
    for name in ("nearest", "linear", "cubic"):
        window.preferences.set("resampling", name)
        qtbot.wait(80)
        pictures[name] = window.viewport.picture()
        widths[name] = edge_width(pictures[name])
    assert widths["nearest"] <= 1
    assert widths["linear"] >= widths["cubic"] > widths["nearest"]
    assert pictures["linear"] != pictures["cubic"]


def test_the_rate_is_let_go_and_said(qtbot: QtBot, open_window: OpenWindow) -> None:
    window, street = open_window()
    qtbot.waitUntil(lambda: HoldRate(True) in street.commands)
    window.preferences.set("cap", False)
    qtbot.waitUntil(lambda: HoldRate(False) in street.commands)
    qtbot.waitUntil(lambda: bool(window.notices.states["cap"].text))


@pytest.mark.parametrize("kind", ["fullscreen", "borderless"])
def test_full_screen_and_back(qtbot: QtBot, open_window: OpenWindow, kind: str) -> None:
    window, _ = open_window({"fullscreen": kind}, size=(900, 600))
    qtbot.keyClick(window, Key.Key_F11)
    assert is_fullscreen(window)
    if kind == "borderless":
        qtbot.waitUntil(lambda: window.size() == window.screen().size())
    qtbot.keyClick(window, Key.Key_Escape)
    assert not is_fullscreen(window)
    if kind == "borderless":
        qtbot.waitUntil(lambda: (window.width(), window.height()) == (900, 600))
    assert window.isVisible()


def test_one_screen_is_said(qtbot: QtBot, open_window: OpenWindow) -> None:
    window, _ = open_window()
    qtbot.keyClick(window, Key.Key_F11, Qt.KeyboardModifier.ControlModifier)
    assert window.notices.toast.text


def test_keys_alone_leave_the_mouse_free(qtbot: QtBot, open_window: OpenWindow) -> None:
    window, _ = open_window({"mouse_look": "off"})
    qtbot.mouseClick(window, Qt.MouseButton.LeftButton)
    assert not window.mouse.held
    assert not window.mouse.dragging
    window.preferences.set("mouse_look", "auto")
    qtbot.mouseClick(window, Qt.MouseButton.LeftButton)
    assert window.mouse.held


def test_live_settings_are_live_ones() -> None:
    assert all(ABOUT[name].counts is Counts.LIVE and ABOUT[name].page is not Page.NONE for name in LIVE_SETTINGS)
