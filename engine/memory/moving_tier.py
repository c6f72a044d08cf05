"""The disk tier of a world that is moving from its scratch arena into a kept folder while it is played.

Slots of the kept tier are numbered from `KEPT` on, so that every block's slot tells where it lies. New slots are the kept tier's; the old
arena is only read, and closed once no block lies there.
"""

from __future__ import annotations

from torch import Tensor

from worldpager.engine.memory.kept_tier import KeptTier
from worldpager.engine.memory.tier import Purpose, Stamp, Tier

KEPT = 1 << 40


class MovingTier:
    """See the module; a `Tier`, made of two."""

    name = "disk"
    verifies = True

    def __init__(self, scratch: Tier, kept: KeptTier) -> None:
        self._scratch: Tier | None = scratch
        self._kept = kept

    @property
    def capacity(self) -> int:
        """Slots in all."""
        return self._kept.capacity

    @property
    def used(self) -> int:
        """Slots given out."""
        return self._kept.used + (self._scratch.used if self._scratch else 0)

    @property
    def slot_bytes(self) -> int:
        """Bytes that a slot takes up."""
        return self._kept.slot_bytes

    @property
    def note(self) -> str:
        """How it works just now."""
        left = self._scratch.used if self._scratch else 0
        return f"{self._kept.note}; {left} blocks still to be moved here" if left else self._kept.note

    def lasts(self, slot: int) -> bool:
        """Whether a slot is in the kept folder."""
        return slot >= KEPT

    def leave(self) -> None:
        """Close the scratch arena if no block lies there. Nothing may be reading from it."""
        if self._scratch is not None and self._scratch.used == 0:
            self._scratch.close()
            self._scratch = None

    def allocate(self) -> int | None:
        """A slot of the kept tier, or None."""
        slot = self._kept.allocate()
        return None if slot is None else KEPT + slot

    def free(self, slot: int) -> None:
        """Take a slot back."""
        tier, place = self._find(slot)
        tier.free(place)

    def write(self, slot: int, record: Tensor, stamp: Stamp) -> Stamp:
        """See `Tier`."""
        tier, place = self._find(slot)
        return tier.write(place, record, stamp)

    def read(self, slot: int, record: Tensor, stamp: Stamp, purpose: Purpose = Purpose.EXACT) -> None:
        """See `Tier`."""
        tier, place = self._find(slot)
        tier.read(place, record, stamp, purpose)

    def check(self, expected: set[int]) -> None:
        """See `Tier`."""
        self._kept.check({slot - KEPT for slot in expected if self.lasts(slot)})
        old = {slot for slot in expected if not self.lasts(slot)}
        if self._scratch is not None:
            self._scratch.check(old)
        else:
            assert not old, f"disk: blocks in slots {sorted(old)} of an arena that is gone"

    def stop(self) -> None:
        """See `Tier`."""
        for tier in self._both():
            tier.stop()

    def close(self) -> None:
        """See `Tier`."""
        for tier in self._both():
            tier.close()

    def _both(self) -> list[Tier]:
        return [self._kept, *([self._scratch] if self._scratch is not None else [])]

    def _find(self, slot: int) -> tuple[Tier, int]:
        if self.lasts(slot):
            return self._kept, slot - KEPT
        assert self._scratch is not None, f"slot {slot} is in an arena that is gone"
        return self._scratch, slot
