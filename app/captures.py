"""Pictures and films of play: where they go, what they are called, what they say of themselves."""

from __future__ import annotations

import json
import logging
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from importlib.metadata import version
from pathlib import Path

import platformdirs
from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QImage

from worldpager.engine.errors import RecorderError, WorldPagerError
from worldpager.engine.recorder import FILM_HEIGHT, Recorder, RecorderReport, SoundSource
from worldpager.engine.telemetry.snapshot import Snapshot

log = logging.getLogger(__name__)

FOLDER = "WorldPager"


def new_path(folder: Path, snapshot: Snapshot, ending: str, what: str = "", now: datetime | None = None) -> Path:
    """A name in ``folder`` that no file has: time, world, chunk, ``what``."""
    moment = (now or datetime.now()).strftime("%Y-%m-%d-%H%M%S")
    stem = f"{moment}-{snapshot.model}-world-{snapshot.seed}-chunk-{snapshot.chunk}{'-' if what else ''}{what}"
    path, count = folder / f"{stem}.{ending}", 1
    while path.exists():
        count += 1
        path = folder / f"{stem}-{count}.{ending}"
    return path


def save_picture(image: QImage, snapshot: Snapshot, folder: Path | None = None) -> Path:
    """Write ``image`` as a PNG that names its world. Returns where. Raises `RecorderError` when it can't be written."""
    folder = folder or platformdirs.user_pictures_path() / FOLDER
    path = new_path(folder, snapshot, "png")
    pose = snapshot.pose
    image.setText("Software", f"WorldPager {version('worldpager')}")
    image.setText("Comment", f"model {snapshot.model}, world {snapshot.seed}, chunk {snapshot.chunk}, at {pose.x:.2f} {pose.y:.2f}")
    facts = {"model": snapshot.model, "seed": snapshot.seed, "chunk": snapshot.chunk, "policy": snapshot.policy, "pose": list(pose)}
    image.setText("WorldPager", json.dumps(facts))
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RecorderError(f"The folder {folder} can't be made: {error.strerror}.", "Make it yourself, or free some space.") from error
    if not image.save(str(path)):
        raise RecorderError(f"The picture {path} can't be written.", "See whether the disk is full and the folder can be written.")
    return path


@dataclass(frozen=True, slots=True)
class FilmShape:
    """Size in pixels and rate of what is filmed, and about how many lines it is enlarged to."""

    width: int
    height: int
    rate: float
    lines: int = FILM_HEIGHT


class Film(QObject):
    """One recording at a time. Finishing a file happens on a thread of its own, since the encoder takes its time."""

    saved = Signal(object)
    """The `RecorderReport` of a finished film."""
    failed = Signal(object)
    """The `WorldPagerError` that spoiled one."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._recorder: Recorder | None = None
        self._closing: list[threading.Thread] = []

    @property
    def recorder(self) -> Recorder | None:
        """The recording under way."""
        return self._recorder

    @property
    def seconds(self) -> float:
        """Length so far of the film under way."""
        return self._recorder.frames / self._recorder.fps if self._recorder else 0.0

    def start(self, shape: FilmShape, path: Path, metadata: Mapping[str, object], timing: str, sound: SoundSource | None) -> Recorder:
        """Begin a film at ``path``. Raises `RecorderError`."""
        self._recorder = Recorder(path, shape.width, shape.height, shape.rate, metadata, lines=shape.lines, timing=timing, sound=sound)
        return self._recorder

    def stop(self) -> None:
        """End the film under way; `saved` or `failed` follows."""
        recorder, self._recorder = self._recorder, None
        if recorder is not None:
            thread = threading.Thread(target=self._finish, args=(recorder,), name="film", daemon=True)
            self._closing = [old for old in self._closing if old.is_alive()] + [thread]
            thread.start()

    def wait(self) -> None:
        """Wait until all films are whole."""
        for thread in self._closing:
            thread.join()
        self._closing.clear()

    def _finish(self, recorder: Recorder) -> None:
        begun = time.monotonic()
        try:
            report: RecorderReport = recorder.close()
        except WorldPagerError as error:
            log.warning("%s", error)
            self.failed.emit(error)
            return
        log.info("film %s: %d frames, %d dropped, closed in %.1f s", report.path, report.frames, report.dropped, time.monotonic() - begun)
        self.saved.emit(report)
