"""New blocks that land in host memory behind the street, and memory that the driver won't pin."""

from __future__ import annotations

import threading
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

from tests.engine.memory.kit import CODEC, CPU, KV, RECORD, ROTARY, block_kv, decoded, empty_view
from tests.helpers.clocks import HandClock
from tests.helpers.fake_tiers import FakeTier, HandTransfers
from worldpager.engine.config import MemoryConfig
from worldpager.engine.memory.host_tier import HostTier
from worldpager.engine.memory.landing import BUFFERS
from worldpager.engine.memory.memory_tier import PIECE_BYTES
from worldpager.engine.memory.store import BlockStore
from worldpager.engine.memory.tier import Purpose
from worldpager.engine.telemetry.snapshot import TIER_NONE
from worldpager.engine.types import BlockId


class Street:
    """A store whose blocks land behind it, its moves cranked by hand."""

    def __init__(self, host: int = 8) -> None:
        self.transfers, self.disk = HandTransfers(), FakeTier(50, RECORD)
        config = MemoryConfig(CODEC, device_slots=4, host_budget=host * RECORD)
        self.store = BlockStore(
            config, KV, ROTARY, CPU, clock=HandClock(), transfers=self.transfers, disk=self.disk, behind=True
        )

    def put(self, number: int) -> BlockId:
        block = self.store.put(block_kv(number))
        assert block is not None
        self.store.check()
        return block

    def land(self) -> None:
        self.transfers.run_all()
        self.store.poll()
        self.store.check()


def test_a_block_is_at_hand_once_it_has_landed() -> None:
    street = Street()
    block = street.put(3)
    assert street.store.take([block]).missed == (block,)
    assert street.store.copies_of([block])[0] == 0
    street.land()
    working = street.store.take([block])
    assert working.ids == (block,)
    view = empty_view(1)
    street.store.place(working, view, -3.0)
    assert torch.equal(view.keys[:, 0], decoded(3, -3.0).keys)


def test_it_is_neither_staged_nor_written_before() -> None:
    street = Street(host=5)
    blocks = [street.put(number) for number in range(3)]
    street.store.request(blocks)
    street.store.poll()
    assert {move.purpose for move in street.transfers.waiting} == {Purpose.LANDING}
    street.land()
    assert {move.purpose for move in street.transfers.waiting} == {Purpose.WRITE_BACK}


def test_with_all_buffers_on_their_way_one_lands_at_once() -> None:
    street = Street()
    blocks = [street.put(number) for number in range(BUFFERS + 1)]
    assert street.store.take(blocks).ids == (blocks[-1],)
    street.land()
    for number, block in enumerate(blocks):
        working, view = street.store.take([block]), empty_view(1)
        street.store.place(working, view, 0.0)
        assert torch.equal(view.values[:, 0], decoded(number, 0.0).values)


def test_a_block_dropped_on_its_way_leaves_nothing() -> None:
    street = Street()
    block = street.put(1)
    street.transfers.begin()
    street.store.drop([block])
    street.store.check()
    assert street.store.tiers()[1].used == 1, "the worker still fills its slot"
    street.land()
    assert [use.used for use in street.store.tiers()] == [0, 0, 0]


def test_a_copy_that_fails_loses_the_block_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    street = Street()
    block = street.put(1)
    move = street.transfers.begin()

    def fail() -> None:
        raise RuntimeError("the GPU is gone")

    monkeypatch.setattr(move, "work", fail)
    street.land()
    assert street.store.tier_of([block])[0] == TIER_NONE
    assert any("1 blocks lost" in note for note in street.store.degraded())
    street.put(2)
    street.land()


# Pinning


class Driver:
    """Pins ``most`` pieces and refuses the rest."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.pinned: set[int] = set()
        self.threads: list[str] = []

    def cudaHostRegister(self, address: int, size: int, flags: int) -> int:  # noqa: N802
        self.threads.append(threading.current_thread().name)
        if len(self.pinned) >= self.most:
            return 2
        self.pinned.add(address)
        return 0

    def cudaHostUnregister(self, address: int) -> None:  # noqa: N802
        self.pinned.remove(address)


SIZE = PIECE_BYTES // 2


@pytest.mark.parametrize("most", [0, 1, 2, 9])
def test_memory_that_the_driver_will_not_pin_is_pageable_and_says_so(monkeypatch: pytest.MonkeyPatch, most: int) -> None:
    driver = Driver(most)
    monkeypatch.setattr(torch.cuda, "cudart", lambda: driver)
    monkeypatch.setattr(torch, "zeros", lambda *_, **__: None)
    tier = HostTier(6, SIZE, pinned=True)
    slots = [tier.allocate() for _ in range(6)]
    assert slots == list(range(6))
    for slot in range(6):
        tier.bytes_of(slot)[:8] = slot
    assert [int(tier.bytes_of(slot)[0]) for slot in range(6)] == list(range(6))
    assert tier.pinned_bytes == min(most, 3) * 2 * SIZE
    if most < 3:
        assert tier.note == f"pageable beyond {2 * most} blocks: pinning failed (error 2)"
    else:
        assert tier.note == "pinned"
        assert driver.threads == ["MainThread", "host-pin", "host-pin"], "only the first piece is pinned by the street"
    tier.close()
    assert driver.pinned == set()


@pytest.mark.gpu
def test_on_a_gpu_freed_slots_may_hold_anything(tmp_path: Path) -> None:
    """Poison whatever is free after every step, while workers copy: what is placed stays right."""
    gpu = torch.device("cuda")
    store = BlockStore(MemoryConfig(CODEC, device_slots=4, host_budget=8 * RECORD, disk_dir=tmp_path), KV, ROTARY, gpu)
    numbers: dict[BlockId, int] = {}
    for step in range(120):
        kv = block_kv(step)
        block = store.put(SimpleNamespace(keys=kv.keys.to(gpu), values=kv.values.to(gpu)))  # type: ignore[arg-type]
        store.poll()
        if block is not None:
            numbers[block] = step
        wanted = list(numbers)[(7 * step) % len(numbers) :][:2]
        working = store.take(wanted)
        store.request([*wanted, *list(numbers)[step % len(numbers) :][:2]])
        for tier in (store._host, store._device):
            for slot in tier._slots._free:
                tier.bytes_of(slot).fill_(0xFF)
        torch.cuda.synchronize()
        view = empty_view()
        on_gpu = SimpleNamespace(keys=view.keys.to(gpu), values=view.values.to(gpu), capacity=3)
        store.place(working, on_gpu, 0.0)  # type: ignore[arg-type]
        for slot, taken in enumerate(working.ids):
            assert torch.equal(on_gpu.values[:, slot].cpu(), decoded(numbers[taken], 0.0).values)
    store.close()
