"""kill -9 at random moments: see `kill`. A program of its own, since a child is forked from it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).with_name("kill.py")

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs fork and SIGKILL")


def killed(rounds: int, folder: Path) -> str:
    command = [sys.executable, str(PROGRAM), "--rounds", str(rounds), "--folder", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


def test_a_dozen_kills(tmp_path: Path) -> None:
    assert "'kills': 12" in killed(12, tmp_path)


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_two_hundred_kills(tmp_path: Path) -> None:
    """Long since each of them writes, dies, and has every block read."""
    assert "'kills': 200" in killed(200, tmp_path)
