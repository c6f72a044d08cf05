"""What a tier must answer, and the two tiers that are plain memory.

A tier holds records of one fixed size in numbered slots. It knows nothing of blocks beyond the `Label` that a disk record carries, and
nothing of when to move what.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

from worldpager.engine.memory.slots import Slots

PIECE_BYTES = 256 << 20


@dataclass(frozen=True, slots=True)
class Label:
    """What a record says of itself: block id, generation and true token count."""

    block: int
    generation: int
    tokens: int


class RecordLost(Exception):  # noqa: N818 - an outcome, not a programming error
    """A record can't be written or given back whole: short file, failed checksum, I/O error. The message says which."""


class Tier(Protocol):
    """Numbered slots of records. ``slots`` belongs to the generator thread; ``write`` and ``read`` to the worker that holds the move."""

    name: str
    slots: Slots
    slot_bytes: int
    note: str

    def write(self, slot: int, record: Tensor, label: Label) -> None:
        """Keep ``record`` (flat uint8) in ``slot``; complete when it returns. Raises `RecordLost`; the slot's content is then undefined."""
        ...

    def read(self, slot: int, out: Tensor, label: Label) -> None:
        """Copy the record of ``slot`` into ``out``.

        Raises `RecordLost` unless it is whole and carries ``label``; ``out`` is then undefined.
        """
        ...

    def close(self) -> None:
        """Free everything; no call may follow."""
        ...


class MemoryTier:
    """Records in memory: the host tier (pinned where there is a GPU) and the device tier's staging slots.

    Memory is taken in pieces as slots come into use, so that a large budget costs nothing until it is needed.
    """

    def __init__(self, name: str, capacity: int, record_bytes: int, device: torch.device, *, pinned: bool = False) -> None:
        self.name, self.slots, self.slot_bytes, self.device = name, Slots(capacity), record_bytes, device
        self.note = "pinned" if pinned else ""
        self._pinned = pinned
        self._per_piece = max(1, min(capacity, PIECE_BYTES // record_bytes))
        self._pieces: list[Tensor] = []

    def record(self, slot: int) -> Tensor:
        """The bytes of ``slot`` themselves, flat uint8. Called by the generator thread, which alone allocates pieces."""
        piece, row = divmod(slot, self._per_piece)
        while piece >= len(self._pieces):
            self._pieces.append(self._piece())
        return self._pieces[piece][row]

    def _piece(self) -> Tensor:
        shape = (self._per_piece, self.slot_bytes)
        if self._pinned:
            try:
                return torch.empty(shape, dtype=torch.uint8, pin_memory=True)
            except RuntimeError as error:
                self._pinned, self.note = False, f"pageable: pinning failed ({str(error).splitlines()[0]})"
        return torch.empty(shape, dtype=torch.uint8, device=self.device)

    def write(self, slot: int, record: Tensor, label: Label) -> None:
        """See `Tier.write`; memory doesn't lose records."""
        self.record(slot).copy_(record)

    def read(self, slot: int, out: Tensor, label: Label) -> None:
        """See `Tier.read`."""
        out.copy_(self.record(slot))

    def close(self) -> None:
        """Free the pieces."""
        self._pieces.clear()
