"""Seen again: has the place changed? Small pictures of where the camera has been, and the first of them from here."""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from worldpager.engine.types import Pose

Picture = NDArray[np.uint8]
"""RGB, [height, width, 3]."""

KEPT = 900
NEAR = 0.12
"""Cells, and `TURNED` radians: two poses no farther apart show the same."""
TURNED = math.radians(2.5)
LEAST_CHUNKS = 12
"""Chunks that must lie between, so that the place has left every window."""
LINES = 80


@dataclass(frozen=True, slots=True)
class Sight:
    """What was seen from ``pose`` with chunk number ``chunk``, whose block is ``block``."""

    pose: Pose
    picture: Picture
    chunk: int
    block: int


@dataclass(frozen=True, slots=True)
class Revisit:
    """A place seen again. ``decibels`` say how alike the two pictures are: the peak signal to noise ratio."""

    then: Sight
    now: Sight
    decibels: float


class Sights:
    """Pictures of one world by pose; the last `KEPT` are remembered."""

    def __init__(self) -> None:
        self._sights: deque[Sight] = deque(maxlen=KEPT)

    def __len__(self) -> int:
        return len(self._sights)

    def clear(self) -> None:
        """Forget everything."""
        self._sights.clear()

    def look(self, pose: Pose, frame: Picture, chunk: int, block: int) -> Revisit | None:
        """Remember what is seen now. Returns the comparison with the first time that it was seen, if there was one."""
        now = Sight(pose, small(frame), chunk, block)
        then = self._first_from(pose, chunk)
        self._sights.append(now)
        return None if then is None else Revisit(then, now, likeness(then.picture, now.picture))

    def _first_from(self, pose: Pose, chunk: int) -> Sight | None:
        if not self._sights:
            return None
        table = np.array([(*sight.pose, sight.chunk) for sight in self._sights])
        dx, dy = table[:, 0] - pose.x, table[:, 1] - pose.y
        turn = np.abs(np.remainder(table[:, 3] - pose.yaw + math.pi, 2 * math.pi) - math.pi)
        same = (np.hypot(dx, dy) < NEAR) & (turn < TURNED) & (np.abs(table[:, 4] - pose.pitch) < TURNED)
        same &= chunk - table[:, 5] >= LEAST_CHUNKS
        found = np.flatnonzero(same)
        return self._sights[int(found[0])] if len(found) else None


def small(frame: Picture) -> Picture:
    """``frame`` with about `LINES` lines: every so many pixels averaged."""
    step = max(1, frame.shape[0] // LINES)
    high, wide = frame.shape[0] // step * step, frame.shape[1] // step * step
    if step == 1:
        return frame.copy()
    blocks = frame[:high, :wide].reshape(high // step, step, wide // step, step, 3)
    shrunk: Picture = blocks.mean(axis=(1, 3)).astype(np.uint8)
    return shrunk


def likeness(one: Picture, other: Picture) -> float:
    """Peak signal to noise ratio in decibels of two pictures of one size; 60 at most. Pixels are averaged in fours first."""
    high, wide = one.shape[0] // 2 * 2, one.shape[1] // 2 * 2
    a, b = (p[:high, :wide].reshape(high // 2, 2, wide // 2, 2, 3).mean(axis=(1, 3)) for p in (one, other))
    error = float(((a - b) ** 2).mean())
    return min(60.0, 10 * math.log10(255**2 / error)) if error > 0 else 60.0
