"""The actions that keep something: films and screenshots."""

from __future__ import annotations

from typing import TYPE_CHECKING

from worldpager.app.actions import Section, WindowAction, register
from worldpager.app.words import later

if TYPE_CHECKING:
    from worldpager.app.main_window import MainWindow


def toggle_record(window: MainWindow) -> None:
    """Film, and stop."""
    window.captures.toggle_film(window.snapshot)
    window.refresh_hud()


def screenshot(window: MainWindow) -> None:
    """Keep the window as it looks."""
    window.captures.keep_picture(lambda: window.grab().toImage(), window.snapshot)


def clean_screenshot(window: MainWindow) -> None:
    """Keep the picture without panels."""
    window.captures.keep_picture(window.viewport.picture, window.snapshot)


for _action in (
    WindowAction("record", later("record a film"), ("F9",), Section.KEEP, toggle_record),
    WindowAction("screenshot", later("screenshot"), ("F12",), Section.KEEP, screenshot),
    WindowAction("clean_screenshot", later("screenshot of the picture alone"), ("Shift+F12",), Section.KEEP, clean_screenshot),
):
    register(_action)
