"""Limits from a made-up machine: MemTotal, both control-group hierarchies, groups above included."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from worldpager.engine.config import GiB, MiB
from worldpager.engine.errors import TierError
from worldpager.engine.memory.budget import host_budget, memory_limit, memory_limits

V1 = "5:cpu,memory:/a/b\n0::/\n"
V2 = "0::/user/play\n"


def machine(root: Path, total: int, groups: str = "", files: Mapping[str, object] | None = None, resident: int = 0) -> Path:
    """A root folder with the files that matter."""
    texts = {
        "proc/meminfo": f"MemTotal:       {total // 1024} kB\nMemFree: 12 kB\n",
        "proc/self/cgroup": groups,
        "proc/self/status": f"Name:\tx\nVmRSS:\t{resident // 1024} kB\n",
        **(files or {}),
    }
    for name, text in texts.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(str(text))
    return root


def test_without_groups_the_machine_binds(tmp_path: Path) -> None:
    assert memory_limit(machine(tmp_path, 24 * GiB)) == 24 * GiB


@pytest.mark.parametrize(
    ("groups", "file"),
    [
        (V2, "sys/fs/cgroup/user/play/memory.max"),
        (V2, "sys/fs/cgroup/user/memory.max"),
        (V2, "sys/fs/cgroup/memory.max"),
        (V2, "sys/fs/cgroup/unified/user/memory.max"),
        (V1, "sys/fs/cgroup/memory/a/b/memory.limit_in_bytes"),
        (V1, "sys/fs/cgroup/memory/a/memory.limit_in_bytes"),
        (V1, "sys/fs/cgroup/memory/memory.limit_in_bytes"),
        (V1, "sys/fs/cgroup/cpu,memory/a/memory.limit_in_bytes"),
    ],
)
def test_the_limit_of_any_group_of_ours_binds(tmp_path: Path, groups: str, file: str) -> None:
    assert memory_limit(machine(tmp_path, 24 * GiB, groups, {file: 3 * GiB})) == 3 * GiB


def test_the_tightest_of_several_limits_binds(tmp_path: Path) -> None:
    files = {"sys/fs/cgroup/memory/a/b/memory.limit_in_bytes": 5 * GiB, "sys/fs/cgroup/memory/a/memory.limit_in_bytes": 3 * GiB}
    assert memory_limit(machine(tmp_path, 24 * GiB, V1, files)) == 3 * GiB


@pytest.mark.parametrize("text", ["max", str(2**63 - 4096)])
def test_no_limit_written_is_no_limit(tmp_path: Path, text: str) -> None:
    assert memory_limit(machine(tmp_path, 8 * GiB, V2, {"sys/fs/cgroup/user/memory.max": text})) == 8 * GiB


def test_other_peoples_groups_do_not_bind(tmp_path: Path) -> None:
    assert memory_limit(machine(tmp_path, 8 * GiB, V2, {"sys/fs/cgroup/other/memory.max": GiB})) == 8 * GiB


def test_the_budget_leaves_room_for_the_process_and_a_margin(tmp_path: Path) -> None:
    assert host_budget(None, machine(tmp_path / "large", 32 * GiB, resident=3 * GiB)) == 27 * GiB
    assert host_budget(None, machine(tmp_path / "small", 4 * GiB, resident=1 * GiB)) == 2 * GiB
    assert host_budget(None, machine(tmp_path / "full", 4 * GiB, resident=4 * GiB)) == 0


def test_what_others_use_is_not_ours(tmp_path: Path) -> None:
    root = machine(tmp_path, 32 * GiB, resident=1 * GiB)
    with (root / "proc/meminfo").open("a") as facts:
        facts.write(f"MemAvailable: {10 * GiB // 1024} kB\n")
    assert host_budget(None, root) == 8 * GiB


def test_the_limit_that_binds_is_named(tmp_path: Path) -> None:
    root = machine(tmp_path, 24 * GiB, V2, {"sys/fs/cgroup/user/memory.max": 3 * GiB})
    tightest, total = memory_limits(root)
    assert (tightest.bytes, total.name) == (3 * GiB, "MemTotal")
    assert tightest.name.endswith("user/memory.max")


def test_a_budget_asked_for_is_kept_or_refused(tmp_path: Path) -> None:
    root = machine(tmp_path, 4 * GiB)
    assert host_budget(64 * MiB, root) == 64 * MiB
    with pytest.raises(TierError, match=r"5.0 GiB is more than the 4.0 GiB"):
        host_budget(5 * GiB, root)


def test_this_machine_has_a_budget() -> None:
    assert 0 < host_budget(None) < memory_limit()
