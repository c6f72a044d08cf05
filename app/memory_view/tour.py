"""The scripted tour of a demo: the same walk in each mode of the comparison, world after world, for ever.

Model time drives it, as it drives every script: with each new chunk the next action is due. It holds nothing but where it is, so it can't
grow.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from worldpager.app.memory_view.modes import MODES
from worldpager.app.words import later
from worldpager.engine.mailbox import Command, NewWorld, PublishedChunk, UsePolicy
from worldpager.engine.pose.script import Leg, Script
from worldpager.engine.types import Action, Button

SEEDS = (7, 12, 23, 31, 48)
"""Worlds of the tour, after the one that it begins with."""


@dataclass(frozen=True, slots=True)
class Scene:
    """A stretch of the walk and what to say meanwhile."""

    words: str
    legs: tuple[Leg, ...]

    @property
    def seconds(self) -> float:
        """Model time that it takes."""
        return sum(leg.seconds for leg in self.legs)


WALK = (
    Scene(later("Looking around, once"), (Leg(1.0), Leg(8.0, turn=45))),
    Scene(later("Away and straight back: is it still the same?"), (Leg(2.0, turn=45), Leg(0.5), Leg(2.0, turn=-45), Leg(0.5))),
    Scene(later("Walking off, into land that nobody has seen"), (Leg(4.0, Button.FORWARD), Leg(6.0, turn=60), Leg(2.0, Button.FORWARD))),
    Scene(later("Turning on the spot: main memory fills, old blocks move to disk"), (Leg(6.0, turn=-60), Leg(1.0))),
    Scene(later("Back to where it began"), (Leg(6.0, Button.BACK), Leg(0.5))),
    Scene(later("Looking around again: does the world remember?"), (Leg(8.0, turn=45), Leg(1.5))),
)
"""It ends where it began, whatever the seed: turns are exact, and the way back is as long as the way out."""


class Tour:
    """Asks what to do by `next`. ``seed`` is the first world; ``seconds`` the model time of a chunk."""

    def __init__(self, seed: int, seconds: float, walk: Sequence[Scene] = WALK) -> None:
        self._seeds = (seed, *(other for other in SEEDS if other != seed))
        self._seconds, self._walk = seconds, tuple(walk)
        self.act = -1
        """Acts begun; each plays the walk in one mode."""
        self._script: Script | None = None
        self._played = 0.0
        self._fed = -1
        self._left: PublishedChunk | None = None
        self._opening = True

    @property
    def seed(self) -> int:
        """The world of the present act."""
        return self._seeds[max(0, self.act) // len(MODES) % len(self._seeds)]

    @property
    def cycle(self) -> int:
        """How often all worlds have been walked in all modes."""
        return max(0, self.act) // (len(MODES) * len(self._seeds))

    @property
    def words(self) -> str:
        """What to say now; empty between two acts."""
        if self._script is None:
            return ""
        at = 0.0
        for scene in self._walk:
            at += scene.seconds
            if self._played < at:
                return scene.words
        return self._walk[-1].words

    def next(self, chunk: PublishedChunk | None) -> tuple[Action | None, list[Command]]:
        """The action to put and the commands to send now that ``chunk`` is the newest."""
        if chunk is None or chunk.index == self._fed:
            return None, []
        if self.act < 0:
            return None, self.begin_act(chunk)
        if self._opening and not self._has_begun(chunk):
            return None, []
        self._opening, self._fed = False, chunk.index
        if self._script is None:
            self._script = Script([leg for scene in self._walk for leg in scene.legs])
        if self._played >= sum(scene.seconds for scene in self._walk):
            return Action(), self.begin_act(chunk)
        self._played += self._seconds
        return self._script.next(self._seconds), []

    def begin_act(self, left: PublishedChunk | None) -> list[Command]:
        """The commands that begin the next act: its mode, and a world with an empty memory. ``left`` is the last chunk of the one
        before.
        """
        self.act += 1
        self._script, self._played, self._left, self._opening = None, 0.0, left, True
        return [UsePolicy(MODES[self.act % len(MODES)].policy), NewWorld(self.seed)]

    def _has_begun(self, chunk: PublishedChunk) -> bool:
        """Whether ``chunk`` shows the act's own world, its look-around done. The mode changes with the world, unless somebody chose it
        before.
        """
        snapshot, left = chunk.snapshot, self._left
        if snapshot.opening or snapshot.seed != self.seed or snapshot.policy != MODES[self.act % len(MODES)].policy:
            return False
        return left is None or left.snapshot.policy != snapshot.policy or snapshot.chunk <= left.snapshot.chunk
