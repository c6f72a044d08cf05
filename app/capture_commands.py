"""Films, the replay buffer, screenshots: begins and ends them as the settings say, and tells how it went."""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QTimer
from PySide6.QtGui import QImage

from worldpager.app import theme
from worldpager.app.background import Background
from worldpager.app.bridge import EngineBridge
from worldpager.app.captures import Film, FilmShape, new_path, save_picture
from worldpager.app.film_options import WINDOW_RATE, film_facts_of, sound_of
from worldpager.app.folders import films_folder, pictures_folder
from worldpager.app.notices import Notices
from worldpager.app.taps import Taps
from worldpager.app.window_film import film_size_of, frame_of
from worldpager.app.words import tr
from worldpager.engine.errors import WorldPagerError
from worldpager.engine.mailbox import PublishedChunk, Record
from worldpager.engine.recorder import Recorder, RecorderReport, ReplayBuffer
from worldpager.engine.telemetry.snapshot import Snapshot

if TYPE_CHECKING:
    from worldpager.app.main_window import MainWindow

log = logging.getLogger(__name__)

FILM, REPLAY = "film", "replay"


class CaptureCommands:
    """Keeps what the person wants to keep. ``fail`` shows an error that does not end the play."""

    def __init__(self, bridge: EngineBridge, notices: Notices, fail: Callable[[WorldPagerError], None], window: MainWindow) -> None:
        self._bridge, self._notices, self._fail, self._window = bridge, notices, fail, window
        self.taps = Taps()
        self.film = Film(window)
        self.film.saved.connect(self._saved)
        self.film.failed.connect(fail)
        self.replay: ReplayBuffer | None = None
        self._replay_of: tuple[int, int, float, str] | None = None
        self._saving: Background | None = None
        self._shoot: Callable[[], None] = lambda: None
        self._camera = QTimer(window, interval=round(1000 / WINDOW_RATE))
        self._camera.timeout.connect(lambda: self._shoot())
        self._shape = FilmShape(0, 0, WINDOW_RATE)
        self._filmed = -1

    # Films

    def toggle_film(self, snapshot: Snapshot | None) -> None:
        """End the film under way, or begin one."""
        if self.film.recorder is not None:
            self.end_film()
            self._notices.say(tr("finishing the film"))
        elif snapshot is not None:
            self.start_film(snapshot)

    def start_film(self, snapshot: Snapshot, path: Path | None = None) -> None:
        """Begin a film at ``path`` or in the folder for films."""
        spec, settings = self._bridge.spec, self._window.settings
        if spec is None:
            return
        whole = settings.film_view == "window"
        target = path or new_path(films_folder(settings), snapshot, "mp4")
        metadata = film_facts_of(snapshot, settings, view=settings.film_view)
        wide, high = film_size_of(self._window)
        shape = FilmShape(wide, high, WINDOW_RATE, high) if whole else FilmShape(spec.width, spec.height, spec.rate)
        try:
            recorder = self.film.start(shape, target, metadata, "wall" if whole else settings.film_timing, sound_of(settings))
        except WorldPagerError as error:
            self._fail(error)
            return
        self._shape = shape
        if whole:
            self._film_window(recorder, shape)
        else:
            self.taps.add(FILM, lambda chunk: recorder.offer(chunk.frames, cue=chunk))
            self._bridge.send(Record(self.taps.take))

    def street_began(self) -> None:
        """A street has its first picture: a film of another size ends, one of the same goes on."""
        spec, shape = self._bridge.spec, self._shape
        if spec is not None and FILM in self.taps.names and (shape.width, shape.height) != (spec.width, spec.height):
            self.end_film()
        self.keep_replay()
        if self.taps.names:
            self._bridge.send(Record(self.taps.take))

    def look_after(self) -> None:
        """End a film whose recording has failed; why is told as with every film that ends."""
        if self.film.recorder is not None and self.film.recorder.failure is not None:
            self.end_film()

    def end_film(self) -> None:
        """End the film under way, if there is one; it is made whole in the background."""
        self._camera.stop()
        self.taps.remove(FILM)
        if self.film.recorder is not None:
            self.film.stop()

    def _film_window(self, recorder: Recorder, shape: FilmShape) -> None:
        """Take a picture of the whole window a few times a second."""
        self._shoot = lambda: self._take_window(recorder, shape)
        self._camera.start()

    def _take_window(self, recorder: Recorder, shape: FilmShape) -> None:
        chunk = self._bridge.newest()
        cue: PublishedChunk | None = None
        if chunk is not None and chunk.index != self._filmed:
            self._filmed, cue = chunk.index, chunk
        recorder.offer(frame_of(self._window, shape.width, shape.height), cue=cue)

    # The replay buffer

    def keep_replay(self) -> None:
        """Have the replay buffer as the settings want it; called when play begins and when they change."""
        spec, settings = self._bridge.spec, self._window.settings
        if spec is None or settings.replay_seconds == "0":
            self.end_replay()
            return
        wanted = (spec.width, spec.height, spec.rate, settings.replay_seconds)
        if self.replay is None or self._replay_of != wanted or self.replay.failure is not None:
            self.end_replay()
            try:
                replay = ReplayBuffer(spec.width, spec.height, spec.rate, seconds=float(settings.replay_seconds), sound=sound_of(settings))
            except WorldPagerError as error:
                log.warning("no replay buffer: %s", error)
                return
            self.replay, self._replay_of = replay, wanted
            self.taps.add(REPLAY, lambda chunk: replay.offer(chunk.frames, cue=chunk))
        self._bridge.send(Record(self.taps.take))

    def save_replay(self) -> None:
        """Save the last seconds as a film, in the background."""
        replay, snapshot = self.replay, self._window.snapshot
        if replay is None:
            self._notices.say(tr("the replay buffer is off: see the settings"))
            return
        if snapshot is None or self._saving is not None:
            return
        path = new_path(films_folder(self._window.settings), snapshot, "mp4", tr("replay"))
        metadata = film_facts_of(snapshot, self._window.settings, view="picture")
        self._saving = Background(lambda wanted: replay.save(path, metadata), self._window)
        self._saving.done.connect(self._replay_saved)
        self._saving.failed.connect(self._replay_failed)
        self._saving.start()

    def end_replay(self) -> None:
        """Let the buffer go."""
        if self._saving is not None:
            self._saving.cancel()
            self._saving = None
        self.taps.remove(REPLAY)
        replay, self.replay = self.replay, None
        if replay is not None:
            replay.close()

    def _replay_saved(self, report: RecorderReport) -> None:
        self._saving = None
        words = tr("the last {seconds} s saved: {path}", seconds=f"{report.seconds:.0f}", path=report.path)
        self._notices.say(words, theme.HOST)

    def _replay_failed(self, error: object) -> None:
        self._saving = None
        self._fail(error if isinstance(error, WorldPagerError) else WorldPagerError(f"The replay can't be saved: {error}"))

    # Pictures

    def keep_picture(self, take: Callable[[], QImage], snapshot: Snapshot | None) -> None:
        """Save what ``take`` gives, without a passing message in it."""
        if snapshot is None:
            return
        self._notices.toast.say("")
        try:
            path = save_picture(take(), snapshot, pictures_folder(self._window.settings))
        except WorldPagerError as error:
            self._fail(error)
        else:
            self._notices.say(tr("screenshot saved: {path}", path=path), theme.HOST)

    def _saved(self, report: RecorderReport) -> None:
        if report.frames:
            words = tr("film saved: {path}", path=report.path)
            if report.dropped:
                words += "  " + tr("({n} frames were left out: the encoder fell behind)", n=report.dropped)
            self._notices.say(words, theme.ALARM if report.dropped else theme.HOST)
        else:
            report.path.unlink(missing_ok=True)
            self._notices.say(tr("no film: nothing was played meanwhile"), theme.ALARM)
