"""What goes wrong is counted, named, and never reaches the model: drives that fail, fill up, lie or don't answer, numbers that aren't."""

from __future__ import annotations

import pytest
import torch

from tests.engine.memory.kit import Bench, block_kv, tiers_of
from tests.helpers.fake_tiers import Fault
from worldpager.engine.errors import InputError
from worldpager.engine.memory.making_room import DROP
from worldpager.engine.models.base import BlockKV
from worldpager.engine.telemetry.snapshot import TIER_DISK, TIER_NONE


@pytest.mark.parametrize("fault", ["fail", "short", "break", "full"])
def test_writes_that_fail_are_named_and_lose_no_block(fault: Fault) -> None:
    bench = Bench(host=6)
    bench.disk.fault = fault
    blocks = bench.put(10)
    assert len(blocks) == 6
    assert [note.partition(":")[0] for note in bench.store.degraded()] == ["remote not written", "memory full"]
    assert "remote not written" in bench.store.tiers()[2].note
    counters = bench.store.counters()
    assert counters.failed_moves == 1, "after a failure there is a pause"
    assert counters.blocks_refused == 4
    bench.assert_right(*blocks[:3])
    bench.disk.fault = ""
    bench.clock.now += 60
    assert len(bench.put(4)) == 3, "the first comes before the write-back has begun again"
    assert bench.store.degraded() == ()


def test_a_full_disk_is_named_and_play_goes_on() -> None:
    bench = Bench(host=6, disk=2)
    blocks = bench.put(12)
    assert len(blocks) == 8
    assert any("remote full: 2 blocks" in note for note in bench.store.degraded())
    bench.stage(*blocks[:2])
    bench.assert_right(*blocks[:2])
    bench.store.drop(blocks[:4])
    assert len(bench.put(3)) == 3


def test_a_full_disk_may_drop_what_is_least_useful_for_what_is_new() -> None:
    bench = Bench(host=6, disk=10, disk_policy=DROP)
    bench.store.rank_by(lambda blocks: sorted(blocks, key=lambda block: (block % 2, block)))
    blocks = bench.put(16)
    assert len(blocks) == 16
    counters = bench.store.counters()
    assert counters.blocks_dropped == 16 - counters.blocks > 1
    gone = [block for block in blocks if tiers_of(bench, block) == [TIER_NONE]]
    assert {0, 2} <= set(gone)
    assert 1 not in gone, "odd ones are ranked as more useful"
    assert any(f"{counters.blocks_dropped} of the least useful" in note for note in bench.store.degraded())
    assert bench.store.tiers()[2].when_full == DROP
    bench.stage(blocks[1])
    bench.assert_right(blocks[1])


def test_shared_and_used_blocks_are_never_dropped_for_room() -> None:
    bench = Bench(host=6, disk=4, disk_policy=DROP)
    blocks = bench.put(7)
    bench.store.share(blocks[:1])
    bench.stage(blocks[1])
    bench.store.take([blocks[1]])
    bench.put(12)
    assert TIER_NONE not in tiers_of(bench, *blocks[:2])


def test_an_unknown_disk_policy_is_refused() -> None:
    with pytest.raises(InputError, match="drop-least-useful"):
        Bench(disk_policy="hope")


def test_a_drive_that_stays_broken_is_called_off() -> None:
    bench = Bench(host=6)
    bench.put(4)
    bench.disk.fault = "fail"
    for _ in range(8):
        bench.put(1)
        bench.clock.now += 60
    assert bench.store.degraded()[0].startswith("remote off: ")


@pytest.mark.parametrize("fault", ["fail", "short", "lie", "break"])
def test_a_read_that_fails_is_a_miss_and_the_next_one_serves(fault: Fault) -> None:
    bench = Bench(host=6)
    blocks = bench.put(12)
    bench.disk.fault = fault
    bench.stage(blocks[0])
    working = bench.store.take([blocks[0]])
    assert (working.ids, working.missed) == ((), (blocks[0],))
    assert bench.store.counters().failed_moves == 1
    assert any("not read" in note for note in bench.store.degraded()) == (fault != "lie")
    bench.disk.fault = ""
    bench.stage(blocks[0])
    bench.assert_right(blocks[0])
    assert bench.store.degraded() == ()


def test_a_block_that_keeps_coming_back_damaged_is_given_up_and_counted() -> None:
    bench = Bench(host=6)
    blocks = bench.put(12)
    bench.disk.fault = "lie"
    for attempt in range(3):
        assert tiers_of(bench, blocks[0]) == [TIER_DISK], attempt
        bench.stage(blocks[0])
        bench.store.check()
    assert tiers_of(bench, blocks[0]) == [TIER_NONE]
    assert any("1 blocks lost" in note for note in bench.store.degraded())


def test_a_drive_that_does_not_answer_stops_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    bench = Bench(host=6)
    blocks = bench.put(12)
    bench.store.request(blocks[:2])
    moves = [bench.transfers.begin() for _ in range(2)]
    monkeypatch.setattr(bench.transfers, "oldest_start", lambda: bench.clock.now - 12)
    for _ in range(5):
        assert not bench.store.take([blocks[0]]).ids
        bench.store.request(blocks[:2])
        bench.store.poll()
        bench.store.check()
    assert any("12 s" in note for note in bench.store.degraded())
    for move in moves:
        bench.transfers.end(move)
    bench.store.poll()
    bench.assert_right(*blocks[:2])


def test_numbers_that_are_not_finite_are_named() -> None:
    bench = Bench()
    kv = block_kv(0)
    bench.store.put(BlockKV(kv.keys.clone().fill_(torch.nan), kv.values))
    assert any("1 blocks held numbers that aren't finite" in note for note in bench.store.degraded())
