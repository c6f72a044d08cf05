"""Background write-back: below a watermark of reclaimable host slots the coldest dirty blocks go to disk (WorldPager III.D)."""

from __future__ import annotations

from worldpager.engine.memory.block import Block
from worldpager.engine.memory.shelves import Shelves
from worldpager.engine.memory.transfer import Move, Outcome, Priority

FAILURES_IN_A_ROW = 3
"""Writes that may fail one after the other before the disk tier takes no more blocks."""


class WriteBack:
    """Keeps ``watermark`` host slots free, clean or about to be clean."""

    def __init__(self, shelves: Shelves, watermark: int) -> None:
        self._shelves, self._watermark = shelves, watermark
        self._failures = 0
        self._writing: dict[int, Block] = {}

    def advance(self) -> None:
        """Start as many writes as the watermark asks for."""
        s = self._shelves
        if s.disk is None or "disk off" in s.degraded:
            return
        reclaimable = s.host.slots.free + sum(1 for _ in s.clean_in_host()) + len(self._writing)
        while reclaimable < self._watermark:
            block = s.table.coldest(b for b in s.table if b.host is not None and b.dirty and b.disk_coming is None and not b.doomed)
            if block is None:
                return
            slot = s.disk.slots.allocate()
            if slot is None:
                s.degraded["disk full"] = "the disk tier's budget is used up: new chunks are no longer kept"
                return
            self._start(block, slot)
            reclaimable += 1

    def _start(self, block: Block, slot: int) -> None:
        s = self._shelves
        assert s.disk is not None
        assert block.host is not None
        disk, record, label = s.disk, s.host.record(block.host), s.label(block)
        block.pins += 1
        block.disk_coming = slot
        self._writing[block.id] = block
        s.mover.submit(Move("write back", block.id, Priority.WRITE_BACK, disk.slot_bytes, lambda: disk.write(slot, record, label)))

    def finished(self, outcome: Outcome) -> None:
        """Book the end of a write: only now the block is clean. After a failure it stays dirty in host memory."""
        s = self._shelves
        block = self._writing.pop(outcome.move.block)
        slot, block.disk_coming = block.disk_coming, None
        assert s.disk is not None
        assert slot is not None
        if outcome.error:
            s.disk.slots.release(slot)
            s.totals.failed += 1
            self._failures += 1
            if self._failures >= FAILURES_IN_A_ROW:
                s.degraded["disk off"] = f"the disk tier takes no more blocks: {outcome.error}"
        else:
            block.disk = slot
            self._failures = 0
            s.totals.spilled += 1
            s.totals.written_bytes += s.disk.slot_bytes
        s.unpin(block)

    def check(self) -> None:
        """Blocks being written are just those with a disk slot on the way."""
        coming = {b.id for b in self._shelves.table if b.disk_coming is not None}
        assert coming == set(self._writing), f"writing {sorted(self._writing)} but marked {sorted(coming)}"
