"""Reading films: what they say of themselves, how long they are, their pictures."""

from __future__ import annotations

import contextlib
import re
import subprocess
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np

from worldpager.engine.errors import InputError
from worldpager.engine.recorder.ffmpeg import ANSWER_SECONDS, find_ffmpeg, last_line
from worldpager.engine.types import Frames

DURATION = re.compile(r"Duration: (\d+):(\d+):(\d+(?:\.\d+)?)")
STREAM = re.compile(r"Video: .*?, (\d{2,5})x(\d{2,5}).*? (\d+(?:\.\d+)?) fps")


@dataclass(frozen=True, slots=True)
class FilmFacts:
    """Length in seconds, size in pixels, frames a second, whether there is sound."""

    seconds: float
    width: int
    height: int
    fps: float
    sound: bool


def read_metadata(path: Path) -> dict[str, str]:
    """Title, comment and the other tags inside a recording. Raises `InputError` when it is no film."""
    command = [find_ffmpeg(), "-v", "error", "-i", str(path), "-f", "ffmetadata", "-"]
    done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=ANSWER_SECONDS, check=False)
    if done.returncode != 0:
        raise InputError(f"{path} can't be read as a film: {last_line(done.stderr)}")
    pairs = (line.split("=", 1) for line in done.stdout.splitlines() if "=" in line)
    return {name: re.sub(r"\\(.)", r"\1", value) for name, value in pairs}


def film_facts(path: Path) -> FilmFacts:
    """Length and size of the film at ``path``. Raises `InputError` when it is no film."""
    command = [find_ffmpeg(), "-hide_banner", "-i", str(path)]
    said = subprocess.run(
        command, capture_output=True, text=True, errors="replace", stdin=subprocess.DEVNULL, timeout=ANSWER_SECONDS, check=False
    ).stderr
    stream, length = STREAM.search(said), DURATION.search(said)
    if stream is None:
        raise InputError(f"{path} can't be read as a film: {last_line(said)}")
    hours, minutes, seconds = (float(part) for part in length.groups()) if length else (0.0, 0.0, 0.0)
    return FilmFacts(3600 * hours + 60 * minutes + seconds, int(stream[1]), int(stream[2]), float(stream[3]), "Audio:" in said)


def thumbnail(path: Path, size: tuple[int, int], at: float = 0.0) -> Frames | None:
    """The picture at ``at`` seconds fitted into ``size`` (width, height), [height, width, 3] with black beside; None where there is
    none.
    """
    width, height = size
    fit = f"scale={width}:{height}:force_original_aspect_ratio=decrease,pad={width}:{height}:-1:-1"
    command = [
        find_ffmpeg(),
        "-v",
        "quiet",
        "-ss",
        f"{at:.3f}",
        "-i",
        str(path),
        "-frames:v",
        "1",
        "-vf",
        fit,
        "-f",
        "rawvideo",
        "-pix_fmt",
        "rgb24",
        "-",
    ]
    try:
        raw = subprocess.run(command, capture_output=True, stdin=subprocess.DEVNULL, timeout=ANSWER_SECONDS, check=False).stdout
    except subprocess.TimeoutExpired:
        return None
    return np.frombuffer(raw, np.uint8).reshape(height, width, 3) if len(raw) == 3 * width * height else None


class FilmReader:
    """Plays a film's pictures one after another, fitted into ``size`` (width, height). Close it."""

    def __init__(self, path: Path, size: tuple[int, int], fps: float, start: float = 0.0) -> None:
        self._width, self._height = size
        fit = f"scale={size[0]}:{size[1]}:force_original_aspect_ratio=decrease:flags=bicubic,pad={size[0]}:{size[1]}:-1:-1"
        rate = str(Fraction(fps).limit_denominator(1001))
        command = [find_ffmpeg(), "-v", "quiet", "-nostdin", "-ss", f"{start:.3f}", "-i", str(path), "-an", "-vf", fit, "-r", rate]
        self._process = subprocess.Popen(
            [*command, "-f", "rawvideo", "-pix_fmt", "rgb24", "pipe:1"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            start_new_session=True,
        )

    def next(self) -> Frames | None:
        """The next picture, [height, width, 3]; None at the end. Waits for the decoder."""
        assert self._process.stdout is not None
        raw = self._process.stdout.read(3 * self._width * self._height)
        return np.frombuffer(raw, np.uint8).reshape(self._height, self._width, 3) if len(raw) == 3 * self._width * self._height else None

    def close(self) -> None:
        """End the decoder."""
        with contextlib.suppress(OSError):
            self._process.kill()
        self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()
