"""The start page's life: when it opens, what it shows, and what follows from a choice on it."""

from __future__ import annotations

import logging
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer
from PySide6.QtGui import QImage, QKeyEvent
from PySide6.QtWidgets import QFileDialog

from worldpager.app import theme
from worldpager.app.actions import Section, WindowAction, register, register_part
from worldpager.app.background import Background
from worldpager.app.capture_actions import show_films
from worldpager.app.faults import explained
from worldpager.app.folders import films_folder, worlds_folder
from worldpager.app.machine_words import keep_measured, machine_lines, model_words
from worldpager.app.overlay.card import bytes_text
from worldpager.app.panels.start_page import KeptThing, ModelChoice, StartContent, StartPage
from worldpager.app.play_actions import open_world, show_settings
from worldpager.app.play_settings import for_model
from worldpager.app.previews import Previews
from worldpager.app.settings import Page
from worldpager.app.words import later, tr
from worldpager.engine.errors import InputError, WeightsError
from worldpager.engine.mailbox import Pause
from worldpager.engine.offer import AddedModels, add_models, models_on_offer
from worldpager.engine.session.catalogue import KeptWorld, kept_worlds

if TYPE_CHECKING:
    from worldpager.app.main_window import MainWindow

log = logging.getLogger(__name__)

MEASURED_CHUNKS = 20
"""Chunks after which rates say something."""
WORLDS = 4
"""Kept worlds that the page shows, the one played last first."""
RECENT = 3
"""Recordings that the page lists."""
WITHOUT_WORLD = frozenset(("keys", "settings", "recordings", "fullscreen", "next_screen", "report", "quit"))
"""Actions whose keys count on the page."""


