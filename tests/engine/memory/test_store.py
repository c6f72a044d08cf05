"""The store as the street uses it, its moves cranked by hand: spilling, coming back, misses, faults by name."""

from __future__ import annotations

import math

import pytest
import torch

from tests.engine.memory.kit import CODEC, KV, PLENTY, RECORD, Bench, block_kv, empty_view, make_store, tiers_of
from worldpager.engine.errors import InputError
from worldpager.engine.memory.tier import Purpose
from worldpager.engine.telemetry.snapshot import TIER_DEVICE, TIER_DISK, TIER_HOST, TIER_NONE
from worldpager.engine.types import BlockId

# Spilling and coming back


def test_cold_blocks_go_to_disk_and_come_back_the_same() -> None:
    bench = Bench(host=6)
    blocks = bench.put(20)
    assert len(blocks) == 20
    assert tiers_of(bench, blocks[0], blocks[-1], BlockId(99)) == [TIER_DISK, TIER_HOST, TIER_NONE]
    bench.stage(blocks[0], blocks[5])
    assert tiers_of(bench, blocks[0], blocks[5]) == [TIER_DEVICE, TIER_DEVICE]
    bench.assert_right(blocks[0], blocks[19], blocks[5])
    bench.store.check()


def test_counters_tell_what_moved() -> None:
    bench = Bench(host=6)
    blocks = bench.put(20)
    bench.stage(blocks[0])
    bench.store.take([blocks[0]])
    counters = bench.store.counters()
    slot = bench.disk.slot_bytes
    assert counters.blocks == 20
    assert counters.spilled_blocks == 17, "all but what the watermark keeps free"
    assert counters.evicted_blocks == 14
    assert counters.disk_written_bytes == 17 * slot
    assert counters.disk_read_bytes == slot
    assert counters.host_peak_bytes == 6 * RECORD == counters.host_budget_bytes
    assert counters.blocks_wanted == counters.prefetch_hits == 1
    assert counters.failed_moves == counters.blocks_missed == counters.blocks_refused == counters.stale_uses == 0


def test_writing_begins_with_the_spill_point_and_keeps_the_watermark() -> None:
    bench = Bench(host=8)
    for number in range(1, 12):
        bench.put(run=False)
        assert bool(bench.transfers.waiting) == (number >= (bench.store.spill_chunk() or math.inf))
        free = max(0, 8 - number)
        assert free + len(bench.transfers.waiting) >= 3 or number > 8


def test_the_coldest_dirty_block_is_written_first_and_the_coldest_clean_one_leaves_first() -> None:
    bench = Bench(host=5)
    blocks = bench.put(2)
    bench.store.take([blocks[0]])
    blocks += bench.put(run=False)
    assert [move.block.id for move in bench.transfers.queued] == [blocks[1]]
    bench.settle()
    blocks += bench.put(3)
    assert TIER_HOST in tiers_of(bench, blocks[0])
    assert tiers_of(bench, blocks[1]) == [TIER_DISK]


def test_tiers_tell_occupancy() -> None:
    bench = Bench(host=6, disk=50, staging=4)
    blocks = bench.put(10)
    bench.stage(*blocks[:2])
    device, host, disk = bench.store.tiers()
    assert (device.name, device.used, device.capacity) == ("device", 2, 4)
    assert (host.name, host.used, host.capacity, host.dirty) == ("host", 6, 6, 3)
    assert (disk.used, disk.capacity, disk.note) == (7, 50, "fake")


def test_disk_rates_are_those_of_the_last_seconds() -> None:
    bench = Bench(host=6)
    blocks = bench.put(10)
    assert bench.store.disk_rates() == (0.0, 7 * bench.disk.slot_bytes / 2.0)
    bench.clock.now += 5
    bench.stage(blocks[0])
    assert bench.store.disk_rates() == (bench.disk.slot_bytes / 2.0, 0.0)


def test_without_a_disk_blocks_that_do_not_fit_are_refused() -> None:
    store = make_store(host=5)
    kept = [store.put(block_kv(number)) for number in range(7)]
    assert [block is None for block in kept] == [False] * 5 + [True] * 2
    assert store.counters().blocks_refused == 2
    assert store.spill_chunk() is None
    assert store.tiers()[2].note == "no disk tier"
    assert store.take([kept[0] or BlockId(0)]).ids == (kept[0],)
    store.check()
    store.close()


# The working set


