"""Wall time in films: a film lasts as long as play did, whatever the machine managed, and no frame goes back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from worldpager.engine.recorder.timing import WallSlots


def test_half_the_rate_doubles_every_frame() -> None:
    slots = WallSlots(16.0)
    assert slots.arrive(10.0, 4) == []
    assert slots.arrive(10.5, 4) == [0, 0, 1, 1, 2, 2, 3, 3]
    assert slots.end(11.0) == [0, 0, 1, 1, 2, 2, 3, 3]


def test_twice_the_rate_leaves_every_other_frame_out() -> None:
    slots = WallSlots(16.0)
    slots.arrive(0.0, 4)
    assert slots.arrive(0.125, 4) == [0, 2]


def test_a_rest_keeps_the_last_frame() -> None:
    slots = WallSlots(10.0)
    slots.arrive(0.0, 2)
    assert slots.fill(1.0) == [0] * 5 + [1] * 5
    assert set(slots.fill(9.0)) == {1}
    assert set(slots.arrive(20.0, 2)) == {1}


def test_a_single_chunk_is_seen() -> None:
    slots = WallSlots(10.0)
    slots.arrive(0.0, 4)
    assert slots.end(0.0) == [3]
    assert WallSlots(10.0).end(0.0) == []


@given(st.lists(st.floats(0.001, 3.0), min_size=1, max_size=30), st.floats(1.0, 60.0))
def test_the_film_is_as_long_as_play(waits: list[float], fps: float) -> None:
    slots, now, count = WallSlots(fps), 5.0, 0
    slots.arrive(now, 4)
    for wait in waits:
        shown = slots.fill(now + wait / 2)
        now += wait
        shown += slots.arrive(now, 4)
        assert shown == sorted(shown)
        assert all(0 <= index < 4 for index in shown)
        count += len(shown)
    assert count / fps == pytest.approx(sum(waits), abs=1.01 / fps)
