"""Plays a kept world's action log again: the same world, the same actions, moves and memory, whatever the time that bytes take.

The log says which blocks every chunk saw, so a replay waits for these instead of doing without. On the same machine, with the same
versions, every chunk comes out bit for bit as it was, where the model computes the same twice.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from worldpager.engine.config import PlayConfig
from worldpager.engine.errors import InputError
from worldpager.engine.mailbox import Command, DeleteBranch, GoTo, Mailbox, Pause, Recall, RestWhenIdle
from worldpager.engine.memory.prefetcher import WorkingSet
from worldpager.engine.session import action_log
from worldpager.engine.session.action_log import Event
from worldpager.engine.session.archive import Archive
from worldpager.engine.session.keeping import config_of
from worldpager.engine.session.memory import ChunkMemory, wait_for
from worldpager.engine.session.session import Session
from worldpager.engine.types import Action, BlockId

PATIENCE = 30.0
"""Longest wait for a logged block, in seconds."""


class Replay:
    """A log on its way. ``pictures`` are the JPEGs of the first time, by chunk."""

    def __init__(self, events: Sequence[Event], pictures: Mapping[int, bytes]) -> None:
        self._events = deque(event for event in events if event.kind == action_log.CHUNK or event.kind in REPLAYED)
        self.pictures = dict(pictures)
        self.chunks = sum(event.kind == action_log.CHUNK for event in self._events)
        self.used: tuple[int | None, ...] | None = None
        """Chunks whose blocks the chunk in the making saw; None when it isn't one of the log."""

    @property
    def over(self) -> bool:
        """Whether all has been played."""
        return not self._events

    def moves(self) -> list[Command]:
        """The commands that come before the next chunk."""
        found: list[Command] = []
        while self._events and self._events[0].kind != action_log.CHUNK:
            event = self._events.popleft()
            number = int(event.body["branch" if event.kind == action_log.DELETE else "chunk"])
            found.append(REPLAYED[event.kind](number))
        return found

    def action(self) -> Action | None:
        """The action of the next chunk; None at the end."""
        if not self._events or self._events[0].kind != action_log.CHUNK:
            return None
        body = self._events.popleft().body
        self.used = tuple(body["used"])
        return action_log.action_of(body)

    def same(self, session: Session) -> tuple[int, int]:
        """(chunks whose pictures are those of the first time to the byte, chunks compared)."""
        both = [chunk for chunk in self.pictures if session.picture(chunk) is not None]
        return sum(session.picture(chunk) == self.pictures[chunk] for chunk in both), len(both)


REPLAYED: dict[str, Callable[[int], Command]] = {
    action_log.STAND: GoTo, action_log.RECALL: Recall, action_log.DELETE: DeleteBranch, action_log.REBUILT: GoTo,
}  # fmt: skip


class ReplayMailbox(Mailbox):
    """Actions and moves come from the log; everything else, such as pause and quit, from whoever sends it."""

    def __init__(self, replay: Replay) -> None:
        super().__init__()
        self.replay = replay
        self._paused = self._ended = self._opened = False

    def commands(self) -> list[Command]:
        """What was sent, then what the log says before the next chunk."""
        found = super().commands()
        for command in found:
            if isinstance(command, Pause):
                self._paused = command.on
        self._opened = self._opened or self.frames.newest() is not None
        if self._opened and not self._paused:
            found += self.replay.moves()
            if self.replay.over and not self._ended:
                self._ended = True
                found.append(RestWhenIdle(True))
        return found

    def take_action(self) -> Action:
        """The log's next action; after its end what is really held."""
        if self.replay.over or self._paused:
            return super().take_action()
        return self.replay.action() or Action()

    def drop_action(self) -> None:
        """Forget what a person did; the log stays."""
        super().take_action()


class ReplayMemory:
    """A memory that waits for the blocks of the log. Everything else is that of ``memory``."""

    def __init__(self, memory: ChunkMemory, replay: Replay, session: Session, wait: Callable[[float], object] = time.sleep) -> None:
        self._memory, self._replay, self._session, self._wait = memory, replay, session, wait

    @property
    def plain(self) -> ChunkMemory:
        """The memory without the log, for what is no play."""
        return self._memory

    def __getattr__(self, name: str) -> Any:
        return getattr(self._memory, name)

    def take(self, wanted: Sequence[BlockId]) -> WorkingSet:
        """The logged blocks; those of ``wanted`` once the log is over."""
        used, self._replay.used = self._replay.used, None
        tree = self._session.tree
        chosen = list(wanted)
        if used is not None:
            chosen = [block for chunk in used if chunk in tree.chunks and (block := tree.chunks[chunk].block) is not None]
        wait_for(self._memory, chosen, PATIENCE, self._wait)
        return self._memory.take(chosen)


def open_replay(folder: Path, config: PlayConfig) -> tuple[Replay, PlayConfig]:
    """The log of the world in ``folder`` and the settings that it was played with. The world itself stays as it is.

    Raises `InputError` when it can't be read.
    """
    archive = Archive.open(folder)
    try:
        contents, events, pictures = archive.read(), [Event(*line) for line in archive.actions()], archive.pictures()
    except (ValueError, TypeError, KeyError) as error:
        raise InputError(f"The action log of {folder} is damaged: {error}.", "See `worldpager sessions verify`.") from error
    finally:
        archive.close()
    played = config_of(contents.about, config, folder)
    return Replay(events, pictures), replace(played, world=None, replay=folder, rest_when_idle=False)
