"""Blocks, views and stores of the memory's tests."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import torch

from tests.helpers.clocks import HandClock
from tests.helpers.fake_tiers import FakeTier, HandTransfers
from worldpager.engine.config import CodecConfig, MemoryConfig
from worldpager.engine.memory.codec import decode, make_codec
from worldpager.engine.memory.making_room import STOP
from worldpager.engine.memory.store import BlockStore
from worldpager.engine.models.base import BlockKV, KVShape, MemoryView, RotarySpec
from worldpager.engine.types import BlockId

KV = KVShape(2, 11, 2, 8)
ROTARY = RotarySpec(2, (0.5, 0.1))
CODEC = CodecConfig(bits=4, key_group=4, value_group=8)
RECORD = make_codec(CODEC, KV, ROTARY).record_bytes
CPU = torch.device("cpu")
PATIENCE = 20.0
"""Seconds that real workers get."""
PLENTY = 1000
"""Host slots that no test fills."""


def block_kv(number: int, kv: KVShape = KV) -> BlockKV:
    """KV that is another for every ``number``."""
    made = torch.Generator().manual_seed(number)
    shape = (kv.layers, kv.tokens, kv.heads, kv.head_dim)
    return BlockKV(torch.randn(shape, generator=made), torch.randn(shape, generator=made))


def empty_view(k: int = 3, kv: KVShape = KV) -> MemoryView:
    """A view full of NaN."""
    shape = (kv.layers, k, kv.tokens, kv.heads, kv.head_dim)
    return MemoryView(torch.full(shape, torch.nan), torch.full(shape, torch.nan))


def make_store(
    host: int = 6,
    *,
    codec: CodecConfig = CODEC,
    disk: FakeTier | None = None,
    transfers: HandTransfers | None = None,
    folder: Path | None = None,
    staging: int = 4,
    clock: HandClock | None = None,
    budget: int | None = None,
    disk_policy: str | None = STOP,
) -> BlockStore:
    """A store of ``host`` and ``staging`` slots. A ``folder`` brings the real disk tier with real workers."""
    config = MemoryConfig(
        codec, device_slots=staging, host_budget=host * make_codec(codec, KV, ROTARY).record_bytes, disk_dir=folder, disk_budget=budget,
        disk_policy=disk_policy,
    )  # fmt: skip
    return BlockStore(config, KV, ROTARY, CPU, clock=clock or HandClock(), transfers=transfers, disk=disk)


class Bench:
    """A store whose moves are cranked by hand, over a fake tier."""

    def __init__(self, host: int = 6, *, disk: int = 50, staging: int = 4, disk_policy: str | None = STOP) -> None:
        self.clock, self.transfers, self.disk = HandClock(), HandTransfers(), FakeTier(disk, RECORD)
        self.store = make_store(host, disk=self.disk, transfers=self.transfers, staging=staging, clock=self.clock, disk_policy=disk_policy)
        self.numbers: dict[BlockId, int] = {}

    def put(self, count: int = 1, *, run: bool = True) -> list[BlockId]:
        """Put blocks, one a chunk; with ``run`` all moves end after each."""
        kept = []
        for _ in range(count):
            number = len(self.numbers)
            block = self.store.put(block_kv(number))
            self.store.poll()
            if run:
                self.settle()
            if block is not None:
                self.numbers[block] = number
                kept.append(block)
            self.store.check()
        return kept

    def settle(self) -> None:
        """All moves end and are booked."""
        while self.transfers.waiting:
            self.transfers.run_all()
            self.store.poll()
        self.store.poll()

    def stage(self, *blocks: BlockId) -> None:
        """Prefetch blocks and let them arrive."""
        self.store.request(blocks)
        self.settle()

    def assert_right(self, *wanted: BlockId) -> None:
        """The working set for ``wanted`` is complete and holds their very numbers."""
        working = self.store.take(wanted)
        assert working.ids == wanted
        assert not working.missed
        assert not working.stale
        view = empty_view(len(wanted))
        self.store.place(working, view, -3.0)
        for slot, block in enumerate(wanted):
            expected = decoded(self.numbers[block], -3.0)
            assert torch.equal(view.keys[:, slot], expected.keys)
            assert torch.equal(view.values[:, slot], expected.values)


def tiers_of(bench: Bench, *blocks: BlockId) -> list[int]:
    """Tier codes of blocks."""
    return [int(code) for code in bench.store.tier_of(blocks)]


def decoded(number: int, offset: float) -> BlockKV:
    """What the codec makes of block ``number``."""
    codec = make_codec(CODEC, KV, ROTARY)
    record = torch.empty(codec.record_bytes, dtype=torch.uint8)
    codec.encode(block_kv(number), record)
    out = block_kv(-1)
    decode(codec, record, out.keys, out.values, offset)
    return out


def wait_until(store: BlockStore, done: Callable[[], bool]) -> None:
    """Poll until ``done``."""
    patience = threading.Event()
    for _ in range(int(PATIENCE / 0.001)):
        store.poll()
        if done():
            return
        patience.wait(0.001)
    raise AssertionError("the workers never got there")


def settle(store: BlockStore) -> None:
    wait_until(store, lambda: not any(block.moving for block in store._table.everything()))


def put(store: BlockStore, number: int) -> BlockId:
    block = store.put(block_kv(number))
    assert block is not None
    return block
