"""Futures of the camera: what the next chunk's poses may be, most likely first (WorldPager III.C has one future; here are several)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from worldpager.engine.pose.track import Stance, move
from worldpager.engine.types import Action, Button, Motion, Pose

WALK = Button.FORWARD | Button.BACK | Button.LEFT | Button.RIGHT
TURN = Button.TURN_LEFT | Button.TURN_RIGHT
OPPOSITES = (
    (Button.FORWARD, Button.BACK), (Button.LEFT, Button.RIGHT),
    (Button.TURN_LEFT, Button.TURN_RIGHT), (Button.LOOK_UP, Button.LOOK_DOWN),
)  # fmt: skip
VEER = 30.0
"""Degrees a chunk by which turning is likely to change. How far a person turns in the next quarter of a second is what can't be known:
on recorded human play, futures that differ in turning foretell 0.8 of the blocks, the present action alone 0.4."""


def futures(stance: Stance, action: Action, motion: Motion, frames: int) -> Iterator[tuple[Pose, ...]]:
    """Poses of the next chunk under each likely next action, after ``action`` led to ``stance``; last, the chunk after the next.

    Different actions may give the same poses (in front of a wall, say): telling futures apart is the caller's business, who knows what
    they retrieve.
    """
    keeps_on, poses = move(stance, action, motion, frames)
    yield poses
    for next_action in likely_actions(action):
        yield move(stance, next_action, motion, frames)[1]
    yield move(keeps_on, action, motion, frames)[1]


def likely_actions(action: Action) -> Iterator[Action]:
    """Actions that may follow ``action``, likely ones first, each once; that it goes on is taken for granted."""
    straight = replace(action, buttons=action.buttons & ~TURN, turn=0.0, look=0.0)
    found = (
        _veered(action, VEER),
        _veered(action, -VEER),
        straight if straight != action else Action(Button.FORWARD),
        _veered(action, 2 * VEER),
        _veered(action, -2 * VEER),
        Action(reverse(action.buttons), -action.turn, -action.look),
        Action() if action.buttons & WALK else Action(Button.FORWARD),
        _veered(action, 3 * VEER),
        _veered(action, -3 * VEER),
    )
    yield from dict.fromkeys(other for other in found if other != action)


def _veered(action: Action, degrees: float) -> Action:
    return replace(action, turn=action.turn + degrees)


def reverse(buttons: Button) -> Button:
    """Every held direction turned round."""
    turned = buttons & Button.RUN
    for one, other in OPPOSITES:
        turned |= other if buttons & one else Button.NONE
        turned |= one if buttons & other else Button.NONE
    return turned