def test_what_is_missed_is_replaced_by_the_stale_set_then_read_first_of_all() -> None:
    bench = Bench(host=6)
    blocks = bench.put(12)
    old, likely, new = blocks[-2:], blocks[4], blocks[:2]
    bench.store.take(old)
    working = bench.store.take(new)
    assert (working.ids, working.missed, working.stale) == (tuple(old), tuple(new), True)
    bench.store.request([likely, new[0]])
    assert {move.block.id: move.purpose for move in bench.transfers.queued} == {
        new[0]: Purpose.EXACT, new[1]: Purpose.EXACT, likely: Purpose.AHEAD,
    }  # fmt: skip
    bench.settle()
    bench.assert_right(*new)
    counters = bench.store.counters()
    assert (counters.blocks_wanted, counters.blocks_missed, counters.stale_uses, counters.prefetch_hits) == (6, 2, 2, 4)


def test_stale_blocks_stand_in_for_missing_ones_alone() -> None:
    bench = Bench(host=6)
    blocks = bench.put(12)
    bench.store.take(blocks[-2:])
    working = bench.store.take([blocks[0], blocks[-2], blocks[1]])
    assert working.ids == (blocks[-1], blocks[-2])
    assert working.missed == (blocks[0], blocks[1])
    assert working.stale


def test_without_anything_stale_the_working_set_is_short() -> None:
    bench = Bench(host=6)
    blocks = bench.put(12)
    working = bench.store.take([blocks[0], blocks[-1], BlockId(99)])
    assert (working.ids, working.missed, working.stale) == ((blocks[-1],), (blocks[0], BlockId(99)), False)


def test_place_fills_the_first_slots_and_no_others() -> None:
    bench = Bench()
    blocks = bench.put(2)
    view = empty_view(3)
    bench.store.place(bench.store.take(blocks), view, 0.0)
    assert not view.keys[:, :2].isnan().any()
    assert view.keys[:, 2].isnan().all()
    assert view.values[:, 2].isnan().all()


def test_the_working_set_stays_in_place_until_the_next() -> None:
    bench = Bench(host=6, staging=2)
    blocks = bench.put(12)
    bench.stage(*blocks[:2])
    working = bench.store.take([blocks[0], blocks[-6]])
    bench.stage(*blocks[2:4])
    bench.put(8)
    assert tiers_of(bench, blocks[0], blocks[-6]) == [TIER_DEVICE, TIER_HOST]
    bench.assert_right(*working.ids)


def test_a_wait_over_half_a_millisecond_is_a_stall(monkeypatch: pytest.MonkeyPatch) -> None:
    bench = Bench()
    whole = bench.store._prefetcher.take
    for seconds in (0.0004, 0.003, 0.0):

        def slow(wanted: list[BlockId], seconds: float = seconds) -> object:
            bench.clock.now += seconds
            return whole(wanted)

        monkeypatch.setattr(bench.store._prefetcher, "take", slow)
        bench.store.take([])
    counters = bench.store.counters()
    assert counters.stalls_over_half_ms == 1
    assert counters.longest_wait_ms == pytest.approx(3.0)


# Prefetch


def test_a_request_stages_the_most_likely_first_as_far_as_slots_go() -> None:
    bench = Bench(host=6, staging=3)
    blocks = bench.put(12)
    bench.store.request([blocks[4], blocks[-1], blocks[2], blocks[0], blocks[1]])
    assert [move.block.id for move in bench.transfers.queued] == [blocks[4], blocks[2], blocks[0]]
    bench.store.check()


def test_a_request_supersedes_what_of_the_last_has_not_begun() -> None:
    bench = Bench(host=6, staging=3)
    blocks = bench.put(12)
    bench.store.request(blocks[:3])
    begun = bench.transfers.begin()
    bench.store.request([blocks[5], blocks[1]])
    assert [move.block.id for move in bench.transfers.queued] == [blocks[5], blocks[1]]
    bench.transfers.end(begun)
    bench.settle()
    assert tiers_of(bench, blocks[0], blocks[2]) == [TIER_DEVICE, TIER_DISK]


def test_what_is_requested_again_is_not_read_again() -> None:
    bench = Bench(host=6)
    blocks = bench.put(12)
    bench.stage(*blocks[:3])
    before = bench.store.counters().disk_read_bytes
    bench.stage(*blocks[:3])
    assert bench.store.counters().disk_read_bytes == before


def test_a_requested_block_in_host_memory_is_not_the_next_to_leave() -> None:
    bench = Bench(host=6)
    blocks = bench.put(12)
    coldest = next(block for block in blocks if tiers_of(bench, block) == [TIER_HOST])
    bench.store.request([coldest])
    bench.put(2)
    assert tiers_of(bench, coldest) == [TIER_HOST]


def test_what_was_staged_and_never_used_is_counted_when_it_goes() -> None:
    bench = Bench(host=6, staging=2)
    blocks = bench.put(12)
    bench.stage(*blocks[:2])
    bench.store.take([blocks[0]])
    bench.store.take([])
    bench.stage(*blocks[2:4])
    assert bench.store.counters().prefetch_wasted == 1


