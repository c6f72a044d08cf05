"""What the host and the device tier share: slots cut from pieces of memory, a stamp beside each."""

from __future__ import annotations

from torch import Tensor

from worldpager.engine.memory.slots import Slots
from worldpager.engine.memory.tier import DamagedError, Purpose, Stamp

PIECE_BYTES = 64 << 20
"""Memory is taken in pieces of about this size, when their slots are first used: a large budget costs nothing until it is needed."""


class MemoryTier:
    """``capacity`` slots of ``slot_bytes``. The generator thread, which gives out slots, alone makes pieces."""

    verifies = False

    def __init__(self, name: str, capacity: int, slot_bytes: int, note: str) -> None:
        self.name, self.capacity, self.slot_bytes, self.note = name, capacity, slot_bytes, note
        self._slots = Slots(capacity)
        self._per_piece = max(1, min(capacity, PIECE_BYTES // slot_bytes))
        self._pieces: list[Tensor] = []
        self._stamps: dict[int, Stamp] = {}

    @property
    def used(self) -> int:
        """Slots given out."""
        return self._slots.used

    def allocate(self) -> int | None:
        """A slot, or None when all are in use. The lowest first, so pieces are made in order."""
        slot = self._slots.allocate()
        if slot is not None and slot // self._per_piece == len(self._pieces):
            self._pieces.append(self._next_piece(self._per_piece * self.slot_bytes))
        return slot

    def free(self, slot: int) -> None:
        """Take a slot back."""
        self._slots.free(slot)
        self._stamps.pop(slot, None)

    def bytes_of(self, slot: int) -> Tensor:
        """The bytes of a slot that was given out, themselves."""
        piece, row = divmod(slot, self._per_piece)
        return self._pieces[piece][row * self.slot_bytes : (row + 1) * self.slot_bytes]

    def write(self, slot: int, record: Tensor, stamp: Stamp) -> Stamp:
        """See `Tier`. Keeps no checksums."""
        self._stamps.pop(slot, None)
        self.bytes_of(slot).copy_(record)
        self._stamps[slot] = stamp
        return stamp

    def read(self, slot: int, record: Tensor, stamp: Stamp, purpose: Purpose = Purpose.EXACT) -> None:
        """See `Tier`."""
        if self._stamps.get(slot) != stamp:
            raise DamagedError(f"Slot {slot} of the {self.name} tier doesn't hold block {stamp.block}.", "It counts as a miss.")
        record.copy_(self.bytes_of(slot))

    def check(self, expected: set[int]) -> None:
        """See `Tier`."""
        self._slots.check(expected, self.name)

    def stop(self) -> None:
        """See `Tier`. Copies end by themselves."""

    def close(self) -> None:
        """See `Tier`. What a worker still fills stays until it lets go."""
        self._pieces.clear()

    def _next_piece(self, size: int) -> Tensor:
        """The piece that is needed now."""
        return self._piece(size)

    def _piece(self, size: int) -> Tensor:
        """``size`` fresh bytes, flat uint8."""
        raise NotImplementedError
