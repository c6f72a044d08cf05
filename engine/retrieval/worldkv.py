"""Retrieval as WorldKV does it: the past chunks whose cameras were nearest in place and direction.

A chunk's camera is the mean of its frames' places and the mean of their rotation matrices, number by number. The distance of two cameras is
half the squared distance of their places plus half the angle between their rotations, each divided by the largest of its kind among the
candidates, so what is near depends on what is far. There is no threshold: as many are taken as there are, up to k. Published for
LingBot-World and Matrix-Game 2.0 (arXiv 2605.22718); the baseline for pose overlap.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from worldpager.engine.types import BlockId, Pose

Floats = NDArray[np.float64]


class WorldKv:
    """The policy ``worldkv``. One writer (the generator thread)."""

    def __init__(self) -> None:
        self._ids: list[BlockId] = []
        self._row: dict[BlockId, int] = {}
        self._cameras: Floats = np.zeros((64, 3, 4))

    def __len__(self) -> int:
        return len(self._ids)

    def add(self, block: BlockId, poses: Sequence[Pose]) -> None:
        """Remember that ``block`` was seen from ``poses``."""
        self.add_cameras(block, camera_matrices(poses))

    def add_cameras(self, block: BlockId, cameras: Floats) -> None:
        """The same for camera-to-world matrices [n, 3 or 4, 4], which may roll."""
        n = len(self._ids)
        if n == len(self._cameras):
            self._cameras = np.concatenate([self._cameras, np.zeros_like(self._cameras)])
        self._cameras[n] = cameras[:, :3].mean(axis=0)
        self._row[block] = n
        self._ids.append(block)

    def drop(self, blocks: Iterable[BlockId]) -> None:
        """Forget ``blocks``; unknown ones are ignored."""
        gone = {self._row[b] for b in blocks if b in self._row}
        if not gone:
            return
        keep = [i for i in range(len(self._ids)) if i not in gone]
        self._cameras[: len(keep)] = self._cameras[keep]
        self._ids = [self._ids[i] for i in keep]
        self._row = {b: i for i, b in enumerate(self._ids)}

    def clear(self) -> None:
        """Forget everything."""
        self._ids.clear()
        self._row.clear()

    def select(self, poses: Sequence[Pose], k: int, exclude: Iterable[BlockId] = (), *, under_way: Sequence[Pose] = ()) -> list[BlockId]:
        """The ``k`` blocks whose cameras are nearest to ``poses``, the nearest first. What is ``under_way`` plays no part."""
        return self.nearest(camera_matrices(poses), k, exclude)

    def select_each(
        self, futures: Sequence[Sequence[Pose]], k: int, exclude: Iterable[BlockId] = (), *, under_way: Sequence[Pose] = ()
    ) -> list[list[BlockId]]:
        """The same for every future."""
        exclude = tuple(exclude)
        return [self.select(poses, k, exclude) for poses in futures]

    def nearest(self, cameras: Floats, k: int, exclude: Iterable[BlockId] = ()) -> list[BlockId]:
        """`select` for camera-to-world matrices [n, 3 or 4, 4]."""
        banned = {self._row[b] for b in exclude if b in self._row}
        rows = np.array([i for i in range(len(self._ids)) if i not in banned], np.intp)
        far = distances(self._cameras[rows], cameras[:, :3].mean(axis=0))
        return [self._ids[row] for row in rows[np.argsort(far, kind="stable")[:k]]]


def distances(candidates: Floats, camera: Floats) -> Floats:
    """[n] from 0 to 1 between mean cameras ``candidates`` [n, 3, 4] and ``camera`` [3, 4]."""
    if not len(candidates):
        return np.zeros(0)
    moved = ((candidates[:, :, 3] - camera[:, 3]) ** 2).sum(axis=1)
    traces = np.einsum("nij,ij->n", candidates[:, :, :3], camera[:, :3])
    turned = np.arccos(((traces - 1) / 2).clip(-1, 1))
    return np.asarray((_shares(moved) + _shares(turned)) / 2)


def _shares(values: Floats) -> Floats:
    """``values`` divided by the largest, unless that is 0."""
    largest = values.max()
    return values / largest if largest > 0 else values


def camera_matrices(poses: Sequence[Pose]) -> Floats:
    """Camera to world, [n, 3, 4]: columns right, down, forward, place."""
    x, y, z, yaw, pitch = np.array(poses, np.float64).T
    cos, sin, level, up, none = np.cos(yaw), np.sin(yaw), np.cos(pitch), np.sin(pitch), np.zeros(len(poses))
    columns = [(sin, -cos, none), (up * cos, up * sin, -level), (level * cos, level * sin, up), (x, y, z)]
    return np.asarray(np.array(columns).transpose(2, 1, 0))
