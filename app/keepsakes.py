"""Screenshots and films: where they go, and the threads that write them, so that the window never waits for a file."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from PySide6.QtCore import QObject, QStandardPaths, Signal
from PySide6.QtGui import QImage

from worldpager.engine.errors import WorldPagerError
from worldpager.engine.recorder import Recorder
from worldpager.engine.telemetry.snapshot import Snapshot
from worldpager.engine.types import Frames

Location = QStandardPaths.StandardLocation


def keep_folder(location: Location) -> Path:
    """The program's folder among the person's pictures or films."""
    return Path(QStandardPaths.writableLocation(location) or Path.home()) / "WorldPager"


def file_name(seed: int, suffix: str, now: datetime) -> str:
    """A name that sorts by time: ``2026-12-01 14-03-22 world 7.png``."""
    return f"{now:%Y-%m-%d %H-%M-%S} world {seed}{suffix}"


class Keepsakes(QObject):
    """Writes what the person wants to keep. Signals arrive on the window's thread."""

    said = Signal(str)
    """A short message on how it went."""
    film_started = Signal(object)
    """Takes frames (``Recorder.offer``): hand it to the street."""

    def __init__(self, pictures: Path | None = None, films: Path | None = None, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._pictures = pictures or keep_folder(Location.PicturesLocation)
        self._films = films or keep_folder(Location.MoviesLocation)
        self._threads: list[threading.Thread] = []
        self._recorder: Recorder | None = None
        self._since: float | None = None

    @property
    def recording(self) -> bool:
        """Whether a film is being made or about to be."""
        return self._since is not None

    @property
    def film_seconds(self) -> float:
        """How long the film has been running, by the wall clock."""
        return 0.0 if self._since is None else time.monotonic() - self._since

    def keep_picture(self, image: QImage, seed: int) -> None:
        """Write ``image`` as PNG."""
        path = self._pictures / file_name(seed, ".png", datetime.now())
        self._work(lambda: self._save(image, path))

    def _save(self, image: QImage, path: Path) -> None:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            done = image.save(str(path))
        except OSError:
            done = False
        self.said.emit(f"Screenshot: {short(path)}" if done else f"The screenshot can't be written to {short(path.parent)}")

    def start_film(self, frame: Frames, snapshot: Snapshot, path: Path | None = None) -> None:
        """Begin a film of frames like ``frame`` [height, width, 3], in ``path`` or among the person's films."""
        if self.recording:
            return
        self._since = time.monotonic()
        place = path or self._films / file_name(snapshot.seed, ".mp4", datetime.now())
        size = frame.shape[1], frame.shape[0]
        tags = {"title": f"WorldPager, world {snapshot.seed}", "model": snapshot.model, "seed": str(snapshot.seed)}
        self._work(lambda: self._open(place, size, snapshot.rate, tags))

    def _open(self, path: Path, size: tuple[int, int], rate: float, tags: dict[str, str]) -> None:
        try:
            recorder = Recorder(path, *size, rate, tags)
        except WorldPagerError as error:
            self._since = None
            self.said.emit(str(error))
            return
        if self._since is None:  # ended before it began
            recorder.close()
            return
        self._recorder = recorder
        self.film_started.emit(recorder.offer)

    def end_film(self) -> None:
        """Finish the film; the street must have been told to offer no more."""
        recorder, self._recorder, self._since = self._recorder, None, None
        if recorder is not None:
            self._work(lambda: self._finish(recorder))

    def _finish(self, recorder: Recorder) -> None:
        try:
            report = recorder.close()
        except WorldPagerError as error:
            self.said.emit(str(error))
            return
        left_out = f", {report.dropped} frames left out" if report.dropped else ""
        self.said.emit(f"Film of {report.seconds:.0f} s: {short(report.path)}{left_out}")

    def close(self) -> None:
        """Finish everything and wait for it."""
        for thread in self._threads:
            thread.join()
        self.end_film()
        for thread in self._threads:
            thread.join()

    def _work(self, job: Callable[[], None]) -> None:
        self._threads = [thread for thread in self._threads if thread.is_alive()]
        thread = threading.Thread(target=job, name="keepsakes")
        self._threads.append(thread)
        thread.start()


def short(path: Path) -> str:
    """``path`` with the home folder as ``~``."""
    try:
        return f"~/{path.relative_to(Path.home())}"
    except ValueError:
        return str(path)
