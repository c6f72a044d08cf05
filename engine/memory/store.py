"""The store: every past chunk's KV, encoded, in device, host and disk tiers (WorldPager III).

The facade that the streets use. All calls come from the generator thread and none waits for I/O; bytes are moved by the mover's threads.
A block always has at least one complete copy: a source is given up only after the destination is complete, and `check` recomputes it.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence

import numpy as np
import torch
from numpy.typing import NDArray

from worldpager.engine.config import MemoryConfig
from worldpager.engine.errors import InputError
from worldpager.engine.memory.block import Block
from worldpager.engine.memory.block_table import BlockTable
from worldpager.engine.memory.budget import default_host_budget
from worldpager.engine.memory.codec import Codec
from worldpager.engine.memory.disk_tier import DiskTier
from worldpager.engine.memory.prefetcher import Prefetcher, WorkingSet
from worldpager.engine.memory.shelves import Shelves
from worldpager.engine.memory.tier import MemoryTier, Tier
from worldpager.engine.memory.transfer import Mover, ThreadedMover
from worldpager.engine.memory.write_back import WriteBack
from worldpager.engine.models.base import BlockKV, KVShape, MemoryView, RotarySpec
from worldpager.engine.telemetry.snapshot import TIER_DEVICE, TIER_DISK, TIER_HOST, TIER_NONE, MemoryCounters, TierUse
from worldpager.engine.types import BlockId

RATE_WINDOW = 2.0
"""Seconds over which disk rates are averaged."""


class BlockStore:
    """Blocks of one world. ``mover`` and ``disk`` stand in for the real ones in tests."""

    def __init__(self, config: MemoryConfig, kv: KVShape, rotary: RotarySpec, device: torch.device, *,
                 clock: Callable[[], float] = time.monotonic, mover: Mover | None = None, disk: Tier | None = None) -> None:
        self._codec = Codec(config.codec, kv, rotary)
        size = self._codec.record_bytes
        self._budget = config.host_budget if config.host_budget is not None else default_host_budget()
        host_slots = self._budget // size
        if host_slots < config.watermark + 2:
            budget, least = f"{self._budget / 2**20:.1f} MiB", f"{(config.watermark + 2) * size / 2**20:.1f} MiB"
            raise InputError(f"A host budget of {budget} holds {host_slots} blocks of {size / 2**20:.2f} MiB, too few to play.",
                             f"Give at least {least} (--host-budget).")
        if config.device_slots < 2:
            raise InputError(f"{config.device_slots} staging slots are too few.", "Give at least 2 (--device-slots).")
        if disk is None and config.disk_dir is not None:
            disk = DiskTier(config.disk_dir, size, self._codec.fingerprint, config.disk_budget)
        self._device, self._clock, self._watermark = device, clock, config.watermark
        on_gpu = device.type == "cuda"
        self._shelves = Shelves(
            BlockTable(), MemoryTier("host", host_slots, size, torch.device("cpu"), pinned=on_gpu),
            MemoryTier("device", config.device_slots, size, device), disk,
            mover or ThreadedMover(config.read_threads, config.read_limit, config.write_limit), kv.tokens)
        self._prefetcher = Prefetcher(self._shelves)
        self._write_back = WriteBack(self._shelves, config.watermark)
        self._marks: deque[tuple[float, int, int]] = deque([(clock(), 0, 0)])

    def put(self, kv: BlockKV) -> BlockId | None:
        """Encode a chunk's KV into a host slot; it is dirty until written back.

        None if no slot can be had: refused, counted, never waited for.
        """
        s = self._shelves
        slot = s.host.slots.allocate()
        if slot is None:
            slot = self._evicted_slot()
        if slot is None:
            s.totals.refused += 1
            s.degraded["memory full"] = "host memory is full of chunks that are not on disk: new ones are not kept"
            return None
        record = s.host.record(slot)
        if self._device.type == "cpu":
            self._codec.encode(kv, record)
        else:
            encoded = torch.empty(len(record), dtype=torch.uint8, device=self._device)
            self._codec.encode(kv, encoded)
            record.copy_(encoded)
        block = s.table.create()
        block.host = slot
        s.totals.host_peak = max(s.totals.host_peak, s.host.slots.used)
        s.degraded.pop("memory full", None)
        self._write_back.advance()
        return block.id

    def _evicted_slot(self) -> int | None:
        """The host slot of the least recently used clean block, now free for another."""
        s = self._shelves
        victim = s.table.coldest(s.clean_in_host())
        if victim is None or victim.host is None:
            return None
        s.host.slots.release(victim.host)
        victim.host = None
        s.totals.evicted += 1
        return s.host.slots.allocate()

    def poll(self) -> None:
        """Book the moves that ended since the last call, then start the write-back that the watermark asks for. Once a chunk."""
        s = self._shelves
        for outcome in s.mover.outcomes():
            (self._write_back if outcome.move.kind == "write back" else self._prefetcher).finished(outcome)
        self._write_back.advance()
        self._marks.append((self._clock(), s.totals.read_bytes, s.totals.written_bytes))
        while len(self._marks) > 2 and self._marks[0][0] < self._marks[-1][0] - RATE_WINDOW:
            self._marks.popleft()

    def request(self, ranked: Sequence[BlockId]) -> None:
        """Prefetch ``ranked`` blocks, likeliest first; see `Prefetcher.request`."""
        self._prefetcher.request(ranked)

    def take(self, wanted: Sequence[BlockId]) -> WorkingSet:
        """The working set for this chunk, without waiting; see `Prefetcher.take`."""
        return self._prefetcher.take(wanted)

    def place(self, working: WorkingSet, view: MemoryView, offset: float) -> None:
        """Decode the working set into ``view``'s first slots, its keys turned by ``offset`` frames, each value written once."""
        s = self._shelves
        for j, number in enumerate(working.ids[: view.capacity]):
            block = s.table.get(number)
            assert block is not None, f"block {number} is gone"
            assert self._prefetcher.holds(block), f"block {number} was not taken"
            if block.device is not None:
                record = s.device.record(block.device)
            else:
                assert block.host is not None
                record = s.host.record(block.host).to(self._device, non_blocking=True)
            self._codec.decode(record, view.keys[:, j], view.values[:, j], offset)

    def drop(self, ids: Iterable[BlockId]) -> None:
        """Forget blocks and free their slots; those in use go when they are no longer."""
        for number in ids:
            block = self._shelves.live(number)
            if block is not None:
                self._shelves.forget(block)

    def tier_of(self, ids: Iterable[BlockId]) -> NDArray[np.uint8]:
        """The fastest tier that holds each block (TIER_* codes), TIER_NONE for those that are gone."""
        return np.array([_fastest(self._shelves.live(b)) for b in ids], np.uint8)

    def tiers(self) -> tuple[TierUse, ...]:
        """Occupancy of device, host and disk."""
        s = self._shelves
        dirty = sum(1 for b in s.table if b.host is not None and b.dirty)
        uses = [TierUse(t.name, t.slots.used, t.slots.capacity, t.slot_bytes, d, t.note) for t, d in ((s.device, 0), (s.host, dirty))]
        disk = s.disk
        note = next((n for n in ("disk off", "disk full") if n in s.degraded), disk.note if disk else "no disk tier")
        used, capacity, size = (disk.slots.used, disk.slots.capacity, disk.slot_bytes) if disk else (0, 0, 0)
        return (*uses, TierUse("disk", used, capacity, size, 0, note))

    def counters(self) -> MemoryCounters:
        """The totals so far."""
        t, s = self._shelves.totals, self._shelves
        return MemoryCounters(
            blocks=len(s.table), blocks_wanted=t.wanted, blocks_missed=t.missed, stale_uses=t.stale,
            prefetch_hits=t.hits, prefetch_wasted=t.wasted,
            stalls_over_half_ms=t.stalls, longest_wait_ms=t.longest_wait * 1e3, spilled_blocks=t.spilled, evicted_blocks=t.evicted,
            blocks_refused=t.refused, failed_moves=t.failed, disk_read_bytes=t.read_bytes, disk_written_bytes=t.written_bytes,
            host_peak_bytes=t.host_peak * s.host.slot_bytes, host_budget_bytes=self._budget)

    def degraded(self) -> tuple[str, ...]:
        """Named degradations in force, each with its reason."""
        repaired = (f"{self._codec.repairs} blocks held numbers that are not finite",) if self._codec.repairs else ()
        return tuple(f"{name}: {why}" for name, why in self._shelves.degraded.items()) + repaired

    def disk_rates(self) -> tuple[float, float]:
        """Bytes per second read from and written to disk over the last `RATE_WINDOW` seconds of polls."""
        first, last = self._marks[0], self._marks[-1]
        seconds = last[0] - first[0]
        return ((last[1] - first[1]) / seconds, (last[2] - first[2]) / seconds) if seconds > 0 else (0.0, 0.0)

    def spill_chunk(self) -> int | None:
        """The block whose put first leaves fewer reclaimable host slots than the watermark, counted from 1; None without a disk tier."""
        return self._shelves.host.slots.capacity - self._watermark + 1 if self._shelves.disk is not None else None

    def check(self) -> None:
        """Recompute every invariant. Raises `AssertionError` with names and numbers."""
        s = self._shelves
        for block in s.table:
            assert block.complete_copies, f"block {block.id} has no complete copy"
            assert block.pins or not block.doomed, f"block {block.id} is doomed and still here"
            moving = (block.device_coming is not None) + (block.disk_coming is not None)
            assert block.pins == moving + self._prefetcher.holds(block), f"block {block.id} has {block.pins} pins, {moving} moves"
        for tier, slots in ((s.host, ("host",)), (s.device, ("device", "device_coming")), (s.disk, ("disk", "disk_coming"))):
            if tier is not None:
                held = [slot for b in s.table for name in slots if (slot := getattr(b, name)) is not None]
                assert len(held) == len(set(held)), f"two blocks share a slot of the {tier.name} tier"
                tier.slots.check(set(held))
        self._write_back.check()
        self._prefetcher.check()

    def close(self) -> None:
        """Stop the workers and free the tiers."""
        s = self._shelves
        s.mover.close()
        for tier in (s.host, s.device, s.disk):
            if tier is not None:
                tier.close()


def _fastest(block: Block | None) -> int:
    if block is None:
        return TIER_NONE
    places = ((block.device, TIER_DEVICE), (block.host, TIER_HOST), (block.disk, TIER_DISK))
    return next((code for slot, code in places if slot is not None), TIER_NONE)
