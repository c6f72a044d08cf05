"""Seen again: the first picture from a pose is found, near poses count, windows don't, and nothing grows."""

from __future__ import annotations

import numpy as np
import pytest

from worldpager.app.memory_view.sights import KEPT, LEAST_CHUNKS, Sights, likeness, small
from worldpager.engine.types import Pose

HERE = Pose(1.0, 2.0, 0.5, 3.1, 0.0)


def picture(level: int) -> np.ndarray[tuple[int, ...], np.dtype[np.uint8]]:
    return np.full((80, 120, 3), level, np.uint8)


def test_the_first_sight_of_a_place_is_compared() -> None:
    sights = Sights()
    assert sights.look(HERE, picture(100), 1, 10) is None
    assert sights.look(HERE, picture(100), 2, 11) is None, "still in the window"
    again = sights.look(HERE._replace(yaw=HERE.yaw - 2 * np.pi, x=1.05), picture(110), 2 + LEAST_CHUNKS, 30)
    assert again is not None
    assert (again.then.chunk, again.then.block) == (1, 10)
    assert again.decibels == pytest.approx(20 * np.log10(255 / 10), abs=0.01)


@pytest.mark.parametrize("change", [{"x": 1.5}, {"yaw": 3.3}, {"pitch": 0.2}])
def test_another_view_is_another_place(change: dict[str, float]) -> None:
    sights = Sights()
    sights.look(HERE, picture(1), 1, 1)
    assert sights.look(HERE._replace(**change), picture(1), 50, 2) is None


def test_only_so_many_are_kept_and_large_frames_are_shrunk() -> None:
    sights = Sights()
    for chunk in range(KEPT + 50):
        sights.look(HERE._replace(x=float(chunk)), picture(1), chunk, chunk)
    assert len(sights) == KEPT
    assert small(np.zeros((352, 640, 3), np.uint8)).shape == (88, 160, 3)


def test_likeness_is_bounded_and_falls_with_difference() -> None:
    assert likeness(picture(9), picture(9)) == 60.0
    assert likeness(picture(9), picture(19)) > likeness(picture(9), picture(60))
