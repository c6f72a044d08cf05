from __future__ import annotations

import itertools
import random
from collections.abc import Iterable

import pytest

from worldpager.app.viewport.pacer import Due, Pacer

TICK = 0.001


def play(pacer: Pacer, arrivals: Iterable[float], frames: int = 4, seconds: float = 30.0, tick: float = TICK) -> list[tuple[float, Due]]:
    """Shown frames with their times when chunk i arrives at ``arrivals[i]``, looking every ``tick`` seconds."""
    coming = sorted(arrivals)
    shown: list[tuple[float, Due]] = []
    chunk = 0
    for step in range(int(seconds / tick)):
        now = step * tick
        while chunk < len(coming) and coming[chunk] <= now:
            pacer.offer(chunk, frames, now)
            chunk += 1
        due = pacer.due(now)
        if due is not None:
            shown.append((now, due))
    return shown


def gaps(shown: list[tuple[float, Due]]) -> list[float]:
    return [after[0] - before[0] for before, after in itertools.pairwise(shown)]


def steady(interval: float, count: int, start: float = 0.0) -> list[float]:
    return [start + i * interval for i in range(count)]


def test_frames_come_in_order_and_once() -> None:
    shown = play(Pacer(20), steady(0.25, 40), seconds=12)
    assert [due for _, due in shown] == [Due(chunk, frame) for chunk in range(40) for frame in range(4)]


def test_first_frame_comes_at_once() -> None:
    pacer = Pacer(20)
    pacer.offer(0, 4, 5.0)
    assert pacer.due(5.0) == Due(0, 0)
    assert pacer.due(5.0) is None


@pytest.mark.parametrize("interval", [0.2, 0.25, 0.4, 1.2])
def test_steady_arrivals_are_presented_evenly(interval: float) -> None:
    """Even spacing from the third chunk on, whether the model keeps its rate or is slow."""
    pacer = Pacer(20)
    settled = gaps(play(pacer, steady(interval, 40), seconds=40 * interval))[12:]
    even = max(1 / 20, interval / 4)
    assert all(abs(gap - even) <= 0.04 * even + 2 * TICK for gap in settled)
    assert pacer.skipped == 0


def test_uneven_arrivals_settle_into_a_lead_instead_of_freezes() -> None:
    """A quarter of unevenness in arrivals must not be seen in the picture: no frame shows twice as long as another."""
    random_source = random.Random(3)
    arrivals = [i * 0.25 + random_source.uniform(0, 0.06) for i in range(160)]
    shown = play(Pacer(20), arrivals, seconds=40)
    settled = gaps(shown)[160:]
    even = 0.25 / 4
    assert max(settled) < 1.6 * even
    assert min(settled) > 0.85 * even
    assert sum(gap > 1.25 * even for gap in settled) < 0.02 * len(settled)


def test_lead_stays_small() -> None:
    """From arrival to the first frame of a chunk: less than two frames of an uneven stream, one tick of a steady one."""
    random_source = random.Random(4)
    for jitter, most in ((0.0, 0.012), (0.06, 0.125)):
        arrivals = sorted(i * 0.25 + random_source.uniform(0, jitter) for i in range(160))
        shown = {due.chunk: when for when, due in play(Pacer(20), arrivals, seconds=41) if due.frame == 0}
        waits = [shown[chunk] - arrivals[chunk] for chunk in range(40, 160)]
        assert max(waits) < most
        assert min(waits) >= -TICK


def test_fast_model_is_held_to_the_rate() -> None:
    """Ten times too fast: the rate's frames, within 2 %, and what can't be shown is counted."""
    pacer = Pacer(20)
    shown = play(pacer, steady(0.02, 500), seconds=10)
    assert len(shown) == pytest.approx(200, rel=0.025)
    assert min(gaps(shown)) >= 0.98 / 20 - TICK
    assert pacer.skipped == 2000 - len(shown) - pacer.waiting


def test_slightly_fast_bursts_never_exceed_the_catch_up_bound() -> None:
    arrivals = [i * 0.2 - (0.08 if i % 5 == 0 else 0.0) + 0.1 for i in range(100)]
    shown = play(Pacer(20), arrivals, seconds=21)
    assert min(gaps(shown)) >= 0.98 / 20 - TICK
    assert len([1 for when, _ in shown if when < 20]) <= 20 * 20 * 1.01 + 4


