"""Staging ahead of need: request early, take without waiting, a stale set instead of a miss (WorldPager III.C)."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from worldpager.engine.memory.block import Block
from worldpager.engine.memory.shelves import Shelves
from worldpager.engine.memory.transfer import Move, Outcome, Priority
from worldpager.engine.types import BlockId

HALF_MS = 0.0005
FAILED_READS = 3
"""Reads of one block that may fail before it is forgotten."""


@dataclass(frozen=True, slots=True)
class WorkingSet:
    """Blocks in use for one chunk, best first. ``missed`` were wanted and not there; ``stale`` says that older ones stand in for them."""

    ids: tuple[BlockId, ...] = ()
    missed: tuple[BlockId, ...] = ()
    stale: bool = False


class Prefetcher:
    """Fills the device tier's staging slots with encoded blocks. What was last taken stays pinned until the next take."""

    def __init__(self, shelves: Shelves, clock: Callable[[], float] = time.perf_counter) -> None:
        self._shelves, self._clock = shelves, clock
        self._held: list[Block] = []
        self._asked: set[BlockId] = set()
        self._unused: set[BlockId] = set()
        self._coming: dict[BlockId, Block] = {}

    def request(self, ranked: Sequence[BlockId]) -> None:
        """Stage ``ranked`` blocks, likeliest first, as far as the slots go. Replaces the last request; moves under way end as they are."""
        s = self._shelves
        self._asked = set(ranked)
        for rank, number in enumerate(ranked):
            block = s.live(number)
            if block is None or block.device is not None or block.device_coming is not None:
                continue
            slot = self._slot()
            if slot is None:
                return
            self._start(block, slot, Priority.EXACT if rank < len(self._held) else Priority.SPECULATION)

    def _slot(self) -> int | None:
        s = self._shelves
        slot = s.device.slots.allocate()
        if slot is not None:
            return slot
        victim = s.table.coldest(b for b in s.table if b.device is not None and b.pins == 0 and b.id not in self._asked
                                 and (b.host is not None or b.disk is not None))
        if victim is None or victim.device is None:
            return None
        s.totals.wasted += victim.id in self._unused
        self._unused.discard(victim.id)
        s.device.slots.release(victim.device)
        victim.device = None
        return s.device.slots.allocate()

    def _start(self, block: Block, slot: int, priority: Priority) -> None:
        s = self._shelves
        out, label = s.device.record(slot), s.label(block)
        block.pins += 1
        block.device_coming = slot
        self._coming[block.id] = block
        if block.host is not None:
            source = s.host.record(block.host)
            s.mover.submit(Move("stage", block.id, priority, 0, lambda: _copy(source, out)))
            return
        assert s.disk is not None
        assert block.disk is not None
        disk, place = s.disk, block.disk
        s.mover.submit(Move("read", block.id, priority, disk.slot_bytes, lambda: disk.read(place, out, label)))

    def finished(self, outcome: Outcome) -> None:
        """Book the end of a stage or read. A failed read is no copy: the slot goes back and the block stays a miss."""
        s = self._shelves
        block = self._coming.pop(BlockId(outcome.move.block))
        slot, block.device_coming = block.device_coming, None
        assert slot is not None
        if outcome.error:
            s.device.slots.release(slot)
            s.totals.failed += 1
            block.failed_reads += 1
            if block.failed_reads >= FAILED_READS and block.host is None:
                s.forget(block)
        else:
            block.device, block.failed_reads = slot, 0
            self._unused.add(block.id)
            if outcome.move.kind == "read":
                s.totals.read_bytes += outcome.move.size
        s.unpin(block)

    def take(self, wanted: Sequence[BlockId]) -> WorkingSet:
        """The working set for ``wanted``, now: staged blocks and those in host memory; older ones stand in for blocks on disk alone.

        What is returned stays where it is until the next call.
        """
        began = self._clock()
        ready, missed = self._ready(wanted), tuple(b for b in wanted if self._at_hand(b) is None)
        stand_ins = [b for b in self._held if not b.doomed and b.id not in {r.id for r in ready}][: len(missed)] if missed else []
        self._hold(ready + stand_ins)
        s, waited = self._shelves, self._clock() - began
        s.totals.wanted += len(wanted)
        s.totals.hits += len(ready)
        s.totals.missed += len(missed)
        s.totals.stale += len(stand_ins)
        s.totals.stalls += waited > HALF_MS
        s.totals.longest_wait = max(s.totals.longest_wait, waited)
        return WorkingSet(tuple(b.id for b in self._held), missed, bool(stand_ins))

    def _at_hand(self, number: BlockId) -> Block | None:
        block = self._shelves.live(number)
        return block if block is not None and (block.device is not None or block.host is not None) else None

    def _ready(self, wanted: Sequence[BlockId]) -> list[Block]:
        return [block for block in map(self._at_hand, wanted) if block is not None]

    def _hold(self, blocks: list[Block]) -> None:
        for block in blocks:
            block.pins += 1
            self._shelves.table.touch(block)
            self._unused.discard(block.id)
        held, self._held = self._held, blocks
        for block in held:
            self._shelves.unpin(block)

    def holds(self, block: Block) -> bool:
        """True while ``block`` is in the working set that was taken last."""
        return any(b is block for b in self._held)

    def check(self) -> None:
        """Blocks being staged are just those with a device slot on the way."""
        coming = {b.id for b in self._shelves.table if b.device_coming is not None}
        assert coming == set(self._coming), f"staging {sorted(self._coming)} but marked {sorted(coming)}"
        for block in self._held:
            assert block.pins > 0, f"block {block.id} is in use but not pinned"


def _copy(source: object, out: object) -> None:
    out.copy_(source)  # type: ignore[attr-defined]
