"""Where every remembered chunk was seen from, kept in arrays that grow by a row a chunk."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
from numpy.typing import NDArray

from worldpager.engine.telemetry.snapshot import FASTEST, TIER_NONE, BlockMap
from worldpager.engine.types import BlockId, Pose


class BlockRows:
    """Rows of the pose map. Rows that a map shows are never written again, so a map costs no copy of them."""

    def __init__(self) -> None:
        self._count = 0
        self._ids = np.zeros(64, np.int64)
        self._xy_yaw = np.zeros((64, 3), np.float32)

    def __len__(self) -> int:
        return self._count

    @property
    def ids(self) -> NDArray[np.int64]:
        """Ids of all rows, oldest first; not to be written."""
        return self._ids[: self._count]

    def add(self, block: BlockId, pose: Pose) -> None:
        """One more row."""
        n = self._count
        if n == len(self._ids):
            self._ids = np.concatenate([self._ids, np.zeros_like(self._ids)])
            self._xy_yaw = np.concatenate([self._xy_yaw, np.zeros_like(self._xy_yaw)])
        self._ids[n], self._xy_yaw[n] = block, (pose.x, pose.y, pose.yaw)
        self._count = n + 1

    def drop(self, blocks: Iterable[BlockId]) -> None:
        """Remove rows; the rest moves into new arrays."""
        keep = ~np.isin(self.ids, np.fromiter(blocks, np.int64))
        ids, xy_yaw = self.ids[keep], self._xy_yaw[: self._count][keep]
        self._count = len(ids)
        self._ids, self._xy_yaw = np.zeros(max(64, 2 * self._count), np.int64), np.zeros((max(64, 2 * self._count), 3), np.float32)
        self._ids[: self._count], self._xy_yaw[: self._count] = ids, xy_yaw

    def map(self, copies_of: Callable[[NDArray[np.int64]], NDArray[np.uint8]]) -> tuple[BlockMap, list[BlockId]]:
        """The pose map by the copies that ``copies_of`` gives, and the blocks of which there is none any more."""
        copies = copies_of(self.ids)
        tiers = FASTEST[copies]
        lost = [BlockId(int(block)) for block in self.ids[tiers == TIER_NONE]]
        return BlockMap(self.ids, self._xy_yaw[: self._count], tiers, copies), lost
