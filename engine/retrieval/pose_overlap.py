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

    def select(self, poses: Sequence[Pose], k: int, exclude: Iterable[BlockId] = (), *, under_way: Sequence[Pose] = ()) -> list[BlockId]:
        """At most ``k`` blocks for a chunk at ``poses``, best first. ``exclude`` and ``under_way`` count as covered."""
        probe = _Probe(poses[len(poses) // 2], self._view)
        known = self._eyes[:, :, : len(self._ids)]
        near = probe.near(known)
        banned = np.array([self._row[b] for b in exclude if b in self._row], np.intp)
        covered = probe.score(known.take(banned[near[banned]], axis=2)).max(axis=1, initial=0)
        if under_way:
            covered = np.maximum(covered, probe.score(_eyes(under_way)[:, :, None])[:, 0])
        near[banned] = False
        rows = np.flatnonzero(near)
        if len(rows) > CANDIDATES:
            first_look = probe.score(known.take(rows, axis=2), COARSE).sum(axis=0)
            rows = np.sort(rows[np.argpartition(first_look, -CANDIDATES)[-CANDIDATES:]])
        return [self._ids[row] for row in rows[_cover(probe.score(known.take(rows, axis=2)), covered, k)]]


class _Probe:
    """Points spread over the view from one pose, and how well other cameras saw them."""

    def __init__(self, eye: Pose, view: FieldOfView) -> None:
        azimuth = np.float32(eye.yaw) + np.array(AZIMUTHS, np.float32) * np.float32(view.horizontal / 2)
        reach = np.array(DISTANCES, np.float32) * np.float32(view.sight)
        self._own = np.tile(reach, len(azimuth))
        self._dx, self._dy = np.outer(np.cos(azimuth), reach).ravel(), np.outer(np.sin(azimuth), reach).ravel()
        self._x, self._y = np.float32(eye.x), np.float32(eye.y)
        half = view.horizontal / 2
        self._edge, self._full = np.float32(np.cos(half * 1.05)), np.float32(np.cos(half * 0.8))
        self._far = np.float32((REACH * view.sight) ** 2)

    def near(self, eyes: Floats) -> NDArray[np.bool_]:
        """[n]: whether the last of the poses in ``eyes`` [4, views, n] is near enough to matter."""
        dx, dy = eyes[0, -1] - self._x, eyes[1, -1] - self._y
        return np.asarray(dx * dx + dy * dy < self._far)

    def score(self, eyes: Floats, points: Sequence[int] | slice = slice(None)) -> Floats:
        """[points, n] from 0 to 1: how well the better of a chunk's poses in ``eyes`` [4, views, n] saw each point."""
        dx, dy, own = (column[points, None, None] for column in (self._dx, self._dy, self._own))
        x, y, cos, sin = eyes
        px, py = dx - (x - self._x), dy - (y - self._y)  # from eye to point, [points, views, n]
        distance = np.sqrt(px * px + py * py) + np.float32(1e-3)
        ahead = (px * cos + py * sin) / distance
        inside = ((ahead - self._edge) / (self._full - self._edge)).clip(0, 1)
        agree = ((px * dx + py * dy) / (distance * own)).clip(0, 1)
        ratio = distance / own
        score = inside * agree * np.sqrt(np.minimum(ratio, 1 / ratio))
        return np.asarray(score.max(axis=1), np.float32)


def _eyes(poses: Sequence[Pose]) -> Floats:
    """[4, views] of a chunk: x, y and direction of its first and last pose."""
    kept = np.array([(pose.x, pose.y, pose.yaw) for pose in (poses[0], poses[-1])], np.float32).T
    return np.stack([kept[0], kept[1], np.cos(kept[2]), np.sin(kept[2])])


def _cover(scores: Floats, covered: Floats, k: int) -> list[int]:
    """At most ``k`` columns of ``scores`` [points, n], each the one that adds most to what is ``covered`` [points] by then."""
    picked: list[int] = []
    while len(picked) < min(k, scores.shape[1]):
        gain = np.maximum(scores - covered[:, None], 0).sum(axis=0)
        best = int(gain.argmax())
        if gain[best] < LEAST_GAIN:
            break
        picked.append(best)
        covered = np.maximum(covered, scores[:, best])
    return picked
