"""The disk tier's own promises: wrong bytes are never served, nothing is left behind, and a drive that fails is named."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from torch import Tensor

from worldpager.engine.errors import TierError
from worldpager.engine.memory import disk_io
from worldpager.engine.memory.boot import boot_id
from worldpager.engine.memory.disk_io import Arena, open_arena, sweep
from worldpager.engine.memory.disk_tier import ArenaFacts, DiskTier, open_disk_tier
from worldpager.engine.memory.file_system import MEMORY_BACKED, file_system
from worldpager.engine.memory.layout import PAGE, aligned_bytes
from worldpager.engine.memory.tier import DamagedError, Stamp, checksum, verify

SIZE = 2 * PAGE
SLOT = SIZE + PAGE
FACTS = ArenaFacts(7, 9, SIZE)


def record(seed: int) -> Tensor:
    return aligned_bytes(SIZE).copy_(torch.randint(0, 256, (SIZE,), dtype=torch.uint8, generator=torch.Generator().manual_seed(seed)))


STAMP = Stamp(3, 4, checksum(record(1)))


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[DiskTier]:
    made = open_disk_tier(tmp_path, 4 * SLOT, FACTS)
    made.write(1, record(1), STAMP)
    yield made
    made.close()


def read(disk: DiskTier) -> Tensor:
    out = aligned_bytes(SIZE)
    disk.read(1, out, STAMP)
    verify(out, STAMP)
    return out


def file_of(disk: DiskTier) -> str:
    """A name of the arena, which has none in its folder."""
    return f"/proc/{os.getpid()}/fd/{disk._arena._descriptor}"


@pytest.mark.parametrize("where", [0, 30, 60, 79, PAGE, PAGE + SIZE - 1])
def test_a_flipped_bit_is_never_served(disk: DiskTier, where: int) -> None:
    descriptor = os.open(file_of(disk), os.O_RDWR)
    old = os.pread(descriptor, 1, SLOT + where)
    os.pwrite(descriptor, bytes([old[0] ^ 1]), SLOT + where)
    os.fsync(descriptor)
    os.close(descriptor)
    with pytest.raises(DamagedError):
        read(disk)


def test_another_memorys_block_is_never_served(disk: DiskTier, tmp_path: Path) -> None:
    for layout, tokens in ((8, 9), (7, 8), (7, 9)):
        other = open_disk_tier(tmp_path, 4 * SLOT, ArenaFacts(layout, tokens, SIZE))
        other._arena = disk._arena
        with pytest.raises(DamagedError):
            other.read(1, aligned_bytes(SIZE), STAMP)


def test_a_truncated_arena_is_an_error_and_no_garbage(disk: DiskTier) -> None:
    os.truncate(file_of(disk), SLOT + PAGE)
    with pytest.raises(OSError, match="read"):
        read(disk)


def test_short_writes_and_reads_are_continued(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    disk = open_disk_tier(tmp_path, 4 * SLOT, FACTS)
    whole_write, whole_read = os.pwritev, os.preadv
    monkeypatch.setattr(os, "pwritev", lambda fd, views, at: whole_write(fd, [views[0][:PAGE]], at))
    monkeypatch.setattr(os, "preadv", lambda fd, views, at: whole_read(fd, [views[0][:PAGE]], at))
    disk.write(1, record(1), STAMP)
    assert torch.equal(read(disk), record(1))
    disk.close()


@pytest.mark.parametrize("count", [0, 100])
def test_a_write_that_stops_is_an_error(disk: DiskTier, monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    monkeypatch.setattr(os, "pwritev", lambda fd, views, at: count)
    if not disk._arena.direct and count:
        pytest.skip("buffered I/O may stop anywhere")
    with pytest.raises(OSError, match="wrote"):
        disk.write(1, record(1), STAMP)


def test_nothing_is_left_in_the_folder(disk: DiskTier, tmp_path: Path) -> None:
    assert list(tmp_path.iterdir()) == []
    assert torch.equal(read(disk), record(1))


def test_arenas_of_the_dead_are_swept_and_all_else_stays(tmp_path: Path) -> None:
    process = subprocess.Popen(["true"])
    process.wait()
    dead, rebooted = f"worldpager-{process.pid}-{boot_id()}-aa.arena", f"worldpager-{os.getpid()}-00000000-bb.arena"
    stays = {f"worldpager-{os.getpid()}-{boot_id()}-cc.arena", "worldpager-holiday.arena", "session.sqlite"}
    for name in (dead, rebooted, *stays):
        (tmp_path / name).write_bytes(b"x")
    sweep(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == stays


def test_a_folder_in_use_by_another_run_serves_both(tmp_path: Path) -> None:
    disks = [open_disk_tier(tmp_path, 4 * SLOT, FACTS) for _ in range(2)]
    stamps = [Stamp(number, 1, checksum(record(number))) for number in range(2)]
    for number, disk in enumerate(disks):
        disk.write(0, record(number), stamps[number])
    for number, disk in enumerate(disks):
        out = aligned_bytes(SIZE)
        disk.read(0, out, stamps[number])
        assert torch.equal(out, record(number))
        disk.close()


def test_direct_io_that_gives_back_other_bytes_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = Arena.read

    def lying(self: Arena, offset: int, parts: list[Tensor]) -> None:
        whole(self, offset, parts)
        if self.direct:
            parts[0][5] ^= 1

    monkeypatch.setattr(Arena, "read", lying)
    disk = open_disk_tier(tmp_path, 4 * SLOT, FACTS)
    assert disk.note == "buffered: the file system refuses direct I/O"
    disk.write(1, record(1), STAMP)
    assert torch.equal(read(disk), record(1))
    disk.close()


def test_direct_io_is_used_where_the_file_system_has_it(tmp_path: Path) -> None:
    try:
        os.close(os.open(tmp_path / "probe", os.O_CREAT | os.O_WRONLY | os.O_DIRECT))
    except OSError:
        pytest.skip("no direct I/O here")
    arena = open_arena(tmp_path)
    assert arena.note == "direct I/O"
    arena.close()


def test_a_drive_that_loses_what_it_is_given_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(disk_io, "_proven", lambda arena: False)
    with pytest.raises(TierError, match="doesn't come back"):
        open_arena(tmp_path)


def test_a_folder_that_cannot_be_is_named_with_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(TierError, match=r"file.*--no-disk"):
        open_arena(tmp_path / "file" / "below")


def test_a_budget_for_no_block_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TierError, match="a block takes"):
        open_disk_tier(tmp_path, SLOT - 1, FACTS)


def test_the_budget_is_kept(tmp_path: Path) -> None:
    disk = open_disk_tier(tmp_path, 3 * SLOT + 5, FACTS)
    assert disk.capacity == 3
    disk.close()


@pytest.fixture
def small_drive(tmp_path: Path) -> Iterator[Path]:
    """A file system of its own, 1 MiB large."""
    folder = tmp_path / "small"
    folder.mkdir()
    mount = shutil.which("mount")
    if os.geteuid() or mount is None or subprocess.run([mount, "-t", "tmpfs", "-o", "size=1m", "none", folder], check=False).returncode:
        pytest.skip("needs leave to mount")
    yield folder
    subprocess.run(["umount", folder], check=True)


def test_a_budget_above_the_free_space_becomes_what_the_drive_has(small_drive: Path) -> None:
    disk = open_disk_tier(small_drive, 1 << 30, FACTS)
    assert disk.capacity <= (1 << 20) // SLOT
    disk.close()


def test_a_drive_that_others_fill_fails_the_write_and_keeps_the_rest(small_drive: Path) -> None:
    disk = open_disk_tier(small_drive, 1 << 20, FACTS)
    disk.write(1, record(1), STAMP)
    hog = os.open(small_drive / "hog", os.O_CREAT | os.O_WRONLY)
    with pytest.raises(OSError, match=os.strerror(errno.ENOSPC)):
        os.posix_fallocate(hog, 0, 1 << 20)
    os.posix_fallocate(hog, 0, shutil.disk_usage(small_drive).free)
    os.close(hog)
    with pytest.raises(OSError, match=r"No space|wrote"):
        disk.write(30, record(2), Stamp(5, 5, checksum(record(2))))
    assert torch.equal(read(disk), record(1))
    disk.close()


def test_a_folder_that_may_only_be_read_is_named(small_drive: Path) -> None:
    subprocess.run(["mount", "-o", "remount,ro", small_drive], check=True)
    with pytest.raises(TierError, match=r"small.*[Rr]ead-only"):
        open_disk_tier(small_drive, 1 << 20, FACTS)


def test_the_kernel_tells_what_direct_io_wants(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(disk_io, "direct_alignment", lambda path: 1 << 16)
    arena = open_arena(tmp_path)
    assert arena.note.startswith("buffered: direct I/O here wants 65536")
    arena.close()


def test_without_positional_calls_the_same_bytes_come_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("preadv", "pwritev", "posix_fadvise", "fdatasync", "O_DIRECT"):
        monkeypatch.delattr(os, name)
    disk = open_disk_tier(tmp_path, 4 * SLOT, FACTS)
    assert disk.note.startswith("buffered: this system has no direct I/O")
    disk.write(1, record(1), STAMP)
    assert torch.equal(read(disk), record(1))
    disk.close()


def test_buffered_bytes_leave_the_page_cache(tmp_path: Path) -> None:
    """As far as the kernel tells: fincore counts the cached pages of the arena."""
    fincore = shutil.which("fincore")
    if fincore is None or file_system(tmp_path) in MEMORY_BACKED:
        pytest.skip("needs fincore and a real drive")
    disk = open_disk_tier(tmp_path, 4 * SLOT, FACTS, direct=False)
    disk.write(1, record(1), STAMP)
    read(disk)
    command = [fincore, "--bytes", "--noheadings", "--output", "RES", file_of(disk)]
    told = subprocess.run(command, capture_output=True, text=True, check=True)
    assert int(told.stdout) <= PAGE
    disk.close()
