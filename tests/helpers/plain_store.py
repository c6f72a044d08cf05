"""The naive twin of the block store: everything in a dictionary as it came, nothing encoded, nothing moved, nothing ever missed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from worldpager.engine.memory.prefetcher import WorkingSet
from worldpager.engine.models.base import BlockKV, MemoryView, RotarySpec
from worldpager.engine.telemetry.snapshot import COPY_HOST, TIER_HOST, TIER_NONE, MemoryCounters, TierUse
from worldpager.engine.types import BlockId


class PlainStore:
    """Keeps KV as bfloat16, as the store does with 16 bits; turns keys by the rotary as its description says."""

    def __init__(self, rotary: RotarySpec | None = None) -> None:
        self.blocks: dict[BlockId, BlockKV] = {}
        self.wanted: list[tuple[BlockId, ...]] = []
        self.requests: list[tuple[BlockId, ...]] = []
        self.polls = 0
        self.closed = False
        self.full = False
        self._rotary = rotary or RotarySpec()
        self._next = 0
        self.kept: Path | None = None
        self._durable: list[BlockId] = []

    def put(self, kv: BlockKV) -> BlockId | None:
        if self.full:
            return None
        block, self._next = BlockId(self._next), self._next + 1
        if self.kept is not None:
            self._durable.append(block)
        self.blocks[block] = BlockKV(kv.keys.to(torch.bfloat16), kv.values.to(torch.bfloat16))
        return block

    def poll(self) -> None:
        self.polls += 1

    def request(self, ranked: Sequence[BlockId]) -> None:
        self.requests.append(tuple(ranked))

    def take(self, wanted: Sequence[BlockId]) -> WorkingSet:
        self.wanted.append(tuple(wanted))
        here = tuple(block for block in wanted if block in self.blocks)
        return WorkingSet(here, tuple(block for block in wanted if block not in self.blocks), False)

    def place(self, working: WorkingSet, view: MemoryView, offset: float | Sequence[float]) -> None:
        offsets = [offset] * len(working.ids) if isinstance(offset, float | int) else offset
        for slot, (block, turn) in enumerate(zip(working.ids, offsets, strict=True)):
            view.keys[:, slot] = self._turned(self.blocks[block].keys.float(), turn)
            view.values[:, slot] = self.blocks[block].values

    def _turned(self, keys: torch.Tensor, offset: float) -> torch.Tensor:
        keys = keys.clone()
        for pair, frequency in enumerate(self._rotary.frequencies):
            at = self._rotary.start + 2 * pair
            angle = torch.tensor(offset * frequency)
            a, b = keys[..., at].clone(), keys[..., at + 1].clone()
            keys[..., at] = a * angle.cos() - b * angle.sin()
            keys[..., at + 1] = a * angle.sin() + b * angle.cos()
        return keys

    def drop(self, ids: Iterable[BlockId]) -> None:
        for block in ids:
            self.blocks.pop(block, None)

    def tier_of(self, ids: Iterable[BlockId] | NDArray[np.int64]) -> NDArray[np.uint8]:
        return np.array([TIER_HOST if block in self.blocks else TIER_NONE for block in ids], np.uint8)

    def copies_of(self, ids: Iterable[BlockId] | NDArray[np.int64]) -> NDArray[np.uint8]:
        return np.array([COPY_HOST if block in self.blocks else 0 for block in ids], np.uint8)

    def tiers(self) -> tuple[TierUse, ...]:
        return (TierUse("host", len(self.blocks), 1 << 20, 1),)

    def counters(self) -> MemoryCounters:
        wanted = sum(len(blocks) for blocks in self.wanted)
        return MemoryCounters(blocks=len(self.blocks), blocks_wanted=wanted, prefetch_hits=wanted)

    def degraded(self) -> tuple[str, ...]:
        return ()

    def disk_rates(self) -> tuple[float, float]:
        return 0.0, 0.0

    def spill_chunk(self) -> int | None:
        return None

    def keep(self, folder: Path) -> None:
        self.kept = folder
        self._durable = list(self.blocks)

    def take_durable(self) -> list[BlockId]:
        durable, self._durable = self._durable, []
        return durable

    def close(self, *, keep: bool = False) -> int:
        self.closed = True
        return 0
