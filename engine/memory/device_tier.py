"""Staging slots: encoded blocks where the model computes, waiting to be decoded into the memory view.

On a CPU the slots are plain memory and a read lands in them directly. On a GPU it lands in a pinned buffer first and is copied over on a
stream of its own by the worker that read it.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor

from worldpager.engine.memory.layout import aligned_bytes
from worldpager.engine.memory.memory_tier import MemoryTier
from worldpager.engine.memory.tier import Stamp


class DeviceTier(MemoryTier):
    """``capacity`` staging slots on ``device``."""

    def __init__(self, capacity: int, slot_bytes: int, device: torch.device) -> None:
        self._device, self._on_cpu = device, device.type == "cpu"
        super().__init__("device", capacity, slot_bytes, "in main memory" if self._on_cpu else "")
        self._own = threading.local()

    @contextmanager
    def landing(self, slot: int, stamp: Stamp) -> Iterator[Tensor]:
        """Host bytes to fill; leaving the block without an error makes them the slot's. For workers."""
        if self._on_cpu:
            yield self.bytes_of(slot)
            self._stamps[slot] = stamp
        else:
            record = self._buffer()
            yield record
            self.write(slot, record, stamp)

    def write(self, slot: int, record: Tensor, stamp: Stamp) -> Stamp:
        """See `Tier`. On a GPU returns once the bytes are there."""
        if self._on_cpu:
            return super().write(slot, record, stamp)
        stream = self._stream()
        with torch.cuda.stream(stream):
            super().write(slot, record, stamp)
        stream.synchronize()
        return stamp

    def _piece(self, size: int) -> Tensor:
        return aligned_bytes(size) if self._on_cpu else torch.empty(size, dtype=torch.uint8, device=self._device)

    def _stream(self) -> torch.cuda.Stream:
        """The calling thread's stream."""
        if not hasattr(self._own, "stream"):
            self._own.stream = torch.cuda.Stream(self._device)
        stream: torch.cuda.Stream = self._own.stream
        return stream

    def _buffer(self) -> Tensor:
        """The calling thread's landing buffer. Pinned memory begins at a page."""
        if not hasattr(self._own, "buffer"):
            try:
                self._own.buffer = torch.empty(self.slot_bytes, dtype=torch.uint8, pin_memory=True)
            except RuntimeError:
                self.note, self._own.buffer = "landing buffers pageable: pinning failed", aligned_bytes(self.slot_bytes)
        buffer: Tensor = self._own.buffer
        return buffer
