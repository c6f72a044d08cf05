"""The one place where the window's thread and the generator's thread meet.

Inwards: the newest action and a queue of commands. Outwards: the newest chunk, and the failure that ended the street, if one did.
Nobody waits for the other side's work: a lock is held only while a reference is swapped.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias

from worldpager.engine.telemetry.snapshot import Snapshot
from worldpager.engine.types import Action, Button, Frames


@dataclass(frozen=True, slots=True)
class Pause:
    """Stop generating, or go on. The picture stays."""

    on: bool


@dataclass(frozen=True, slots=True)
class Reset:
    """Begin the present world anew: same seed, empty memory."""


@dataclass(frozen=True, slots=True)
class NewWorld:
    """Begin another world with an empty memory."""

    seed: int


@dataclass(frozen=True, slots=True)
class UsePolicy:
    """Retrieve by another policy from the next chunk on: ``pose-overlap``, ``host-only``, ``recency`` or ``none`` (memory off)."""

    name: str


@dataclass(frozen=True, slots=True)
class RestWhenIdle:
    """Whether generation rests while no control is held."""

    on: bool


@dataclass(frozen=True, slots=True)
class Prompt:
    """Play on under another text, with a model that hears one."""

    text: str


@dataclass(frozen=True, slots=True)
class HoldRate:
    """Whether the street keeps to the world's natural rate (as at its start) or makes chunks as fast as it can."""

    on: bool


@dataclass(frozen=True, slots=True)
class Record:
    """Hand every new chunk, its snapshot with it, to ``take`` on the generator's thread; None ends it.

    ``take`` must not wait. One that raises is dropped and named in the snapshot's degradations.
    """

    take: Callable[[PublishedChunk], object] | None


@dataclass(frozen=True, slots=True)
class Keep:
    """Keep the scratch world that is being played: from now on it lives in ``folder``."""

    folder: Path


@dataclass(frozen=True, slots=True)
class GoTo:
    """Stand at ``chunk`` of this world's history: back in time, or on another branch. Its picture is shown; play goes on from there."""

    chunk: int


@dataclass(frozen=True, slots=True)
class Recall:
    """Put the camera where ``chunk`` was seen from. History goes on; the next chunk shows the place as memory has it."""

    chunk: int


@dataclass(frozen=True, slots=True)
class SetBookmark:
    """Give ``chunk`` (None: where play stands) a name; an old bookmark of that name moves."""

    name: str
    chunk: int | None = None


@dataclass(frozen=True, slots=True)
class ForgetBookmark:
    """Remove a bookmark."""

    name: str


@dataclass(frozen=True, slots=True)
class RenameBranch:
    """Give a branch another name."""

    branch: int
    name: str


@dataclass(frozen=True, slots=True)
class DeleteBranch:
    """Remove a branch, with the chunks that are its alone."""

    branch: int


WorldMove: TypeAlias = Keep | GoTo | Recall | SetBookmark | ForgetBookmark | RenameBranch | DeleteBranch
"""Commands to a world's history (`worldpager.engine.session.world`)."""


@dataclass(frozen=True, slots=True)
class Quit:
    """End the street after the chunk under way."""


Command: TypeAlias = Pause | Reset | NewWorld | UsePolicy | RestWhenIdle | Prompt | HoldRate | Record | WorldMove | Quit


@dataclass(frozen=True, slots=True)
class PublishedChunk:
    """A chunk for the eye. While the street rests or is paused, the same ``index`` and frames come again with a newer snapshot.

    ``index`` rises by one with every chunk, over all worlds of the run. ``frames`` are read-only and never written again.
    """

    index: int
    frames: Frames
    snapshot: Snapshot


class FrameSlot:
    """Holds the newest chunk; latest wins. Frames are immutable, so handing over is swapping one reference."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._newest: PublishedChunk | None = None
        self._taken = True
        self._wake: Callable[[], None] | None = None

    def on_news(self, wake: Callable[[], None] | None) -> None:
        """Call ``wake`` on the generator's thread when a chunk arrives after the last one was taken (no call while one lies untaken)."""
        with self._lock:
            self._wake = wake

    def publish(self, chunk: PublishedChunk) -> None:
        """Make ``chunk`` the newest."""
        chunk.frames.flags.writeable = False
        with self._lock:
            self._newest, was_taken, self._taken = chunk, self._taken, False
            wake = self._wake if was_taken else None
        if wake is not None:
            wake()

    def newest(self) -> PublishedChunk | None:
        """The newest chunk, the same one again if nothing newer has come; None before the first."""
        with self._lock:
            self._taken = True
            return self._newest


class Mailbox:
    """Actions and commands in, chunks and failures out. Every method may be called from any thread."""

    def __init__(self) -> None:
        self.frames = FrameSlot()
        self._changed = threading.Condition()
        self._action = Action()
        self._tapped = Button.NONE
        self._commands: deque[Command] = deque()
        self._quitting = False
        self._failure: BaseException | None = None

    def put_action(self, action: Action) -> None:
        """Newest buttons, mouse motion added to what lies there. A press shorter than a chunk is not lost."""
        with self._changed:
            last = self._action
            self._tapped |= action.buttons & ~last.buttons
            stamp = max(last.stamp, action.stamp)
            self._action = Action(action.buttons, last.turn + action.turn, last.look + action.look, stamp)
            self._changed.notify_all()

    def take_action(self) -> Action:
        """What is held now and how far the mouse went since the last take; ``stamp`` is 0 when nothing was put since then.

        When nothing is held any more, buttons that were pressed and released since the last take count once.
        """
        with self._changed:
            action, tapped = self._action, self._tapped
            self._action, self._tapped = Action(action.buttons), Button.NONE
        return action if action.buttons & ~Button.RUN else replace(action, buttons=action.buttons | tapped)

    def drop_action(self) -> None:
        """Forget mouse motion and taps; what is held stays held."""
        self.take_action()

    def send(self, command: Command) -> None:
        """Queue ``command`` for the generator, in order."""
        with self._changed:
            self._commands.append(command)
            self._quitting |= isinstance(command, Quit)
            self._changed.notify_all()

    def commands(self) -> list[Command]:
        """All commands since the last call, oldest first."""
        with self._changed:
            found = list(self._commands)
            self._commands.clear()
        return found

    @property
    def quitting(self) -> bool:
        """True as soon as `Quit` was sent, taken or not: long work looks here between its parts."""
        return self._quitting

    def wait_command(self, seconds: float) -> bool:
        """Wait until a command lies there, ``seconds`` at most. True when one does."""
        with self._changed:
            return self._changed.wait_for(lambda: bool(self._commands), max(0.0, seconds))

    def wait_news(self, seconds: float) -> bool:
        """Wait until a command lies there or the action moves anything, ``seconds`` at most. True when so."""
        with self._changed:
            return self._changed.wait_for(self._has_news, max(0.0, seconds))

    def _has_news(self) -> bool:
        return bool(self._commands) or not self._action.idle or bool(self._tapped & ~Button.RUN)

    def fail(self, error: BaseException) -> None:
        """Publish what ended the street."""
        self._failure = error

    @property
    def failure(self) -> BaseException | None:
        """What ended the street, or None."""
        return self._failure
