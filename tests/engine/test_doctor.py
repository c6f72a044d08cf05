"""The doctor: says something of every part, and never fails, however broken the machine is."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

import pytest

from worldpager.engine import doctor
from worldpager.engine.memory import machine_report


@pytest.fixture(autouse=True)
def small_measurements(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine_report, "SWEEP_BYTES", 1 << 20)
    monkeypatch.setattr(machine_report, "COPY_BYTES", 1 << 20)


def report(capsys: pytest.CaptureFixture[str]) -> dict[str, list[str]]:
    """What the doctor prints: section title -> its lines."""
    assert doctor.main() == 0
    sections: dict[str, list[str]] = {}
    title = ""
    for line in capsys.readouterr().out.splitlines():
        if line.startswith("  "):
            sections[title].append(line.strip())
        else:
            title = line
            sections[title] = []
    return sections


def test_every_section_says_something(capsys: pytest.CaptureFixture[str]) -> None:
    sections = report(capsys)
    assert list(sections) == list(doctor.SECTIONS)
    assert all(sections.values())
    assert "Error" not in str(sections)
    assert "cores usable" in sections["Processor"][0]
    assert "GiB" in sections["Memory"][0]
    assert "the first binds" in str(sections["Memory"])
    assert "direct I/O" in sections["Drives"][0] or "buffered" in sections["Drives"][0]
    assert "GB/s" in sections["Drives"][-1]
    assert "GB/s" in sections["Copies"][0]
    assert "libx264" in sections["Recording"][0]
    assert any("llvmpipe" in line or "drawn by" in line for line in sections["Window"])


def test_a_broken_part_is_a_line_not_the_end(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def broken() -> Iterator[str]:
        yield "half"
        raise OSError("the disk is on fire")

    monkeypatch.setitem(doctor.SECTIONS, "GPU", broken)
    sections = report(capsys)
    assert sections["GPU"] == ["half", "not available: OSError: the disk is on fire"]
    assert sections["Folders"]


def test_without_a_display_the_reason_is_given(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Qt ends its process there; the doctor lives on."""
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    monkeypatch.setenv("QT_QPA_PLATFORM", "xcb")
    lines = report(capsys)["Window"]
    assert any(line.startswith("display: not available: ") and "display" in line.removeprefix("display:") for line in lines)
    assert any(line.startswith("sound: ") for line in lines)


def test_without_an_encoder_the_next_step_is_given(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IMAGEIO_FFMPEG_EXE", "/nowhere/ffmpeg")
    assert "IMAGEIO_FFMPEG_EXE" in report(capsys)["Recording"][0]


def test_runs_as_a_program() -> None:
    done = subprocess.run(
        [sys.executable, "-c", "from worldpager.engine.doctor import main; raise SystemExit(main())"],
        capture_output=True, text=True, check=True, timeout=55,
    )  # fmt: skip
    assert done.stdout.startswith("Versions\n  WorldPager ")
