"""One block's whereabouts. No bytes here."""

from __future__ import annotations

from dataclasses import dataclass

from worldpager.engine.types import BlockId


@dataclass(slots=True)
class Block:
    """Where the copies of a block are. A slot number means a complete copy; ``*_coming`` one that a worker is still writing.

    dirty = the disk has no complete copy. Pins count readers and moves under way; a pinned block's copies stay where they are.
    """

    id: BlockId
    generation: int
    host: int | None = None
    device: int | None = None
    device_coming: int | None = None
    disk: int | None = None
    disk_coming: int | None = None
    pins: int = 0
    used: int = 0
    """Turn of the last use, for eviction."""
    failed_reads: int = 0
    doomed: bool = False
    """Dropped while a move was under way: it goes when the last move ends."""

    @property
    def dirty(self) -> bool:
        """True while only memory holds it."""
        return self.disk is None

    @property
    def complete_copies(self) -> int:
        """Copies that could serve a read."""
        return sum(slot is not None for slot in (self.host, self.device, self.disk))
