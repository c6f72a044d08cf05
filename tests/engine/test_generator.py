from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from tests.helpers.plain_store import PlainStore
from tests.helpers.streets import CPU, SMALL, WALK, Street, act, block_store, shown, tour
from worldpager.engine.config import MiB
from worldpager.engine.models.stand_in import StandIn
from worldpager.engine.types import Action, BlockId, Button

# The street


def test_first_step_opens_the_world(street: Street) -> None:
    generator = street(prime=True)
    assert generator.step()
    snapshot = shown(generator).snapshot
    assert snapshot.chunk == 13
    assert not snapshot.opening
    assert snapshot.memory.blocks == 13


def test_action_moves_the_camera_of_the_next_chunk(street: Street) -> None:
    generator = street()
    generator.step()
    chunk = act(generator, Action(Button.FORWARD, stamp=7.0))
    assert chunk.index == 1
    assert chunk.snapshot.pose.x == pytest.approx(4 * 0.12 * np.cos(np.radians(7)))
    assert chunk.snapshot.action_stamp == 7.0
    assert list(chunk.snapshot.stage_ms) == ["pose", "poll", "retrieve", "take", "prefetch", "place", "generate", "put"]


def test_same_seed_and_actions_give_the_same_frames(street: Street) -> None:
    one, other = tour(street(prime=True), 80), tour(street(prime=True), 80)
    assert all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))
    third = tour(street(prime=True, seed=8), 80)
    assert not any(np.array_equal(a, b) for a, b in zip(one, third, strict=True))


def test_memory_makes_a_difference_to_the_frames(street: Street) -> None:
    remembering, forgetting = tour(street(prime=True), 60), tour(street(prime=True, policy="none"), 60)
    assert not all(np.array_equal(a, b) for a, b in zip(remembering, forgetting, strict=True))


def test_wanted_blocks_were_not_in_window_or_sink_and_were_prefetched(street: Street) -> None:
    """On a steady turn the present action's future is what comes: every block was asked for one chunk before."""
    memory = PlainStore()
    generator = street(memory)
    generator.step()
    for _ in range(40):
        act(generator, Action(turn=24.0))
    for chunk, wanted in enumerate(memory.wanted, start=1):
        assert not set(wanted) & {0, chunk - 1, chunk - 2}
        assert chunk == 1 or set(wanted) <= set(memory.requests[chunk - 2])
    assert sum(map(len, memory.wanted)) > 10


def test_request_ranks_the_present_actions_future_first(street: Street) -> None:
    memory = PlainStore()
    generator = street(memory)
    generator.step()
    for _ in range(30):
        act(generator, Action(turn=24.0))
    snapshot = shown(generator).snapshot
    following = generator._policy.select(snapshot.predicted, 2, [BlockId(0), BlockId(29), BlockId(30)])
    assert list(memory.requests[-1][: len(following)]) == following
    assert 1 < len(snapshot.futures) <= 8


def test_futures_are_told_apart_by_what_they_retrieve(street: Street) -> None:
    memory = PlainStore()
    generator = street(memory, futures=3)
    tour(generator, 40)
    assert all(len(set(request)) == len(request) <= 3 * 2 for request in memory.requests)


# Tiers


def test_below_capacity_tiers_change_no_bit(street: Street, tmp_path: Path) -> None:
    alone = tour(street(block_store(64 * MiB), prime=True), 80)
    tiered = tour(street(block_store(64 * MiB, tmp_path), prime=True), 80)
    assert all(np.array_equal(a, b) for a, b in zip(alone, tiered, strict=True))


def test_store_of_16_bits_equals_the_naive_twin(street: Street) -> None:
    rotary = StandIn(SMALL, CPU).spec.rotary
    twin = street(PlainStore(rotary), model=StandIn(SMALL, CPU))
    real = street(block_store(64 * MiB, bits=16), model=StandIn(SMALL, CPU))
    for chunk in range(40):
        action = Action(turn=30.0)
        act(twin, action), act(real, action)
        keys, expected = real._model.memory_view.keys, twin._model.memory_view.keys
        torch.testing.assert_close(keys, expected, rtol=1e-2, atol=1e-2, msg=f"chunk {chunk}")
        assert torch.equal(real._model.memory_view.values, twin._model.memory_view.values)


def test_small_host_budget_spills_reads_back_and_never_stalls(street: Street, tmp_path: Path) -> None:
    memory = block_store(MiB // 4, tmp_path)
    model = StandIn(replace(SMALL, step_ms=4), CPU)
    generator = street(memory, model, prime=True)
    tour(generator, 150, after=memory.check)
    counters = memory.counters()
    assert counters.spilled_blocks > 50
    assert counters.disk_written_bytes > 0
    assert counters.disk_read_bytes > 0
    assert counters.stalls_over_half_ms <= 3, "on a quiet machine 0; a busy one may take the processor away in between"
    assert counters.host_peak_bytes <= counters.host_budget_bytes == MiB // 4
    snapshot = shown(generator).snapshot
    assert snapshot.memory.spilled_blocks == counters.spilled_blocks
    assert set(np.unique(snapshot.block_map.tier)) >= {1, 2}


def test_refused_chunk_is_played_on_without(street: Street) -> None:
    memory = PlainStore()
    generator = street(memory)
    generator.step()
    memory.full = True
    act(generator, WALK)
    memory.full = False
    act(generator, WALK)
    assert shown(generator).snapshot.chunk == 3
    assert list(shown(generator).snapshot.block_map.ids) == [0, 1]


def test_lost_blocks_are_forgotten_by_policies_and_map(street: Street) -> None:
    memory = PlainStore()
    generator = street(memory)
    generator.step()
    for _ in range(30):
        act(generator, Action(turn=24.0))
    memory.drop([BlockId(number) for number in range(1, 29)])
    act(generator, Action(turn=24.0))
    act(generator, Action(turn=24.0))
    assert not set(memory.wanted[-1]) & set(range(1, 29))
    assert list(shown(generator).snapshot.block_map.ids) == [0, 29, 30, 31, 32]
