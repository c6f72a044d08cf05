"""The parts of a store, made from its settings."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from worldpager.engine.config import MemoryConfig, MiB
from worldpager.engine.errors import InputError
from worldpager.engine.memory.disk_tier import ArenaFacts, open_disk_tier
from worldpager.engine.memory.kept_tier import open_kept_tier
from worldpager.engine.memory.requests import RequestPool
from worldpager.engine.memory.tier import Tier
from worldpager.engine.memory.transfer import NoTransfers, ThreadedTransfers, Transfers


def check_slots(config: MemoryConfig, host_slots: int, size: int) -> None:
    """Raise `InputError` unless a new block, a working set and writes under way have room side by side."""
    least = config.watermark + 2
    if host_slots < least:
        raise InputError(
            f"The host budget holds {host_slots} blocks of {size / MiB:.2f} MiB, too few to play.",
            f"Give at least {least * size / MiB:.1f} MiB (--host-budget).",
        )
    if config.device_slots < 2:
        raise InputError(f"{config.device_slots} staging slots are too few.", "Give at least 2 (--device-slots).")


def make_workers(config: MemoryConfig, disk: Tier | None, clock: Callable[[], float], on_gpu: bool) -> Transfers:
    """Threads, but none where bytes have nowhere to go."""
    if disk is None and not on_gpu:
        return NoTransfers()
    return ThreadedTransfers(config.read_threads, landing=on_gpu, clock=clock)


def open_disk(config: MemoryConfig, folder: Path, facts: ArenaFacts, clock: Callable[[], float]) -> Tier:
    """The scratch or kept disk tier."""
    requests = RequestPool(read_limit=config.read_limit, write_limit=config.write_limit, clock=clock)
    if config.keep:
        return open_kept_tier(folder, config.disk_budget, facts, requests)
    return open_disk_tier(folder, config.disk_budget, facts, requests)
