"""The memory as a world and its street use it; `BlockStore` is the real one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

from worldpager.engine.memory.prefetcher import WorkingSet
from worldpager.engine.models.base import BlockKV, MemoryView
from worldpager.engine.telemetry.counters import MeasuredMemory
from worldpager.engine.types import BlockId


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

    def take_durable(self) -> list[BlockId]:
        """Blocks of a kept world whose bytes became durable since the last call."""
        ...

    def close(self, *, keep: bool = False) -> int:
        """End workers, free everything; with ``keep`` after all writes. Returns how many blocks of a kept world aren't durable."""
        ...
