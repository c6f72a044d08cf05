"""What a drive gives by itself: raw reads and writes of one scratch file, by size of request and number of them at once.

The file is written before it is read, with bytes that don't compress. The ceilings that the disk tier is measured against.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from worldpager.engine.memory.disk_io import Arena, open_arena
from worldpager.engine.memory.layout import aligned_bytes


@dataclass(frozen=True, slots=True)
class RawRate:
    """Bytes a second of requests of ``size`` bytes, ``depth`` at once."""

    size: int
    depth: int
    write: float
    read: float


def incompressible(size: int, seed: int = 0) -> Tensor:
    """Random bytes at a page."""
    dice = np.random.Generator(np.random.SFC64(seed))
    return aligned_bytes(size).copy_(torch.from_numpy(np.frombuffer(dice.bytes(size), np.uint8).copy()))


def raw_rates(
    folder: Path, total: int, sizes: Iterable[int], depths: Iterable[int], clock: Callable[[], float] = time.perf_counter
) -> list[RawRate]:
    """Rates over ``total`` bytes each, in the mode that the folder allows. Raises `TierError` when it allows none."""
    arena = open_arena(folder)
    try:
        return [_rate(arena, total, size, depth, clock) for size in sizes for depth in depths]
    finally:
        arena.close()


def _rate(arena: Arena, total: int, size: int, depth: int, clock: Callable[[], float]) -> RawRate:
    buffers = [incompressible(size, seed) for seed in range(depth)]
    count = max(depth, total // size)
    with ThreadPoolExecutor(depth) as threads:

        def sweep(move: Callable[[int, list[Tensor]], None]) -> float:
            def lane(number: int) -> None:
                for request in range(number, count, depth):
                    move(request * size, [buffers[number]])

            began = clock()
            list(threads.map(lane, range(depth)))
            return count * size / (clock() - began)

        return RawRate(size, depth, sweep(arena.write), sweep(arena.read))
