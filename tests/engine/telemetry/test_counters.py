from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from tests.helpers.clocks import HandClock
from tests.helpers.plain_store import PlainStore
from tests.helpers.trajectories import ORIGIN, VIEW
from worldpager.engine.telemetry.block_rows import BlockRows
from worldpager.engine.telemetry.counters import SUMS, Counters, StreetState
from worldpager.engine.telemetry.snapshot import COPY_DISK, TIER_DISK, MemoryCounters, Snapshot
from worldpager.engine.telemetry.spans import Spans
from worldpager.engine.types import BlockId


def counters(clock: HandClock) -> Counters:
    return Counters("model", "cpu", 16.0, VIEW, clock)


def one_chunk(counts: Counters, clock: HandClock, seconds: float, rest: float = 0.0) -> Snapshot:
    with counts.spans("generate"):
        clock.sleep(seconds)
    counts.count_chunk(4)
    clock.sleep(rest)
    return counts.snapshot(PlainStore(), StreetState(ORIGIN))[0]


def test_spans_add_up_by_stage_and_begin_anew() -> None:
    clock = HandClock()
    spans = Spans(clock)
    for stage, seconds in (("take", 0.001), ("generate", 0.1), ("take", 0.002)):
        with spans(stage):
            clock.sleep(seconds)
    assert spans.take() == pytest.approx({"take": 3.0, "generate": 100.0})
    assert spans.take() == {}


def test_span_of_a_failing_stage_is_counted() -> None:
    clock = HandClock()
    spans = Spans(clock)

    def fail() -> None:
        clock.sleep(0.5)
        raise RuntimeError

    with pytest.raises(RuntimeError), spans("generate"):
        fail()
    assert spans.take() == pytest.approx({"generate": 500.0})


def test_rates_are_frames_per_wall_second() -> None:
    clock = HandClock()
    counts = counters(clock)
    snapshot = [one_chunk(counts, clock, 0.1, rest=0.1) for _ in range(20)][-1]
    assert snapshot.generated_fps == pytest.approx(20.0, rel=0.02)
    assert snapshot.chunk_ms == pytest.approx(100)
    assert (snapshot.chunk, snapshot.frames) == (20, 80)


def test_a_rendered_opening_is_no_generating() -> None:
    clock = HandClock()
    counts = counters(clock)
    for _ in range(5):
        one_chunk(counts, clock, 0.001)
    counts.end_opening()
    snapshot = counts.snapshot(PlainStore(), StreetState(ORIGIN))[0]
    assert snapshot.generated_fps == 0
    assert one_chunk(counts, clock, 0.4).generated_fps == pytest.approx(10.0)


def test_rest_is_no_generating_time() -> None:
    clock = HandClock()
    counts = counters(clock)
    one_chunk(counts, clock, 0.2)
    clock.sleep(60)
    counts.stand_still()
    assert one_chunk(counts, clock, 0.2).generated_fps == pytest.approx(20.0)


def test_new_world_counts_from_zero() -> None:
    clock = HandClock()
    counts = counters(clock)
    counts.begin_world(3, MemoryCounters())
    counts.remember(BlockId(0), ORIGIN)
    one_chunk(counts, clock, 0.1)
    counts.begin_world(4, MemoryCounters())
    snapshot, _ = counts.snapshot(PlainStore(), StreetState(ORIGIN))
    assert (snapshot.seed, snapshot.chunk, snapshot.frames, len(snapshot.block_map.ids)) == (4, 0, 0, 0)
    assert counts.remembered() == []


def test_memory_is_reported_since_the_world_began() -> None:
    class Worn(PlainStore):
        def counters(self) -> MemoryCounters:
            return dataclasses.replace(MemoryCounters(host_peak_bytes=7, longest_wait_ms=0.25), **dict.fromkeys(SUMS, 10))

    counts = counters(HandClock())
    counts.begin_world(1, dataclasses.replace(MemoryCounters(), **dict.fromkeys(SUMS, 4)))
    memory = counts.snapshot(Worn(), StreetState(ORIGIN))[0].memory
    assert {getattr(memory, name) for name in SUMS} == {6}
    assert (memory.host_peak_bytes, memory.longest_wait_ms) == (7, 0.25)


def test_sums_and_levels_together_are_all_counters() -> None:
    """A counter that is added must be sorted into one of the two."""
    levels = {"blocks", "longest_wait_ms", "host_peak_bytes", "host_budget_bytes"}
    assert {field.name for field in dataclasses.fields(MemoryCounters)} == levels | set(SUMS)


def test_rows_grow_and_old_maps_stay_as_they_were() -> None:
    rows = BlockRows()
    rows.add(BlockId(7), ORIGIN._replace(x=1.5, yaw=0.5))
    early, lost = rows.map(lambda ids: np.full(len(ids), COPY_DISK, np.uint8))
    for number in range(8, 300):
        rows.add(BlockId(number), ORIGIN)
    assert early.ids.tolist() == [7]
    assert early.xy_yaw.tolist() == [[1.5, 0.0, 0.5]]
    assert early.tier.tolist() == [TIER_DISK]
    assert lost == []
    assert rows.ids.tolist() == list(range(7, 300))


def test_rows_of_lost_blocks_are_named_and_dropped() -> None:
    rows = BlockRows()
    for number in range(10):
        rows.add(BlockId(number), ORIGIN._replace(x=float(number)))
    shown, lost = rows.map(lambda ids: np.where(ids % 3 == 0, 0, COPY_DISK).astype(np.uint8))
    rows.drop(lost)
    assert lost == [0, 3, 6, 9]
    assert rows.ids.tolist() == [1, 2, 4, 5, 7, 8]
    rows.add(BlockId(11), ORIGIN._replace(x=11.0))
    later, _ = rows.map(lambda ids: np.zeros(len(ids), np.uint8))
    assert later.xy_yaw[:, 0].tolist() == [1, 2, 4, 5, 7, 8, 11]
    assert shown.xy_yaw[:, 0].tolist() == list(range(10))


def test_first_future_is_the_predicted_one() -> None:
    futures = ((ORIGIN,), (ORIGIN._replace(x=1.0),))
    snapshot, _ = counters(HandClock()).snapshot(PlainStore(), StreetState(ORIGIN, futures))
    assert snapshot.predicted == (ORIGIN,)
    assert snapshot.futures == futures


def test_writes_a_minute_of_the_world_and_what_they_cost_the_drive() -> None:
    clock = HandClock()
    before = one_chunk(counters(clock), clock, 0.1)
    assert (before.written_per_minute, before.drive_days) == (0.0, float("inf"))
    memory = dataclasses.replace(before.memory, disk_written_bytes=50_000_000)
    snapshot = dataclasses.replace(before, memory=memory, frames=480, rate=16.0)  # half a minute of the world
    assert snapshot.written_per_minute == 100_000_000
    assert snapshot.drive_days == 600e12 / (100_000_000 * 1440)
    assert dataclasses.replace(snapshot, frames=0).written_per_minute == 0
