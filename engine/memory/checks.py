"""Every rule of the store, recomputed: what tests call after each step."""

from __future__ import annotations

from worldpager.engine.memory.block import Block
from worldpager.engine.memory.block_table import BlockTable
from worldpager.engine.memory.device_tier import DeviceTier
from worldpager.engine.memory.host_tier import HostTier
from worldpager.engine.memory.prefetcher import Prefetcher
from worldpager.engine.memory.tier import Tier, checksum


def check_memory(table: BlockTable, prefetcher: Prefetcher, host: HostTier, device: DeviceTier, disk: Tier | None) -> None:
    """AssertionError names what is broken. Reads all bytes in memory."""
    table.check()
    prefetcher.check()
    everything = table.everything()
    host.check(_claimed(everything, "host"))
    device.check(_claimed(everything, "device", "staging"))
    if disk is not None:
        disk.check(_claimed(everything, "disk", "writing"))
    for block in table:
        if block.stamp is not None and block.host is not None and block.hosted:
            hosted = checksum(host.bytes_of(block.host))
            assert hosted == block.stamp.checksum, f"block {block.id}: host bytes aren't those on disk"
        if block.stamp is not None and block.device is not None:
            staged = checksum(device.bytes_of(block.device).cpu())
            assert staged == block.stamp.checksum, f"block {block.id}: staged bytes aren't those on disk"


def _claimed(blocks: list[Block], *fields: str) -> set[int]:
    """Slots that ``blocks`` hold in ``fields``; AssertionError when two hold the same."""
    slots = [slot for block in blocks for field in fields if (slot := getattr(block, field)) is not None]
    assert len(slots) == len(set(slots)), f"{fields}: two blocks hold the same slot among {sorted(slots)}"
    return set(slots)
