"""The hit rates of prefetching: what is known beforehand on a steady turn, what is not when someone turns round."""

from __future__ import annotations

from itertools import islice

from worldpager.engine.bench import prefetch
from worldpager.engine.pose.script import Leg, Script


def test_a_steady_turn_is_foreseen_and_the_present_set_is_not_enough() -> None:
    scores = prefetch.run(prefetch.steered(Script([Leg(16.0, turn=22.5)]), 100), size=16, limit=8)
    for way in prefetch.WAYS:
        assert scores[way].wanted > 50
        assert scores[way].first == scores[way].wanted
        assert scores[way].missed == 0
    assert scores[prefetch.PRESENT].first < scores[prefetch.PRESENT].wanted


def test_several_futures_never_ask_for_less_than_one() -> None:
    _, path = next(islice(prefetch.paths(None, 80), 1, None))
    scores = prefetch.run(path, size=16, limit=8)
    one, many = scores["constant velocity"], scores["several futures"]
    assert many.any > one.any
    assert many.missed < one.missed
    assert one.wanted == many.wanted > 0
