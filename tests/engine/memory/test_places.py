"""The same promise on real file systems and under real limits.

Right bytes or a counted miss, a stated degradation, no hang, no unbounded file.
"""

from __future__ import annotations

import errno
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest
import torch

from tests.engine.memory.kit import CODEC, KV, RECORD, ROTARY, block_kv, decoded, empty_view, put, settle, wait_until
from tests.engine.memory.places import PLACES, large_sectors, run, small_tmpfs
from worldpager.engine.config import MemoryConfig
from worldpager.engine.memory.kept_tier import ARENA
from worldpager.engine.memory.store import BlockStore
from worldpager.engine.types import BlockId

SLOT = RECORD + 4096
MODES = ("direct I/O", "direct I/O; tmpfs takes main memory", "buffered: the file system refuses direct I/O",
         "buffered: the file system refuses direct I/O; tmpfs takes main memory")  # fmt: skip


@pytest.fixture(params=PLACES)
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Path]:
    with PLACES[request.param](tmp_path) as folder:
        yield folder


def open_store(folder: Path, host: int = 8, budget: int | None = None, *, keep: bool = True) -> BlockStore:
    config = MemoryConfig(CODEC, device_slots=4, host_budget=host * RECORD, disk_dir=folder, disk_budget=budget, keep=keep)
    return BlockStore(config, KV, ROTARY, torch.device("cpu"))


def assert_comes_back(store: BlockStore, block: BlockId, number: int) -> None:
    store.request([block])
    settle(store)
    working = store.take([block])
    assert working.ids == (block,)
    view = empty_view(1)
    store.place(working, view, 0.0)
    assert torch.equal(view.values[:, 0], decoded(number, 0.0).values)


