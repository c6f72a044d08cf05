"""The one door from the window to the engine: builds the street on a thread of its own, runs it, and ends it.

Chunks are fetched by polling the mailbox; signals carry only small values.
"""

from __future__ import annotations

import contextlib
import logging
import threading
from collections.abc import Callable
from typing import Protocol

from PySide6.QtCore import QObject, Signal

from worldpager.engine.config import PlayConfig
from worldpager.engine.errors import ModelError, WorldPagerError
from worldpager.engine.mailbox import Command, Mailbox, PublishedChunk, Quit
from worldpager.engine.types import Action

log = logging.getLogger(__name__)

SECONDS_TO_END = 5.0
REPORT_IT = "This is a fault of the program: please report it with the log."


class Street(Protocol):
    """What the bridge uses of a world generator."""

    mailbox: Mailbox
    failure: WorldPagerError | None

    def run(self) -> None:
        """Generate until `Quit`."""
        ...

    def close(self) -> None:
        """Free everything."""
        ...


Progress = Callable[[str, float], None]
Build = Callable[[PlayConfig, Progress], Street]


class _NotWanted(Exception):  # noqa: N818
    """The window closed while the street was being built."""


def build_street(config: PlayConfig, progress: Progress) -> Street:
    """The real street. Imports torch, so it is called on the street's thread."""
    progress("Waking up the engine", 0.0)
    from worldpager.engine.build import build_generator

    return build_generator(config, progress=progress)


class EngineBridge(QObject):
    """Owns the street's thread. All methods belong to the window's thread."""

    loading = Signal(str, float)
    """What is going on, and the share done."""
    ready = Signal()
    failed = Signal(object)
    """The `WorldPagerError` that ended the street, or that kept it from beginning."""

    def __init__(self, config: PlayConfig, build: Build = build_street, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._config, self._build = config, build
        self._thread: threading.Thread | None = None
        self._mailbox: Mailbox | None = None
        self._closing = threading.Event()

    @property
    def config(self) -> PlayConfig:
        """The run that was asked for."""
        return self._config

    @property
    def running(self) -> bool:
        """Whether the street's thread lives."""
        return self._thread is not None and self._thread.is_alive()

    def start(self) -> None:
        """Build and run the street on its own thread; after a failure, again."""
        if self.running:
            return
        self._mailbox = None
        self._closing.clear()
        self._thread = threading.Thread(target=self._live, name="street", daemon=True)
        self._thread.start()

    def put_action(self, action: Action) -> None:
        """Hand over what is held; ignored while the street is being built."""
        if self._mailbox is not None:
            self._mailbox.put_action(action)

    def send(self, command: Command) -> bool:
        """Queue ``command``; False while there is no street."""
        if self._mailbox is None or not self.running:
            return False
        self._mailbox.send(command)
        return True

    def newest(self) -> PublishedChunk | None:
        """The newest chunk; None before the first."""
        return None if self._mailbox is None else self._mailbox.frames.newest()

    def close(self, seconds: float = SECONDS_TO_END) -> bool:
        """End the street after the chunk under way and wait for it; False when it doesn't end in time."""
        self._closing.set()
        if self._mailbox is not None:
            self._mailbox.send(Quit())
        if self._thread is not None:
            self._thread.join(seconds)
        return not self.running

    def _live(self) -> None:
        """The street's whole life, on its thread."""
        try:
            street = self._build(self._config, self._tell)
        except _NotWanted:
            return
        except WorldPagerError as error:
            self._report(error)
            return
        except Exception as error:
            log.exception("the street can't be built")
            self._report(ModelError(f"The world can't be started: {type(error).__name__}: {error}", REPORT_IT))
            return
        try:
            self._run(street)
        finally:
            street.close()

    def _run(self, street: Street) -> None:
        if self._closing.is_set():
            return
        self._mailbox = street.mailbox
        if self._closing.is_set():  # closed between the two lines above
            street.mailbox.send(Quit())
        self._emit(self.ready.emit)
        street.run()
        if street.failure is not None:
            self._report(street.failure)

    def _tell(self, stage: str, share: float) -> None:
        if self._closing.is_set():
            raise _NotWanted
        self._emit(self.loading.emit, stage, share)

    def _report(self, error: WorldPagerError) -> None:
        log.error("%s", error)
        self._emit(self.failed.emit, error)

    @staticmethod
    def _emit(emit: Callable[..., object], *values: object) -> None:
        """Signal the window's thread; it may be gone when closing took too long."""
        with contextlib.suppress(RuntimeError):
            emit(*values)
