"""What counts as waiting: everything but a core taken away."""

from __future__ import annotations

import threading
import time

import pytest

from tests.helpers.clocks import HandClock
from worldpager.engine.telemetry.waiting import Waiting, thread_switches


@pytest.mark.parametrize(("own", "forced", "waited"), [(0, 0, True), (1, 0, True), (1, 1, True), (0, 1, False)])
def test_only_a_core_taken_away_is_no_wait(own: int, forced: int, waited: bool) -> None:
    clock, switches = HandClock(), [(5, 7), (5 + own, 7 + forced)]
    waiting = Waiting(clock, lambda: switches.pop(0))
    clock.sleep(2.0)
    assert (waiting.seconds() == pytest.approx(2.0)) is waited


def test_blocking_on_a_lock_is_a_wait_by_the_systems_own_count() -> None:
    gate = threading.Event()
    opener = threading.Timer(0.05, gate.set)
    before = thread_switches()
    waiting = Waiting(time.monotonic)
    opener.start()
    assert gate.wait(10)
    opener.join()
    assert waiting.seconds() >= 0.04
    assert thread_switches()[0] > before[0]
