"""Retrieval by what cameras saw: bring back the chunks that together cover most of the new view.

Probe points are spread over the new view (five azimuths, three distances). A past chunk scores a point by whether it saw it, from how
similar a direction and from how similar a distance; chunks are then picked greedily by what they add to the window, the sink and each other
(a set cover over fields of view, as in WorldMem). Poses are known before any compute, so this needs nothing from the model. Walls are not
known: a chunk behind a wall counts as if it had looked through it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from worldpager.engine.types import BlockId, FieldOfView, Pose

Floats = NDArray[np.float32]

AZIMUTHS = (-0.8, -0.4, 0.0, 0.4, 0.8)
"""Shares of half the field of view."""
DISTANCES = (0.08, 0.2, 0.45)
"""Shares of the sight distance."""
COARSE = [5, 7, 9]
"""Probe points of the first look when many chunks are near: left, middle and right at the middle distance."""
CANDIDATES = 256
"""Chunks that a first look leaves for the full score. 3000 chunks within sight of each other are selected from in under 2 ms so."""
LEAST_GAIN = 0.02
VIEWS = 2
"""Poses kept of a chunk: its first and its last."""
SAME_PLACE = 0.1
"""Sight distances within which two cameras show much the same."""
REACH = 1.5
"""Sight distances within which a past chunk can matter."""


class PoseOverlap:
    """The pose-overlap policy. One writer (the generator thread)."""

    def __init__(self, view: FieldOfView) -> None:
        self._view = view
        self._ids: list[BlockId] = []
        self._row: dict[BlockId, int] = {}
        self._eyes: Floats = np.zeros((4, VIEWS, 64), np.float32)  # x, y, cos yaw, sin yaw

    def __len__(self) -> int:
        return len(self._ids)

    def add(self, block: BlockId, poses: Sequence[Pose]) -> None:
        """Remember that ``block`` was seen from ``poses``."""
        n = len(self._ids)
        if n == self._eyes.shape[2]:
            self._eyes = np.concatenate([self._eyes, np.zeros_like(self._eyes)], axis=2)
        self._eyes[:, :, n] = _eyes(poses)
        self._row[block] = n
        self._ids.append(block)

    def drop(self, blocks: Iterable[BlockId]) -> None:
        """Forget ``blocks``; unknown ones are ignored."""
        gone = {self._row[b] for b in blocks if b in self._row}
        if not gone:
            return
        keep = [i for i in range(len(self._ids)) if i not in gone]
        self._eyes[:, :, : len(keep)] = self._eyes[:, :, keep]
        self._ids = [self._ids[i] for i in keep]
        self._row = {b: i for i, b in enumerate(self._ids)}

    def clear(self) -> None:
        """Forget everything."""
        self._ids.clear()
        self._row.clear()

    def least_useful(self, blocks: Sequence[BlockId]) -> list[BlockId]:
        """``blocks``, those first whose view others show best: the newer ones in full, older ones half. Unknown ones come before all.

        For a memory that must give some up. Compares every one with all blocks, so ask for few at once.
        """
        known = [block for block in blocks if block in self._row]
        rows = np.array([self._row[block] for block in known], np.int64)
        eyes = self._eyes[:, 0, : len(self._ids)]
        x, y, cos, sin = (axis[rows, None] - axis[None] if n < 2 else axis[rows, None] * axis[None] for n, axis in enumerate(eyes))
        near = np.exp(-(x**2 + y**2) / (SAME_PLACE * self._view.sight) ** 2) * np.maximum(0.0, cos + sin)
        age = np.arange(len(self._ids))[None] - rows[:, None]
        shown = (near * np.where(age > 0, 1.0, np.where(age < 0, 0.5, 0.0))).sum(axis=1)
        ranked = sorted(zip(-shown, known, strict=True))
        return [block for block in blocks if block not in self._row] + [block for _, block in ranked]

    def select(self, poses: Sequence[Pose], k: int, exclude: Iterable[BlockId] = (), *, under_way: Sequence[Pose] = ()) -> list[BlockId]:
        """At most ``k`` blocks for a chunk at ``poses``, best first. ``exclude`` and ``under_way`` count as covered."""
        return self.select_each([poses], k, exclude, under_way=under_way)[0]

    def select_each(
        self, futures: Sequence[Sequence[Pose]], k: int, exclude: Iterable[BlockId] = (), *, under_way: Sequence[Pose] = ()
    ) -> list[list[BlockId]]:
        """`select` for each of several chunks near each other, in one go."""
        exclude = tuple(exclude)
        probe = _Probe([poses[len(poses) // 2] for poses in futures], self._view)
        known = self._eyes[:, :, : len(self._ids)]
        near = probe.near(known)
        banned = np.array([self._row[b] for b in exclude if b in self._row], np.intp)
        covered = probe.score(known.take(banned[near[banned]], axis=2)).max(axis=2, initial=0)
        if under_way:
            covered = np.maximum(covered, probe.score(_eyes(under_way)[:, :, None])[:, :, 0])
        near[banned] = False
        rows = np.flatnonzero(near)
        if len(rows) > CANDIDATES:
            if len(futures) > 1:  # each has its own candidates
                return [self.select(poses, k, exclude, under_way=under_way) for poses in futures]
            first_look = probe.score(known.take(rows, axis=2), COARSE)[0].sum(axis=0)
            rows = np.sort(rows[np.argpartition(first_look, -CANDIDATES)[-CANDIDATES:]])
        picked = _cover(probe.score(known.take(rows, axis=2)), covered, k)
        return [[self._ids[rows[best]] for best in column] for column in picked]


class _Probe:
    """Points spread over the views from some poses, and how well other cameras saw them. Arrays [futures, points]."""

    def __init__(self, eyes: Sequence[Pose], view: FieldOfView) -> None:
        x, y, yaw = np.array([(eye.x, eye.y, eye.yaw) for eye in eyes]).T[:, :, None]
        self._x, self._y = np.float32(x[0, 0]), np.float32(y[0, 0])
        azimuth = yaw.astype(np.float32) + np.repeat(np.array(AZIMUTHS, np.float32) * np.float32(view.horizontal / 2), len(DISTANCES))
        self._own = np.tile(np.array(DISTANCES, np.float32) * np.float32(view.sight), (len(eyes), len(AZIMUTHS)))
        self._dx, self._dy = np.cos(azimuth) * self._own, np.sin(azimuth) * self._own  # from its own eye to each point
        self._qx, self._qy = self._dx + (x - x[0]).astype(np.float32), self._dy + (y - y[0]).astype(np.float32)  # from the first eye
        half = view.horizontal / 2
        self._edge, self._full = np.float32(np.cos(half * 1.05)), np.float32(np.cos(half * 0.8))
        self._far = np.float32((REACH * view.sight) ** 2)

    def near(self, eyes: Floats) -> NDArray[np.bool_]:
        """[n]: whether the last of the poses in ``eyes`` [4, views, n] is near enough to the first future to matter."""
        dx, dy = eyes[0, -1] - self._x, eyes[1, -1] - self._y
        return np.asarray(dx * dx + dy * dy < self._far)

    def score(self, eyes: Floats, points: Sequence[int] | slice = slice(None)) -> Floats:
        """[futures, points, n] from 0 to 1: how well the better of a chunk's poses in ``eyes`` [4, views, n] saw each point."""
        columns = (self._dx, self._dy, self._qx, self._qy, self._own)
        dx, dy, qx, qy, own = (column[:, points, None, None] for column in columns)
        x, y, cos, sin = eyes
        px, py = qx - (x - self._x), qy - (y - self._y)  # from the chunk's eye to each point, [futures, points, views, n]
        distance = np.sqrt(px * px + py * py) + np.float32(1e-3)
        ahead = (px * cos + py * sin) / distance
        inside = ((ahead - self._edge) / (self._full - self._edge)).clip(0, 1)
        agree = ((px * dx + py * dy) / (distance * own)).clip(0, 1)
        ratio = distance / own
        score = inside * agree * np.sqrt(np.minimum(ratio, 1 / ratio))
        return np.asarray(score.max(axis=2), np.float32)


def _eyes(poses: Sequence[Pose]) -> Floats:
    """[4, views] of a chunk: x, y and direction of its first and last pose."""
    kept = np.array([(pose.x, pose.y, pose.yaw) for pose in (poses[0], poses[-1])], np.float32).T
    return np.stack([kept[0], kept[1], np.cos(kept[2]), np.sin(kept[2])])


def _cover(scores: Floats, covered: Floats, k: int) -> list[list[int]]:
    """At most ``k`` columns of ``scores`` [futures, points, n] per future, each the one that adds most to what is ``covered`` by then.

    ``covered`` [futures, points].
    """
    picked: list[list[int]] = [[] for _ in scores]
    open_ones = np.arange(len(scores))
    for _ in range(min(k, scores.shape[2])):
        gain = np.maximum(scores[open_ones] - covered[open_ones, :, None], 0).sum(axis=1)
        best = gain.argmax(axis=1)
        enough = gain[np.arange(len(best)), best] >= LEAST_GAIN
        open_ones, best = open_ones[enough], best[enough]
        for future, column in zip(open_ones, best, strict=True):
            picked[future].append(int(column))
        covered[open_ones] = np.maximum(covered[open_ones], scores[open_ones, :, best])
    return picked
