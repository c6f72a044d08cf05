"""The tiered store: blocks of KV in staging slots, host memory and on disk, behind one small face.

All calls come from the generator thread, which alone writes the bookkeeping; workers only move bytes. A block always has at least one
complete copy: a source is let go only after its destination is complete. Bytes whose checksum is wrong never reach a memory view.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from worldpager.engine.config import MemoryConfig
from worldpager.engine.errors import InputError, TierError
from worldpager.engine.memory.assembly import check_slots, make_workers, open_disk
from worldpager.engine.memory.block import Block
from worldpager.engine.memory.block_table import BlockTable
from worldpager.engine.memory.budget import host_budget
from worldpager.engine.memory.checks import check_memory
from worldpager.engine.memory.codec import fingerprint, make_codec
from worldpager.engine.memory.device_tier import DeviceTier
from worldpager.engine.memory.disk_tier import ArenaFacts
from worldpager.engine.memory.eviction import victims
from worldpager.engine.memory.host_tier import HostTier
from worldpager.engine.memory.kept_tier import KeptTier
from worldpager.engine.memory.landing import Landing
from worldpager.engine.memory.making_room import MakingRoom, Ranking
from worldpager.engine.memory.moving_tier import MovingTier
from worldpager.engine.memory.prefetcher import Prefetcher
from worldpager.engine.memory.prefetcher import WorkingSet as WorkingSet
from worldpager.engine.memory.tally import Rate, Tally
from worldpager.engine.memory.tier import DamagedError, Purpose, Tier, reason
from worldpager.engine.memory.transfer import Outcome, Transfers
from worldpager.engine.memory.trouble import Trouble
from worldpager.engine.memory.write_back import WriteBack
from worldpager.engine.models.base import BlockKV, KVShape, MemoryView, RotarySpec
from worldpager.engine.telemetry.snapshot import TIER_NONE, MemoryCounters, TierUse
from worldpager.engine.telemetry.waiting import Waiting
from worldpager.engine.types import BlockId

DAMAGES = 3
"""A block on disk alone is given up after this many reads of damaged bytes."""
KEEP_SECONDS = 10.0
"""How long closing a kept world waits for a write to end."""


class BlockStore:
    """See the module. ``transfers`` and ``disk`` take the places of the real workers and disk tier in tests.

    With ``behind`` (None: on a GPU) new blocks land in host memory behind the street.

    Raises `TierError` when a tier can't be made, `InputError` for budgets too small to play and for a codec that can't be.
    """

    def __init__(
        self,
        config: MemoryConfig,
        kv: KVShape,
        rotary: RotarySpec,
        device: torch.device,
        *,
        clock: Callable[[], float] = time.monotonic,
        transfers: Transfers | None = None,
        disk: Tier | None = None,
        behind: bool | None = None,
    ) -> None:
        self._clock, self._torch_device, self._watermark = clock, device, config.watermark
        self._shape = torch.Size((kv.layers, kv.tokens, kv.heads, kv.head_dim))
        self._codec = make_codec(config.codec, kv, rotary)
        size = self._codec.record_bytes
        self._host_budget = host_budget(config.host_budget)
        check_slots(config, self._host_budget // size, size)
        on_gpu = device.type == "cuda"
        behind = on_gpu if behind is None else behind
        self._host = HostTier(self._host_budget // size, size, pinned=on_gpu)
        self._device = DeviceTier(config.device_slots, size, device)
        facts = ArenaFacts(fingerprint(config.codec, kv, rotary), kv.tokens, size)
        if disk is None and config.disk_dir is not None:
            disk = open_disk(config, config.disk_dir, facts, clock)
        self._disk, self._kept = disk, disk if isinstance(disk, KeptTier) else None
        self._open_kept = partial(open_disk, replace(config, keep=True), facts=facts, clock=clock)
        self._moving: MovingTier | None = None
        self._landing = Landing(size, device) if behind else None
        self._placed = torch.cuda.Event() if on_gpu else None
        self._table, self._tally = BlockTable(), Tally()
        self._transfers = transfers or make_workers(config, disk, clock, behind)
        self._prefetcher = Prefetcher(self._table, self._host, self._device, disk, self._transfers, self._tally, stage_hosted=on_gpu)
        self._making_room = MakingRoom(config.disk_policy, config.keep, self._table, self._tally, self._remove)
        self._write_back = None
        if disk is not None:
            self._write_back = WriteBack(self._table, self._host, disk, self._transfers, self._tally, config.watermark, clock)
            self._write_back.make_room = self._making_room
        if self._kept is not None and self._write_back:
            self._table.count_from(self._kept.next_id)
            self._write_back.write_through(self._kept, self._kept.first_generation)
        self._read_rate, self._write_rate = Rate(clock), Rate(clock)
        self._trouble = Trouble()
        self._closed = False

    def put(self, kv: BlockKV) -> BlockId | None:
        """Encode a block into a host slot, that of the coldest clean block if none is free. None, and counted, when there is no room.

        Raises `ValueError`, before anything changes, for KV of another shape than the store's.
        """
        if not kv.keys.shape == kv.values.shape == self._shape:
            raise ValueError(f"keys {tuple(kv.keys.shape)} and values {tuple(kv.values.shape)} are not blocks of {tuple(self._shape)}")
        slot = self._host_slot()
        if slot is None:  # perhaps a write has ended since the chunk began
            self.poll()
            slot = self._host_slot()
        self._trouble.full = slot is None
        if slot is None:
            self._tally.blocks_refused += 1
            return None
        block = self._table.add(slot)
        self._encode(kv, block, self._host.bytes_of(slot))
        if self._write_back:
            self._write_back.expect(block)
        return block.id

    def poll(self) -> None:
        """Collect finished moves, then write back what the watermark asks for."""
        for outcome in self._transfers.collect():
            self._finish(outcome)
        if self._write_back:
            self._write_back.run()
        if self._moving is not None and not self._prefetcher.reading:
            self._moving.leave()

    def request(self, ranked: Sequence[BlockId]) -> None:
        """Prefetch, most likely first; supersedes the last request."""
        self._prefetcher.request(ranked)

    def take(self, wanted: Sequence[BlockId]) -> WorkingSet:
        """The wanted blocks at hand, stale ones for the rest. Its blocks stay in place until the next call. Timed as the street's wait."""
        waiting = Waiting(self._clock)
        self._await_placed()
        working = self._prefetcher.take(wanted)
        self._tally.waited(waiting.seconds())
        return working

    def place(self, working: WorkingSet, view: MemoryView, offset: float | Sequence[float] | None) -> None:
        """Decode the newest working set into the first slots of ``view``, keys turned ``offset`` frames on: one for all or each its own.

        None gives keys as stored.
        """
        offsets = offset if offset is None or isinstance(offset, Sequence) else [offset] * len(working.ids)
        records = [self._encoded_bytes(number) for number in working.ids[: view.capacity]]
        self._codec.place(records, view.keys, view.values, offsets and offsets[: len(records)])
        if self._placed is not None:
            self._placed.record()

    def rank_by(self, ranking: Ranking) -> None:
        """Let ``ranking`` say which blocks are least useful, for when the disk tier is full."""
        self._making_room.rank_by(ranking)

    def share(self, ids: Iterable[BlockId]) -> None:
        """One more branch holds these blocks. Raises `ValueError`, before anything changes, when one is unknown."""
        self._table.share(ids)

    def drop(self, ids: Iterable[BlockId]) -> None:
        """One branch less holds these blocks; with the last they are forgotten, bytes and all. Unknown ids are ignored."""
        self._await_placed()
        for number in ids:
            block = self._table.get(number)
            if block is not None:
                if block.references > 1:
                    block.references -= 1
                else:
                    self._remove(block)

    def adopt(self, references: Mapping[BlockId, int]) -> set[BlockId]:
        """Take over a kept folder's blocks of earlier runs that ``references`` branches each hold, and let all others there go.

        Once, before the first `put`; reads no bytes. Returns the ids that can't be had.
        """
        known = self._kept.take_known() if self._kept is not None else {}
        for number, (slot, stamp) in known.items():
            holders = references.get(BlockId(number), 0)
            if holders > 0:
                self._table.adopt(BlockId(number), slot, stamp, holders)
            elif self._kept is not None:
                self._kept.free(slot)
        self._table.count_from(1 + max(references, default=-1))
        return {number for number in references if number not in known}

    def keep(self, folder: Path) -> None:
        """Keep the world that is in memory in ``folder`` from now on: blocks so far are written there in the background, new ones through.

        Raises `TierError` or `InputError`, before anything changes, when it can't be. Waits until the folder's files are made.
        """
        if self._disk is None or self._write_back is None or self._kept is not None:
            why = "kept already" if self._kept is not None else "played without a disk tier"
            raise InputError(f"This world is {why} and can't be kept in {folder}.", "Begin a new world to keep it there.")
        kept = self._open_kept(folder=folder)
        assert isinstance(kept, KeptTier)
        if kept.known:
            kept.close()
            raise TierError(f"{folder} holds another world's blocks.", "Choose an empty folder.")
        self._kept, self._moving = kept, MovingTier(self._disk, kept)
        self._disk = self._moving
        self._prefetcher.use_disk(self._moving)
        self._making_room.keep()
        self._write_back.write_through(self._moving, kept.first_generation)

    def take_durable(self) -> list[BlockId]:
        """Blocks of a kept folder whose bytes and rows became durable since the last call."""
        return [block.id for block in self._write_back.take_durable()] if self._write_back else []

    def tier_of(self, ids: Iterable[BlockId] | NDArray[np.int64]) -> NDArray[np.uint8]:
        """Code of the fastest tier that holds each block; TIER_NONE for unknown ones."""
        numbers = ids.tolist() if isinstance(ids, np.ndarray) else ids
        return np.array([block.tier if block else TIER_NONE for block in map(self._table.get, numbers)], np.uint8)

    def copies_of(self, ids: Iterable[BlockId] | NDArray[np.int64]) -> NDArray[np.uint8]:
        """Bits of the tiers that hold a complete copy of each block; 0 for unknown ones."""
        numbers = ids.tolist() if isinstance(ids, np.ndarray) else ids
        blocks = map(self._table.get, numbers)
        return np.array([block.copies if block else 0 for block in blocks], np.uint8)

    def tiers(self) -> tuple[TierUse, ...]:
        """Occupancy, fastest first."""
        dirty = sum(block.dirty for block in self._table.hosted)
        disk = _use(self._disk) if self._disk else TierUse("disk", 0, 0, self._host.slot_bytes, note="no disk tier")
        trouble = self._write_back.note if self._write_back else ""
        disk = replace(disk, note=trouble or disk.note, when_full=self._making_room.policy if self._disk else "")
        return _use(self._device), _use(self._host, dirty), disk

    def counters(self) -> MemoryCounters:
        """Totals since the store was made."""
        return self._tally.frozen(
            blocks=len(self._table), host_peak_bytes=self._host.peak * self._host.slot_bytes, host_budget_bytes=self._host_budget
        )

    def degraded(self) -> tuple[str, ...]:
        """What doesn't work as it should, in words for the user."""
        writing = self._write_back.note if self._write_back else ""
        return self._trouble.notes([writing, self._making_room.note], self._host.capacity, self._transfers.oldest_start(), self._clock())

    def disk_rates(self) -> tuple[float, float]:
        """Bytes a second read and written lately."""
        return self._read_rate(), self._write_rate()

    def spill_chunk(self) -> int | None:
        """Number of the block, counted from 1, whose `put` first calls for a write to disk. None without a disk tier."""
        return self._host.capacity - self._watermark + 1 if self._disk else None

    def close(self, *, keep: bool = False) -> int:
        """End the workers and free the tiers; a second close does nothing. Returns how many blocks of a kept folder aren't durable.

        With ``keep`` pending writes are finished first, as long as the drive makes progress; else they are given up.
        """
        if keep and self._kept is not None and not self._closed:
            self._finish_writing()
        left = self._write_back.unwritten if self._write_back else 0
        if self._disk is not None:
            self._disk.stop()
        self._transfers.close()
        if not self._closed:
            self._closed = True
            self._device.close()
            self._host.close()
            if self._kept is not None:
                self._kept.hanging = self._transfers.oldest_start() is not None
            if self._disk is not None:
                self._disk.close()
        return left

    def check(self) -> None:
        """Recompute every invariant; AssertionError names what is broken. For tests: it reads all bytes in memory."""
        check_memory(self._table, self._prefetcher, self._host, self._device, self._disk)

    # Moves

    def _finish(self, outcome: Outcome) -> None:
        move, block = outcome.move, outcome.move.block
        leaving = block.dropped
        if move.purpose is Purpose.LANDING:
            self._landed(outcome)
        elif move.purpose is Purpose.WRITE_BACK:
            assert self._write_back
            self._write_back.finish(outcome)
            self._write_rate.add(move.bytes if outcome.error is None else 0)
        else:
            self._prefetcher.finish(outcome)
            self._note_read(outcome)
        self._tally.failed_moves += outcome.error is not None
        if leaving and not block.moving:
            self._free(block)
            self._table.left(block)

    def _note_read(self, outcome: Outcome) -> None:
        """Count a read; a block that keeps coming back damaged is given up."""
        block = outcome.move.block
        if outcome.error is None:
            self._tally.disk_read_bytes += outcome.move.bytes
            self._read_rate.add(outcome.move.bytes)
            block.failures, self._trouble.read_failure = 0, ""
        elif isinstance(outcome.error, DamagedError):
            block.failures += 1
            if block.failures >= DAMAGES and not block.dropped and block.host is None:
                self._trouble.lost += 1
                self._remove(block)
        else:
            self._trouble.read_failure = reason(outcome.error)

    def _remove(self, block: Block) -> None:
        """Forget a block; slots that a worker holds are freed when it has ended."""
        self._prefetcher.forget(block)
        if self._write_back:
            self._write_back.withdraw(block)
        self._table.remove(block)
        if not block.moving:
            self._free(block)

    def _free(self, block: Block) -> None:
        if block.host is not None:
            self._host.free(block.host)
        if block.disk is not None and self._disk:
            self._disk.free(block.disk)
        block.host = block.disk = None

    def _finish_writing(self) -> None:
        """Write every block through. Gives up when nothing ends for `KEEP_SECONDS`."""
        assert self._write_back
        pause, left, deadline = threading.Event(), self._write_back.unwritten, time.monotonic() + KEEP_SECONDS
        while self._write_back.unwritten and time.monotonic() < deadline:
            self._write_back.hurry()
            self.poll()
            if self._write_back.unwritten < left:
                left, deadline = self._write_back.unwritten, time.monotonic() + KEEP_SECONDS
            pause.wait(0.002)

    # Bytes

    def _encode(self, kv: BlockKV, block: Block, record: Tensor) -> None:
        """Into the block's host slot at once, or by way of a buffer on the device."""
        buffer = self._landing.buffer() if self._landing is not None else None
        if self._landing is not None and buffer is not None:
            self._codec.encode(kv, buffer[1])
            self._transfers.submit([self._landing.send(block, buffer[0], record)])
            return
        if self._torch_device.type == "cuda":
            encoded = torch.empty(len(record), dtype=torch.uint8, device=self._torch_device)
            self._codec.encode(kv, encoded)
            record.copy_(encoded)
        else:
            self._codec.encode(kv, record)
        self._trouble.repaired += self._codec.repaired(record) > 0

    def _landed(self, outcome: Outcome) -> None:
        """A new block is in host memory, or lost with its buffer."""
        assert self._landing
        block = outcome.move.block
        self._landing.finish(block)
        if outcome.error is None and block.host is not None:
            self._trouble.repaired += self._codec.repaired(self._host.bytes_of(block.host)) > 0
        elif outcome.error is not None and not block.dropped:
            self._trouble.lost += 1
            self._remove(block)

    def _host_slot(self) -> int | None:
        slot = self._host.allocate()
        if slot is None:
            for block in victims(self._table, 1):
                self._host.free(self._table.evict(block))
                self._tally.evicted_blocks += 1
            slot = self._host.allocate()
        return slot

    def _encoded_bytes(self, number: BlockId) -> Tensor:
        """The record of a block at hand, where the model computes. Raises KeyError for a block that isn't."""
        block = self._table.get(number)
        if block is not None and block.device is not None:
            return self._device.bytes_of(block.device)
        if block is not None and block.host is not None:
            return self._host.bytes_of(block.host).to(self._torch_device, non_blocking=True)
        raise KeyError(f"block {number} is not at hand: place() wants the newest working set")

    def _await_placed(self) -> None:
        """On a GPU, decoding must have read the slots before they may change. It ended with the last chunk, so this doesn't wait."""
        if self._placed is not None:
            self._placed.synchronize()


def _use(tier: Tier, dirty: int = 0) -> TierUse:
    return TierUse(tier.name, tier.used, tier.capacity, tier.slot_bytes, dirty, tier.note)
