"""A film played in the window: pictures decoded by a process, shown at their rate. Without sound; the system's player has it."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QSize, Qt, QTimer, Signal
from PySide6.QtGui import QImage, QKeyEvent, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from worldpager.app import theme
from worldpager.engine.recorder import FilmFacts, FilmReader
from worldpager.engine.types import Frames

AHEAD = 6
"""Pictures decoded ahead."""


class FilmPlayer(QWidget):
    """Plays once, then stands on the last picture. A click or Space pauses. `stop` before it goes."""

    ended = Signal()

    def __init__(self, parent: QWidget, path: Path, facts: FilmFacts, size: QSize, clock: Callable[[], float]) -> None:
        super().__init__(parent)
        self.setFixedSize(size)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self._clock, self._facts = clock, facts
        self._image = QImage()
        self._shown = 0
        self._begun: float | None = None
        self._paused_at: float | None = None
        self._queue: queue.Queue[Frames | None] = queue.Queue(AHEAD)
        self._ending = threading.Event()
        self._reader = FilmReader(path, (size.width() // 2 * 2, size.height() // 2 * 2), facts.fps)
        self._thread = threading.Thread(target=self._read, name="film reader", daemon=True)
        self._thread.start()
        self._timer = QTimer(self, interval=8, timerType=Qt.TimerType.PreciseTimer)
        self._timer.timeout.connect(self._step)
        self._timer.start()

    @property
    def seconds(self) -> float:
        """How far it has played."""
        return self._shown / self._facts.fps

    def toggle(self) -> None:
        """Pause, or go on."""
        now = self._clock()
        if self._paused_at is None:
            self._paused_at = now
        elif self._begun is not None:
            self._begun += now - self._paused_at
            self._paused_at = None
        self.update()

    def stop(self) -> None:
        """End the decoder and its thread."""
        self._timer.stop()
        self._ending.set()
        self._reader.close()
        while self._thread.is_alive():
            try:
                self._queue.get(timeout=0.05)
            except queue.Empty:
                self._thread.join(0.05)

    def _read(self) -> None:
        while not self._ending.is_set():
            try:
                picture = self._reader.next()
            except (OSError, ValueError):
                picture = None
            self._queue.put(picture)
            if picture is None:
                return

    def _step(self) -> None:
        """Show the picture that is due."""
        if self._paused_at is not None or (self._begun is not None and self._clock() < self._begun + self._shown / self._facts.fps):
            return
        try:
            picture = self._queue.get_nowait()
        except queue.Empty:
            return
        if picture is None:
            self._timer.stop()
            self.ended.emit()
            return
        if self._begun is None:
            self._begun = self._clock()
        self._shown += 1
        self._image = QImage(picture.tobytes(), picture.shape[1], picture.shape[0], 3 * picture.shape[1], QImage.Format.Format_RGB888)
        self.update()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Space pauses."""
        if event.key() == Qt.Key.Key_Space:
            self.toggle()
        else:
            event.ignore()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """So does a click."""
        self.toggle()

    def paintEvent(self, event: QPaintEvent) -> None:
        """The picture, and below it how far it has played."""
        painter = QPainter(self)
        painter.fillRect(self.rect(), theme.NIGHT)
        if not self._image.isNull():
            painter.drawImage(self.rect(), self._image)
        share = min(1.0, self.seconds / max(0.001, self._facts.seconds))
        painter.fillRect(0, self.height() - 4, self.width(), 4, theme.TROUGH)
        painter.fillRect(0, self.height() - 4, round(share * self.width()), 4, theme.DEVICE)
        painter.end()
