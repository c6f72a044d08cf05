"""Scripted tours: actions by model time, for demos and tests without a person."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from worldpager.engine.types import Action, Button


@dataclass(frozen=True, slots=True)
class Leg:
    """``seconds`` of model time with ``buttons`` held, turning and looking by so many degrees a second (left and up positive)."""

    seconds: float
    buttons: Button = Button.NONE
    turn: float = 0.0
    look: float = 0.0


LOOK_AND_BACK = (Leg(2.0, turn=45), Leg(0.5), Leg(2.0, turn=-45))
TURN_ROUND = (Leg(4.0, turn=45),)
SCRIPTS: dict[str, tuple[Leg, ...]] = {
    "spin": (Leg(8.0, turn=45),),
    "walk-back": (Leg(3.0, Button.FORWARD), *TURN_ROUND, Leg(3.0, Button.FORWARD), *TURN_ROUND),
    "tour": (
        Leg(1.0), *LOOK_AND_BACK,
        Leg(3.0, Button.FORWARD), Leg(2.0, Button.FORWARD, turn=20), Leg(1.5, turn=-50), Leg(2.0, Button.FORWARD),
        *LOOK_AND_BACK, Leg(1.0, look=8), Leg(1.0, look=-8),
        *TURN_ROUND, Leg(2.0, Button.FORWARD), Leg(1.5, turn=50), Leg(2.0, Button.FORWARD, turn=-20), Leg(3.0, Button.FORWARD),
        *TURN_ROUND, Leg(4.0, Button.FORWARD, turn=-25), Leg(2.0, Button.LEFT), Leg(2.0, Button.FORWARD | Button.RUN),
    ),
}  # fmt: skip
"""``tour`` looks away and back, walks off and returns, then walks on into land that nobody has seen; then again from there."""


class Script:
    """Plays ``legs`` over and over."""

    def __init__(self, legs: Sequence[Leg]) -> None:
        self._legs = tuple(legs)
        self._length = sum(leg.seconds for leg in legs)
        self._now = 0.0

    def next(self, seconds: float) -> Action:
        """The action for the next ``seconds``: buttons as in their middle, turning summed over them exactly."""
        start, self._now = self._now, self._now + seconds
        turn = look = 0.0
        for leg, inside in self._overlaps(start, self._now):
            turn += leg.turn * inside
            look += leg.look * inside
        return Action(self._leg_at((start + self._now) / 2).buttons, turn, look)

    def _leg_at(self, when: float) -> Leg:
        when %= self._length
        for leg in self._legs:
            if when < leg.seconds:
                return leg
            when -= leg.seconds
        return self._legs[-1]

    def _overlaps(self, start: float, end: float) -> list[tuple[Leg, float]]:
        """Legs between two times and the seconds of each that lie inside."""
        found = []
        began = start // self._length * self._length
        while began < end:
            for leg in self._legs:
                found.append((leg, max(0.0, min(end, began + leg.seconds) - max(start, began))))
                began += leg.seconds
        return found
