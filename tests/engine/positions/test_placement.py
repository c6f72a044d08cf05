from __future__ import annotations

from worldpager.engine.positions.placement import Placement

MATRIX_GAME = Placement(frames=3, horizon=341, before=30.0)


def test_below_the_horizon_a_block_stands_where_it_was_born() -> None:
    assert MATRIX_GAME.offsets([0, 7, 339], now=340) == [0.0, 21.0, 1017.0]


def test_beyond_it_all_stand_before_the_chunk_in_the_making() -> None:
    assert MATRIX_GAME.offsets([0, 7, 339], now=341) == [993.0] * 3
    assert MATRIX_GAME.offsets([2900], now=3000) == [8970.0]


def test_no_blocks_need_no_places() -> None:
    assert MATRIX_GAME.offsets([], now=5) == MATRIX_GAME.offsets([], now=500) == []
