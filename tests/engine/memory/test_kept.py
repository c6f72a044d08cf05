"""Worlds that last: what was said to be durable is there again to the bit, what wasn't leaves no trace, and a folder has one owner."""

from __future__ import annotations

import errno
import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
import torch

from tests.engine.memory.kit import CODEC, KV, RECORD, ROTARY, decoded, empty_view, make_store, put, settle, wait_until
from worldpager.engine.config import CodecConfig, MemoryConfig
from worldpager.engine.errors import InputError, TierError
from worldpager.engine.memory import store as store_module
from worldpager.engine.memory.kept_tier import ARENA, INDEX
from worldpager.engine.memory.store import BlockStore
from worldpager.engine.telemetry.snapshot import TIER_DISK, TIER_HOST, TIER_NONE
from worldpager.engine.types import BlockId

SLOT = RECORD + 4096


def open_store(folder: Path, host: int = 12, *, codec: CodecConfig = CODEC, budget: int | None = 100 * SLOT) -> BlockStore:
    config = MemoryConfig(codec, device_slots=4, host_budget=host * RECORD, disk_dir=folder, disk_budget=budget, keep=True)
    return BlockStore(config, KV, ROTARY, torch.device("cpu"))


@pytest.fixture
def world(tmp_path: Path) -> Path:
    """A folder with ten kept blocks, 0 to 9, of the numbers 0 to 9."""
    store = open_store(tmp_path)
    assert [put(store, number) for number in range(10)] == list(range(10))
    assert store.close(keep=True) == 0
    assert store.take_durable() == list(range(10))
    return tmp_path


@pytest.fixture
def reopened(world: Path) -> Iterator[BlockStore]:
    """The store of ``world``, all blocks adopted."""
    store = open_store(world)
    assert store.adopt(dict.fromkeys(map(BlockId, range(10)), 1)) == set()
    yield store
    store.close()


def rows(folder: Path) -> dict[int, int]:
    """Block to slot, as the table has it."""
    index = sqlite3.connect(folder / INDEX)
    found = dict(index.execute("SELECT id, slot FROM blocks").fetchall())
    index.close()
    return found


def assert_comes_back(store: BlockStore, block: int, number: int) -> None:
    store.request([BlockId(block)])
    settle(store)
    working = store.take([BlockId(block)])
    assert working.ids == (block,)
    view = empty_view(1)
    store.place(working, view, -3.0)
    assert torch.equal(view.keys[:, 0], decoded(number, -3.0).keys)
    assert torch.equal(view.values[:, 0], decoded(number, -3.0).values)


def ids(numbers: Iterable[int]) -> list[BlockId]:
    return [BlockId(number) for number in numbers]


def test_every_block_comes_back_to_the_bit_in_another_run(reopened: BlockStore) -> None:
    assert reopened.tier_of(ids(range(11))).tolist() == [TIER_DISK] * 10 + [TIER_NONE]
    for number in (0, 9, 4, 5):
        assert_comes_back(reopened, number, number)
    reopened.check()
    assert reopened.counters().failed_moves == 0