def test_pause_resets_nothing_and_resumes_at_once() -> None:
    pacer = Pacer(20)
    before = steady(0.25, 20)
    after = steady(0.25, 20, start=60.0)
    shown = play(pacer, before + after, seconds=70)
    first_after = next(when for when, due in shown if due.chunk == 20)
    assert first_after - 60.0 <= TICK
    assert pacer.held_seconds < 0.3
    settled = [gap for gap, (when, _) in zip(gaps(shown), shown, strict=False) if when >= 60.3]
    assert all(abs(gap - 0.0625) < 0.006 for gap in settled)


def test_rest_is_not_taken_for_the_pace() -> None:
    """The first chunk after a short rest starts at once, and the pace is still that of the chunks before."""
    pacer = Pacer(20)
    play(pacer, steady(0.25, 12), seconds=3)
    pacer.rest()
    pacer.offer(12, 4, 3.5)
    pacer.offer(13, 4, 3.75)
    times = [when for when in (3.5 + i * TICK for i in range(600)) if pacer.due(when)]
    assert times[0] == 3.5
    assert all(after - before == pytest.approx(0.0625, abs=0.006) for before, after in itertools.pairwise(times))


def test_late_chunk_holds_the_last_frame_and_says_so() -> None:
    pacer = Pacer(20)
    play(pacer, [*steady(0.2, 10), 2.2, *steady(0.2, 10, start=2.4)], seconds=5)
    assert pacer.held_seconds == pytest.approx(0.2, abs=0.03)


def test_missed_chunks_are_counted() -> None:
    pacer = Pacer(20)
    pacer.offer(0, 1, 0.0)
    assert pacer.due(0.0) is not None
    pacer.offer(3, 1, 0.6)
    assert pacer.skipped == 2


def test_same_chunk_again_changes_nothing() -> None:
    pacer = Pacer(20)
    pacer.offer(0, 2, 0.0)
    assert pacer.due(0.0) == Due(0, 0)
    pacer.offer(0, 2, 0.01)
    assert pacer.waiting == 1
    assert pacer.due(0.05) == Due(0, 1)
    assert pacer.due(9.0) is None


def test_blocked_window_does_not_burst_afterwards() -> None:
    """After 0.3 s without a tick the frames of that time are left out and the others come at their period; they don't pour out."""
    pacer = Pacer(20)
    pacer.offer(0, 8, 0.0)
    assert pacer.due(0.0) is not None
    times = []
    now = 0.31
    while now < 1.0:
        if pacer.due(now):
            times.append(now)
        now += TICK
    assert pacer.skipped == 5
    assert times == pytest.approx([0.31, 0.351], abs=2 * TICK)


def test_eight_millisecond_ticks_keep_the_mean_rate() -> None:
    shown = play(Pacer(18), steady(4 / 18, 90), seconds=19, tick=0.008)
    settled = gaps(shown)[20:]
    assert sum(settled) / len(settled) == pytest.approx(1 / 18, rel=0.01)
    assert max(settled) - min(settled) <= 0.0161


def test_a_backlog_does_not_delay_the_keys_for_long() -> None:
    """An opening that comes much faster than it can be shown leaves at most a few frames in the way of the first played chunk."""
    opening = steady(0.02, 12)
    shown = play(Pacer(16), [*opening, *steady(0.25, 20, start=0.5)], seconds=6)
    waits = [when - (0.5 + 0.25 * (due.chunk - 12)) for when, due in shown if due.frame == 0 and due.chunk >= 14]
    assert max(waits) < 0.3
    assert max(waits[-8:]) < 0.15


def test_off_the_natural_rate_frames_come_as_fast_as_chunks_do() -> None:
    held, free = Pacer(16), Pacer(16)
    free.hold(False)
    arrivals = steady(0.05, 200)  # 80 frames a second
    assert len(play(held, arrivals, seconds=10)) == pytest.approx(160, rel=0.04)
    assert len(play(free, arrivals, seconds=10)) == pytest.approx(800, rel=0.05)
    free.hold(True)
    assert len(play(free, [], seconds=1)) <= 17
