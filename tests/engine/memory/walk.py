"""A kept store against a dictionary: one random operation after another, every rule checked after each.

The moves are cranked by hand, begin and end in any order, and fail when told; the folder is a real one. A crash throws the store away as it
is, without a word to the disk, and opens the folder again: what was said to be durable must be there, nothing else may be.
"""

from __future__ import annotations

import os
import random
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

import torch

from tests.helpers.clocks import HandClock
from tests.helpers.fake_tiers import HandTransfers
from worldpager.engine.config import CodecConfig, MemoryConfig
from worldpager.engine.memory.codec import make_codec
from worldpager.engine.memory.store import BlockStore
from worldpager.engine.models.base import BlockKV, KVShape, MemoryView, RotarySpec
from worldpager.engine.telemetry.snapshot import TIER_NONE
from worldpager.engine.types import BlockId

KV = KVShape(1, 4, 1, 4)
CODEC = CodecConfig(16)
RECORD = make_codec(CODEC, KV, RotarySpec()).record_bytes
SLOT = RECORD + 4096
HOST, STAGING, DISK, K = 7, 4, 14, 3


def content(number: int) -> BlockKV:
    """KV that is told from every other up to 2^16, exactly so in bfloat16: two bytes, each a small whole number."""
    keys = torch.full((1, 4, 1, 4), float(number % 256))
    return BlockKV(keys, torch.full((1, 4, 1, 4), float(number // 256 % 256)))


class Walk:
    """See the module. ``held`` is the dictionary: what was put and not dropped, by id; ``references`` how often."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="walk-", dir="/dev/shm" if Path("/dev/shm").is_dir() else None))
        self.clock = HandClock()
        self.held: dict[BlockId, int] = {}
        self.references: dict[BlockId, int] = {}
        self.durable: set[BlockId] = set()
        self.working: tuple[BlockId, ...] = ()
        self.next, self.newest, self.newest_durable = 1, -1, -1
        self.crashes = self.steps = 0
        self.broken = False
        self.open()
        self.operations: list[tuple[int, Callable[[random.Random], None]]] = [
            (8, self.put), (5, self.request), (5, self.take_and_place), (3, self.drop), (2, self.share), (8, self.begin), (10, self.end),
            (6, self.poll), (3, self.take_durable), (1, self.break_or_mend), (1, self.settle), (1, self.time_passes), (1, self.crash),
            (1, self.close_and_open),
        ]  # fmt: skip

    def open(self) -> None:
        self.transfers = HandTransfers()
        config = MemoryConfig(
            CODEC, device_slots=STAGING, host_budget=HOST * RECORD, disk_dir=self.folder, disk_budget=DISK * SLOT, keep=True
        )
        self.store = BlockStore(config, KV, RotarySpec(), torch.device("cpu"), clock=self.clock, transfers=self.transfers)
        self.held = {block: number for block, number in self.held.items() if block in self.durable}
        self.references = {block: self.references[block] for block in self.held}
        assert self.store.adopt(self.references) == set(), "a durable block is gone"
        self.working, self.broken = (), False
        self.newest = self.newest_durable

    def step(self, dice: random.Random) -> None:
        """One operation, then every rule."""
        weights = [weight for weight, _ in self.operations]
        _, operation = dice.choices(self.operations, weights)[0]
        operation(dice)
        self.steps += 1
        self.check()

    def check(self) -> None:
        self.store.check()
        assert self.store.counters().blocks == len(self.held)
        for use, capacity in zip(self.store.tiers(), (STAGING, HOST, DISK), strict=True):
            assert use.used <= use.capacity == capacity
        assert (self.folder / "blocks.arena").stat().st_size <= DISK * SLOT, "the file has outgrown its budget"

    def close(self) -> None:
        self.mend()
        self.store.drop([block for block, count in self.references.items() for _ in range(count)])
        self.settle(random.Random(0))
        self.store.check()
        assert [use.used for use in self.store.tiers()] == [0, 0, 0], "slots are lost"
        self.store.close()
        assert (self.folder / "blocks.arena").stat().st_size == 0, "bytes are left that nobody owns"
        shutil.rmtree(self.folder)

    # Operations

    def put(self, dice: random.Random) -> None:
        number, self.next = self.next, self.next + 1
        block = self.store.put(content(number))
        if block is not None:
            assert block > self.newest, "an id came again"
            self.newest = block
            self.held[block], self.references[block] = number, 1

    def request(self, dice: random.Random) -> None:
        self.store.request(self.some(dice, 6))

    def take_and_place(self, dice: random.Random) -> None:
        wanted = self.some(dice, K)
        working = self.store.take(wanted)
        ready = set(wanted) - set(working.missed)
        assert ready <= set(working.ids)
        assert set(working.ids) - ready <= set(self.working), "only blocks of the last working set stand in"
        self.working = working.ids
        view = MemoryView(torch.full((1, K, 4, 1, 4), torch.nan), torch.full((1, K, 4, 1, 4), torch.nan))
        self.store.place(working, view, 0.0)
        for slot, block in enumerate(working.ids):
            expected = content(self.held[block])
            assert torch.equal(view.keys[:, slot], expected.keys), f"block {block} holds other bytes"
            assert torch.equal(view.values[:, slot], expected.values), f"block {block} holds other bytes"

    def drop(self, dice: random.Random) -> None:
        for block in self.some(dice, 3):
            self.store.drop([block])
            if block in self.held:
                self.references[block] -= 1
                if self.references[block] == 0:
                    self.forget(block)

    def share(self, dice: random.Random) -> None:
        blocks = [block for block in self.some(dice, 3) if block in self.held]
        self.store.share(blocks)
        for block in blocks:
            self.references[block] += 1

    def begin(self, dice: random.Random) -> None:
        if self.transfers.queued:
            self.transfers.begin(dice.randrange(len(self.transfers.queued)))

    def end(self, dice: random.Random) -> None:
        if self.transfers.begun:
            self.transfers.end(dice.choice(self.transfers.begun))

    def poll(self, dice: random.Random) -> None:
        self.store.poll()

    def take_durable(self, dice: random.Random) -> None:
        fresh = self.store.take_durable()
        assert self.durable.isdisjoint(fresh), "told twice"
        assert set(fresh) <= set(self.held)
        self.durable.update(fresh)
        self.newest_durable = max(self.newest_durable, *fresh, -1)

    def break_or_mend(self, dice: random.Random) -> None:
        if self.broken:
            self.mend()
        else:
            kept = self.store._kept
            assert kept is not None
            kept._arena.write = self._refuse  # type: ignore[assignment,method-assign]
            self.broken = True

    def mend(self) -> None:
        if self.broken:
            assert self.store._kept is not None
            del self.store._kept._arena.write
            self.broken = False

    def settle(self, dice: random.Random) -> None:
        for _ in range(4):
            self.transfers.run_all()
            self.store.poll()

    def time_passes(self, dice: random.Random) -> None:
        self.clock.now += dice.choice([0.1, 3.0, 100.0])

    def crash(self, dice: random.Random) -> None:
        """The process dies: nobody tidies, moves under way end nowhere."""
        kept = self.store._kept
        assert kept is not None
        self.take_durable(dice)
        kept._index.close()
        os.close(kept._arena._descriptor)
        kept._folder_lock._lock.release()
        self.crashes += 1
        self.open()

    def close_and_open(self, dice: random.Random) -> None:
        """An orderly end, with all writes or without."""
        self.mend()
        if dice.random() < 0.5:
            self.clock.now += 100
            for _ in range(8):
                self.settle(dice)
        self.take_durable(dice)
        self.store.close()
        self.open()

    def some(self, dice: random.Random, most: int) -> list[BlockId]:
        return dice.sample([*sorted(self.held), BlockId(1 << 50)], min(len(self.held) + 1, dice.randint(0, most)))

    def forget(self, block: BlockId) -> None:
        del self.held[block], self.references[block]
        self.durable.discard(block)
        self.working = tuple(one for one in self.working if one != block)
        assert self.store.tier_of([block])[0] == TIER_NONE

    def _refuse(self, *_: object) -> None:
        raise OSError(5, "the drive doesn't answer")