@pytest.mark.parametrize("direct", [True, False])
def test_the_same_bytes_everywhere_and_the_mode_is_told(place: Path, direct: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if not direct:
        whole = os.open

        def refusing(path: object, flags: int, *rest: int, **more: object) -> int:
            if flags & os.O_DIRECT:
                raise OSError(errno.EINVAL, "no direct I/O here")
            return whole(path, flags, *rest, **more)  # type: ignore[arg-type]

        monkeypatch.setattr(os, "open", refusing)
    store = open_store(place / "world")
    blocks = []
    for number in range(24):
        blocks.append(put(store, number))
        settle(store)
    note = store.tiers()[2].note
    assert note in MODES
    assert direct or note.startswith("buffered")
    assert_comes_back(store, blocks[2], 2)
    assert store.close(keep=True) == 0
    again = open_store(place / "world")
    assert again.adopt(dict.fromkeys(blocks, 1)) == set()
    for number, block in enumerate(blocks):
        assert_comes_back(again, block, number)
    assert again.counters().failed_moves == 0
    again.close()


def fill(path: Path) -> None:
    """Write until the drive is full."""
    descriptor = os.open(path, os.O_CREAT | os.O_WRONLY)
    try:
        for size in (65536, 4096):
            with suppress(OSError):
                while os.write(descriptor, bytes(size)) == size:
                    pass
    finally:
        os.close(descriptor)


@pytest.mark.parametrize("maker", [small_tmpfs, large_sectors])
@pytest.mark.parametrize("keep", [False, True])
def test_a_drive_that_others_fill_half_way_costs_no_block(tmp_path: Path, maker: object, keep: bool) -> None:
    assert callable(maker)
    with maker(tmp_path) as folder, ExitStack() as ends:
        store = open_store(folder, host=8, keep=keep)
        blocks = [put(store, number) for number in range(4)]
        settle(store)
        ends.callback(store.close)
        hog = folder / "hog"
        fill(hog)
        for number in range(4, 30):
            block = store.put(block_kv(number))
            if block is not None:
                blocks.append(block)
            store.poll()
            store.check()
        wait_until(store, lambda: any("not written" in note for note in store.degraded()))
        assert any("No space left" in note for note in store.degraded())
        assert 4 <= len(blocks) < 30
        assert store.counters().blocks_refused == 30 - len(blocks)
        hog.unlink()
        assert store._write_back is not None
        store._write_back.hurry()
        wait_until(store, lambda: not any("not written" in note for note in store.degraded()))
        settle(store)
        assert_comes_back(store, blocks[0], 0)
        assert store.close(keep=True) == 0


def test_a_folder_that_is_full_from_the_start_is_named_or_small(tmp_path: Path) -> None:
    with small_tmpfs(tmp_path) as folder:
        (folder / "hog").write_bytes(bytes(shutil.disk_usage(folder).free - 5 * SLOT))
        store = open_store(folder, keep=False)
        assert store.tiers()[2].capacity < 5
        store.close()


@pytest.mark.parametrize("harm", ["truncate", "garbage", "delete", "mode"])
def test_an_arena_that_others_harm_costs_counted_misses(tmp_path: Path, harm: str, request: pytest.FixtureRequest) -> None:
    store = open_store(tmp_path, host=8)
    request.addfinalizer(store.close)
    blocks = []
    for number in range(20):
        blocks.append(put(store, number))
        settle(store)
    arena = tmp_path / ARENA
    match harm:
        case "truncate":
            os.truncate(arena, 3 * SLOT)
        case "garbage":
            with arena.open("r+b") as file:
                file.write(b"\xa5" * 9 * SLOT)
        case "delete":
            arena.unlink()
        case _:
            arena.chmod(0)
    served = missed = 0
    for number in range(8):
        store.request([blocks[number]])
        settle(store)
        working = store.take([blocks[number]])
        missed += len(working.missed)
        if not working.missed:
            view = empty_view(1)
            store.place(working, view, 0.0)
            assert torch.equal(view.values[:, 0], decoded(number, 0.0).values)
            served += 1
        store.check()
    assert (served, missed) == {"truncate": (3, 5), "garbage": (0, 8)}.get(harm, (8, 0))
    assert store.counters().failed_moves >= missed
    assert put(store, 20)
    settle(store)
    assert_comes_back(store, blocks[-1], 19)


# Limits of the process

PLAY = """
import sys
from pathlib import Path
import torch
from tests.engine.memory.kit import CODEC, KV, ROTARY, block_kv, put, settle
from worldpager.engine.config import MemoryConfig
from worldpager.engine.memory import budget
from worldpager.engine.memory.disk_tier import ArenaFacts, open_disk_tier
from worldpager.engine.memory.drive_probe import incompressible
from worldpager.engine.memory.store import BlockStore
from worldpager.engine.memory.tier import Stamp
store = BlockStore(MemoryConfig(CODEC, host_budget=8 << 16, disk_dir=Path(sys.argv[1])), KV, ROTARY, torch.device("cpu"))
for number in range(20):
    put(store, number)
    settle(store)
store.check()
store.close()
size = 8 << 20
tier = open_disk_tier(Path(sys.argv[1]), 64 * size, ArenaFacts(1, 1, size), direct=False)
block = incompressible(size)
for number in range(40):
    slot = tier.allocate()
    tier.read(slot, block, tier.write(slot, block, Stamp(number, 1, b"")))
print(budget.memory_limit(), budget.host_budget(None))
print(*(line for line in open(sys.argv[2]) if line.startswith("cache ")) if len(sys.argv) > 2 else ())
tier.close()
"""


def play(*arguments: object, before: str = "") -> list[str]:
    """Lines that `PLAY` prints. ``before`` is run by the shell that becomes it."""
    root = Path(__file__).parents[3]
    words = shlex.join([sys.executable, "-c", PLAY, *map(str, arguments)])
    command = f"{before} exec {words}"
    environment = os.environ | {"PYTHONPATH": str(root), "OMP_NUM_THREADS": "1"}
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False, env=environment, cwd=root)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout.splitlines()


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="needs a shell")
def test_little_memory_that_may_be_locked_is_enough(tmp_path: Path) -> None:
    limit, budget = map(int, play(tmp_path, before="ulimit -l 64;")[0].split())
    assert 0 < budget < limit


@pytest.mark.slow
def test_under_a_memory_group_the_budget_follows_it_and_buffered_pages_do_not_pile_up(tmp_path: Path) -> None:
    """Slow, like the one above, since a program starts in it."""
    base = Path("/sys/fs/cgroup/memory")
    group = base / f"worldpager-test-{os.getpid()}"
    if not (base / "memory.limit_in_bytes").exists():
        pytest.skip("needs the memory controller of control groups, version 1")
    run("mkdir", group)
    try:
        (group / "memory.limit_in_bytes").write_text(str(900 << 20))
        lines = play(tmp_path, group / "memory.stat", before=f"echo $$ > {group}/tasks;")
        limit, budget = map(int, lines[0].split())
        assert limit == 900 << 20
        assert 0 < budget < 700 << 20
        assert int((group / "memory.max_usage_in_bytes").read_text()) <= limit
        cached = int(lines[1].split()[1])
        assert cached < 320 << 20, "more pages than the program's own libraries"
    finally:
        group.rmdir()
