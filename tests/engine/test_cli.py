from __future__ import annotations

import argparse
import json
import subprocess
import sys
import types
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from worldpager.engine import cli
from worldpager.engine.config import MiB, PlayConfig
from worldpager.engine.options import size

SMALL = ["--headless", "--model", "stand-in", "--option", "width=40", "--option", "height=24"]


def config_of(*arguments: str) -> PlayConfig:
    return cli.play_config(cli.make_parser().parse_args(["play", "--model", "stand-in", *arguments]))


def complaint(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """What a refused command line says; its status must be 2."""
    try:
        status = cli.main(arguments)
    except SystemExit as end:
        status = end.code  # type: ignore[assignment]
    assert status == 2
    return capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "count"),
    [("64MiB", 64 << 20), ("2GiB", 2 << 30), ("1.5 GB", 1_500_000_000), ("4096", 4096), ("10kb", 10_000), ("3M", 3 << 20), (" 7B ", 7)],
)
def test_sizes(text: str, count: int) -> None:
    assert size(text) == count


@pytest.mark.parametrize("text", ["", "MiB", "-1MiB", "0", "0.0GiB", "64 Mib B", "64MiBs", "nan", "infGB", "1e3", "6４GB x", "١MiB x"])
def test_no_sizes(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match="64MiB"):
        size(text)


def test_settings_come_from_the_options(tmp_path: Path) -> None:
    config = config_of(
        "--seed", "3", "--policy", "recency", "--no-prime", "--no-rest", "--futures", "2", "--option", "step-ms=5",
        "--host-budget", "8MiB", "--disk", str(tmp_path), "--disk-budget", "1GiB", "--device-slots", "6",
        "--read-limit", "10MB", "--write-limit", "5MB",
    )  # fmt: skip
    memory = config.memory
    assert (config.seed, config.policy, config.prime, config.rest_when_idle, config.futures) == (3, "recency", False, False, 2)
    assert (memory.host_budget, memory.disk_dir, memory.disk_budget, memory.device_slots) == (8 * MiB, tmp_path, 1 << 30, 6)
    assert (memory.read_limit, memory.write_limit) == (10_000_000, 5_000_000)
    assert config.model_options == {"step-ms": "5"}


def test_defaults_reach_the_disk_soon() -> None:
    memory = config_of().memory
    assert memory.host_budget is not None
    assert memory.host_budget < 1 << 30
    assert memory.disk_dir is not None
    assert memory.disk_dir.is_dir()
    assert config_of("--no-disk").memory.disk_dir is None


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--host-budget", "lots"], ["--host-budget", "'lots'", "64MiB"]),
        (["--disk-budget", "-5"], ["--disk-budget"]),
        (["--seed", "-1"], ["--seed", "'-1'", "whole number"]),
        (["--seed", "1.5"], ["--seed", "'1.5'"]),
        (["--seed", "99999999999999999999"], ["--seed"]),
        (["--chunks", "0"], ["--chunks", "'0'"]),
        (["--option", "passes"], ["--option", "passes=3"]),
        (["--policy", "sight"], ["--policy", "sight", "recency"]),
        (["--headless", "--model", "huge"], ["'huge'", "tiny", "stand-in"]),
        (["--headless", "--model", "stand-in", "--input", "keyboard"], ["keyboard", "script:tour"]),
        (["--headless", "--model", "stand-in", "--input", "script:dance"], ["dance", "script:spin"]),
        (["--headless", "--model", "stand-in", "--input", "/nowhere/x.npz"], ["/nowhere/x.npz", "--input"]),
        (["--headless", "--model", "stand-in", "--option", "frames=x"], ["frames=x"]),
        (["--headless", "--model", "stand-in", "--host-budget", "1B"], ["--host-budget"]),
        (["--model", "stand-in", "--no-disk", "--disk", "/tmp"], ["--no-disk", "--disk"]),
        (["--model", "stand-in", "--report", "r.json"], ["--report", "--headless"]),
        (["bench", "speed-of-light"], ["speed-of-light"]),
        (["dance"], ["dance", "play"]),
        (["play", "--fly"], ["--fly"]),
    ],
)
def test_wrong_values_are_named_with_what_to_do(capsys: pytest.CaptureFixture[str], arguments: list[str], words: list[str]) -> None:
    said = complaint(capsys, *arguments)
    assert all(word in said for word in words), said
    assert "Traceback" not in said


