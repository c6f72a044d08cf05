"""Work that takes its time, on a thread of its own; its result comes back to the window's thread."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QObject, Signal

log = logging.getLogger(__name__)


class Background(QObject):
    """Runs one piece of work. ``wanted()`` turns False when its owner has gone; `done` and `failed` come only while it is wanted."""

    done = Signal(object)
    failed = Signal(object)
    _news = Signal(str, object)

    def __init__(self, work: Callable[[Callable[[], bool]], Any], parent: QObject) -> None:
        """``work(wanted)`` runs on the thread."""
        super().__init__(parent)
        self._work = work
        self._unwanted = threading.Event()
        self._news.connect(self._hear)
        self._thread = threading.Thread(target=self._run, name="background", daemon=True)

    def start(self) -> Background:
        """Begin."""
        self._thread.start()
        return self

    def cancel(self) -> None:
        """The result is no longer wanted; waits until the thread has noticed."""
        self._unwanted.set()
        if self._thread.is_alive():
            self._thread.join()

    def _run(self) -> None:
        try:
            result = self._work(lambda: not self._unwanted.is_set())
        except Exception as error:
            log.info("background work failed: %s", error)
            self._tell("failed", error)
        else:
            self._tell("done", result)

    def _tell(self, kind: str, news: object) -> None:
        if not self._unwanted.is_set():
            self._news.emit(kind, news)

    def _hear(self, kind: str, news: object) -> None:
        if not self._unwanted.is_set():
            (self.done if kind == "done" else self.failed).emit(news)
