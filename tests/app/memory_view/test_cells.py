"""Cells: a block keeps its place while it stays, moves tell where it came from, kinds tell what it is."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tests.helpers.fake_street import FakeSpec, made_snapshot
from worldpager.app.memory_view.cells import ARRIVED, FREE, HELD, IN_USE, ONLY_COPY, SECOND_COPY, STALE, BlockCells, TierCells
from worldpager.engine.telemetry.snapshot import COPY_DEVICE, COPY_DISK, COPY_HOST, BlockMap, Snapshot, TierUse
from worldpager.engine.types import BlockId


def snapshot(copies: dict[int, int], used: tuple[int, ...] = (), *, stale: bool = False) -> Snapshot:
    ids = np.array(list(copies), np.int64)
    block_map = BlockMap(ids, np.zeros((len(ids), 3), np.float32), np.zeros(len(ids), np.uint8), np.array(list(copies.values()), np.uint8))
    tiers = (TierUse("device", 0, 4, 1), TierUse("host", 0, 6, 1), TierUse("disk", 0, 10, 1))
    return replace(
        made_snapshot(5, FakeSpec()), tiers=tiers, block_map=block_map, working_set=tuple(BlockId(block) for block in used), stale=stale
    )


def test_a_block_keeps_its_cell_and_freed_cells_are_filled_first() -> None:
    cells = TierCells()
    assert cells.update({1, 2, 3}) == ([1, 2, 3], [])
    assert cells.update({2, 3}) == ([], [1])
    assert cells.update({2, 3, 9}) == ([9], [])
    assert cells.cell_of == {2: 1, 3: 2, 9: 0}


def test_moves_tell_origin_and_destination() -> None:
    cells = BlockCells()
    cells.update(snapshot({1: COPY_HOST, 2: COPY_HOST}))
    assert [(move.tier, move.cell, move.origin) for move in cells.moves] == [(1, 0, None), (1, 1, None)]
    cells.update(snapshot({1: COPY_HOST | COPY_DISK, 2: COPY_HOST}))
    assert [(move.tier, move.cell, move.origin) for move in cells.moves] == [(2, 0, (1, 0))]
    cells.update(snapshot({1: COPY_DISK, 2: COPY_HOST}))
    assert cells.moves == []
    cells.update(snapshot({1: COPY_DISK | COPY_DEVICE, 2: COPY_HOST}))
    assert [(move.tier, move.cell, move.origin) for move in cells.moves] == [(0, 0, (2, 0))]


def test_kinds() -> None:
    cells = BlockCells()
    copies = {1: COPY_HOST, 2: COPY_HOST | COPY_DISK, 3: COPY_DISK, 4: COPY_DISK | COPY_DEVICE}
    cells.update(snapshot(copies))
    assert set(cells.kinds[1].tolist()) == {ARRIVED, FREE}
    cells.update(snapshot(copies, (4,)))
    assert cells.kinds[0].tolist() == [IN_USE, FREE, FREE, FREE]
    assert cells.kinds[1].tolist() == [ONLY_COPY, HELD, FREE, FREE, FREE, FREE]
    assert cells.kinds[2].tolist()[:3] == [SECOND_COPY, HELD, IN_USE]
    cells.update(snapshot(copies, (4,), stale=True))
    assert cells.kinds[0][0] == STALE
