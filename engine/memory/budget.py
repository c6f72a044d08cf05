"""How much host memory blocks may take: the tightest limit of the machine, less what the process has, less a margin,
and no more than is available.

MemTotal alone is wrong in a container: every memory limit of the process's control groups counts, of both hierarchies, up to their roots.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from worldpager.engine.config import GiB
from worldpager.engine.errors import TierError

MARGIN = 2 * GiB
MARGIN_SHARE = 0.25
"""The margin is `MARGIN`, on small machines this share of the limit."""


@dataclass(frozen=True, slots=True)
class Limit:
    """Something that limits this process's memory to ``bytes``; ``name`` for a person."""

    name: str
    bytes: int


def memory_limits(root: Path = Path("/")) -> list[Limit]:
    """MemTotal and all cgroup limits found below ``root`` (proc and sys), the tightest first."""
    limits = [Limit("MemTotal", _kilobytes(root / "proc/meminfo", "MemTotal")), *_group_limits(root)]
    return sorted(limits, key=lambda limit: limit.bytes)


def memory_limit(root: Path = Path("/")) -> int:
    """Bytes that this process may use: the tightest of `memory_limits`."""
    return memory_limits(root)[0].bytes


def available_bytes(root: Path = Path("/")) -> int | None:
    """What the kernel thinks can be had without swapping; None where it doesn't tell."""
    try:
        return _kilobytes(root / "proc/meminfo", "MemAvailable")
    except TierError:
        return None


def resident_bytes(root: Path = Path("/")) -> int:
    """Bytes that this process uses now."""
    return _kilobytes(root / "proc/self/status", "VmRSS")


def host_budget(asked: int | None, root: Path = Path("/")) -> int:
    """``asked`` bytes, or without it what the machine leaves. Raises `TierError` when ``asked`` is more than the process may ever use."""
    limit = memory_limit(root)
    if asked is None:
        available = available_bytes(root)
        room = limit - resident_bytes(root)
        if available is not None:
            room = min(room, available)
        return max(0, room - min(MARGIN, int(limit * MARGIN_SHARE)))
    if asked > limit:
        what = f"A host budget of {asked / GiB:.1f} GiB is more than the {limit / GiB:.1f} GiB that this machine allows."
        raise TierError(what, "Lower --host-budget, or leave it out.")
    return asked


def _kilobytes(path: Path, name: str) -> int:
    match = re.search(rf"^{name}:\s+(\d+) kB", path.read_text(), re.MULTILINE)
    if match is None:
        raise TierError(f"{path} doesn't tell {name}.", "Give --host-budget.")
    return int(match[1]) * 1024


def _group_limits(root: Path) -> Iterator[Limit]:
    """Memory limits of the process's groups and all groups above them."""
    try:
        groups = (root / "proc/self/cgroup").read_text().splitlines()
    except OSError:
        return
    for line in groups:
        _, controllers, path = line.split(":", 2)
        if not controllers:
            bases, file = ("sys/fs/cgroup", "sys/fs/cgroup/unified"), "memory.max"
        elif "memory" in controllers.split(","):
            bases, file = ("sys/fs/cgroup/memory", f"sys/fs/cgroup/{controllers}"), "memory.limit_in_bytes"
        else:
            continue
        place = PurePosixPath(path.lstrip("/"))
        for folder in {place, *place.parents}:
            for base in bases:
                yield from _limit(root / base / folder / file)


def _limit(path: Path) -> Iterator[Limit]:
    """The number in a limit file, if there is one ("max" is none)."""
    try:
        text = path.read_text().strip()
    except OSError:
        return
    if text.isdigit():
        yield Limit(str(path), int(text))
