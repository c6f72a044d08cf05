from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from tests.helpers.trajectories import trace
from worldpager.engine.build import build_generator, default_config, pick_device
from worldpager.engine.config import MiB, PlayConfig
from worldpager.engine.errors import InputError, RecorderError, WorldPagerError
from worldpager.engine.headless import HeadlessRun, play_headless, write_atomically
from worldpager.engine.pose.script import SCRIPTS, Script
from worldpager.engine.pose.source import open_source
from worldpager.engine.recorder import Recorder, read_metadata
from worldpager.engine.types import Action

WANTED = {
    "model", "device", "chunks", "frames", "generated_fps", "stalls_over_half_ms", "longest_wait_ms", "blocks_wanted", "blocks_missed",
    "prefetch_hit_rate", "stale_uses", "spilled_blocks", "disk_read_bytes", "disk_written_bytes", "host_peak_bytes", "host_budget_bytes",
    "rss_peak_bytes", "versions", "settings",
}  # fmt: skip


def small(disk: Path | None = None, host: int = MiB, **options: str) -> PlayConfig:
    config = default_config("stand-in")
    memory = replace(config.memory, host_budget=host, disk_dir=disk, disk_budget=64 * MiB if disk else None)
    return replace(
        config, memory=memory, model_options={"width": "40", "height": "24"} | {k.replace("_", "-"): v for k, v in options.items()}
    )


def tour(chunks: int = 12, **settings: object) -> HeadlessRun:
    return HeadlessRun(Script(SCRIPTS["tour"]), chunks, "script:tour", **settings)  # type: ignore[arg-type]


def test_report_has_every_field_and_is_the_file(tmp_path: Path) -> None:
    path = tmp_path / "new folder" / "report.json"
    report = play_headless(small(), tour(report=path))
    assert set(report) >= WANTED
    assert json.loads(path.read_text()) == report
    assert list(path.parent.iterdir()) == [path]
    assert (report["model"], report["device"], report["chunks"], report["frames"]) == ("stand-in", "cpu", 12, 48)
    assert report["opening_chunks"] == 13
    assert report["generated_fps"] > 0
    assert report["rss_peak_bytes"] > 10 * MiB
    assert report["settings"]["memory"]["host_budget"] == report["host_budget_bytes"] == MiB
    assert not report["interrupted"]


def test_idle_stretches_are_generated_too() -> None:
    class Idle:
        def next(self, seconds: float) -> Action:
            return Action()

    assert play_headless(small(), HeadlessRun(Idle(), 5))["chunks"] == 5


def test_run_ends_with_its_input() -> None:
    class Short:
        left = 3

        def next(self, seconds: float) -> Action | None:
            self.left -= 1
            return Action() if self.left >= 0 else None

    assert play_headless(small(), HeadlessRun(Short(), 50))["chunks"] == 3


def test_film_holds_every_frame_from_the_start_view_on(tmp_path: Path) -> None:
    path = tmp_path / "tour.mp4"
    report = play_headless(small(), tour(record=path))
    assert report["film"] == {"path": str(path), "frames": 4 + 48, "dropped": 0}
    assert "world 7" in read_metadata(path)["title"]


def test_interrupted_run_leaves_a_whole_film_and_report(tmp_path: Path) -> None:
    class Interrupted(Script):
        def next(self, seconds: float) -> Action:
            if self._now > 2:
                raise KeyboardInterrupt
            return super().next(seconds)

    run = HeadlessRun(Interrupted(SCRIPTS["spin"]), 100, record=tmp_path / "a.mp4", report=tmp_path / "a.json")
    play_headless(small(), run)
    report = json.loads((tmp_path / "a.json").read_text())
    assert report["interrupted"]
    assert report["chunks"] == 9
    assert report["film"]["frames"] == 40


def test_failing_film_is_raised_and_the_report_still_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(self: Recorder, frames: object, *, block: bool = False) -> bool:
        raise RecorderError("the disk is full")

    def closed(self: Recorder) -> None:
        real(self)
        raise RecorderError("the disk is full")

    real = Recorder.close
    monkeypatch.setattr(Recorder, "offer", full)
    monkeypatch.setattr(Recorder, "close", closed)
    with pytest.raises(RecorderError, match="full"):
        play_headless(small(), tour(record=tmp_path / "a.mp4", report=tmp_path / "a.json"))
    report = json.loads((tmp_path / "a.json").read_text())
    assert report["chunks"] == 12
    assert any("recording ended" in note for note in report["degraded"])


def test_report_that_cannot_be_written_is_known_before_the_run(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for path in (tmp_path / "file" / "report.json", tmp_path):
        with pytest.raises(InputError, match="report"):
            play_headless(small(), HeadlessRun(Script(SCRIPTS["tour"]), 10**9, report=path))


def test_failed_write_leaves_the_old_report(tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    write_atomically(path, "old")
    with pytest.raises(TypeError):
        write_atomically(path, None)  # type: ignore[arg-type]
    assert path.read_text() == "old"
    assert [file.name for file in tmp_path.iterdir()] == ["report.json"]
    assert path.stat().st_mode & 0o777 == 0o644


def test_same_settings_give_the_same_counts() -> None:
    one, other = (play_headless(small(host=8 * MiB), tour(40)) for _ in range(2))
    for name in ("chunks", "frames", "blocks", "blocks_wanted", "blocks_missed", "stale_uses"):
        assert one[name] == other[name]


@pytest.mark.slow
def test_human_trace_spills_reads_back_and_never_stalls(tmp_path: Path) -> None:
    source = open_source(str(trace("human_play_45min.npz")))
    assert source is not None
    report = play_headless(small(tmp_path, host=MiB // 4, step_ms="4"), HeadlessRun(source, 300))
    assert report["chunks"] == 300
    assert report["stalls_over_half_ms"] <= 3, "on a quiet machine 0; a busy one may take the processor away in between"
    assert report["spilled_blocks"] > 100
    assert report["disk_read_bytes"] > 0
    assert report["host_peak_bytes"] <= report["host_budget_bytes"]
    assert report["blocks_refused"] <= 3, "only where the writer got no processor for several chunks"


def test_unknown_model_and_device_are_named() -> None:
    with pytest.raises(InputError, match="stand-in"):
        build_generator(PlayConfig(model="large"))
    with pytest.raises(InputError, match="tpu"):
        pick_device("tpu")


def test_failed_build_closes_the_model(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from worldpager.engine.models.stand_in import StandIn

    closed: list[StandIn] = []
    monkeypatch.setattr(StandIn, "close", lambda model: closed.append(model))
    with pytest.raises(WorldPagerError, match="--host-budget"):
        build_generator(small(host=1))
    with pytest.raises(InputError, match="sight"):
        build_generator(replace(small(), policy="sight"))
    assert len(closed) == 2


def test_build_tells_how_far_it_is() -> None:
    told: list[tuple[str, float]] = []
    build_generator(small(), progress=lambda stage, share: told.append((stage, share))).close()
    shares = [share for _, share in told]
    assert shares == sorted(shares)
    assert shares[-1] == 1.0
    assert any("stand-in" in stage for stage, _ in told)
