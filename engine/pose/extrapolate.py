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
FIRST_TURN = 12.0
"""Degrees a chunk that somebody who stands still may begin to turn by mouse."""


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
    """Actions that may follow ``action``, likely ones first; that it goes on is taken for granted."""
    turns = action.turn != 0.0 or bool(action.buttons & TURN)
    if action.idle:
        yield replace(action, turn=FIRST_TURN)
        yield replace(action, turn=-FIRST_TURN)
        yield Action(Button.FORWARD)
        yield Action(Button.BACK)
        return
    if turns and action.buttons & WALK:
        yield Action(action.buttons & ~TURN)
    elif turns:
        yield Action(action.buttons & ~TURN | Button.FORWARD)
    yield Action()
    if turns:
        yield replace(action, turn=2 * action.turn, look=2 * action.look)
        yield Action(reverse(action.buttons), -action.turn, -action.look)
    else:
        yield replace(action, turn=FIRST_TURN)
        yield replace(action, turn=-FIRST_TURN)
        yield Action(reverse(action.buttons))


def reverse(buttons: Button) -> Button:
    """Every held direction turned round."""
    turned = buttons & Button.RUN
    for one, other in OPPOSITES:
        turned |= other if buttons & one else Button.NONE
        turned |= one if buttons & other else Button.NONE
    return turned
