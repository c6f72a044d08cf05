"""Encoded blocks in main memory: page-aligned, so that direct I/O reads and writes them in place; pinned where a GPU copies from them."""

from __future__ import annotations

import threading

import torch
from torch import Tensor

from worldpager.engine.memory.layout import aligned_bytes
from worldpager.engine.memory.memory_tier import MemoryTier


class HostTier(MemoryTier):
    """``capacity`` slots. With ``pinned`` pieces are registered with the GPU's driver; once it refuses, further ones stay pageable.

    The first piece is made at once, which tries the driver; each later one in the background while the one before is used, since
    pinning takes longer than a chunk may.
    """

    def __init__(self, capacity: int, slot_bytes: int, *, pinned: bool = False) -> None:
        super().__init__("host", capacity, slot_bytes, "pinned" if pinned else "")
        self._pin = pinned
        self._registered: list[int] = []
        self._ahead: list[Tensor] = []
        self._maker: threading.Thread | None = None
        self.peak = 0
        """Most slots ever in use."""
        if pinned:
            self._ahead.append(self._piece(self._per_piece * slot_bytes))

    @property
    def pinned_bytes(self) -> int:
        """Bytes that the driver knows."""
        return len(self._registered) * self._per_piece * self.slot_bytes

    def allocate(self) -> int | None:
        """A slot, or None when all are in use."""
        slot = super().allocate()
        self.peak = max(self.peak, self.used)
        return slot

    def close(self) -> None:
        """See `Tier`."""
        self._join()
        for address in self._registered:
            torch.cuda.cudart().cudaHostUnregister(address)
        self._registered.clear()
        self._ahead.clear()
        super().close()

    def _next_piece(self, size: int) -> Tensor:
        self._join()
        piece = self._ahead.pop() if self._ahead else self._piece(size)
        if self._pin and (len(self._pieces) + 1) * self._per_piece < self.capacity:
            self._maker = threading.Thread(target=lambda: self._ahead.append(self._piece(size)), name="host-pin", daemon=True)
            self._maker.start()
        return piece

    def _join(self) -> None:
        if self._maker is not None:
            self._maker.join()
            self._maker = None

    def _piece(self, size: int) -> Tensor:
        piece = aligned_bytes(size)
        if self._pin:
            refused = int(torch.cuda.cudart().cudaHostRegister(piece.data_ptr(), size, 0))
            if refused:
                pinned = len(self._registered) * self._per_piece
                self._pin, self.note = False, f"pageable beyond {pinned} blocks: pinning failed (error {refused})"
                _forget_error()
            else:
                self._registered.append(piece.data_ptr())
        return piece


def _forget_error() -> None:
    """The driver's refusal stays its last error, which the next launch would report as its own: let one that doesn't matter have it."""
    try:
        torch.zeros(1, device="cuda")
    except RuntimeError:
        return
