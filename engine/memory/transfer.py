"""Moves of records between tiers, on worker threads that report and never die.

The generator thread submits moves for pinned blocks and collects the outcomes; workers touch bytes and nothing else. Reads that are wanted
now go before speculation, speculation before write-back (`Priority`).
"""

from __future__ import annotations

import heapq
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Protocol

from worldpager.engine.memory.tier import RecordLost


class Priority(IntEnum):
    """Order of service."""

    EXACT = 0
    SPECULATION = 1
    WRITE_BACK = 2


@dataclass(frozen=True, slots=True)
class Move:
    """A piece of work on bytes. ``work`` runs on a worker and raises `RecordLost` when the bytes can't be had."""

    kind: str
    block: int
    priority: Priority
    size: int
    work: Callable[[], None]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a move; ``error`` is empty on success."""

    move: Move
    error: str = ""
    seconds: float = 0.0


class Mover(Protocol):
    """Runs moves somewhere."""

    def submit(self, move: Move) -> None:
        """Take ``move``; never waits."""
        ...

    def outcomes(self) -> list[Outcome]:
        """Moves that ended since the last call, in order of ending."""
        ...

    def close(self) -> None:
        """Finish what is running, drop what waits, stop."""
        ...


def run(move: Move, clock: Callable[[], float]) -> Outcome:
    """Run ``move`` here and now; every failure becomes an outcome."""
    began = clock()
    try:
        move.work()
    except RecordLost as lost:
        return Outcome(move, str(lost), clock() - began)
    except Exception as error:
        return Outcome(move, f"{move.kind} of block {move.block}: {type(error).__name__}: {error}", clock() - began)
    return Outcome(move, "", clock() - began)


class TokenBucket:
    """A bandwidth limit: `wait_for` says how long the next transfer has to wait, in seconds. One bucket per direction."""

    def __init__(self, rate: float, clock: Callable[[], float]) -> None:
        self._rate, self._clock, self._free_at = rate, clock, clock()
        self._lock = threading.Lock()

    def wait_for(self, size: int) -> float:
        """Book ``size`` bytes; the transfer may be reported after this many seconds."""
        with self._lock:
            now = self._clock()
            self._free_at = max(now, self._free_at) + size / self._rate
            return self._free_at - now


@dataclass(order=True, slots=True)
class _Waiting:
    priority: int
    number: int
    move: Move = field(compare=False)


class _Queue:
    """A priority queue with an end."""

    def __init__(self) -> None:
        self._heap: list[_Waiting] = []
        self._number = 0
        self._changed = threading.Condition()
        self.ended = threading.Event()

    def put(self, move: Move) -> None:
        with self._changed:
            heapq.heappush(self._heap, _Waiting(move.priority, self._number, move))
            self._number += 1
            self._changed.notify()

    def get(self) -> Move | None:
        """The next move; None when the queue has ended."""
        with self._changed:
            self._changed.wait_for(lambda: bool(self._heap) or self.ended.is_set())
            return None if self.ended.is_set() else heapq.heappop(self._heap).move

    def end(self) -> None:
        with self._changed:
            self.ended.set()
            self._heap.clear()
            self._changed.notify_all()


class ThreadedMover:
    """Reader threads and one writer thread, with optional limits in bytes per second for emulating a slow drive."""

    def __init__(self, readers: int = 2, read_limit: float | None = None, write_limit: float | None = None,
                 clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._reads, self._writes = _Queue(), _Queue()
        self._done: deque[Outcome] = deque()
        limits = [TokenBucket(read_limit, clock) if read_limit else None, TokenBucket(write_limit, clock) if write_limit else None]
        plan = [(self._reads, limits[0], f"worldpager-read-{i}") for i in range(readers)] + [(self._writes, limits[1], "worldpager-write")]
        self._threads = [threading.Thread(target=self._serve, args=(queue, limit), name=name, daemon=True) for queue, limit, name in plan]
        for thread in self._threads:
            thread.start()

    def submit(self, move: Move) -> None:
        """See `Mover.submit`."""
        (self._writes if move.priority is Priority.WRITE_BACK else self._reads).put(move)

    def outcomes(self) -> list[Outcome]:
        """See `Mover.outcomes`."""
        found = []
        while self._done:
            found.append(self._done.popleft())
        return found

    def _serve(self, queue: _Queue, limit: TokenBucket | None) -> None:
        while (move := queue.get()) is not None:
            pause = limit.wait_for(move.size) if limit else 0.0
            if pause > 0 and queue.ended.wait(pause):
                return
            self._done.append(run(move, self._clock))

    def close(self) -> None:
        """See `Mover.close`."""
        for queue in (self._reads, self._writes):
            queue.end()
        for thread in self._threads:
            thread.join()
