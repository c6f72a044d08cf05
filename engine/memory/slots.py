"""Which slots of a tier are free. Lowest first, so that an arena file grows no further than it must."""

from __future__ import annotations

import heapq
from collections.abc import Iterable


class Slots:
    """Slots 0..capacity-1, each free or used."""

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self._free: list[int] = []
        self._used: set[int] = set()
        self._fresh = 0

    def __contains__(self, slot: int) -> bool:
        return slot in self._used

    @property
    def used(self) -> int:
        """Slots in use."""
        return len(self._used)

    def allocate(self) -> int | None:
        """A free slot, or None."""
        if len(self._used) >= self.capacity:
            return None
        if self._free:
            slot = heapq.heappop(self._free)
        else:
            slot, self._fresh = self._fresh, self._fresh + 1
        self._used.add(slot)
        return slot

    def reserve(self, slots: Iterable[int]) -> None:
        """Take ``slots``, as an arena of an earlier run has them, if need be beyond the capacity. Before any other call."""
        self._used = set(slots)
        self._fresh = max(self._used, default=-1) + 1
        self._free = sorted(set(range(self._fresh)) - self._used)

    def free(self, slot: int) -> None:
        """Give ``slot`` back. Raises ValueError when it isn't in use."""
        if slot not in self._used:
            raise ValueError(f"slot {slot} is not in use")
        self._used.remove(slot)
        heapq.heappush(self._free, slot)

    def check(self, expected: set[int], name: str) -> None:
        """AssertionError unless exactly ``expected`` slots are in use and none is lost."""
        assert self._used == expected, f"{name}: used slots {sorted(self._used)} but blocks hold {sorted(expected)}"
        assert len(self._free) == len(set(self._free)), f"{name}: a slot is free twice"
        assert self._used.isdisjoint(self._free), f"{name}: slots both free and used: {sorted(self._used & set(self._free))}"
        assert len(self._used) + len(self._free) == self._fresh, (
            f"{name}: {len(self._used)} used + {len(self._free)} freed != {self._fresh} ever given, of {self.capacity}"
        )
