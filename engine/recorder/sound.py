"""The sound track's side of a recording: whoever makes the sound, and how many samples belong to how many frames."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

SOUND_RATE = 48000
"""Samples a second."""
CHANNELS = 2


class SoundSource(Protocol):
    """Makes sound from what it hears. Used by one thread, that of the recording."""

    def hear(self, cue: object) -> None:
        """What is played from now on (the chunk whose frames follow)."""
        ...

    def render(self, samples: int) -> NDArray[np.float32]:
        """The next ``samples`` of sound, float32 [samples, 2] within -1 to 1."""
        ...


class SoundShare:
    """Keeps sound and picture together: after n frames exactly the samples of n frames have been asked for."""

    def __init__(self, fps: float) -> None:
        self._fps = fps
        self._frames = 0
        self._samples = 0

    def due(self, frames: int) -> int:
        """Samples that belong to ``frames`` more frames."""
        self._frames += frames
        before, self._samples = self._samples, round(self._frames / self._fps * SOUND_RATE)
        return self._samples - before


def pcm(sound: NDArray[np.float32]) -> bytes:
    """16-bit samples of ``sound``; what is louder than full is cut."""
    return (np.clip(sound, -1.0, 1.0) * 32767).astype("<i2").tobytes()
