"""The store against a dictionary: random puts, requests, takes, drops, moves that end in any order and fail, with `check` after each."""

from __future__ import annotations

import pytest
import torch
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

from tests.helpers.fake_tiers import FakeTier, HandCranked
from worldpager.engine.config import CodecConfig, MemoryConfig
from worldpager.engine.memory.codec import Codec
from worldpager.engine.memory.store import BlockStore
from worldpager.engine.models.base import BlockKV, KVShape, MemoryView, RotarySpec
from worldpager.engine.types import BlockId

KV = KVShape(1, 4, 1, 4)
CODEC = CodecConfig(16)
RECORD = Codec(CODEC, KV, RotarySpec()).record_bytes
HOST_SLOTS, DEVICE_SLOTS, DISK_SLOTS, K = 6, 4, 12, 2


def content(number: int) -> BlockKV:
    """A block that can be told from every other."""
    return BlockKV(torch.full((1, 4, 1, 4), float(number)), torch.full((1, 4, 1, 4), float(-number)))


class StoreMachine(RuleBasedStateMachine):
    """The model is a dictionary from id to what was put; a block may be missing from a take, never wrong."""

    def __init__(self) -> None:
        super().__init__()
        self.mover, self.disk = HandCranked(), FakeTier(DISK_SLOTS, RECORD)
        config = MemoryConfig(codec=CODEC, device_slots=DEVICE_SLOTS, host_budget=HOST_SLOTS * RECORD, watermark=3)
        self.store = BlockStore(config, KV, RotarySpec(), torch.device("cpu"), mover=self.mover, disk=self.disk)
        self.view = MemoryView(torch.zeros(1, K, 4, 1, 4), torch.zeros(1, K, 4, 1, 4))
        self.put_blocks: dict[BlockId, int] = {}
        self.dropped: dict[BlockId, int] = {}
        self.serial = 0

    @rule()
    def put(self) -> None:
        self.serial += 1
        block = self.store.put(content(self.serial))
        if block is not None:
            assert block not in self.put_blocks
            self.put_blocks[block] = self.serial

    @rule(data=st.data())
    def request(self, data: st.DataObject) -> None:
        self.store.request(data.draw(st.lists(st.sampled_from(sorted(self.put_blocks) or [BlockId(0)]), max_size=6, unique=True)))

    @rule(data=st.data())
    def take_and_place(self, data: st.DataObject) -> None:
        wanted = data.draw(st.lists(st.sampled_from(sorted(self.put_blocks) or [BlockId(0)]), max_size=K, unique=True))
        before = self.store.counters()
        working = self.store.take(wanted)
        assert set(working.missed) <= set(wanted)
        assert set(wanted) - set(working.missed) <= set(working.ids)
        assert len(working.ids) <= K
        after = self.store.counters()
        assert after.blocks_wanted - before.blocks_wanted == len(wanted)
        assert after.blocks_missed - before.blocks_missed == len(working.missed)
        self.view.keys.fill_(float("nan"))
        self.store.place(working, self.view, 0.0)
        for j, block in enumerate(working.ids):
            number = self.put_blocks.get(block, self.dropped.get(block))
            assert number is not None
            assert (self.view.keys[:, j] == content(number).keys).all(), f"block {block} holds other bytes"
            assert (self.view.values[:, j] == content(number).values).all()

    @precondition(lambda self: self.put_blocks)
    @rule(data=st.data())
    def drop(self, data: st.DataObject) -> None:
        block = data.draw(st.sampled_from(sorted(self.put_blocks)))
        self.dropped = {**self.dropped, block: self.put_blocks.pop(block)}
        self.store.drop([block])
        assert block not in self.store.take([block]).ids

    @precondition(lambda self: self.mover.waiting)
    @rule(data=st.data())
    def a_move_ends(self, data: st.DataObject) -> None:
        self.mover.crank(data.draw(st.integers(0, len(self.mover.waiting) - 1)))

    @rule()
    def poll(self) -> None:
        self.store.poll()

    @rule(fault=st.sampled_from(["", "", "fail", "break"]))
    def the_disk_changes_its_mood(self, fault: str) -> None:
        self.disk.fault = fault

    @rule()
    def all_moves_end(self) -> None:
        self.mover.crank_all()
        self.store.poll()

    @invariant()
    def check(self) -> None:
        self.store.check()
        use = {t.name: t for t in self.store.tiers()}
        assert use["host"].used <= HOST_SLOTS
        assert use["device"].used <= DEVICE_SLOTS
        assert use["disk"].used <= DISK_SLOTS

    def teardown(self) -> None:
        self.store.close()
        assert self.mover.closed
        assert self.disk.closed


def _run(examples: int, steps: int) -> None:
    run_state_machine_as_test(StoreMachine, settings=settings(  # type: ignore[no-untyped-call]
        max_examples=examples, stateful_step_count=steps, deadline=None, suppress_health_check=list(HealthCheck)))


@pytest.mark.timeout(120)
def test_store_machine() -> None:
    _run(60, 40)


@pytest.mark.stress
@pytest.mark.timeout(3600)
def test_store_machine_for_a_million_steps() -> None:
    _run(2000, 500)
