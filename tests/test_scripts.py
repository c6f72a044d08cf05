"""The commands of the README: valid shell, and what they decide before they install or start anything."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
SCRIPTS = sorted([*(ROOT / "packaging").glob("*.sh"), ROOT / ".ci" / "run"])


def shell(script: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run bash statements after sourcing environment.sh, strict as the commands are."""
    return subprocess.run(
        ["bash", "-c", f"set -euo pipefail; . packaging/environment.sh; {script}"],
        cwd=ROOT, env={**os.environ, **environment}, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=50,
    )  # fmt: skip


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout in a path with spaces whose environment is a recorder: its ``worldpager`` prints the arguments it gets."""
    place = tmp_path / "a path with spaces"
    shutil.copytree(ROOT / "packaging", place / "packaging")
    shutil.copy(ROOT / "pyproject.toml", place)
    programs = place / ".venv" / "bin"
    programs.mkdir(parents=True)
    (programs / "worldpager").write_text('#!/bin/sh\nprintf "[%s]" "$@"\n')
    (programs / "worldpager").chmod(0o755)
    command = '. packaging/environment.sh; environment_state "$(find_python)" >"$venv/$play_extras.stamp"'
    subprocess.run(["bash", "-c", command], cwd=place, check=True, timeout=50)
    return place


def play(checkout: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run play.sh from elsewhere, without a screen unless the environment says so."""
    clean = {name: value for name, value in os.environ.items() if name not in ("DISPLAY", "WAYLAND_DISPLAY")}
    return subprocess.run(
        ["bash", str(checkout / "packaging" / "play.sh"), *arguments],
        cwd="/", env={**clean, **environment}, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True, timeout=50,
    )  # fmt: skip


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.name)
def test_script_is_valid_shell(script: Path) -> None:
    subprocess.run(["bash", "-n", str(script)], check=True)


@pytest.mark.skipif(shutil.which("shellcheck") is None, reason="shellcheck is not installed")
def test_scripts_please_shellcheck() -> None:
    subprocess.run(["shellcheck", "-x", *map(str, SCRIPTS)], cwd=ROOT, check=True)


@pytest.mark.parametrize("script", [script for script in SCRIPTS if script.name != "environment.sh"], ids=lambda script: script.name)
def test_commands_can_be_run(script: Path) -> None:
    assert os.access(script, os.X_OK)


def test_missing_libraries_are_named_by_package() -> None:
    done = shell("missing_packages $'libnowhere.so.9 libnowhere9\\nno-such-program some-package\\nsh dash\\n'")
    assert done.stdout.split() == ["libnowhere9", "some-package"]


def test_without_root_the_exact_command_is_said(tmp_path: Path) -> None:
    """As an ordinary user without sudo: nothing is installed, and the person learns what to type."""
    for name in ("env", "sh", "apt-get"):
        (tmp_path / name).write_text("#!/bin/sh\necho RAN\n")
        (tmp_path / name).chmod(0o755)
    done = shell(f"id() {{ echo 1000; }}; PATH={tmp_path}; install_packages libportaudio2 xvfb")
    assert done.returncode == 1
    assert "sudo apt-get install -y --no-install-recommends libportaudio2 xvfb" in done.stderr
    assert "RAN" not in done.stdout


def test_without_apt_the_libraries_are_named_and_play_goes_on(tmp_path: Path) -> None:
    done = shell(f"PATH={tmp_path}; install_packages libportaudio2; echo on")
    assert "libportaudio2" in done.stderr
    assert done.stdout == "on\n"


def test_old_python_is_refused(tmp_path: Path) -> None:
    for name in ("python3", "python3.11", "python3.12", "python3.13"):
        (tmp_path / name).write_text("#!/bin/sh\nexit 1\n")
        (tmp_path / name).chmod(0o755)
    done = shell("find_python", PATH=f"{tmp_path}:{os.environ['PATH']}")
    assert done.returncode == 1
    assert "Python 3.11 or newer was not found" in done.stderr


def test_without_a_screen_a_tour_is_played(checkout: Path) -> None:
    done = play(checkout, "--seed", "9 9")
    out = checkout / "out"
    assert done.stdout == (
        f"[play][--headless][--model][tiny][--input][script:tour][--record][{out}/tour.mp4][--report][{out}/tour.json][--seed][9 9]"
    )
    assert f"written: {out}/tour.mp4" in done.stderr


def test_choices_of_the_caller_win(checkout: Path) -> None:
    done = play(checkout, "--model=stand-in", "--record", "x.mp4", "--report=y.json", "--input", "script:spin")
    assert done.stdout == "[play][--headless][--model=stand-in][--record][x.mp4][--report=y.json][--input][script:spin]"
    assert "written" not in done.stderr


def test_headless_is_left_alone(checkout: Path) -> None:
    assert play(checkout, "--headless", "--chunks", "3").stdout == "[play][--headless][--chunks][3]"


def test_other_commands_pass_through(checkout: Path) -> None:
    assert play(checkout, "doctor").stdout == "[doctor]"
    assert play(checkout, "--version").stdout == "[--version]"


def test_with_a_screen_a_window_is_opened(checkout: Path) -> None:
    environment = checkout / "packaging" / "environment.sh"
    environment.write_text(environment.read_text() + "\nneed_system() { :; }\n")
    assert play(checkout, "--seed", "3", DISPLAY=":99").stdout == "[play][--seed][3]"
