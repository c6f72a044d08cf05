"""The actions that keep something: films and screenshots."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer

from worldpager.app.actions import Section, WindowAction, register, register_part
from worldpager.app.film_shelf import FilmShelf
from worldpager.app.folders import films_folder
from worldpager.app.panels.films_panel import FilmsPanel
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
    WindowAction(
        "save_replay", later("save the last seconds"), ("F8",), Section.KEEP, lambda window: window.captures.save_replay(), playing=True
    ),
    WindowAction("record", later("record a film"), ("F9",), Section.KEEP, toggle_record),
    WindowAction("screenshot", later("screenshot"), ("F12",), Section.KEEP, screenshot),
    WindowAction("clean_screenshot", later("screenshot of the picture alone"), ("Shift+F12",), Section.KEEP, clean_screenshot),
):
    register(_action)


def show_films(window: MainWindow, chosen: Path | None = None) -> None:
    """The page of recordings, with ``chosen`` picked if it lies there."""
    panel = FilmsPanel(window, FilmShelf(films_folder(window.settings)), window.now, chosen)
    window.closing.connect(panel.let_go)
    window.open_panel(panel)


register(WindowAction("recordings", later("recordings"), ("F3",), Section.KEEP, show_films))

REPLAY_SETTINGS = frozenset(("replay_seconds", "film_sound"))
LOOK_MS = 1000


class CapturePart(QObject):
    """Keeps the replay buffer while there is play."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        window.began_playing.connect(lambda _: window.captures.street_began())
        window.preferences.changed.connect(self._take_setting)
        window.closing.connect(window.captures.end_replay)
        self._timer = QTimer(self, interval=LOOK_MS)
        self._timer.timeout.connect(window.captures.look_after)
        self._timer.start()

    def _take_setting(self, name: str) -> None:
        if name in REPLAY_SETTINGS and self._window.playing:
            self._window.captures.end_replay()
            self._window.captures.keep_replay()


register_part("captures", CapturePart)
