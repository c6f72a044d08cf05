"""The parts that the store's rooms share: the table, the tiers, the mover and the running totals."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from worldpager.engine.memory.block import Block
from worldpager.engine.memory.block_table import BlockTable
from worldpager.engine.memory.tier import Label, MemoryTier, Tier
from worldpager.engine.memory.transfer import Mover
from worldpager.engine.types import BlockId


@dataclass
class Totals:
    """Running totals since the store was opened; see `MemoryCounters` for their meaning."""

    wanted: int = 0
    missed: int = 0
    stale: int = 0
    hits: int = 0
    wasted: int = 0
    stalls: int = 0
    longest_wait: float = 0.0
    spilled: int = 0
    evicted: int = 0
    refused: int = 0
    failed: int = 0
    read_bytes: int = 0
    written_bytes: int = 0
    host_peak: int = 0


@dataclass
class Shelves:
    """State of the store; only the generator thread touches it. ``disk`` is None without a disk tier."""

    table: BlockTable
    host: MemoryTier
    device: MemoryTier
    disk: Tier | None
    mover: Mover
    tokens: int
    totals: Totals = field(default_factory=Totals)
    degraded: dict[str, str] = field(default_factory=dict)

    def live(self, block: BlockId) -> Block | None:
        """The block unless it is gone or about to go."""
        found = self.table.get(block)
        return None if found is None or found.doomed else found

    def label(self, block: Block) -> Label:
        """What the block's record on disk must say."""
        return Label(block.id, block.generation, self.tokens)

    def clean_in_host(self) -> Iterator[Block]:
        """Blocks whose host copy may be given up now: the disk has them and nobody uses them."""
        return (b for b in self.table if b.host is not None and b.disk is not None and b.pins == 0)

    def unpin(self, block: Block) -> None:
        """One reader or move less; a doomed block goes with its last."""
        block.pins -= 1
        assert block.pins >= 0, f"block {block.id} was unpinned too often"
        if block.doomed and block.pins == 0:
            self.forget(block)

    def forget(self, block: Block) -> None:
        """Drop the block with all its copies, now or when its last move ends."""
        block.doomed = True
        if block.pins:
            return
        for tier, slot in ((self.host, block.host), (self.device, block.device), (self.disk, block.disk)):
            if slot is not None:
                assert tier is not None
                tier.slots.release(slot)
        self.table.remove(block)
