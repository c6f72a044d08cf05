"""What a demo is played with: a memory so small that a crowd sees it fill, spill and read back within a minute."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from worldpager.engine.config import PlayConfig

SHARE = 5
"""The host budget of play over that of a demo."""
DISK_OVER_HOST = 8


def demo_config(config: PlayConfig, flags: Mapping[str, str]) -> PlayConfig:
    """``config`` with the tiers of a demo, but for those that the command line sizes itself."""
    memory = config.memory
    if "host_budget" not in flags and memory.host_budget is not None:
        memory = replace(memory, host_budget=memory.host_budget // SHARE)
    if "disk_budget" not in flags and memory.disk_dir is not None and memory.host_budget is not None:
        memory = replace(memory, disk_budget=memory.host_budget * DISK_OVER_HOST)
    return replace(config, memory=memory)
