"""The requests that moves of large blocks are cut into, and the threads that carry them out against one drive.

Exact reads go first, then speculation, then writes, request by request: a read that play waits for never queues behind a whole block of
another kind. Limits of bandwidth hold for all requests together.
"""

from __future__ import annotations

import heapq
import itertools
import threading
import time
from collections.abc import Callable, Sequence

from worldpager.engine.errors import TierError
from worldpager.engine.memory.tier import Purpose

THREADS = 8
"""Requests under way at once: at 4 MiB each more only wait longer."""
READS_BEFORE_A_WRITE = 16
"""So many reads may pass a write that waits."""
CLOSING_SECONDS = 2.0
"""Longest wait for requests that hang."""

Request = Callable[[], None]


class TokenBucket:
    """Lets ``rate`` bytes a second through, and ``burst`` bytes more after a pause; None = no limit. ``wait`` sleeps by ``clock``."""

    def __init__(self, rate: float | None, clock: Callable[[], float], wait: Callable[[float], object], burst: float = 0.0) -> None:
        self._rate, self._burst, self._clock, self._wait = rate, burst, clock, wait
        self._lock = threading.Lock()
        self._tokens, self._at = burst, clock()

    def spend(self, count: int) -> None:
        """Wait until ``count`` bytes may have passed."""
        if not self._rate:
            return
        with self._lock:
            now = self._clock()
            self._tokens = min(self._burst, self._tokens + (now - self._at) * self._rate) - count
            self._at = now
            pause = -self._tokens / self._rate
        if pause > 0:
            self._wait(pause)


class _Batch:
    """The requests of one move: how many are left, and the first error."""

    def __init__(self, count: int) -> None:
        self.left = count
        self.error: Exception | None = None
        self.done = threading.Event()


class RequestPool:
    """``threads`` threads, started with the first move that has several requests. Limits in bytes a second; ``clock`` in seconds."""

    def __init__(
        self,
        threads: int = THREADS,
        *,
        read_limit: float | None = None,
        write_limit: float | None = None,
        clock: Callable[[], float] = time.monotonic,
        wait: Callable[[float], object] | None = None,
    ) -> None:
        self._count = threads
        self._threads: list[threading.Thread] = []
        self._changed = threading.Condition()
        self._stop = threading.Event()
        self._order = itertools.count()
        self._reads: list[tuple[int, int, int, Request, _Batch]] = []
        self._writes: list[tuple[int, int, int, Request, _Batch]] = []
        self._passed = 0
        pause = wait or self._stop.wait
        self._limits = {False: TokenBucket(read_limit, clock, pause), True: TokenBucket(write_limit, clock, pause)}

    def run(self, purpose: Purpose, size: int, requests: Sequence[Request]) -> None:
        """Carry out ``requests`` of up to ``size`` bytes each, in any order; returns when all have ended, and raises the first error.

        A single one runs on the calling thread. After an error those that haven't begun are left out.
        """
        if len(requests) == 1:
            self._carry_out(purpose, size, requests[0])
            return
        batch = _Batch(len(requests))
        queue = self._writes if purpose is Purpose.WRITE_BACK else self._reads
        with self._changed:
            if self._stop.is_set():
                raise TierError("The drive is being closed.")
            self._start()
            for request in requests:
                heapq.heappush(queue, (purpose, next(self._order), size, request, batch))
            self._changed.notify_all()
        batch.done.wait()
        if batch.error is not None:
            raise batch.error

    def stop(self) -> None:
        """Requests that haven't begun fail from now on."""
        self._stop.set()
        with self._changed:
            self._changed.notify_all()

    def close(self) -> None:
        """End the threads. One that hangs is left behind."""
        self.stop()
        deadline = time.monotonic() + CLOSING_SECONDS
        for thread in self._threads:
            thread.join(max(0.0, deadline - time.monotonic()))

    def _start(self) -> None:
        while len(self._threads) < self._count:
            thread = threading.Thread(target=self._work, name="disk-request", daemon=True)
            self._threads.append(thread)
            thread.start()

    def _work(self) -> None:
        while (taken := self._next()) is not None:
            purpose, _, size, request, batch = taken
            error: Exception | None = None
            if batch.error is None:
                try:
                    self._carry_out(Purpose(purpose), size, request)
                except Exception as raised:
                    error = raised
            with self._changed:
                batch.error = batch.error or error
                batch.left -= 1
                if batch.left == 0:
                    batch.done.set()

    def _carry_out(self, purpose: Purpose, size: int, request: Request) -> None:
        self._limits[purpose is Purpose.WRITE_BACK].spend(size)
        if self._stop.is_set():
            raise TierError("The drive is being closed.")
        request()

    def _next(self) -> tuple[int, int, int, Request, _Batch] | None:
        """The next request, once there is one; None at the end, when no queue holds any."""
        with self._changed:
            self._changed.wait_for(lambda: self._stop.is_set() or self._reads or self._writes)
            if not self._reads and not self._writes:
                return None
            write = bool(self._writes) and (not self._reads or self._passed >= READS_BEFORE_A_WRITE)
            self._passed = 0 if write or not self._writes else self._passed + 1
            return heapq.heappop(self._writes if write else self._reads)