class Start(QObject):
    """Opens the page over the window and obeys it. A world that is open rests meanwhile."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        self._previews = Previews(self, still=window.settings.reduced_motion)
        self._rested = False
        self._adding: Background | None = None
        self._worlds: dict[str, KeptWorld] = {}
        window.closing.connect(self._previews.end)
        window.closing.connect(self._measure)
        window.closing.connect(self._stop_adding)
        window.panel_closed.connect(lambda: QTimer.singleShot(0, self, self._never_nothing))

    def open(self) -> None:
        """Show the page."""
        window = self._window
        if isinstance(window.panel, StartPage):
            return
        self._measure()
        if window.playing and not window.paused:
            window.bridge.send(Pause(True))
            self._rested = True
        page = StartPage(window, self._content(), self._previews, still=window.settings.reduced_motion)
        page.new_world.connect(self._new_world)
        page.picture_world.connect(self._picture_world)
        page.kept_world.connect(self._kept_world)
        page.recording.connect(self._show_recording)
        page.models_asked.connect(self._add_models)
        page.settings_asked.connect(lambda: show_settings(window, Page.PICTURE))
        page.keys_asked.connect(lambda: show_settings(window))
        page.leave_asked.connect(window.leave)
        page.pressed.connect(self._key)
        page.closed.connect(self._closed)
        window.open_panel(page)

    def _key(self, event: QKeyEvent) -> None:
        action = self._window.bindings.keymap.command(event)
        if action in WITHOUT_WORLD:
            self._window.run_action(action)

    def _measure(self) -> None:
        snapshot = self._window.snapshot
        if snapshot is not None and snapshot.chunk >= MEASURED_CHUNKS:
            keep_measured(snapshot)

    def _never_nothing(self) -> None:
        """Without a world, a load under way or a panel, the window would be empty."""
        window = self._window
        if window.isVisible() and window.panel is None and not window.bridge.running and not window.loading.isVisible():
            self.open()

    def _closed(self) -> None:
        if self._rested:
            self._rested = False
            self._window.bridge.send(Pause(False))

    def _content(self) -> StartContent:
        window = self._window
        offers = models_on_offer()
        self._worlds = {str(world.folder): world for world in kept_worlds(worlds_folder(window.settings))[:WORLDS]}
        known = [offer.name for offer in offers]
        model = window.config.model if window.config.model in known else known[0]
        return StartContent(
            models=[ModelChoice(offer.name, model_words(offer), offer.ready, offer.takes_picture) for offer in offers],
            model=model,
            worlds=[kept_thing(world) for world in self._worlds.values()],
            recordings=recent_films(films_folder(window.settings)),
            machine=machine_lines(window.config),
            goes_on=tr("Back to world {seed}", seed=window.snapshot.seed) if window.playing and window.snapshot else "",
        )

    def _new_world(self, model: str, seed: int) -> None:
        window = self._window
        config = for_model(window.config, model, window.settings, window.flags)
        options = {name: value for name, value in config.model_options.items() if name != "image"}
        config = replace(config, seed=seed, world=None, replay=None, model_options=options)
        fits = replace(config, seed=window.config.seed) == window.config
        window.close_panel()
        if window.playing and fits:
            open_world(window, seed)
            return
        window.config = config
        window.preferences.set("model", model)
        window.begin()

    def _picture_world(self, model: str, picture: str) -> None:
        """Begin a world with a person's own picture."""
        window = self._window
        config = for_model(window.config, model, window.settings, window.flags)
        window.config = replace(config, world=None, replay=None, model_options={**config.model_options, "image": picture})
        window.preferences.set("model", model)
        window.begin()

    def _kept_world(self, key: str) -> None:
        """Go on where a kept world was left."""
        window, world = self._window, self._worlds[key]
        if window.playing and window.config.world == world.folder:
            window.close_panel()
            return
        if world.problem:
            window.notices.say(f"{world.name}: {world.problem}", theme.ALARM)
            return
        try:
            config = for_model(window.config, world.model, window.settings, window.flags)
        except InputError as error:
            window.show_failure(error, fatal=False)
            return
        window.config = replace(config, seed=world.seed, world=world.folder, replay=None)
        window.begin()

    def _add_models(self) -> None:
        """Ask for a folder of published files, and add what it holds."""
        window = self._window
        folder = QFileDialog.getExistingDirectory(window, tr("Folder with the published files of a model"))
        if not folder:
            return
        window.notices.say(tr("reading {folder}", folder=folder), theme.DEVICE)
        self._adding = Background(lambda wanted: add_models(Path(folder)), self)
        self._adding.done.connect(self._added)
        self._adding.failed.connect(lambda error: window.show_failure(explained(error, window.config), fatal=False))
        self._adding.start()

    def _stop_adding(self) -> None:
        if self._adding is not None:
            self._adding.cancel()

    def _added(self, added: AddedModels) -> None:
        window = self._window
        if added.problems:
            window.show_failure(WeightsError("\n".join(added.problems), tr("Nothing else was changed.")), fatal=False)
            return
        window.notices.say(tr("added: {names}", names=", ".join(added.names)), theme.HOST)
        if isinstance(window.panel, StartPage):
            window.close_panel()
            self.open()

    def _show_recording(self, path: str) -> None:
        show_films(self._window, Path(path))


def kept_thing(world: KeptWorld) -> KeptThing:
    """A kept world as the page shows it."""
    picture = QImage.fromData(world.thumbnail) if world.thumbnail else None
    if world.problem:
        return KeptThing(str(world.folder), world.name, tr("can't be opened: {why}", why=world.problem), picture)
    minutes = f"{world.seconds / 60:.1f}"
    line = tr("{model}, {minutes} min, {size}", model=world.model, minutes=minutes, size=bytes_text(world.size))
    return KeptThing(str(world.folder), world.name, line, picture)


def recent_films(folder: Path) -> list[KeptThing]:
    """The newest films in ``folder``."""
    try:
        films = [(file.stat(), file) for file in folder.glob("*.mp4")]
    except OSError as error:
        log.info("no recordings are listed: %s", error)
        return []
    films.sort(key=lambda pair: pair[0].st_mtime, reverse=True)
    return [
        KeptThing(str(file), file.stem, f"{datetime.fromtimestamp(about.st_mtime):%Y-%m-%d %H:%M}, {bytes_text(about.st_size)}")
        for about, file in films[:RECENT]
    ]


def show_start(window: MainWindow) -> None:
    """Open the start page."""
    start = window.parts["start"]
    assert isinstance(start, Start)
    start.open()


register_part("start", Start)
register(WindowAction("start", later("start page"), ("Home", "Ctrl+O"), Section.WINDOW, show_start))
