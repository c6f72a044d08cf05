"""Pictures of worlds before they are opened: drawn on a thread of their own, kept in the cache, turned round and round on the page."""

from __future__ import annotations

import logging
import math
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import platformdirs
from numpy.typing import NDArray
from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QImage

from worldpager.engine.errors import WorldPagerError
from worldpager.engine.offer import WorldPreview, open_preview

log = logging.getLogger(__name__)

TURNS = 24
"""Pictures of one whole turn."""
KEPT_WORLDS = 60
"""Worlds whose pictures stay in the cache; the oldest go."""

Open = Callable[[str, int], WorldPreview | None]
Strip = NDArray[np.uint8]
Wanted = tuple[str, tuple[int, ...]]


NOTHING: Wanted = ("", ())


class Previews(QObject):
    """Draws the worlds that `show` asks for, first one picture of each, then the rest of the turn. ``still``: one picture is enough."""

    drawn = Signal(int, int)
    """(seed, which picture of the turn) is there."""

    def __init__(self, parent: QObject, folder: Path | None = None, open_world: Open = open_preview, *, still: bool = False) -> None:
        super().__init__(parent)
        self._folder = folder or platformdirs.user_cache_path("worldpager") / "previews"
        self._open, self._still = open_world, still
        self._images: dict[tuple[int, int], QImage] = {}
        self._wanted: Wanted = NOTHING
        self._shown = self._wanted
        self._changed = threading.Condition()
        self._ended = False
        self._thread: threading.Thread | None = None

    def show(self, model: str, seeds: Sequence[int]) -> None:
        """Draw these worlds from now on instead of others."""
        with self._changed:
            self._wanted = (model, tuple(seeds))
            if self._wanted != self._shown:
                self._images.clear()
            self._shown = self._wanted
            self._changed.notify_all()
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="previews", daemon=True)
            self._thread.start()

    def rest(self) -> None:
        """Draw nothing for now, so that a world has the machine to itself; what is drawn stays."""
        with self._changed:
            self._wanted = NOTHING
            self._changed.notify_all()

    def image(self, seed: int, turn: int) -> QImage | None:
        """Picture ``turn`` of world ``seed``, else its first; None while there is none."""
        return self._images.get((seed, turn % TURNS)) or self._images.get((seed, 0))

    def complete(self, seeds: Sequence[int]) -> bool:
        """Whether the whole turn of all ``seeds`` is there."""
        return all((seed, TURNS - 1) in self._images for seed in seeds)

    def end(self) -> None:
        """Stop drawing, and wait for the picture under way."""
        with self._changed:
            self._ended = True
            self._changed.notify_all()
        if self._thread is not None:
            self._thread.join()
            self._thread = None

    def _run(self) -> None:
        done: Wanted | None = None
        while True:
            with self._changed:
                while not self._ended and self._wanted == done:
                    self._changed.wait()
                if self._ended:
                    return
                done = self._wanted
            try:
                self._draw(done)
            except (OSError, WorldPagerError, ValueError) as error:
                log.warning("no previews of %s: %s", done, error)

    def _draw(self, wanted: Wanted) -> None:
        model, seeds = wanted
        worlds: dict[int, WorldPreview] = {}
        for turns in (range(1), range(1, 1 if self._still else TURNS)):
            for seed in seeds:
                for turn in turns:
                    if self._ended or self._wanted != wanted:
                        return
                    if (seed, turn) in self._images:
                        continue
                    picture = self._cached(model, seed, turn)
                    if picture is None:
                        world = worlds.get(seed) or self._open(model, seed)
                        if world is None:
                            return
                        worlds[seed] = world
                        picture = world.picture(math.tau * turn / TURNS)
                        self._cache(model, seed, turn, picture)
                    self._take(seed, turn, picture)

    def _take(self, seed: int, turn: int, picture: Strip) -> None:
        height, width = picture.shape[:2]
        self._images[seed, turn] = QImage(picture.data, width, height, 3 * width, QImage.Format.Format_RGB888).copy()
        self.drawn.emit(seed, turn)

    def _file(self, model: str, seed: int, turn: int) -> Path:
        return self._folder / f"{model}-{seed}" / f"{turn}.png"

    def _cached(self, model: str, seed: int, turn: int) -> Strip | None:
        image = QImage(str(self._file(model, seed, turn)))
        if image.isNull():
            return None
        image = image.convertToFormat(QImage.Format.Format_RGB888)
        rows = np.frombuffer(image.constBits(), np.uint8).reshape(image.height(), image.bytesPerLine())
        return rows[:, : 3 * image.width()].reshape(image.height(), image.width(), 3).copy()

    def _cache(self, model: str, seed: int, turn: int, picture: Strip) -> None:
        file = self._file(model, seed, turn)
        if not file.parent.exists():
            file.parent.mkdir(parents=True)
            self._forget_old()
        height, width = picture.shape[:2]
        QImage(picture.data, width, height, 3 * width, QImage.Format.Format_RGB888).save(str(file))

    def _forget_old(self) -> None:
        """Only this program's own pictures in its own folders."""
        folders = sorted((each for each in self._folder.iterdir() if each.is_dir()), key=lambda each: each.stat().st_mtime)
        for old in folders[:-KEPT_WORLDS]:
            for file in old.glob("*.png"):
                file.unlink(missing_ok=True)
            if not any(old.iterdir()):
                old.rmdir()
