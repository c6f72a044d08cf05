"""Tiers that go wrong on order, and transfers whose moves happen when the test says so."""

from __future__ import annotations

import errno
import random
import threading
from collections.abc import Collection, Sequence
from typing import Literal

from torch import Tensor

from tests.helpers.clocks import HandClock
from worldpager.engine.memory.slots import Slots
from worldpager.engine.memory.tier import DamagedError, Purpose, Stamp
from worldpager.engine.memory.transfer import Move, Outcome, carry_out

Fault = Literal["", "fail", "full", "short", "lie", "break"]


class FakeTier:
    """A remote tier in a dictionary. ``fault`` is obeyed until it is changed; ``gate``, while cleared, makes every call hang.

    fail: an I/O error; full: no space; short: half the bytes arrive, then an error; lie: wrong bytes come back without a word; break:
    raises what no tier should.
    """

    name = "remote"
    note = "fake"
    verifies = False

    def __init__(self, capacity: int, slot_bytes: int) -> None:
        self.capacity, self.slot_bytes = capacity, slot_bytes
        self.slots = Slots(capacity)
        self.kept: dict[int, tuple[Tensor, Stamp]] = {}
        self.fault: Fault = ""
        self.gate = threading.Event()
        self.gate.set()
        self.closed = False

    @property
    def used(self) -> int:
        return self.slots.used

    def allocate(self) -> int | None:
        return self.slots.allocate()

    def free(self, slot: int) -> None:
        self.slots.free(slot)

    def write(self, slot: int, record: Tensor, stamp: Stamp) -> Stamp:
        stamp = stamp.summed(record)
        self._obey(writing=True)
        half = len(record) // 2 if self.fault == "short" else len(record)
        torn = record.clone()
        torn[half:] = 0xAA
        self.kept[slot] = (torn, stamp)
        if self.fault == "short":
            raise OSError(errno.EIO, "half of it was written")
        return stamp

    def read(self, slot: int, record: Tensor, stamp: Stamp, purpose: Purpose = Purpose.EXACT) -> None:
        record.fill_(0xEE)
        self._obey(writing=False)
        kept, held = self.kept.get(slot, (record, None))
        if held != stamp:
            raise DamagedError(f"slot {slot} holds another block")
        half = len(record) // 2 if self.fault == "short" else len(record)
        record[:half].copy_(kept[:half])
        if self.fault == "short":
            raise OSError(errno.EIO, "half of it was read")
        if self.fault == "lie":
            record[len(record) // 3] ^= 1

    def check(self, expected: set[int]) -> None:
        self.slots.check(expected, self.name)

    def stop(self) -> None:
        pass

    def close(self) -> None:
        self.closed = True

    def _obey(self, *, writing: bool) -> None:
        self.gate.wait()
        if self.fault == "fail":
            raise OSError(errno.EIO, "the drive doesn't answer")
        if self.fault == "full" and writing:
            raise OSError(errno.ENOSPC, "no space left")
        if self.fault == "break":
            raise ZeroDivisionError("a fault of the tier itself")


class RemoteTier(FakeTier):
    """A tier behind a network: ``bandwidth`` bytes a second, ``latency`` seconds a call, each call fails with probability ``failures``."""

    def __init__(
        self, capacity: int, slot_bytes: int, *, bandwidth: float, latency: float, clock: HandClock, failures: float = 0.0, seed: int = 0
    ) -> None:
        super().__init__(capacity, slot_bytes)
        self._bandwidth, self._latency, self._failures, self._dice, self._clock = bandwidth, latency, failures, random.Random(seed), clock

    def _obey(self, *, writing: bool) -> None:
        super()._obey(writing=writing)
        self._clock.sleep(self._latency + self.slot_bytes / self._bandwidth)
        if self._dice.random() < self._failures:
            raise TimeoutError(errno.ETIMEDOUT, "the network gave up")


class HandTransfers:
    """Carries out a move when told to, in any order, on the caller's thread. A move can be made to look begun."""

    def __init__(self) -> None:
        self.queued: list[Move] = []
        self.begun: list[Move] = []
        self.closed = False
        self._outcomes: list[Outcome] = []

    @property
    def waiting(self) -> list[Move]:
        """Moves that haven't ended."""
        return self.begun + self.queued

    def submit(self, moves: Sequence[Move]) -> None:
        self.queued += moves

    def withdraw(self, moves: Collection[Move]) -> set[Move]:
        withdrawn = {move for move in self.queued if move in moves}
        self.queued = [move for move in self.queued if move not in withdrawn]
        return withdrawn

    def collect(self) -> list[Outcome]:
        outcomes, self._outcomes = self._outcomes, []
        return outcomes

    def oldest_start(self) -> float | None:
        return None

    def close(self) -> None:
        self.closed = True
        self.queued.clear()

    def begin(self, index: int = 0) -> Move:
        """The queued move at ``index`` begins, so that it can't be withdrawn; `end` ends it."""
        move = self.queued.pop(index)
        self.begun.append(move)
        return move

    def end(self, move: Move) -> None:
        """A begun move does its work and ends."""
        self.begun.remove(move)
        self._outcomes.append(carry_out(move))

    def run_all(self) -> None:
        """Everything that waits ends, the most urgent first."""
        for move in sorted(self.queued, key=lambda move: move.purpose):
            self.end(self.begin(self.queued.index(move)))
        for move in list(self.begun):
            self.end(move)
