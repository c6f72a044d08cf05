"""What the recording tests share: frames that can be told apart, and a film read back."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from worldpager.engine.recorder import find_ffmpeg
from worldpager.engine.recorder.sound import SOUND_RATE
from worldpager.engine.types import Frames

WIDTH, HEIGHT = 48, 32


def grey(first: int, count: int = 4) -> Frames:
    """Frames that bear their number below 100: tens to the left, units to the right, as brightness."""
    film: Frames = np.zeros((count, HEIGHT, WIDTH, 3), np.uint8)
    for frame, n in enumerate(range(first, first + count)):
        film[frame, :, : WIDTH // 2] = 20 + 22 * (n // 10 % 10)
        film[frame, :, WIDTH // 2 :] = 20 + 22 * (n % 10)
    return film


def numbers(path: Path) -> list[int]:
    """The numbers of the frames of a film of `grey` frames."""
    command = [find_ffmpeg(), "-v", "error", "-i", str(path), "-vf", "scale=8:4", "-f", "rawvideo", "-pix_fmt", "rgb24", "-"]
    raw = subprocess.run(command, capture_output=True, stdin=subprocess.DEVNULL, check=True).stdout
    film = np.frombuffer(raw, np.uint8).reshape(-1, 4, 8, 3)
    tens, units = (np.round((film[:, :, part].mean(axis=(1, 2, 3)) - 20) / 22) for part in (slice(0, 3), slice(5, 8)))
    return [int(n) for n in 10 * tens + units]


def heard(path: Path) -> NDArray[np.float64]:
    """The left channel of a film's sound."""
    command = [find_ffmpeg(), "-v", "error", "-i", str(path), "-vn", "-f", "s16le", "-ac", "2", "-ar", str(SOUND_RATE), "-"]
    raw = subprocess.run(command, capture_output=True, stdin=subprocess.DEVNULL, check=True).stdout
    left: NDArray[np.float64] = np.frombuffer(raw, np.int16).reshape(-1, 2)[:, 0] / 32767
    return left


class Tones:
    """A sound source that plays a louder tone for each cue it hears."""

    def __init__(self) -> None:
        self.level, self.samples = 0.0, 0

    def hear(self, cue: object) -> None:
        if isinstance(cue, float):
            self.level = cue

    def render(self, samples: int) -> NDArray[np.float32]:
        at = np.arange(self.samples, self.samples + samples)
        self.samples += samples
        wave = self.level * np.sin(2 * np.pi * 440 * at / SOUND_RATE)
        return np.repeat(wave[:, None], 2, axis=1).astype(np.float32)
