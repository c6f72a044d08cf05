"""The store against a dictionary: random puts, requests, takes, drops, moves that begin, end in any order and fail, `check` after each."""

from __future__ import annotations

import pytest
import torch
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

from tests.helpers.clocks import HandClock
from tests.helpers.fake_tiers import FakeTier, Fault, HandTransfers
from worldpager.engine.config import CodecConfig, MemoryConfig
from worldpager.engine.memory.codec import make_codec
from worldpager.engine.memory.store import BlockStore
from worldpager.engine.models.base import BlockKV, KVShape, MemoryView, RotarySpec
from worldpager.engine.types import BlockId

KV = KVShape(1, 4, 1, 4)
CODEC = CodecConfig(16)
RECORD = make_codec(CODEC, KV, RotarySpec()).record_bytes
HOST, STAGING, DISK, K = 6, 4, 12, 3


def content(number: int) -> BlockKV:
    """KV that is told from every other."""
    return BlockKV(torch.full((1, 4, 1, 4), float(number)), torch.full((1, 4, 1, 4), float(-number)))


class StoreMachine(RuleBasedStateMachine):
    """The model is a dictionary of what was put. A block may be missed, never wrong; it is known until it is dropped or given up."""

    def __init__(self) -> None:
        super().__init__()
        self.clock, self.transfers, self.disk = HandClock(), HandTransfers(), FakeTier(DISK, RECORD)
        config = MemoryConfig(CODEC, device_slots=STAGING, host_budget=HOST * RECORD, disk_policy="stop-keeping")
        device = torch.device("cpu")
        self.store = BlockStore(config, KV, RotarySpec(), device, clock=self.clock, transfers=self.transfers, disk=self.disk)
        self.held: dict[BlockId, int] = {}
        self.working: tuple[BlockId, ...] = ()
        self.lies = False

    def some(self, data: st.DataObject, most: int) -> list[BlockId]:
        return data.draw(st.lists(st.sampled_from([*sorted(self.held), BlockId(9999)]), max_size=most, unique=True))

    @rule()
    def put(self) -> None:
        number = self.store.counters().blocks_refused + len(self.held) + 1 + max(self.held, default=0)
        before = self.store.counters()
        block = self.store.put(content(number))
        refused = self.store.counters().blocks_refused - before.blocks_refused
        assert refused == (block is None)
        if block is not None:
            assert block not in self.held
            self.held[block] = number

    @rule(data=st.data())
    def request(self, data: st.DataObject) -> None:
        self.store.request(self.some(data, 6))

    @rule(data=st.data())
    def take_and_place(self, data: st.DataObject) -> None:
        wanted = self.some(data, K)
        before = self.store.counters()
        working = self.store.take(wanted)
        after = self.store.counters()
        ready = set(wanted) - set(working.missed)
        assert ready <= set(working.ids)
        assert set(working.ids) - ready <= set(self.working), "only blocks of the last working set stand in"
        assert working.stale == bool(set(working.ids) - ready)
        assert len(working.ids) <= len(wanted)
        assert after.blocks_wanted - before.blocks_wanted == len(wanted)
        assert after.blocks_missed - before.blocks_missed == len(working.missed)
        assert after.prefetch_hits - before.prefetch_hits == len(ready)
        assert after.stale_uses - before.stale_uses == len(set(working.ids) - ready)
        self.working = working.ids
        view = MemoryView(torch.full((1, K, 4, 1, 4), torch.nan), torch.full((1, K, 4, 1, 4), torch.nan))
        self.store.place(working, view, 0.0)
        for slot, block in enumerate(working.ids):
            expected = content(self.held[block])
            assert torch.equal(view.keys[:, slot], expected.keys), f"block {block} holds other bytes"
            assert torch.equal(view.values[:, slot], expected.values), f"block {block} holds other bytes"

    @rule(data=st.data())
    def drop(self, data: st.DataObject) -> None:
        blocks = self.some(data, 2)
        self.store.drop(blocks)
        self.forget(blocks)

    @rule()
    def drop_all(self) -> None:
        self.store.drop(list(self.held))
        self.forget(list(self.held))

    @precondition(lambda self: self.transfers.queued)
    @rule(data=st.data())
    def a_move_begins(self, data: st.DataObject) -> None:
        self.transfers.begin(data.draw(st.integers(0, len(self.transfers.queued) - 1)))

    @precondition(lambda self: self.transfers.begun)
    @rule(data=st.data())
    def a_move_ends(self, data: st.DataObject) -> None:
        self.transfers.end(data.draw(st.sampled_from(self.transfers.begun)))

    @rule()
    def all_moves_end(self) -> None:
        self.transfers.run_all()
        self.poll()

    @rule()
    def poll(self) -> None:
        self.store.poll()
        if self.lies:
            gone = [block for block in self.held if self.store.tier_of([block])[0] == 3]
            self.forget(gone)

    @rule(fault=st.sampled_from(["", "", "", "fail", "full", "short", "lie", "break"]))
    def the_disk_changes_its_mood(self, fault: Fault) -> None:
        self.disk.fault = fault
        self.lies = self.lies or fault == "lie"

    @rule(seconds=st.sampled_from([0.1, 3.0, 100.0]))
    def time_passes(self, seconds: float) -> None:
        self.clock.now += seconds

    @invariant()
    def everything_adds_up(self) -> None:
        self.store.check()
        assert self.store.counters().blocks == len(self.held)
        for use, capacity in zip(self.store.tiers(), (STAGING, HOST, DISK), strict=True):
            assert use.used <= use.capacity == capacity
        self.store.degraded()

    def teardown(self) -> None:
        self.store.drop(list(self.held))
        self.transfers.run_all()
        self.store.poll()
        self.store.check()
        assert [use.used for use in self.store.tiers()] == [0, 0, 0], "slots are lost"
        self.store.close()

    def forget(self, blocks: list[BlockId]) -> None:
        for block in blocks:
            self.held.pop(block, None)
        self.working = tuple(block for block in self.working if block in self.held)


def run(examples: int, steps: int) -> None:
    checks = list(HealthCheck)
    machine = settings(max_examples=examples, stateful_step_count=steps, suppress_health_check=checks)
    run_state_machine_as_test(StoreMachine, settings=machine)


def test_store_machine() -> None:
    run(120, 50)


@pytest.mark.stress
@pytest.mark.timeout(3600)
def test_store_machine_for_long() -> None:
    run(2000, 200)
