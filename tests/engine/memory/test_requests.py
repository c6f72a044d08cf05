"""Requests of large blocks: order of service, first errors, limits on an injected clock, clean ends. Interleavings are forced by events."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor

import pytest

from tests.helpers.clocks import HandClock
from worldpager.engine.errors import TierError
from worldpager.engine.memory import requests
from worldpager.engine.memory.requests import READS_BEFORE_A_WRITE, RequestPool, TokenBucket
from worldpager.engine.memory.tier import Purpose

PATIENCE = 20.0


class Drive:
    """A pool of one thread whose first request holds it until `go`, so that what comes after is queued in full."""

    def __init__(self) -> None:
        self.pool = RequestPool(1)
        self.served: list[str] = []
        self._callers = ThreadPoolExecutor(8)
        self._begun, self._may_go = threading.Event(), threading.Event()
        self._runs = [self._callers.submit(self.pool.run, Purpose.EXACT, 1, [self._hold, lambda: None])]
        assert self._begun.wait(PATIENCE)

    def _hold(self) -> None:
        self._begun.set()
        assert self._may_go.wait(PATIENCE)

    def queue(self, purpose: Purpose, name: str, count: int = 2, work: Callable[[], None] | None = None) -> Future[None]:
        """A move of ``count`` requests, queued before this returns."""
        before = len(self.pool._reads) + len(self.pool._writes)

        def one() -> None:
            self.served.append(name)
            if work:
                work()

        run = self._callers.submit(self.pool.run, purpose, 1, [one] * count)
        self._runs.append(run)
        while len(self.pool._reads) + len(self.pool._writes) < before + count:
            assert not run.done()
        return run

    def go(self) -> None:
        """Everything is served."""
        self._may_go.set()
        for run in self._runs:
            run.exception(PATIENCE)

    def close(self) -> None:
        self.go()
        self.pool.close()
        self._callers.shutdown()


@pytest.fixture
def drive() -> Iterator[Drive]:
    made = Drive()
    yield made
    made.close()


def test_exact_reads_go_before_speculation_before_writes(drive: Drive) -> None:
    for purpose, name in ((Purpose.WRITE_BACK, "write"), (Purpose.AHEAD, "ahead"), (Purpose.EXACT, "exact"), (Purpose.AHEAD, "later")):
        drive.queue(purpose, name)
    drive.go()
    assert drive.served == ["exact"] * 2 + ["ahead"] * 2 + ["later"] * 2 + ["write"] * 2


def test_reads_that_never_end_do_not_starve_a_write(drive: Drive) -> None:
    drive.queue(Purpose.WRITE_BACK, "write", 2)
    drive.queue(Purpose.AHEAD, "read", 3 * READS_BEFORE_A_WRITE)
    drive.go()
    assert "write" in drive.served[: READS_BEFORE_A_WRITE + 1]
    assert drive.served.count("write") == 2


def test_the_first_error_is_raised_and_the_rest_left_out(drive: Drive) -> None:
    def fail() -> None:
        raise OSError(5, "the drive is gone")

    run = drive.queue(Purpose.EXACT, "fails", 5, fail)
    fine = drive.queue(Purpose.EXACT, "fine")
    drive.go()
    assert isinstance(run.exception(PATIENCE), OSError)
    assert fine.exception(PATIENCE) is None
    assert drive.served.count("fails") == 1


def test_after_a_stop_what_is_queued_fails_and_nobody_waits(drive: Drive) -> None:
    run = drive.queue(Purpose.EXACT, "late")
    drive.pool.stop()
    drive.go()
    assert isinstance(run.exception(PATIENCE), TierError)
    assert drive.served == []
    with pytest.raises(TierError, match="closed"):
        drive.pool.run(Purpose.EXACT, 1, [lambda: None] * 2)


def test_closing_does_not_wait_for_a_request_that_hangs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(requests, "CLOSING_SECONDS", 0.05)
    drive = Drive()
    drive.pool.close()
    drive.close()


def test_a_single_request_needs_no_thread() -> None:
    pool, threads = RequestPool(4), []
    pool.run(Purpose.EXACT, 1, [lambda: threads.append(threading.current_thread())])
    assert threads == [threading.current_thread()]
    assert pool._threads == []


def test_limits_hold_for_reads_and_writes_apart() -> None:
    clock = HandClock(0.0)
    waits: list[float] = []
    pool = RequestPool(read_limit=100.0, write_limit=10.0, clock=clock, wait=waits.append)
    pool.run(Purpose.AHEAD, 50, [lambda: None])
    pool.run(Purpose.WRITE_BACK, 50, [lambda: None])
    pool.run(Purpose.EXACT, 50, [lambda: None])
    assert waits == [0.5, 5.0, 1.0]


def test_a_bucket_lets_its_rate_through() -> None:
    clock = HandClock(0.0)
    bucket = TokenBucket(100.0, clock, clock.sleep)
    bucket.spend(50)
    bucket.spend(25)
    assert clock.slept == [0.5, 0.25]
    clock.now = 10.0
    bucket.spend(100)
    assert clock.slept[-1] == 1.0, "idle time is no credit"


def test_a_bucket_with_a_burst_saves_up_to_it() -> None:
    clock = HandClock(0.0)
    bucket = TokenBucket(100.0, clock, clock.sleep, burst=200.0)
    bucket.spend(200)
    assert clock.slept == []
    bucket.spend(100)
    assert clock.slept == [1.0]
    clock.now += 60
    bucket.spend(250)
    assert clock.slept == [1.0, 0.5]


def test_requests_at_once_share_a_limit() -> None:
    clock = HandClock(0.0)
    waits: list[float] = []
    bucket = TokenBucket(100.0, clock, waits.append)
    bucket.spend(50)
    bucket.spend(50)
    assert waits == [0.5, 1.0]


def test_without_a_limit_nothing_waits() -> None:
    clock = HandClock()
    TokenBucket(None, clock, clock.sleep).spend(1 << 40)
    assert not clock.slept
