"""The store with its real workers and disk: the same bytes as all in memory, whatever the workers are doing; and on a GPU."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
import torch

from tests.engine.memory.kit import CODEC, KV, PLENTY, RECORD, ROTARY, block_kv, decoded, empty_view, make_store, put, settle, wait_until
from tests.helpers.fake_tiers import FakeTier
from worldpager.engine.config import MemoryConfig
from worldpager.engine.memory import transfer
from worldpager.engine.memory.store import BlockStore
from worldpager.engine.memory.transfer import ThreadedTransfers
from worldpager.engine.models.base import BlockKV, MemoryView
from worldpager.engine.types import BlockId


def test_through_a_real_disk_every_block_comes_back_to_the_bit(tmp_path: Path) -> None:
    tiered, plain = make_store(8, folder=tmp_path, staging=6), make_store(PLENTY)
    blocks = []
    for number in range(40):
        blocks.append(put(tiered, number))
        assert put(plain, number) == blocks[-1]
        settle(tiered)
    for first in range(0, 40, 3):
        wanted = blocks[first : first + 3]
        tiered.request(wanted)
        settle(tiered)
        views = [empty_view(), empty_view()]
        for store, view in zip((tiered, plain), views, strict=True):
            working = store.take(wanted)
            assert not working.missed
            store.place(working, view, -5.0)
        assert torch.equal(views[0].keys[:, : len(wanted)], views[1].keys[:, : len(wanted)])
        assert torch.equal(views[0].values[:, : len(wanted)], views[1].values[:, : len(wanted)])
        tiered.check()
    counters = tiered.counters()
    assert counters.spilled_blocks >= 32
    assert counters.disk_read_bytes >= 32 * (RECORD + 4096)
    assert list(tmp_path.iterdir()) == []
    tiered.close()
    plain.close()


def test_while_workers_race_the_street_nothing_wrong_is_ever_placed(tmp_path: Path) -> None:
    """Nobody waits for anybody here: blocks are missed, stale sets stand in, and what is placed is always right."""
    store, dice = make_store(8, folder=tmp_path, staging=4), random.Random(1)
    numbers: dict[BlockId, int] = {}
    expected = {number: decoded(number, -5.0) for number in range(60)}
    missed = 0
    for number in range(400):
        store.poll()
        block = store.put(block_kv(number % 60))
        if block is not None:
            numbers[block] = number % 60
        working = store.take(dice.sample(sorted(numbers), min(3, len(numbers))))
        store.request(dice.sample(sorted(numbers), min(6, len(numbers))))
        missed += len(working.missed)
        view = empty_view()
        store.place(working, view, -5.0)
        for slot, taken in enumerate(working.ids):
            assert torch.equal(view.keys[:, slot], expected[numbers[taken]].keys)
            assert torch.equal(view.values[:, slot], expected[numbers[taken]].values)
        store.check()
        if len(numbers) > 40:
            gone = dice.sample(sorted(numbers), 5)
            store.drop(gone)
            for block in gone:
                del numbers[block]
    assert store.counters().blocks_missed == missed
    store.drop(list(numbers))
    settle(store)
    store.check()
    assert [use.used for use in store.tiers()] == [0, 0, 0]
    store.close()


@pytest.mark.parametrize("wanted_from", ["disk", "host"])
def test_a_drive_that_hangs_never_keeps_the_street_waiting(monkeypatch: pytest.MonkeyPatch, wanted_from: str) -> None:
    monkeypatch.setattr(transfer, "CLOSING_SECONDS", 0.05)
    disk, workers = FakeTier(50, RECORD), ThreadedTransfers(readers=2)
    config = MemoryConfig(CODEC, device_slots=4, host_budget=6 * RECORD)
    store = BlockStore(config, KV, ROTARY, torch.device("cpu"), transfers=workers, disk=disk)
    blocks = []
    for number in range(12):
        blocks.append(put(store, number))
        settle(store)
    disk.gate.clear()
    wanted = blocks[:2] if wanted_from == "disk" else blocks[-2:]
    store.request(blocks[:4])
    for number in range(20):
        store.poll()
        working = store.take(wanted)
        assert working.ids == (() if wanted_from == "disk" else tuple(wanted))
        store.request(blocks[:4])
        store.put(block_kv(number))
        store.check()
    assert store.counters().blocks_refused > 0
    store.close()
    disk.gate.set()


def test_a_limited_drive_is_as_slow_as_it_is_told(tmp_path: Path) -> None:
    """Speed emulation reaches the workers: with next to no bandwidth the first write is still under way."""
    config = MemoryConfig(CODEC, host_budget=6 * RECORD, disk_dir=tmp_path, write_limit=1.0)
    store = BlockStore(config, KV, ROTARY, torch.device("cpu"))
    for number in range(6):
        put(store, number)
        store.poll()
    wait_until(store, lambda: store._transfers.oldest_start() is not None)
    assert store.counters().spilled_blocks == 0
    store.close()


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_on_a_gpu_blocks_are_those_of_the_cpu(tmp_path: Path, dtype: torch.dtype) -> None:
    gpu = torch.device("cuda")
    config = MemoryConfig(CODEC, device_slots=4, host_budget=8 * RECORD, disk_dir=tmp_path)
    store, plain = BlockStore(config, KV, ROTARY, gpu), make_store(PLENTY)
    blocks = []
    for number in range(20):
        kv = block_kv(number)
        blocks.append(store.put(BlockKV(kv.keys.to(gpu), kv.values.to(gpu))) or BlockId(0))
        put(plain, number)
        settle(store)
        store.check()
    assert store.tiers()[1].note == "pinned"
    for wanted in (blocks[:3], blocks[-3:], [blocks[1], blocks[12], blocks[19]]):
        store.request(wanted)
        settle(store)
        view, expected = empty_view(), empty_view()
        on_gpu = MemoryView(view.keys.to(gpu, dtype), view.values.to(gpu, dtype))
        working = store.take(wanted)
        assert working.ids == tuple(wanted)
        store.place(working, on_gpu, -5.0)
        plain.place(plain.take(wanted), expected, -5.0)
        assert torch.equal(on_gpu.values.cpu(), expected.values.to(dtype))
        assert torch.allclose(on_gpu.keys.float().cpu(), expected.keys, rtol=1e-2 if dtype is torch.bfloat16 else 1e-6, atol=1e-6)
    store.close()
    plain.close()