# Interleavings: what may happen while a worker is at it


def test_a_block_being_written_is_not_evicted_but_can_be_used() -> None:
    bench = Bench(host=5)
    blocks = bench.put(5, run=False)
    assert len(bench.transfers.waiting) == 3
    writes = [bench.transfers.begin() for _ in range(3)]
    assert bench.store.put(block_kv(100)) is None
    bench.assert_right(*blocks[:2])
    for write in writes:
        bench.transfers.end(write)
    bench.store.poll()
    assert bench.store.put(block_kv(101)) is not None
    bench.store.check()


@pytest.mark.parametrize("begun", [False, True])
def test_a_block_dropped_while_it_is_written_is_gone_and_its_slots_come_back(begun: bool) -> None:
    bench = Bench(host=5)
    blocks = bench.put(3, run=False)
    moves = [bench.transfers.begin()] if begun else []
    bench.store.drop(blocks)
    assert tiers_of(bench, *blocks) == [TIER_NONE] * 3
    bench.store.check()
    for move in moves:
        bench.transfers.end(move)
    bench.settle()
    bench.store.check()
    assert [use.used for use in bench.store.tiers()] == [0, 0, 0]


@pytest.mark.parametrize("begun", [False, True])
def test_a_block_dropped_while_it_is_read_is_gone_and_its_slots_come_back(begun: bool) -> None:
    bench = Bench(host=6)
    blocks = bench.put(12)
    bench.store.request(blocks[:1])
    moves = [bench.transfers.begin()] if begun else []
    bench.store.drop(blocks)
    bench.store.check()
    assert bench.store.counters().blocks == 0
    for move in moves:
        bench.transfers.end(move)
    bench.settle()
    bench.store.check()
    assert [use.used for use in bench.store.tiers()] == [0, 0, 0]


def test_dropping_the_working_set_unpins_it() -> None:
    bench = Bench(host=6)
    blocks = bench.put(12)
    bench.stage(blocks[0])
    working = bench.store.take([blocks[0], blocks[-1]])
    bench.store.drop(working.ids)
    bench.store.check()
    assert bench.store.take([blocks[0]]).ids == ()


def test_freed_slots_may_hold_anything() -> None:
    """Poison whatever is free after every step: what is placed stays right."""
    bench = Bench(host=6)
    blocks: list[BlockId] = []
    for step in range(16):
        blocks += bench.put()
        for tier in (bench.store._host, bench.store._device):
            for slot in tier._slots._free:
                tier.bytes_of(slot).fill_(0xFF)
        wanted = list(dict.fromkeys([blocks[(7 * step) % len(blocks)], blocks[(3 * step) % len(blocks)]]))
        bench.stage(*wanted)
        bench.assert_right(*wanted)


# Settings and ends


def test_budgets_too_small_are_refused_with_the_least_that_works() -> None:
    with pytest.raises(InputError, match="at least"):
        make_store(host=4)
    with pytest.raises(InputError, match="staging slots"):
        make_store(staging=1)


def test_close_ends_transfers_and_tiers_and_may_be_repeated() -> None:
    bench = Bench()
    bench.store.close()
    bench.store.close()
    assert bench.transfers.closed
    assert bench.disk.closed


def test_check_tells_a_lost_slot_and_a_wrong_byte() -> None:
    bench = Bench(host=6)
    bench.put(8)
    stray = bench.store._device.allocate()
    with pytest.raises(AssertionError, match="device"):
        bench.store.check()
    assert stray is not None
    bench.store._device.free(stray)
    clean = next(block for block in bench.store._table.hosted if block.clean)
    assert clean.host is not None
    bench.store._host.bytes_of(clean.host)[7] ^= 1
    with pytest.raises(AssertionError, match=f"block {clean.id}: host bytes"):
        bench.store.check()


def test_below_capacity_nothing_depends_on_tiers() -> None:
    """The same numbers, to the bit, as a store that holds all in memory."""
    tiered, plain = Bench(host=6, staging=6), make_store(host=PLENTY, codec=CODEC)
    blocks = tiered.put(15)
    assert blocks == [plain.put(block_kv(number)) for number in range(15)]
    tiered.stage(*blocks[:6])
    for wanted in (blocks[:3], blocks[3:6], blocks[-3:]):
        views = []
        for store in (tiered.store, plain):
            view = empty_view(3)
            store.place(store.take(wanted), view, -KV.tokens)
            views.append(view)
        assert torch.equal(views[0].keys, views[1].keys)
        assert torch.equal(views[0].values, views[1].values)
    plain.close()
