"""From held controls to the model's action rows, and to the camera pose that they stand for.

The model knows actions, the memory knows poses. The pose track moves first; what it did in each frame is then told to the model as rows, so
that both always agree, wherever a pose came from. Row r acts on the step from video frame r to r + 1: a chunk's rows are the steps that
lead to its own frames. Only the runner's events have no pose that could tell them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from worldpager.engine.models.matrix_game2.options import MatrixGameOptions
from worldpager.engine.types import Action, Button, Motion, Pose

TURN_UNIT = 0.1
"""Mouse units a frame of a held turn key, and the most that is ever told: what the published demos use."""
PITCH_LIMIT = math.radians(45)
PRESSED = 0.4
"""Share of a full step along an axis that counts as its key held; diagonals have 0.71."""
RUNNER_TURN = math.radians(90) / 12
"""Radians a frame of the runner's turns: a right angle a chunk."""
RUNNER_EVENTS = (
    (Button.LOOK_UP, 1), (Button.FORWARD, 1), (Button.LOOK_DOWN, 2), (Button.BACK, 2), (Button.TURN_LEFT, 3), (Button.TURN_RIGHT, 4),
    (Button.LEFT, 5), (Button.RIGHT, 6),
)  # fmt: skip
"""Which of [still, jump, slide, turn left, turn right, left side, right side] a control asks for; the first held one counts."""


MEANINGS: dict[int, tuple[tuple[tuple[str, ...], str], ...]] = {
    4: (),
    2: ((("forward", "back"), "drive"), (("left", "right"), "steer")),
    7: ((("forward",), "jump"), (("back",), "slide"), (("turn_left", "turn_right"), "turn"), (("left", "right"), "step aside")),
}
"""What a variant's controls do where it isn't walking and looking, by its number of keys."""


@dataclass(frozen=True, slots=True)
class Rows:
    """A chunk's action rows: ``mouse`` [rows, 2] (pitch, yaw; up and right positive) or None, ``keyboard`` [rows, keys]."""

    mouse: Tensor | None
    keyboard: Tensor


class Controls:
    """Of one variant: ``keys`` 4 (W S A D), 2 (W S) or 7 (the runner's events)."""

    def __init__(self, keys: int, options: MatrixGameOptions) -> None:
        self.keys, self._unit = keys, math.radians(options.gain)
        self._walk, self._event = options.walk, 0
        turn = RUNNER_TURN if keys == 7 else TURN_UNIT * self._unit
        self.motion = Motion(
            walk=options.walk, run=options.walk, turn=turn, look=turn, pitch_limit=0.0 if keys == 7 else PITCH_LIMIT, eye_height=0.0,
            turn_limit=turn, heading=0.5,
        )  # fmt: skip

    def heed(self, action: Action) -> Action:
        """What this variant makes of ``action``: the pose track follows the answer."""
        held = action.buttons
        if self.keys == 2:  # a car: left and right steer
            held = _swap(_swap(held, Button.LEFT, Button.TURN_LEFT), Button.RIGHT, Button.TURN_RIGHT)
        elif self.keys == 7:
            button, self._event = next(((button, event) for button, event in RUNNER_EVENTS if held & button), (Button.NONE, 0))
            sideways = button & (Button.TURN_LEFT | Button.TURN_RIGHT | Button.LEFT | Button.RIGHT)
            return Action(Button.FORWARD | sideways, stamp=action.stamp)
        return Action(held, action.turn, action.look, action.stamp)

    def rows(self, before: Pose, poses: Sequence[Pose]) -> Rows:
        """The rows that lead from ``before`` through ``poses``, one each."""
        steps = [_step(a, b) for a, b in zip((before, *poses[:-1]), poses, strict=True)]
        if self.keys == 7:
            keyboard = torch.zeros(len(steps), 7)
            keyboard[:, self._event] = 1
            return Rows(None, keyboard)
        mouse = torch.tensor([(look, -turn) for turn, look, _, _ in steps], dtype=torch.float32) / self._unit
        least = PRESSED * self._walk
        held = [(f > least, f < -least, left > least, left < -least) for _, _, f, left in steps]
        return Rows(mouse, torch.tensor(held, dtype=torch.float32)[:, : self.keys])


def _swap(held: Button, asked: Button, instead: Button) -> Button:
    return (held & ~asked) | instead if held & asked else held


def _step(a: Pose, b: Pose) -> tuple[float, float, float, float]:
    """(turn to the left, look up, forward, left) from ``a`` to ``b``; the way lies along the mean of both yaws."""
    turn = (b.yaw - a.yaw + math.pi) % (2 * math.pi) - math.pi
    along = a.yaw + turn / 2
    dx, dy = b.x - a.x, b.y - a.y
    return turn, b.pitch - a.pitch, dx * math.cos(along) + dy * math.sin(along), dy * math.cos(along) - dx * math.sin(along)
