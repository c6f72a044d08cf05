"""Tiers that go wrong on order, and a mover whose moves happen when the test says so."""

from __future__ import annotations

from torch import Tensor

from worldpager.engine.memory.slots import Slots
from worldpager.engine.memory.tier import Label, RecordLost
from worldpager.engine.memory.transfer import Move, Outcome, run


class FakeTier:
    """A remote or disk tier in a dictionary. ``fault`` is obeyed by the next calls until it is changed.

    "" works; "fail" raises; "lie" gives back other bytes and is caught as a wrong label would be; "break" raises what no tier should.
    """

    name = "disk"

    def __init__(self, capacity: int, slot_bytes: int) -> None:
        self.slots, self.slot_bytes, self.note = Slots(capacity), slot_bytes, "fake"
        self.kept: dict[int, tuple[Tensor, Label]] = {}
        self.fault = ""
        self.closed = False

    def write(self, slot: int, record: Tensor, label: Label) -> None:
        """Keep a copy, unless at fault; a failed write leaves half a record behind."""
        if self.fault == "break":
            raise ZeroDivisionError("a fault of the fake tier")
        if self.fault:
            half = record.clone()
            half[len(half) // 2:] = 0xAA
            self.kept[slot] = (half, Label(-1, -1, -1))
            raise RecordLost("no space left")
        self.kept[slot] = (record.clone(), label)

    def read(self, slot: int, out: Tensor, label: Label) -> None:
        """Give it back, unless at fault; a failed read scribbles over ``out`` first."""
        out.fill_(0xEE)
        if self.fault == "break":
            raise ZeroDivisionError("a fault of the fake tier")
        record, kept = self.kept[slot]
        if self.fault or kept != label:
            raise RecordLost("checksum is wrong")
        out.copy_(record)

    def close(self) -> None:
        """Remember that it was closed."""
        self.closed = True


class HandCranked:
    """A mover that runs a move only when told to, in any order."""

    def __init__(self) -> None:
        self.waiting: list[Move] = []
        self._done: list[Outcome] = []
        self.closed = False

    def submit(self, move: Move) -> None:
        """Queue it."""
        self.waiting.append(move)

    def crank(self, index: int = 0) -> None:
        """Run the move at ``index``."""
        self._done.append(run(self.waiting.pop(index), lambda: 0.0))

    def crank_all(self) -> None:
        """Run everything that waits."""
        while self.waiting:
            self.crank()

    def outcomes(self) -> list[Outcome]:
        """See `Mover.outcomes`."""
        found, self._done = self._done, []
        return found

    def close(self) -> None:
        """Drop what waits."""
        self.waiting.clear()
        self.closed = True
