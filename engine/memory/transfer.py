"""Workers that move bytes in the background and post how it went, failures included.

Reads have threads of their own, so that a slow write never keeps one waiting. The one writer lets exact reads pass that were asked for
before its write; later ones don't count, lest it starve. A worker never dies of a failed move, and nothing here ever waits for a worker
except `close`, and that not for long.
"""

from __future__ import annotations

import heapq
import itertools
import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Protocol

from worldpager.engine.memory.block import Block
from worldpager.engine.memory.tier import Purpose, Stamp

log = logging.getLogger(__name__)

CLOSING_SECONDS = 2.0
"""Longest time that closing waits for workers which hang in a device or file system."""


@dataclass(slots=True, eq=False)
class Move:
    """One move of ``bytes`` for ``block``; ``work`` runs on a worker and gives the stamp of what it moved."""

    purpose: Purpose
    block: Block
    bytes: int
    work: Callable[[], Stamp]


Queued = tuple[int, int, Move]
"""(purpose, order of arrival, move)."""
Queue = list[Queued]
"""A heap."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a move ended: with a stamp, or with an error."""

    move: Move
    stamp: Stamp | None
    error: Exception | None


def carry_out(move: Move) -> Outcome:
    """Run a move; whatever it raises becomes the outcome."""
    try:
        return Outcome(move, move.work(), None)
    except Exception as error:
        log.debug("move of block %s failed", move.block.id, exc_info=error)
        return Outcome(move, None, error)


class Transfers(Protocol):
    """Something that carries out moves in the background. All calls from the generator thread; none waits but `close`."""

    def submit(self, moves: Sequence[Move]) -> None:
        """Queue moves: by purpose, then in order."""
        ...

    def withdraw(self, moves: Collection[Move]) -> set[Move]:
        """Take moves back. Returns those that hadn't begun; of the others the outcomes will come."""
        ...

    def collect(self) -> list[Outcome]:
        """Outcomes since the last call."""
        ...

    def oldest_start(self) -> float | None:
        """Clock time at which the longest running move began."""
        ...

    def close(self) -> None:
        """End the workers; queued moves are given up."""
        ...


class NoTransfers:
    """For a memory of a single tier: nothing moves."""

    def submit(self, moves: Sequence[Move]) -> None:
        """AssertionError if there is one."""
        assert not moves, "blocks have nowhere to move to"

    def withdraw(self, moves: Collection[Move]) -> set[Move]:
        """There is none."""
        return set()

    def collect(self) -> list[Outcome]:
        """There are none."""
        return []

    def oldest_start(self) -> float | None:
        """There is none."""
        return None

    def close(self) -> None:
        """Nothing to end."""


class ThreadedTransfers:
    """The real workers: ``readers`` threads, one writer, with ``landing`` one for blocks from the device. ``clock`` in seconds."""

    def __init__(self, readers: int, *, landing: bool = False, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._changed = threading.Condition()
        self._stop = threading.Event()
        self._order = itertools.count()
        self._reads: Queue = []
        self._writes: Queue = []
        self._landings: Queue = []
        self._exact_running: set[int] = set()
        self._outcomes: deque[Outcome] = deque()
        names = [("disk-read", self._reads)] * max(1, readers) + [("disk-write", self._writes)]
        names += [("device-copy", self._landings)] * landing
        self._busy_since: list[float | None] = [None] * len(names)
        self._threads = [
            threading.Thread(target=self._work, args=(queue, number), name=name, daemon=True) for number, (name, queue) in enumerate(names)
        ]
        for thread in self._threads:
            thread.start()

    def submit(self, moves: Sequence[Move]) -> None:
        """See `Transfers`."""
        if moves:
            with self._changed:
                for move in moves:
                    heapq.heappush(self._queue_of(move), (move.purpose, next(self._order), move))
                self._changed.notify_all()

    def withdraw(self, moves: Collection[Move]) -> set[Move]:
        """See `Transfers`."""
        if not moves:
            return set()
        with self._changed:
            withdrawn = {move for queue in (self._reads, self._writes) for _, _, move in queue if move in moves}
            for queue in (self._reads, self._writes):
                queue[:] = [entry for entry in queue if entry[2] not in withdrawn]
                heapq.heapify(queue)
            self._changed.notify_all()
        return withdrawn

    def collect(self) -> list[Outcome]:
        """See `Transfers`."""
        return [self._outcomes.popleft() for _ in range(len(self._outcomes))]

    def oldest_start(self) -> float | None:
        """See `Transfers`."""
        return min((began for began in self._busy_since if began is not None), default=None)

    def close(self) -> None:
        """See `Transfers`. A worker that hangs is left behind."""
        self._stop.set()
        with self._changed:
            self._reads.clear()
            self._writes.clear()
            self._landings.clear()
            self._changed.notify_all()
        deadline = time.monotonic() + CLOSING_SECONDS
        for thread in self._threads:
            thread.join(max(0.0, deadline - time.monotonic()))
            if thread.is_alive():
                log.warning("thread %s hangs in a read or write and is left behind", thread.name)

    def _work(self, queue: Queue, number: int) -> None:
        while (taken := self._next(queue)) is not None:
            _, order, move = taken
            self._busy_since[number] = self._clock()
            self._outcomes.append(carry_out(move))
            self._busy_since[number] = None
            if move.purpose is Purpose.EXACT:
                with self._changed:
                    self._exact_running.remove(order)
                    self._changed.notify_all()

    def _next(self, queue: Queue) -> Queued | None:
        """The next move of ``queue`` once there is one and it is its turn; None at the end."""
        with self._changed:
            self._changed.wait_for(lambda: self._stop.is_set() or (queue and self._may_begin(*queue[0])))
            if self._stop.is_set():
                return None
            taken = heapq.heappop(queue)
            if taken[0] == Purpose.EXACT:
                self._exact_running.add(taken[1])
            return taken

    def _queue_of(self, move: Move) -> Queue:
        if move.purpose is Purpose.LANDING:
            return self._landings
        return self._writes if move.purpose is Purpose.WRITE_BACK else self._reads

    def _may_begin(self, purpose: int, order: int, _: Move) -> bool:
        """A write waits for the exact reads that were queued before it."""
        if purpose != Purpose.WRITE_BACK:
            return True
        exact = {number for kind, number, _ in self._reads if kind == Purpose.EXACT} | self._exact_running
        return all(number > order for number in exact)
