"""What this machine gives the memory, in lines for a person: limits, drives, copies."""

from __future__ import annotations

import shutil
import statistics
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import torch

from worldpager.engine.config import GiB, MiB
from worldpager.engine.errors import WorldPagerError
from worldpager.engine.memory.budget import available_bytes, host_budget, memory_limits
from worldpager.engine.memory.disk_io import open_arena
from worldpager.engine.memory.drive_probe import RawRate, incompressible, raw_rates
from worldpager.engine.memory.file_system import direct_alignment, file_system
from worldpager.engine.memory.tier import checksum

SWEEP_BYTES = 64 * MiB
"""Written and read for each size and depth."""
SIZES, DEPTHS = (1 * MiB, 4 * MiB, 8 * MiB), (1, 4, 8)
SWEEP_SECONDS = 8.0
"""A slow drive is asked for fewer of them."""
COPY_BYTES = 128 * MiB

Lines = Iterator[str]


def limits() -> Lines:
    """Every limit of this process's memory, which one binds, and what that leaves for blocks."""
    total = next(limit.bytes for limit in memory_limits() if limit.name == "MemTotal")
    found = dict.fromkeys(limit for limit in memory_limits() if limit.bytes <= total)
    available = available_bytes()
    names = ", ".join(f"{limit.name} {limit.bytes / GiB:.1f} GiB" for limit in found)
    yield f"limits: {names}; the first binds"
    if available is not None:
        yield f"available now: {available / GiB:.1f} GiB"
    yield f"left for blocks in main memory: {host_budget(None) / GiB:.1f} GiB"
    yield f"memory that may be locked: {_locked()}"


def _locked() -> str:
    try:
        import resource
    except ImportError:
        return "not told by this system"
    soft, _ = resource.getrlimit(resource.RLIMIT_MEMLOCK)
    return "no limit" if soft == resource.RLIM_INFINITY else f"{soft / MiB:.1f} MiB"


def folder(place: Path) -> Lines:
    """How a disk tier would work in a folder."""
    there = next(parent for parent in (place, *place.parents) if parent.exists())
    kind = file_system(there) or "unknown file system"
    try:
        arena = open_arena(there)
    except WorldPagerError as error:
        yield f"{there}: {kind}, no disk tier: {error.what}"
        return
    probe = there / f".worldpager-{time.monotonic_ns()}"
    try:
        probe.touch()
        align = direct_alignment(probe)
    finally:
        probe.unlink(missing_ok=True)
    arena.close()
    told = f" in multiples of {align} bytes" if align else ""
    yield f"{there}: {kind}, {arena.note}{told}, {shutil.disk_usage(there).free / GiB:.1f} GiB free"


def drive(place: Path, clock: Callable[[], float] = time.perf_counter) -> Lines:
    """Raw rates of the drive under a folder, by size of request and depth; the best of each last."""
    began, rates = clock(), []
    for size in SIZES:
        for depth in DEPTHS:
            if clock() - began < SWEEP_SECONDS:
                rates += raw_rates(place, SWEEP_BYTES, [size], [depth], clock)
    for size in SIZES:
        row = [rate for rate in rates if rate.size == size]
        if row:
            yield f"{place}, requests of {size // MiB} MiB, write/read GB/s: " + ", ".join(map(_rate, row))
    best = max(rate.write for rate in rates), max(rate.read for rate in rates)
    left = len(SIZES) * len(DEPTHS) - len(rates)
    cut = f" ({left} measurements left out: the drive is slow)" if left else ""
    yield f"{place}, ceilings: write {best[0] / 1e9:.2f} GB/s, read {best[1] / 1e9:.2f} GB/s{cut}"


def _rate(rate: RawRate) -> str:
    return f"{rate.write / 1e9:.2f}/{rate.read / 1e9:.2f} at depth {rate.depth}"


def copies() -> Lines:
    """Rates of copies within main memory, and to and from a GPU from pageable and from pinned memory; of checksums."""
    source, target = incompressible(COPY_BYTES), torch.empty(COPY_BYTES, dtype=torch.uint8)
    yield f"main memory to main memory: {_speed(lambda: target.copy_(source)):.1f} GB/s"
    yield f"xxh3 checksums on one thread: {_speed(lambda: checksum(source)):.1f} GB/s"
    if not torch.cuda.is_available():
        yield "to a GPU: there is none"
        return
    there = torch.empty(COPY_BYTES, dtype=torch.uint8, device="cuda")
    kinds: list[tuple[str, torch.Tensor]] = [("pageable", source)]
    try:
        kinds.append(("pinned", torch.empty(COPY_BYTES, dtype=torch.uint8, pin_memory=True)))
    except RuntimeError as error:
        yield f"pinned memory: refused ({str(error).splitlines()[0]})"
    for name, here in kinds:
        up, down = _speed(lambda here=here: _to(there, here)), _speed(lambda here=here: _to(here, there))  # type: ignore[misc]
        yield f"{name} memory to the GPU {up:.1f} GB/s, back {down:.1f} GB/s"


def _to(target: torch.Tensor, source: torch.Tensor) -> None:
    target.copy_(source)
    torch.cuda.synchronize()


def _speed(work: Callable[[], object]) -> float:
    """GB/s of the median of a few runs over `COPY_BYTES`."""
    work()
    return COPY_BYTES / statistics.median(_seconds(work) for _ in range(5)) / 1e9


def _seconds(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def folders(places: Iterable[Path]) -> Lines:
    """`folder` of each."""
    for place in dict.fromkeys(places):
        yield from folder(place)
