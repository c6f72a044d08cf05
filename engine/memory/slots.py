"""Fixed-size places of one tier: which are free, nothing else."""

from __future__ import annotations


class Slots:
    """Slot numbers 0..capacity-1. Freed slots are reused last-in first-out, so that memory stays warm."""

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self._free: list[int] = []
        self._used: set[int] = set()
        self._next = 0  # slots from here on were never used

    @property
    def used(self) -> int:
        """Slots in use."""
        return len(self._used)

    @property
    def free(self) -> int:
        """Slots left."""
        return self.capacity - len(self._used)

    def allocate(self) -> int | None:
        """A free slot, or None."""
        if self._free:
            slot = self._free.pop()
        elif self._next < self.capacity:
            slot, self._next = self._next, self._next + 1
        else:
            return None
        self._used.add(slot)
        return slot

    def release(self, slot: int) -> None:
        """Give ``slot`` back. Raises `ValueError` if it is not in use (a double free)."""
        if slot not in self._used:
            raise ValueError(f"slot {slot} is not in use")
        self._used.remove(slot)
        self._free.append(slot)

    def check(self, held: set[int]) -> None:
        """Every held slot is used and every used one is held."""
        assert held == self._used, f"slots held {sorted(held)} but used {sorted(self._used)}"
        assert not self._used & set(self._free), "a slot is both free and used"
        assert len(self._used) + len(self._free) == self._next <= self.capacity, "slots were lost"
