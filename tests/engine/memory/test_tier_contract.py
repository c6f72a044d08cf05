"""One contract, every tier: host and device memory, disk direct and buffered, and a stand-in for a remote one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import torch
from torch import Tensor

from tests.helpers.clocks import HandClock
from tests.helpers.fake_tiers import RemoteTier
from worldpager.engine.memory import tier as tier_module
from worldpager.engine.memory.device_tier import DeviceTier
from worldpager.engine.memory.disk_tier import ArenaFacts, open_disk_tier
from worldpager.engine.memory.host_tier import HostTier
from worldpager.engine.memory.kept_tier import open_kept_tier
from worldpager.engine.memory.layout import PAGE, aligned_bytes
from worldpager.engine.memory.tier import DamagedError, Stamp, Tier, checksum

SIZE, SLOTS = 2 * PAGE, 5
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")

TIERS: dict[str, Callable[[Path], Tier]] = {
    "host": lambda folder: HostTier(SLOTS, SIZE),
    "device": lambda folder: DeviceTier(SLOTS, SIZE, DEVICE),
    "disk": lambda folder: open_disk_tier(folder, SLOTS * (SIZE + PAGE), ArenaFacts(7, 9, SIZE)),
    "disk, buffered": lambda folder: open_disk_tier(folder, SLOTS * (SIZE + PAGE), ArenaFacts(7, 9, SIZE), direct=False),
    "disk, in parts": lambda folder: open_disk_tier(folder, SLOTS * (SIZE + PAGE), ArenaFacts(7, 9, SIZE)),
    "kept": lambda folder: open_kept_tier(folder, SLOTS * (SIZE + PAGE), ArenaFacts(7, 9, SIZE)),
    "remote": lambda folder: RemoteTier(SLOTS, SIZE, bandwidth=50e6, latency=0.002, clock=HandClock()),
}


@pytest.fixture(params=TIERS)
def tier(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Tier]:
    if request.param == "disk, in parts":
        monkeypatch.setattr(tier_module, "PART", PAGE)
    made = TIERS[request.param](tmp_path)
    yield made
    made.close()


def record(seed: int) -> Tensor:
    return aligned_bytes(SIZE).copy_(torch.randint(0, 256, (SIZE,), dtype=torch.uint8, generator=torch.Generator().manual_seed(seed)))


def stamp(block: int, generation: int = 0) -> Stamp:
    return Stamp(block, generation, checksum(record(block)))


def claim(tier: Tier) -> int:
    slot = tier.allocate()
    assert slot is not None
    return slot


def served(tier: Tier, slot: int, expected: Stamp) -> Tensor:
    out = aligned_bytes(SIZE).fill_(0xEE)
    tier.read(slot, out, expected)
    return out


def test_gives_back_what_was_written(tier: Tier) -> None:
    slots = [claim(tier) for _ in range(SLOTS)]
    for block, slot in enumerate(slots):
        tier.write(slot, record(block), stamp(block))
    for block, slot in reversed(list(enumerate(slots))):
        assert torch.equal(served(tier, slot, stamp(block)), record(block))


def test_has_its_capacity_and_no_more(tier: Tier) -> None:
    assert tier.capacity == SLOTS
    slots = {claim(tier) for _ in range(SLOTS)}
    assert len(slots) == SLOTS == tier.used
    assert tier.allocate() is None
    tier.check(slots)
    tier.free(slots.pop())
    assert tier.used == SLOTS - 1
    tier.check(slots)
    assert tier.allocate() is not None


def test_a_slot_is_reused_and_holds_the_newest(tier: Tier) -> None:
    slot, *_ = [claim(tier) for _ in range(SLOTS)]
    tier.write(slot, record(1), stamp(1))
    tier.free(slot)
    assert claim(tier) == slot
    tier.write(slot, record(2), stamp(2))
    assert torch.equal(served(tier, slot, stamp(2)), record(2))


@pytest.mark.parametrize("wrong", [stamp(4), stamp(3, generation=2)])
def test_another_blocks_bytes_are_never_served(tier: Tier, wrong: Stamp) -> None:
    slot = claim(tier)
    tier.write(slot, record(3), stamp(3, generation=1))
    with pytest.raises(DamagedError):
        served(tier, slot, wrong)


def test_what_was_freed_is_not_served_to_the_next(tier: Tier) -> None:
    slot = claim(tier)
    tier.write(slot, record(1), stamp(1))
    tier.free(slot)
    with pytest.raises((DamagedError, OSError)):
        served(tier, claim(tier), stamp(2))


def test_freeing_twice_or_what_never_was_in_use_is_a_fault(tier: Tier) -> None:
    slot = claim(tier)
    tier.free(slot)
    for unused in (slot, SLOTS + 3):
        with pytest.raises(ValueError, match="not in use"):
            tier.free(unused)


def test_check_tells_lost_and_stolen_slots(tier: Tier) -> None:
    slot = claim(tier)
    with pytest.raises(AssertionError, match=str(slot)):
        tier.check(set())


def test_workers_move_different_slots_at_once(tier: Tier) -> None:
    slots = [claim(tier) for _ in range(SLOTS)]

    def rewrite(block: int) -> None:
        for generation in range(20):
            held = stamp(block, generation)
            tier.write(slots[block], record(block), held)
            assert torch.equal(served(tier, slots[block], held), record(block))

    with ThreadPoolExecutor(SLOTS) as workers:
        list(workers.map(rewrite, range(SLOTS)))