def test_a_block_is_written_as_soon_as_it_is_there_and_told_of_once(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    first = put(store, 1)
    assert store.take_durable() == []
    settle(store)
    assert store.take_durable() == [first]
    assert store.take_durable() == []
    assert rows(tmp_path) == {first: 0}
    assert store.tier_of([first])[0] == TIER_HOST, "and its host copy stays"
    store.check()
    store.close()


def test_ids_go_on_and_never_come_again(world: Path) -> None:
    store = open_store(world)
    store.adopt({BlockId(3): 1, BlockId(40): 1})
    assert put(store, 1) == 41
    store.drop([BlockId(41)])
    store.close(keep=True)
    store = open_store(world)
    store.adopt({})
    assert put(store, 1) == 10, "41 never was durable"
    assert store.close(keep=True) == 0
    store = open_store(world)
    store.adopt({})
    assert put(store, 1) == 11
    store.close()


def test_blocks_that_nobody_adopts_go_with_rows_and_room(world: Path) -> None:
    store = open_store(world)
    assert store.adopt({BlockId(2): 1, BlockId(5): 2}) == set()
    assert store.tiers()[2].used == 2
    store.check()
    store.close()
    assert set(rows(world)) == {2, 5}
    assert (world / ARENA).stat().st_size == 6 * SLOT
    assert (world / ARENA).stat().st_blocks * 512 <= 2 * SLOT + 4096


def test_shared_blocks_live_as_long_as_a_branch_holds_them(reopened: BlockStore) -> None:
    reopened.share(ids([1, 2]))
    reopened.drop(ids([1, 3]))
    assert reopened.tier_of(ids([1, 2, 3])).tolist() == [TIER_DISK, TIER_DISK, TIER_NONE]
    reopened.drop(ids([1]))
    assert reopened.tier_of(ids([1, 2])).tolist() == [TIER_NONE, TIER_DISK]
    with pytest.raises(ValueError, match=r"\[77\]"):
        reopened.share(ids([2, 77]))
    reopened.drop(ids([2, 2]))
    assert reopened.tier_of(ids([2]))[0] == TIER_NONE, "the refused sharing changed nothing"
    reopened.check()


def test_slots_of_dropped_blocks_are_used_again(world: Path) -> None:
    store = open_store(world, budget=10 * SLOT)
    store.adopt(dict.fromkeys(ids(range(10)), 1))
    put(store, 20)
    settle(store)
    assert store.take_durable() == []
    assert any("full" in note for note in store.degraded())
    store.drop(ids([4, 6]))
    put(store, 21)
    settle(store)
    assert store.take_durable() == ids([10, 11])
    store.check()
    store.close()
    assert rows(world)[10] == 4
    assert rows(world)[11] == 6
    assert (world / ARENA).stat().st_size == 10 * SLOT
    again = open_store(world)
    again.adopt(dict.fromkeys(ids(range(12)), 1))
    assert_comes_back(again, 10, 20)
    assert_comes_back(again, 11, 21)
    again.close()


def test_a_folder_above_its_budget_keeps_what_it_has_and_takes_no_more(world: Path) -> None:
    store = open_store(world, budget=5 * SLOT)
    assert store.adopt(dict.fromkeys(ids(range(10)), 1)) == set()
    put(store, 20)
    settle(store)
    assert store.take_durable() == []
    assert_comes_back(store, 9, 9)
    store.drop(ids(range(6)))
    settle(store)
    assert store.take_durable() == [10]
    store.check()
    store.close()
    assert (world / ARENA).stat().st_size <= 10 * SLOT


def test_closing_gives_up_what_is_not_written_unless_told_to_keep(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for keep in (False, True):
        config = MemoryConfig(CODEC, host_budget=12 * RECORD, disk_dir=tmp_path, keep=True, write_limit=None if keep else 1.0)
        store = BlockStore(config, KV, ROTARY, torch.device("cpu"))
        store.adopt({})
        for number in range(6):
            put(store, number)
        store.poll()
        assert store.close(keep=keep) == (0 if keep else 6)
        assert len(rows(tmp_path)) == (6 if keep else 0)


def test_a_drive_that_fails_keeps_no_world_open(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = open_store(tmp_path)
    put(store, 1)
    settle(store)

    def broken(*_: object) -> int:
        raise OSError(errno.EIO, "the drive is gone")

    monkeypatch.setattr(store_module, "KEEP_SECONDS", 0.1)
    monkeypatch.setattr(os, "pwritev", broken)
    put(store, 2)
    store.poll()
    assert store.close(keep=True) == 1
    assert store.take_durable() == ids([0])


def test_a_table_that_cannot_be_written_makes_nothing_durable(world: Path) -> None:
    store = open_store(world)
    store.adopt(dict.fromkeys(ids(range(10)), 1))
    assert store._kept is not None
    store._kept._index._rows.execute("CREATE TRIGGER no BEFORE INSERT ON blocks BEGIN SELECT RAISE(ABORT, 'no'); END")
    put(store, 1)
    settle(store)
    assert store.take_durable() == []
    assert any("block table" in note for note in store.degraded())
    store._kept._index._rows.execute("DROP TRIGGER no")
    assert store.close(keep=True) == 0


# Damage


def test_a_damaged_block_is_a_counted_miss_and_then_lost(world: Path) -> None:
    place = rows(world)[3] * SLOT
    with (world / ARENA).open("r+b") as arena:
        arena.seek(place + 4096 + 17)
        arena.write(b"\xff\x00\xff")
    store = open_store(world)
    assert store.adopt(dict.fromkeys(ids(range(10)), 1)) == set()
    for _ in range(3):
        store.request(ids([3]))
        settle(store)
        assert store.take(ids([3])).missed == (3,)
    assert store.counters().failed_moves == 3
    assert store.tier_of(ids([3]))[0] == TIER_NONE
    assert_comes_back(store, 4, 4)
    store.close()
    assert 3 not in rows(world)


def test_a_truncated_arena_has_only_its_whole_blocks(world: Path) -> None:
    os.truncate(world / ARENA, 7 * SLOT + 5000)
    store = open_store(world)
    assert store.adopt(dict.fromkeys(ids(range(10)), 1)) == {7, 8, 9}
    assert_comes_back(store, 6, 6)
    store.check()
    store.close()


def test_a_lost_arena_is_a_world_without_blocks(world: Path) -> None:
    (world / ARENA).unlink()
    store = open_store(world)
    assert store.adopt(dict.fromkeys(ids(range(10)), 1)) == set(range(10))
    put(store, 1)
    assert store.close(keep=True) == 0


def test_a_table_that_is_none_is_named(world: Path) -> None:
    for name in (INDEX, INDEX + "-wal", INDEX + "-shm"):
        (world / name).unlink(missing_ok=True)
    (world / INDEX).write_bytes(b"no table at all" * 1000)
    with pytest.raises(TierError, match=r"blocks.sqlite can't be read"):
        open_store(world)
    with pytest.raises(TierError, match=r"blocks.sqlite can't be read"):
        open_store(world)


def test_blocks_of_another_kind_are_refused(world: Path) -> None:
    with pytest.raises(TierError, match="another kind"):
        open_store(world, codec=CodecConfig(16))


# One owner


def test_a_second_opener_is_refused_with_the_reason(world: Path) -> None:
    store = open_store(world)
    with pytest.raises(TierError, match="in use by this very program"):
        open_store(world)
    store.close()
    open_store(world).close()


HOLD = """
import sys, time
from pathlib import Path
from worldpager.engine.memory.folder_lock import FolderLock
held = FolderLock(Path(sys.argv[1]))
print("held", flush=True)
time.sleep(60)
"""


def test_the_lock_of_a_living_process_counts_and_that_of_a_dead_one_does_not(world: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", HOLD, world], stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "held\n"
        with pytest.raises(TierError, match=f"in use by process {other.pid}"):
            open_store(world)
        other.send_signal(signal.SIGKILL)
        other.wait()
    store = open_store(world)
    assert store._kept is not None
    assert store._kept._folder_lock.taken_over
    store.close()


def test_a_folder_that_cannot_be_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(TierError, match="file"):
        open_store(tmp_path / "file" / "below")


# Keeping a world that is being played


@pytest.mark.parametrize("adopted", [range(30), [0, 7, 29]])
def test_a_world_that_is_played_can_be_kept(tmp_path: Path, adopted: Iterable[int]) -> None:
    store = make_store(8, folder=tmp_path / "scratch", staging=4)
    for number in range(20):
        put(store, number)
        settle(store)
    store.request(ids([3]))
    store.keep(tmp_path / "world")
    for number in range(20, 30):
        assert put(store, number) == number
        store.request(ids([number - 20]))
        settle(store)
        store.check()
    assert_comes_back(store, 1, 1)
    wait_until(store, lambda: len(rows(tmp_path / "world")) == 30)
    settle(store)
    assert sorted(store.take_durable()) == list(range(30))
    assert store.tiers()[2].used == 30
    assert_comes_back(store, 2, 2)
    assert store.close(keep=True) == 0
    again = open_store(tmp_path / "world")
    assert again.adopt(dict.fromkeys(ids(adopted), 1)) == set()
    for block in (0, 7, 29):
        assert_comes_back(again, block, block)
    again.close()


def test_keeping_finishes_when_the_world_closes(tmp_path: Path) -> None:
    store = make_store(8, folder=tmp_path / "scratch")
    for number in range(20):
        put(store, number)
        settle(store)
    store.keep(tmp_path / "world")
    assert store.close(keep=True) == 0
    assert len(rows(tmp_path / "world")) == 20


def test_a_world_is_not_kept_where_another_is_or_twice(world: Path, tmp_path: Path) -> None:
    store = make_store(8, folder=tmp_path / "scratch")
    put(store, 1)
    with pytest.raises(TierError, match="another world"):
        store.keep(world)
    store.keep(tmp_path / "fresh")
    with pytest.raises(InputError, match="kept already"):
        store.keep(tmp_path / "again")
    store.close()
    alone = make_store(8)
    with pytest.raises(InputError, match="without a disk tier"):
        alone.keep(tmp_path / "alone")
    alone.close()
    open_store(world).close()


def test_a_block_dropped_while_it_moves_leaves_nothing(tmp_path: Path) -> None:
    store = make_store(8, folder=tmp_path / "scratch")
    for number in range(20):
        put(store, number)
        settle(store)
    store.keep(tmp_path / "world")
    store.poll()
    store.drop(ids(range(10)))
    store.check()
    assert store.close(keep=True) == 0
    assert set(rows(tmp_path / "world")) == set(range(10, 20))
