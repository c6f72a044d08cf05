"""The store as the street uses it: spilling, coming back, misses, faults by name, and bit-identical below capacity."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
import torch

from tests.helpers.fake_tiers import FakeTier, HandCranked
from worldpager.engine.config import CodecConfig, MemoryConfig
from worldpager.engine.errors import InputError
from worldpager.engine.memory.codec import Codec
from worldpager.engine.memory.store import BlockStore
from worldpager.engine.models.base import BlockKV, KVShape, MemoryView, RotarySpec
from worldpager.engine.telemetry.snapshot import TIER_DEVICE, TIER_DISK, TIER_HOST, TIER_NONE
from worldpager.engine.types import BlockId

KV = KVShape(2, 16, 2, 8)
CONFIG = CodecConfig(4, 8, 8)
RECORD = Codec(CONFIG, KV, RotarySpec()).record_bytes
CPU = torch.device("cpu")


def _kv(number: int) -> BlockKV:
    g = torch.Generator().manual_seed(number)
    return BlockKV(torch.randn(2, 16, 2, 8, generator=g), torch.randn(2, 16, 2, 8, generator=g))


def _view(k: int = 2) -> MemoryView:
    return MemoryView(torch.full((2, k, 16, 2, 8), float("nan")), torch.full((2, k, 16, 2, 8), float("nan")))


def _store(host: int = 6, *, disk: FakeTier | None = None, mover: HandCranked | None = None, folder: Path | None = None,
           device: int = 4, budget: int | None = None) -> BlockStore:
    config = MemoryConfig(codec=CONFIG, device_slots=device, host_budget=host * RECORD, disk_dir=folder, disk_budget=budget)
    return BlockStore(config, KV, RotarySpec(0, (0.5,)), CPU, disk=disk, mover=mover)


def _placed(store: BlockStore, wanted: list[BlockId]) -> MemoryView:
    view = _view()
    store.place(store.take(wanted), view, -3.0)
    return view


def _settle(store: BlockStore, seconds: float = 10.0) -> None:
    """Poll until nothing moves."""
    end = time.monotonic() + seconds
    while any(b.device_coming is not None or b.disk_coming is not None for b in store._shelves.table):
        store.poll()
        assert time.monotonic() < end, "a move never ended"


def test_spills_below_the_watermark_and_comes_back_the_same(tmp_path: Path) -> None:
    plain, tiered = _store(64), _store(6, folder=tmp_path)
    first = []
    for i in range(20):
        a, b = plain.put(_kv(i)), tiered.put(_kv(i))
        assert a == b
        assert b is not None
        first.append(b)
        _settle(tiered)
        tiered.check()
    counters = tiered.counters()
    assert counters.spilled_blocks >= 14
    assert counters.disk_written_bytes == counters.spilled_blocks * (RECORD + 4096)
    assert counters.host_peak_bytes <= counters.host_budget_bytes
    assert tiered.tier_of([first[0], first[-1], BlockId(99)]).tolist() == [TIER_DISK, TIER_HOST, TIER_NONE]
    tiered.request([first[0], first[5]])
    _settle(tiered)
    assert tiered.tier_of([first[0]]).tolist() == [TIER_DEVICE]
    for wanted in ([first[0], first[5]], [first[19], first[18]]):
        expected, got = _placed(plain, wanted), _placed(tiered, wanted)
        assert torch.equal(expected.keys, got.keys)
        assert torch.equal(expected.values, got.values)
    assert tiered.counters().blocks_missed == 0
    assert tiered.counters().disk_read_bytes == 2 * (RECORD + 4096)
    plain.close()
    tiered.close()


def test_spill_chunk_is_where_the_first_write_starts() -> None:
    mover = HandCranked()
    store = _store(8, disk=FakeTier(50, RECORD), mover=mover)
    puts = 0
    while not mover.waiting:
        store.put(_kv(puts))
        puts += 1
    assert store.spill_chunk() == puts
    store.close()


def test_a_miss_uses_the_stale_set_and_never_waits() -> None:
    mover = HandCranked()
    store = _store(6, disk=FakeTier(50, RECORD), mover=mover)
    ids = []
    for i in range(12):
        ids.append(store.put(_kv(i)))
        mover.crank_all()
        store.poll()
    known = [b for b in ids if b is not None]
    on_disk = [b for b in known if store.tier_of([b])[0] == TIER_DISK]
    store.take(known[-2:])
    store.request(on_disk[:2])  # nobody cranks: the reads hang
    working = store.take(on_disk[:2])
    assert working.stale
    assert working.missed == tuple(on_disk[:2])
    assert working.ids == tuple(known[-2:])
    assert store.counters().stale_uses == 2
    mover.crank_all()
    store.poll()
    assert store.take(on_disk[:2]).missed == ()
    store.check()
    store.close()


def test_an_evicted_block_is_only_given_up_when_the_disk_has_it() -> None:
    """Interleaving: the write is under way when the host fills up. The slot may not be taken before the write has ended."""
    mover, disk = HandCranked(), FakeTier(50, RECORD)
    store = _store(5, disk=disk, mover=mover)
    ids = [store.put(_kv(i)) for i in range(5)]
    assert all(b is not None for b in ids)
    assert store.put(_kv(5)) is None, "all writes are still on their way"
    assert any("memory full" in text for text in store.degraded())
    mover.crank_all()
    store.poll()
    assert store.put(_kv(6)) is not None
    assert not any("memory full" in text for text in store.degraded())
    store.check()
    store.close()


def test_failing_writes_turn_the_disk_off_by_name_and_keep_the_blocks() -> None:
    mover, disk = HandCranked(), FakeTier(50, RECORD)
    store = _store(6, disk=disk, mover=mover)
    disk.fault = "fail"
    ids = []
    for i in range(10):
        ids.append(store.put(_kv(i)))
        mover.crank_all()
        store.poll()
        store.check()
    kept = [b for b in ids if b is not None]
    assert len(kept) == 6
    assert any(text.startswith("disk off") for text in store.degraded())
    assert store.counters().failed_moves >= 3
    assert store.counters().blocks_refused == 4
    assert store.take(kept[:2]).missed == ()
    store.close()


def test_a_full_disk_is_said_and_play_goes_on() -> None:
    mover = HandCranked()
    store = _store(6, disk=FakeTier(2, RECORD), mover=mover)
    for i in range(12):
        store.put(_kv(i))
        mover.crank_all()
        store.poll()
        store.check()
    assert any(text.startswith("disk full") for text in store.degraded())
    store.close()


def test_a_block_that_cannot_be_read_is_missed_then_forgotten() -> None:
    mover, disk = HandCranked(), FakeTier(50, RECORD)
    store = _store(6, disk=disk, mover=mover)
    ids = []
    for i in range(10):
        ids.append(store.put(_kv(i)))
        mover.crank_all()
        store.poll()
    victim = ids[0]
    assert victim is not None
    assert store.tier_of([victim])[0] == TIER_DISK
    disk.fault = "fail"
    for attempt in range(3):
        store.request([victim])
        mover.crank_all()
        store.poll()
        store.check()
        assert store.take([victim]).missed == (victim,), f"attempt {attempt}"
    assert store.tier_of([victim])[0] == TIER_NONE
    store.close()


def test_freed_slots_may_hold_anything() -> None:
    """Poison whatever is free after every step: what is placed stays right."""
    mover = HandCranked()
    store, plain = _store(6, disk=FakeTier(50, RECORD), mover=mover), _store(64)
    ids = []
    for i in range(16):
        ids.append(store.put(_kv(i)))
        plain.put(_kv(i))
        mover.crank_all()
        store.poll()
        for tier in (store._shelves.host, store._shelves.device):
            for slot in tier.slots._free:
                tier.record(slot).fill_(0xAB)
        known = [b for b in ids if b is not None]
        wanted = [known[(7 * i) % len(known)], known[(3 * i) % len(known)]]
        wanted = list(dict.fromkeys(wanted))
        store.request(wanted)
        mover.crank_all()
        store.poll()
        a, b = _placed(store, wanted), _placed(plain, wanted)
        assert torch.equal(a.keys[:, : len(wanted)], b.keys[:, : len(wanted)])
    store.close()
    plain.close()


def test_budgets_too_small_are_refused_with_the_least_that_works() -> None:
    with pytest.raises(InputError, match="at least"):
        _store(3)
    with pytest.raises(InputError, match="staging slots"):
        _store(6, device=1)
