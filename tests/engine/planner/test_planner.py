"""The planner: the paper's figures, the shape of its answers, its command."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from worldpager.engine import cli
from worldpager.engine.config import MemoryConfig, MiB
from worldpager.engine.planner import cost_model as c
from worldpager.engine.planner.probe import measure_drive, room
from worldpager.engine.planner.self_test import checks


@pytest.mark.parametrize("check", list(checks()), ids=lambda check: check.name)
def test_the_papers_figures(check: object) -> None:
    assert check.agrees, check  # type: ignore[attr-defined]


workloads = st.builds(
    c.Workload, st.integers(1, 1 << 30), st.integers(1, 48), st.floats(1, 60), st.floats(0.01, 10), st.integers(1, 8), st.floats(0.1, 8)
)


@given(workloads, st.integers(0, 1 << 40), st.integers(0, 1 << 42), st.floats(1e3, 1e11), st.floats(1e3, 1e11))
def test_more_room_never_comes_earlier_to_its_end(work: c.Workload, host: int, disk: int, read: float, write: float) -> None:
    small = c.plan(work, c.Room(host, disk, read, write))
    large = c.plan(work, c.Room(host + 10 * work.block_bytes, disk, 2 * read, 2 * write))
    assert large.host_slots == small.host_slots + 10
    assert large.spill_chunk >= small.spill_chunk
    assert small.spill_chunk <= small.first_eviction
    assert large.reads is c.StallClass.NONE or small.reads is c.StallClass.SOME
    assert (small.disk_full_chunk is None) == (disk < work.block_bytes)


@given(workloads, st.floats(1e3, 1e12))
def test_reading_ahead_waits_for_no_more_than_reading_on_demand(work: c.Workload, rate: float) -> None:
    ahead, on_demand = c.prefetch_stall(work, rate), c.on_demand_stall(work, rate)
    assert 0 <= ahead <= on_demand
    assert (ahead == 0) == (rate * (1 + 1e-9) >= c.read_need(work)) or math.isclose(rate, c.read_need(work), rel_tol=1e-6)


def test_a_walk_that_fits_never_reads() -> None:
    assert c.first_read(100, 50) is None
    assert c.first_read(100, 51) == 101
    assert c.first_read(11, 51) == 57
    assert c.first_read(10, 200) == 205


def test_room_of_this_machine(tmp_path: Path) -> None:
    drive = measure_drive(tmp_path, 16 << 20)
    assert drive.read > 0
    assert drive.write > 0
    there = room(MemoryConfig(host_budget=8 * MiB, disk_dir=tmp_path, disk_budget=64 * MiB, read_limit=1000.0), drive)
    assert (there.host_bytes, there.disk_bytes, there.read_rate) == (8 * MiB, 64 * MiB, 1000.0)


def test_command(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert cli.main(["plan", "--self-test"]) == 0
    assert "DISAGREES" not in capsys.readouterr().out
    assert cli.main(["plan", "--model", "paper"]) == 0
    assert "226 blocks" in capsys.readouterr().out
    given = ["plan", "--model", "stand-in", "--option", "tokens=128", "--host-budget", "4MiB", "--disk", str(tmp_path), "--json"]
    assert cli.main(given) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["plan"]["host_slots"] == (4 * MiB) // answer["workload"]["block_bytes"]


def test_command_refuses_nonsense(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert cli.main(["plan", "--chunk-ms", "0"]) == 2
    assert cli.main(["plan", "--model", "stand-in", "--disk", str(tmp_path / "absent")]) == 2
    assert "is no folder" in capsys.readouterr().err
