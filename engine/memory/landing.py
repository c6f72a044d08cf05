"""Where a GPU's new blocks are encoded, and their way from there to host memory behind the street.

Encoding is queued where the model computes; a worker waits for it and copies on a stream of its own. Until the copy is there the block is
complete in its buffer alone, and not at hand.
"""

from __future__ import annotations

from functools import partial

import torch
from torch import Tensor

from worldpager.engine.memory.block import Block
from worldpager.engine.memory.tier import Purpose, Stamp
from worldpager.engine.memory.transfer import Move

BUFFERS = 3
"""Blocks on their way at once; one more is copied while the street waits."""


class Landing:
    """Buffers of ``size`` bytes on ``device``. The generator thread calls everything but `_copy`."""

    def __init__(self, size: int, device: torch.device) -> None:
        self._size, self._device, self._on_gpu = size, device, device.type == "cuda"
        self._buffers: list[Tensor] = []
        self._free: list[int] = []
        self._held: dict[Block, int] = {}
        self._stream: torch.cuda.Stream | None = None

    def buffer(self) -> tuple[int, Tensor] | None:
        """A free buffer and its number, or None when all are on their way."""
        if not self._free and len(self._buffers) < BUFFERS:
            self._free.append(len(self._buffers))
            self._buffers.append(torch.empty(self._size, dtype=torch.uint8, device=self._device))
        if not self._free:
            return None
        number = self._free[-1]
        return number, self._buffers[number]

    def send(self, block: Block, number: int, record: Tensor) -> Move:
        """The move that brings what is being encoded in buffer ``number`` to ``record``, the host slot of ``block``."""
        self._free.remove(number)
        self._held[block] = number
        encoded = torch.cuda.Event() if self._on_gpu else None
        if encoded is not None:
            encoded.record()
        block.landing = True
        return Move(Purpose.LANDING, block, self._size, partial(self._copy, self._buffers[number], record, encoded, block.id))

    def finish(self, block: Block) -> None:
        """Its move has ended: the buffer is free again."""
        self._free.append(self._held.pop(block))
        block.landing = False

    def _copy(self, buffer: Tensor, record: Tensor, encoded: torch.cuda.Event | None, block: int) -> Stamp:
        """On the worker for landings, of which there is one."""
        if encoded is None:
            record.copy_(buffer)
        else:
            if self._stream is None:
                self._stream = torch.cuda.Stream(self._device)
            with torch.cuda.stream(self._stream):
                self._stream.wait_event(encoded)
                record.copy_(buffer, non_blocking=True)
            self._stream.synchronize()
        return Stamp(block, 0, b"")
