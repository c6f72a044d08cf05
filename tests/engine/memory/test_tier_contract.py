"""One contract, every tier: host and device memory, disk direct and buffered, and a stand-in for a remote one."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import torch

from tests.helpers.fake_tiers import FakeTier
from worldpager.engine.errors import TierError
from worldpager.engine.memory import disk_tier
from worldpager.engine.memory.disk_io import probe_direct
from worldpager.engine.memory.disk_tier import PREFIX, DiskTier, sweep
from worldpager.engine.memory.tier import Label, MemoryTier, RecordLost, Tier

SIZE = 8192
CPU = torch.device("cpu")
Build = Callable[[Path, pytest.MonkeyPatch], Tier]


def _buffered(folder: Path, patch: pytest.MonkeyPatch) -> Tier:
    patch.setattr(disk_tier, "probe_direct", lambda folder: "refused for the test")
    return DiskTier(folder, SIZE, layout=7, budget=5 * (SIZE + 4096))


TIERS: dict[str, Build] = {
    "host": lambda folder, patch: MemoryTier("host", 5, SIZE, CPU),
    "device": lambda folder, patch: MemoryTier("device", 5, SIZE, CPU),
    "disk": lambda folder, patch: DiskTier(folder, SIZE, layout=7, budget=5 * (SIZE + 4096)),
    "disk, buffered": _buffered,
    "remote": lambda folder, patch: FakeTier(5, SIZE),
}


@pytest.fixture(params=TIERS)
def tier(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Tier]:
    made = TIERS[request.param](tmp_path, monkeypatch)
    yield made
    made.close()


def _record(seed: int) -> torch.Tensor:
    return torch.randint(0, 256, (SIZE,), dtype=torch.uint8, generator=torch.Generator().manual_seed(seed))


def test_gives_back_what_was_written(tier: Tier) -> None:
    slots = [tier.slots.allocate() for _ in range(5)]
    assert tier.slots.allocate() is None, "a full tier has no slot"
    for i, slot in enumerate(slots):
        assert slot is not None
        tier.write(slot, _record(i), Label(i, i + 1, 9))
    for i, slot in reversed(list(enumerate(slots))):
        assert slot is not None
        out = torch.zeros(SIZE, dtype=torch.uint8)
        tier.read(slot, out, Label(i, i + 1, 9))
        assert torch.equal(out, _record(i))


def test_a_slot_is_reused_and_holds_the_newest(tier: Tier) -> None:
    slot = tier.slots.allocate()
    assert slot is not None
    tier.write(slot, _record(1), Label(1, 1, 9))
    tier.slots.release(slot)
    again = tier.slots.allocate()
    assert again == slot
    tier.write(again, _record(2), Label(2, 2, 9))
    out = torch.zeros(SIZE, dtype=torch.uint8)
    tier.read(again, out, Label(2, 2, 9))
    assert torch.equal(out, _record(2))


def test_double_free_is_a_fault(tier: Tier) -> None:
    slot = tier.slots.allocate()
    assert slot is not None
    tier.slots.release(slot)
    with pytest.raises(ValueError, match="not in use"):
        tier.slots.release(slot)


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[DiskTier]:
    made = DiskTier(tmp_path, SIZE, layout=7, budget=4 * (SIZE + 4096))
    yield made
    made.close()


@pytest.mark.parametrize("where", [0, 40, 4095, 4096, 4096 + SIZE - 1])
def test_a_flipped_byte_is_never_served(disk: DiskTier, where: int) -> None:
    disk.write(1, _record(1), Label(3, 4, 9))
    descriptor = os.dup(disk._file)  # the arena has no name any more
    buffered = os.open(f"/proc/self/fd/{descriptor}", os.O_RDWR)
    at = disk.slot_bytes + where
    old = os.pread(buffered, 1, at)
    os.pwrite(buffered, bytes([old[0] ^ 1]), at)
    os.fsync(buffered)
    os.close(buffered)
    os.close(descriptor)
    untouched = where in range(72, 4096)  # behind the header's checksum lies padding
    if untouched:
        disk.read(1, torch.empty(SIZE, dtype=torch.uint8), Label(3, 4, 9))
    else:
        with pytest.raises(RecordLost):
            disk.read(1, torch.empty(SIZE, dtype=torch.uint8), Label(3, 4, 9))


@pytest.mark.parametrize("label", [Label(4, 4, 9), Label(3, 5, 9), Label(3, 4, 8)])
def test_another_blocks_record_is_never_served(disk: DiskTier, label: Label) -> None:
    disk.write(0, _record(1), Label(3, 4, 9))
    with pytest.raises(RecordLost, match="another record"):
        disk.read(0, torch.empty(SIZE, dtype=torch.uint8), label)


def test_a_truncated_arena_is_a_lost_record(disk: DiskTier) -> None:
    disk.write(0, _record(1), Label(3, 4, 9))
    os.ftruncate(disk._file, 4096)
    with pytest.raises(RecordLost, match="too short"):
        disk.read(0, torch.empty(SIZE, dtype=torch.uint8), Label(3, 4, 9))


def test_nothing_is_left_in_the_folder(tmp_path: Path) -> None:
    tier = DiskTier(tmp_path, SIZE, layout=7)
    tier.write(0, _record(1), Label(0, 0, 0))
    assert list(tmp_path.iterdir()) == []
    tier.close()


def test_arenas_of_the_dead_are_swept_and_others_stay(tmp_path: Path) -> None:
    boot = disk_tier._boot_id()
    dead, living = tmp_path / f"{PREFIX}4194303-{boot}-aa.arena", tmp_path / f"{PREFIX}{os.getpid()}-{boot}-bb.arena"
    rebooted, foreign = tmp_path / f"{PREFIX}{os.getpid()}-000000000001-cc.arena", tmp_path / "holiday.arena"
    for path in (dead, living, rebooted, foreign):
        path.write_bytes(b"x")
    assert set(sweep(tmp_path)) == {dead, rebooted}
    assert living.exists()
    assert foreign.exists()


def test_a_folder_that_cannot_be_used_is_named(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("in the way")
    with pytest.raises(TierError, match="file"):
        DiskTier(file / "below", SIZE, layout=7)


def test_probe_leaves_nothing_and_says_why_not(tmp_path: Path) -> None:
    assert isinstance(probe_direct(tmp_path), str)
    assert list(tmp_path.iterdir()) == []
    assert "can't write" in probe_direct(tmp_path / "absent")
