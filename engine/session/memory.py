"""The memory as a world and its street use it; `BlockStore` is the real one."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Protocol

import numpy as np

from worldpager.engine.memory.prefetcher import WorkingSet
from worldpager.engine.models.base import BlockKV, MemoryView
from worldpager.engine.telemetry.counters import MeasuredMemory
from worldpager.engine.telemetry.snapshot import TIER_DISK
from worldpager.engine.types import BlockId

TURN = 0.001
"""Seconds between two looks whether a block has come."""
ASK_AGAIN = 100
"""Turns after which it is asked for once more: a read may have failed."""


class ChunkMemory(MeasuredMemory, Protocol):
    """No call waits for I/O, but `close`."""

    def put(self, kv: BlockKV) -> BlockId | None:
        """Store a chunk's KV; None when there is no room."""
        ...

    def poll(self) -> None:
        """Collect finished background moves."""
        ...

    def request(self, ranked: Sequence[BlockId]) -> None:
        """Stage these blocks, the first first, instead of those of the last request."""
        ...

    def take(self, wanted: Sequence[BlockId]) -> WorkingSet:
        """The wanted blocks as far as they are at hand, else a stale set."""
        ...

    def place(self, working: WorkingSet, view: MemoryView, offset: float | Sequence[float]) -> None:
        """Decode the working set into the view, its keys turned by ``offset`` frames: one for all blocks or one for each."""
        ...

    def drop(self, ids: Iterable[BlockId]) -> None:
        """Forget blocks."""
        ...

    def keep(self, folder: Path) -> None:
        """From now on blocks outlast the program in ``folder``; those there are follow in the background. Raises `WorldPagerError`."""
        ...

    def take_durable(self) -> list[BlockId]:
        """Blocks of a kept world whose bytes became durable since the last call."""
        ...

    def close(self, *, keep: bool = False) -> int:
        """End workers, free everything; with ``keep`` after all writes. Returns how many blocks of a kept world aren't durable."""
        ...


def wait_for(memory: ChunkMemory, blocks: Sequence[BlockId], seconds: float, wait: Callable[[float], object] = time.sleep) -> bool:
    """Wait until none of ``blocks`` is on disk alone, ``seconds`` at most; for moments in which nobody plays. True when so."""
    turns = 0
    while blocks and TIER_DISK in memory.tier_of(np.array(blocks, np.int64)):
        if turns * TURN >= seconds:
            return False
        if turns % ASK_AGAIN == 0:
            memory.request(blocks)
        memory.poll()
        wait(TURN)
        turns += 1
    return True
