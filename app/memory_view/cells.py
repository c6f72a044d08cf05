"""Which cell of a tier's map a block has, so that the map fills, moves and drains without jumping, and what has just moved where."""

from __future__ import annotations

import heapq
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from worldpager.engine.telemetry.snapshot import COPY_DEVICE, COPY_DISK, COPY_HOST, TIER_NAMES, BlockMap, Snapshot

FREE, HELD, ONLY_COPY, SECOND_COPY, IN_USE, STALE, ARRIVED = range(7)
"""Kinds of cells. `ONLY_COPY`: in main memory and not yet on disk. `SECOND_COPY`: a faster tier holds the block, too."""
BITS = (COPY_DEVICE, COPY_HOST, COPY_DISK)
MOST_MOVES = 32
"""Moves told of one chunk; a crowd sees no more, and a world's opening makes hundreds."""


@dataclass(frozen=True, slots=True)
class Move:
    """A block has got a copy in ``tier`` at ``cell``; it came from ``origin`` (tier, cell), or, None, from the model."""

    tier: int
    cell: int
    origin: tuple[int, int] | None


class TierCells:
    """The cells of one tier. A block keeps its cell while it stays; the lowest free one is given next."""

    def __init__(self) -> None:
        self.cell_of: dict[int, int] = {}
        self._free: list[int] = []
        self._next = 0

    def update(self, present: set[int]) -> tuple[list[int], list[int]]:
        """Take in which blocks the tier holds. Returns those that came and those that went."""
        gone = [block for block in self.cell_of if block not in present]
        for block in gone:
            heapq.heappush(self._free, self.cell_of.pop(block))
        came = sorted(present - self.cell_of.keys())
        for block in came:
            self.cell_of[block] = heapq.heappop(self._free) if self._free else self._take_next()
        return came, gone

    def _take_next(self) -> int:
        self._next += 1
        return self._next - 1


class BlockCells:
    """The cells of all tiers, fed with each chunk's snapshot."""

    def __init__(self) -> None:
        self.tiers = tuple(TierCells() for _ in TIER_NAMES)
        self.moves: list[Move] = []
        """What moved with the newest chunk."""
        self.kinds: tuple[NDArray[np.uint8], ...] = tuple(np.zeros(0, np.uint8) for _ in TIER_NAMES)
        """Kind of every cell, by tier."""

    def update(self, snapshot: Snapshot) -> None:
        """Take in the newest snapshot."""
        before = [dict(tier.cell_of) for tier in self.tiers]
        block_map = snapshot.block_map
        copies = block_map.copy_bits
        came = [tier.update(set(block_map.ids[copies & bit > 0].tolist())) for tier, bit in zip(self.tiers, BITS, strict=True)]
        self.moves = [
            Move(place, self.tiers[place].cell_of[block], _origin(before, place, block)) for place in (0, 1, 2) for block in came[place][0]
        ][-MOST_MOVES:]
        sizes = {tier.name: tier.capacity for tier in snapshot.tiers}
        self.kinds = tuple(
            self._kinds(place, sizes.get(name, 0), snapshot, block_map, copies, came[place][0]) for place, name in enumerate(TIER_NAMES)
        )

    def _kinds(
        self, place: int, capacity: int, snapshot: Snapshot, block_map: BlockMap, copies: NDArray[np.uint8], came: list[int]
    ) -> NDArray[np.uint8]:
        cells = self.tiers[place].cell_of
        kinds = np.zeros(max(capacity, 1 + max(cells.values(), default=-1)), np.uint8)
        rows = np.flatnonzero(copies & BITS[place])
        at = np.fromiter((cells[block] for block in block_map.ids[rows].tolist()), np.int64, len(rows))
        kinds[at] = HELD
        if place == 1:
            kinds[at[copies[rows] & COPY_DISK == 0]] = ONLY_COPY
        elif place == 2:
            kinds[at[copies[rows] & (COPY_HOST | COPY_DEVICE) > 0]] = SECOND_COPY
        kinds[[cells[block] for block in came if block in cells]] = ARRIVED
        used = [cells[block] for block in snapshot.working_set if block in cells]
        kinds[used] = STALE if snapshot.stale else IN_USE
        return kinds


def _origin(before: list[dict[int, int]], place: int, block: int) -> tuple[int, int] | None:
    """Where a block that came to tier ``place`` was copied from: the fastest other tier that held it."""
    for tier, cells in enumerate(before):
        if tier != place and block in cells:
            return tier, cells[block]
    return None
