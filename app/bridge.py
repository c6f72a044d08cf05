"""The one door to the engine: owns the generator's thread, tells how loading goes and what failed, passes commands on.

Frames are fetched from the mailbox, never carried by a signal. The thread is joined between two chunks: a live one would crash inside
torch when the process ends.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from PySide6.QtCore import QObject, Signal

from worldpager.app.faults import explained, let_go
from worldpager.engine.config import PlayConfig
from worldpager.engine.errors import WorldPagerError
from worldpager.engine.mailbox import Command, Mailbox, PublishedChunk, Quit
from worldpager.engine.types import Action

log = logging.getLogger(__name__)

Progress = Callable[[str, float], None]


class PictureSpec(Protocol):
    """What the window must know of a model."""

    @property
    def name(self) -> str:
        """The model's name."""
        ...

    @property
    def frames_per_chunk(self) -> int:
        """Frames that come at once."""
        ...

    @property
    def width(self) -> int:
        """Pixels across."""
        ...

    @property
    def height(self) -> int:
        """Pixels down."""
        ...

    @property
    def rate(self) -> float:
        """Frames a second of the world's natural speed."""
        ...


class Street(Protocol):
    """A generator as the window sees it; `WorldGenerator` is one."""

    mailbox: Mailbox
    failure: WorldPagerError | None

    @property
    def spec(self) -> PictureSpec:
        """Frame size and rate."""
        ...

    def run(self) -> None:
        """Generate until `Quit`."""
        ...

    def close(self) -> None:
        """Free everything."""
        ...


Build = Callable[[PlayConfig, Progress], Street]


@dataclass(slots=True)
class _Run:
    """One life of the thread; a later one never sees an earlier one's state."""

    config: PlayConfig
    thread: threading.Thread | None = None
    street: Street | None = None
    unwanted: bool = False


class _Unwanted(Exception):  # noqa: N818 - no error
    """The window closed while the street was being built."""


class EngineBridge(QObject):
    """Starts, steers and ends a street. All methods are the window thread's; all signals arrive there."""

    progress = Signal(str, float)
    """(what is going on, share done from 0 to 1)."""
    ready = Signal()
    """The street is built; its first chunk follows."""
    failed = Signal(object)
    """The `WorldPagerError` that ended loading or play."""
    commanded = Signal(object)
    """A command was handed over."""
    _news = Signal(object, str, object)

    def __init__(self, build: Build | None = None, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._build = build or build_street
        self._run: _Run | None = None
        self._news.connect(self._hear)

    @property
    def spec(self) -> PictureSpec | None:
        """The model's picture; None until `ready`."""
        street = self._run.street if self._run else None
        return street.spec if street else None

    @property
    def session(self) -> object | None:
        """All that was played of the present world (`worldpager.engine.session.session.Session`), if there is one to look at."""
        street = self._run.street if self._run else None
        return getattr(street, "session", None)

    @property
    def running(self) -> bool:
        """Whether the thread lives."""
        return self._run is not None and self._run.thread is not None and self._run.thread.is_alive()

    def start(self, config: PlayConfig) -> None:
        """Build a street and run it on a thread of its own. One that runs is ended first."""
        self.stop()
        run = _Run(config)
        run.thread = threading.Thread(target=self._live, args=(run,), name="generator", daemon=True)
        self._run = run
        run.thread.start()

    def put(self, action: Action) -> None:
        """Hand over an action; without a street it is forgotten."""
        if self._run and self._run.street:
            self._run.street.mailbox.put_action(action)

    def send(self, command: Command) -> bool:
        """Hand over a command. False when no street is there to obey."""
        if self._run is None or self._run.street is None or not self.running:
            return False
        self._run.street.mailbox.send(command)
        self.commanded.emit(command)
        return True

    def newest(self) -> PublishedChunk | None:
        """The newest chunk, if there is one."""
        street = self._run.street if self._run else None
        return street.mailbox.frames.newest() if street else None

    def cancel(self) -> None:
        """What is loading or runs is no longer wanted; does not wait, `running` says when it has ended."""
        run = self._run
        if run is not None:
            run.unwanted = True
            if run.street is not None:
                run.street.mailbox.send(Quit())

    def stop(self, seconds: float = 30.0) -> bool:
        """End the street at its next chunk border and wait for its thread. False when it does not end in time."""
        run, self._run = self._run, None
        if run is None or run.thread is None:
            return True
        run.unwanted = True
        if run.street is not None:
            run.street.mailbox.send(Quit())
        run.thread.join(seconds)
        if run.thread.is_alive():
            log.error("the generator did not end within %.0f s", seconds)
            return False
        return True

    # On the generator's thread

    def _live(self, run: _Run) -> None:
        """The thread's whole life; what goes wrong is told, never raised."""
        try:
            street = self._build(run.config, lambda stage, share: self._tell_progress(run, stage, share))
        except _Unwanted:
            return
        except Exception as error:
            log.warning("the street can't be built", exc_info=error)
            told = explained(error, run.config)
            let_go(error)
            self._news.emit(run, "failed", told)
            return
        try:
            run.street = street
            if not run.unwanted:  # looked at after the street can be seen: a `stop` in between sends `Quit`
                self._news.emit(run, "ready", None)
                street.run()
        finally:
            street.close()
        failure = street.failure
        if failure is not None:
            told = explained(failure, run.config)
            run.street = None
            del street
            let_go(failure)
            self._news.emit(run, "failed", told)

    def _tell_progress(self, run: _Run, stage: str, share: float) -> None:
        if run.unwanted and share < 1.0:  # at 1.0 the street exists and must be closed by its owner
            raise _Unwanted
        self._news.emit(run, "progress", (stage, share))

    # On the window's thread

    def _hear(self, run: _Run, kind: str, news: object) -> None:
        """Pass news on, unless they are of a street that was left."""
        if run is not self._run:
            return
        if kind == "progress" and isinstance(news, tuple):
            self.progress.emit(*news)
        elif kind == "ready":
            self.ready.emit()
        elif kind == "failed":
            self.failed.emit(news)


def build_street(config: PlayConfig, progress: Progress) -> Street:
    """The real street. Loads torch at the first call."""
    progress("Starting the engine", 0.0)
    from worldpager.engine.build import build_generator

    return build_generator(config, progress=progress)
