"""Encoded blocks in main memory: page-aligned, so that direct I/O reads and writes them in place; pinned where a GPU copies from them."""

from __future__ import annotations

import torch
from torch import Tensor

from worldpager.engine.memory.layout import aligned_bytes
from worldpager.engine.memory.memory_tier import MemoryTier


class HostTier(MemoryTier):
    """``capacity`` slots. With ``pinned`` pieces are registered with the GPU's driver; once it refuses, further ones stay pageable."""

    def __init__(self, capacity: int, slot_bytes: int, *, pinned: bool = False) -> None:
        super().__init__("host", capacity, slot_bytes, "pinned" if pinned else "")
        self._pin = pinned
        self._registered: list[int] = []
        self.peak = 0
        """Most slots ever in use."""

    def allocate(self) -> int | None:
        """A slot, or None when all are in use."""
        slot = super().allocate()
        self.peak = max(self.peak, self.used)
        return slot

    def close(self) -> None:
        """See `Tier`."""
        for address in self._registered:
            torch.cuda.cudart().cudaHostUnregister(address)
        self._registered.clear()
        super().close()

    def _piece(self, size: int) -> Tensor:
        piece = aligned_bytes(size)
        if self._pin:
            refused = int(torch.cuda.cudart().cudaHostRegister(piece.data_ptr(), size, 0))
            if refused:
                pinned = len(self._registered) * self._per_piece
                self._pin, self.note = False, f"pageable beyond {pinned} blocks: pinning failed (error {refused})"
            else:
                self._registered.append(piece.data_ptr())
        return piece
