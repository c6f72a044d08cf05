"""Auto-repeat is told from real releases by time stamps, whatever Qt flags."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from worldpager.app.input.held_keys import PUT_ASIDE_SECONDS, HeldKeys

W, D = 25, 40


def test_unflagged_repeats_change_nothing() -> None:
    keys = HeldKeys()
    assert keys.press(W, 1000)
    for k in range(1, 20):
        stamp = 1000 + 33 * k
        keys.release(W, stamp, stamp / 1e3)
        assert not keys.settle(stamp / 1e3 + 0.004)  # a tick between the two halves of a repeat
        assert not keys.press(W, stamp)
        assert list(keys) == [W]
    keys.release(W, 2000, 2.0)
    assert not keys.settle(2.0 + 0.9 * PUT_ASIDE_SECONDS)
    assert keys.settle(2.0 + 1.1 * PUT_ASIDE_SECONDS)
    assert not len(keys)


def test_a_quick_second_press_counts_anew() -> None:
    keys = HeldKeys()
    keys.press(W, 1000)
    keys.release(W, 1020, 0.02)
    assert keys.press(W, 1026)
    assert not keys.settle(1.0)
    assert list(keys) == [W]


def test_flagged_events_are_ignored() -> None:
    keys = HeldKeys()
    keys.press(W, 1000)
    keys.release(W, 1500, 0.5, repeat=True)
    assert not keys.settle(9.0)
    assert not keys.press(W, 1501, repeat=True)
    assert not keys.press(D, 1600, repeat=True)
    assert list(keys) == [W]


def test_clearing_lets_go_of_everything_for_good() -> None:
    keys = HeldKeys()
    keys.press(W, 1000)
    keys.press(D, 1001)
    keys.release(W, 1100, 0.1)
    assert keys.clear()
    assert not len(keys)
    assert not keys.settle(5.0)
    assert not keys.clear()


@given(st.lists(st.tuples(st.sampled_from([W, D, 38]), st.integers(0, 4)), max_size=20))
def test_any_mixture_of_repeats_leaves_what_the_hands_do(moves: list[tuple[int, int]]) -> None:
    """A hand presses or lifts keys; X11 adds repeats to a held one. The filter shows the hand."""
    keys, hand, stamp = HeldKeys(), set[int](), 0
    for key, repeats in moves:
        stamp += 40
        if key in hand:
            for _ in range(repeats):
                keys.release(key, stamp, stamp / 1e3)
                keys.press(key, stamp)
                stamp += 33
            keys.release(key, stamp, stamp / 1e3)
            hand.discard(key)
        else:
            keys.press(key, stamp)
            hand.add(key)
        keys.settle(stamp / 1e3 + 2 * PUT_ASIDE_SECONDS)
        assert set(keys) == hand
