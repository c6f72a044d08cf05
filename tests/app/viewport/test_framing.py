"""The picture keeps its shape in every window, and which viewport draws it follows from the machine."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from worldpager.app.viewport.framing import FULL, MOST_CUT, frame_in_window

SIZES = st.tuples(st.integers(16, 4000), st.integers(16, 4000))


@given(SIZES, SIZES, st.sampled_from(["fill", "whole"]))
def test_pixels_stay_square_and_nothing_leaves_the_window(frame: tuple[int, int], window: tuple[int, int], fit: str) -> None:
    framing = frame_in_window(frame, window, fit)
    (_, _, ww, wh), (_, _, fw, fh) = framing.window, framing.frame
    across = ww * window[0] / (fw * frame[0])
    down = wh * window[1] / (fh * frame[1])
    assert across == pytest.approx(down, rel=1e-6)
    for x, y, width, height in (framing.window, framing.frame):
        assert min(x, y) >= 0
        assert max(x + width, y + height) <= 1 + 1e-9
    assert FULL in (framing.window, framing.frame)
    if fit == "whole":
        assert framing.frame == FULL
    assert fw * fh >= 1 - MOST_CUT - 1e-9


def test_filling_cuts_evenly() -> None:
    framing = frame_in_window((120, 80), (1280, 720), "fill")
    assert framing.window == FULL
    x, y, width, height = framing.frame
    assert (x, width) == (0, 1)
    assert y == pytest.approx((1 - height) / 2)
    assert height == pytest.approx(120 / 80 * 720 / 1280)
