"""What the window does when a setting that counts at once has another value."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from worldpager.app.main_window import MainWindow


def _overlay(window: MainWindow) -> None:
    window.hud.use(window.settings.overlay)
    window.lay_out()
    window.refresh_hud(at_once=True)


def _fit(window: MainWindow) -> None:
    window.viewport.set_fit(window.settings.fit)


def _resampling(window: MainWindow) -> None:
    window.viewport.set_resampling(window.settings.resampling)


def _cap(window: MainWindow) -> None:
    window.hold_rate()


def _mouse_look(window: MainWindow) -> None:
    window.mouse.use(window.settings.mouse_look)


LIVE_SETTINGS: dict[str, Callable[[MainWindow], None]] = {
    "overlay": _overlay, "fit": _fit, "resampling": _resampling, "cap": _cap, "mouse_look": _mouse_look,
}  # fmt: skip
"""By the setting's name; a part of the window listens to ``window.preferences.changed`` instead."""
