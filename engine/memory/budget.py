"""How much memory this process may use: the smaller of the machine's and every control group's limit, less what is spoken for."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from worldpager.engine.config import GiB

MARGIN = 2 * GiB
MARGIN_SHARE = 0.15
"""On small machines the margin is this share of the limit instead (WorldPager III.B keeps 2 GiB of 32)."""


@dataclass(frozen=True, slots=True)
class Limit:
    """``size`` bytes, and what sets it."""

    size: int
    source: str


def memory_limit(root: Path = Path("/")) -> Limit:
    """The binding limit: MemTotal, cgroup v2 ``memory.max`` or v1 ``memory.limit_in_bytes`` of this process's groups and their parents."""
    found = [Limit(_meminfo(root, "MemTotal"), "MemTotal")]
    for path, source in _group_files(root):
        try:
            text = path.read_text().strip()
        except OSError:
            continue
        if text.isdigit():
            found.append(Limit(int(text), source))
    return min(found, key=lambda limit: limit.size)


def _meminfo(root: Path, name: str) -> int:
    for line in (root / "proc/meminfo").read_text().splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1]) * 1024
    return 4 * GiB


def _group_files(root: Path) -> list[tuple[Path, str]]:
    """Limit files of every control group that this process is in, leaf to root, both hierarchies."""
    try:
        lines = (root / "proc/self/cgroup").read_text().splitlines()
    except OSError:
        return []
    files = []
    for line in lines:
        _, controllers, name = line.split(":", 2)
        if controllers == "":
            base, file, source = root / "sys/fs/cgroup", "memory.max", "cgroup v2"
        elif "memory" in controllers.split(","):
            base, file, source = root / "sys/fs/cgroup/memory", "memory.limit_in_bytes", "cgroup v1"
        else:
            continue
        here = Path(name.lstrip("/"))
        files += [(base / part / file, f"{source} {part}") for part in (here, *here.parents)]
        if controllers == "":
            files += [(root / "sys/fs/cgroup/unified" / part / file, f"{source} {part}") for part in (here, *here.parents)]
    return files


def resident_bytes(root: Path = Path("/")) -> int:
    """Memory that this process holds now."""
    for line in (root / "proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) * 1024
    return 0


def default_host_budget(root: Path = Path("/")) -> int:
    """Bytes for the host tier: the binding limit, less what the process already holds, less a margin."""
    limit = memory_limit(root).size
    return max(0, limit - resident_bytes(root) - min(MARGIN, int(limit * MARGIN_SHARE)))
