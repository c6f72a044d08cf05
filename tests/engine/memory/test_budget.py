"""Limits from a made-up machine: MemTotal, both control-group hierarchies, parents included."""

from __future__ import annotations

from pathlib import Path

import pytest

from worldpager.engine.config import GiB
from worldpager.engine.memory.budget import default_host_budget, memory_limit


def _machine(root: Path, total: int, cgroup: str = "", files: dict[str, str] | None = None, resident: int = 0) -> Path:
    for name, text in {"proc/meminfo": f"MemTotal: {total // 1024} kB\n", "proc/self/cgroup": cgroup,
                       "proc/self/status": f"Name: x\nVmRSS:\t{resident // 1024} kB\n", **(files or {})}.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def test_without_groups_the_machine_binds(tmp_path: Path) -> None:
    assert memory_limit(_machine(tmp_path, 24 * GiB)).source == "MemTotal"


@pytest.mark.parametrize(("cgroup", "file"), [
    ("0::/user/play\n", "sys/fs/cgroup/user/play/memory.max"),
    ("0::/user/play\n", "sys/fs/cgroup/user/memory.max"),
    ("0::/user/play\n", "sys/fs/cgroup/unified/user/memory.max"),
    ("5:cpu,memory:/a/b\n", "sys/fs/cgroup/memory/a/memory.limit_in_bytes"),
])
def test_the_tightest_group_binds(tmp_path: Path, cgroup: str, file: str) -> None:
    limit = memory_limit(_machine(tmp_path, 24 * GiB, cgroup, {file: str(3 * GiB)}))
    assert limit.size == 3 * GiB
    assert "cgroup" in limit.source


def test_no_limit_written_is_no_limit(tmp_path: Path) -> None:
    assert memory_limit(_machine(tmp_path, 8 * GiB, "0::/\n", {"sys/fs/cgroup/memory.max": "max\n"})).size == 8 * GiB


def test_the_budget_leaves_room_for_the_process_and_a_margin(tmp_path: Path) -> None:
    assert default_host_budget(_machine(tmp_path, 32 * GiB, resident=3 * GiB)) == 27 * GiB
    small = _machine(tmp_path / "small", 4 * GiB, resident=1 * GiB)
    assert default_host_budget(small) == 4 * GiB - 1 * GiB - int(4 * GiB * 0.15)
