"""What the window does when a setting that counts at once has another value."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QTimer

from worldpager.app import theme
from worldpager.app.languages import Language
from worldpager.app.panels.settings_panel import SettingsPanel
from worldpager.app.play_actions import show_settings
from worldpager.app.settings import Settings

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


def _language(window: MainWindow) -> None:
    Language.use(window.settings.language)
    _look_anew(window)


def _look(window: MainWindow) -> None:
    use_look(window.settings)
    _look_anew(window)


def _look_anew(window: MainWindow) -> None:
    """Lay out and draw again, and make the panel anew that shows the choice."""
    window.lay_out()
    window.refresh_hud(at_once=True)
    window.update()
    if isinstance(window.panel, SettingsPanel):
        QTimer.singleShot(0, window, lambda: _reopen(window))


def _reopen(window: MainWindow) -> None:
    if isinstance(window.panel, SettingsPanel):
        show_settings(window, window.panel.page)


def use_look(settings: Settings) -> None:
    """Size and contrast, before a window is made or while it lives."""
    theme.Wishes.scale = settings.interface_scale
    theme.Wishes.still = settings.reduced_motion
    theme.use_contrast(settings.high_contrast)


LIVE_SETTINGS: dict[str, Callable[[MainWindow], None]] = {
    "overlay": _overlay, "fit": _fit, "resampling": _resampling, "cap": _cap, "mouse_look": _mouse_look,
    "language": _language, "high_contrast": _look, "interface_scale": _look, "reduced_motion": _look,
}  # fmt: skip
"""By the setting's name; a part of the window listens to ``window.preferences.changed`` instead."""