def test_pickled_input_is_not_executed(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    class Bomb:
        def __reduce__(self) -> tuple[Any, ...]:
            return Path.touch, (tmp_path / "executed",)

    np.savez(tmp_path / "bomb.npz", forward=np.array([Bomb()], object), allow_pickle=True)
    (tmp_path / "executed").unlink(missing_ok=True)
    assert "bomb.npz" in complaint(capsys, *SMALL, "--input", str(tmp_path / "bomb.npz"))
    assert not (tmp_path / "executed").exists()


def test_headless_play_writes_what_it_says(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    film, report = tmp_path / "a film.mp4", tmp_path / "report.json"
    assert cli.main([*SMALL, "--chunks", "5", "--no-disk", "--record", str(film), "--report", str(report)]) == 0
    said = capsys.readouterr().out
    assert str(film) in said
    assert str(report) in said
    assert film.stat().st_size > 1000
    assert json.loads(report.read_text())["chunks"] == 5


def test_play_is_the_default_and_may_be_said(capsys: pytest.CaptureFixture[str]) -> None:
    for word in ([], ["play"]):
        assert cli.main([*word, *SMALL, "--chunks", "1", "--no-disk"]) == 0
        assert "1 chunks, 4 frames" in capsys.readouterr().out


def test_without_a_screen_it_says_how_to_play(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"):
        monkeypatch.delenv(name, raising=False)
    said = complaint(capsys, "--model", "stand-in")
    assert "no screen" in said
    assert "--headless" in said


@pytest.fixture
def window(monkeypatch: pytest.MonkeyPatch) -> list[tuple[PlayConfig, dict[str, Any]]]:
    """A window that only notes what it was given."""
    opened: list[tuple[PlayConfig, dict[str, Any]]] = []
    fake = types.ModuleType("worldpager.app.__main__")

    def run(config: PlayConfig, **rest: Any) -> int:
        opened.append((config, rest))
        return 0

    vars(fake)["run"] = run
    monkeypatch.setitem(sys.modules, "worldpager.app.__main__", fake)
    monkeypatch.setenv("QT_QPA_PLATFORM", "offscreen")
    return opened


def test_window_gets_settings_source_and_film(window: list[tuple[PlayConfig, dict[str, Any]]]) -> None:
    assert cli.main(["--model", "stand-in", "--seed", "5"]) == 0
    assert cli.main(["--model", "stand-in", "--input", "script:spin", "--record", "a.mp4"]) == 0
    (keyboard, nothing), (_, rest) = window
    assert keyboard.seed == 5
    assert (nothing["source"], nothing["record"], nothing["flags"]) == (None, None, {"model": "--model", "seed": "--seed"})
    assert rest["source"] is not None
    assert rest["record"] == Path("a.mp4")


def test_models_and_measurements_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["models"]) == 0
    listed = capsys.readouterr().out
    assert "tiny" in listed
    assert "stand-in" in listed
    assert cli.main(["bench"]) == 0
    assert "tiny-quality" in capsys.readouterr().out


def test_unexpected_faults_end_with_a_sentence(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(options: argparse.Namespace) -> int:
        raise ZeroDivisionError("by nothing")

    monkeypatch.setattr(cli, "run_doctor", broken)
    assert cli.main(["doctor"]) == 1
    assert capsys.readouterr().err.splitlines()[-2].endswith("ZeroDivisionError: by nothing")


def test_runs_as_a_program() -> None:
    command = [sys.executable, "-c", "import sys; from worldpager.engine.cli import main; sys.exit(main())", "--version"]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout.startswith("worldpager ")
