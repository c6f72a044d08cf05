"""Feeds a script or a recording to the street, one action a chunk, until a person takes over."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from worldpager.engine.mailbox import PublishedChunk
from worldpager.engine.pose.source import ActionSource
from worldpager.engine.types import Action


class ScriptedInput:
    """Model time drives ``source``: whenever a new chunk is out, the action for the next ``seconds`` is due."""

    def __init__(self, source: ActionSource, seconds: float, clock: Callable[[], float]) -> None:
        self._source, self._seconds, self._clock = source, seconds, clock
        self._fed = -1
        self.over = False
        """The script has ended."""

    def next(self, chunk: PublishedChunk | None) -> Action | None:
        """The action to put now that ``chunk`` is the newest; None while it is not yet time. The last one lets go of everything."""
        if self.over or chunk is None or chunk.snapshot.opening or chunk.snapshot.paused or chunk.index == self._fed:
            return None
        self._fed = chunk.index
        action = self._source.next(self._seconds)
        if action is None:
            self.over = True
            return Action(stamp=self._clock())
        return replace(action, stamp=self._clock())
