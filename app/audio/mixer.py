"""Mixes the world's sound: wind and a quiet chord from the picture's colours, steps from the walk, notes and cues from the memory.

Deterministic: the same scenes and the same number of samples give the same sound, in whatever pieces it is asked for. No device is needed.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from worldpager.app.audio.score import STRIDE, Scene, Score
from worldpager.app.audio.waves import RATE, Samples, cue, footstep, note, pluck
from worldpager.engine.mailbox import PublishedChunk

PIECE = 480
"""Samples made at a time: a hundredth of a second, over which everything glides."""
VOICES = 24
GLIDE = 0.04
"""Share of the way to its aim that a level goes in one piece."""
CHORD = (0, 2, 4)
KERNEL = 96
SCENES = 8
"""Scenes that may wait; a device that fell behind skips the oldest."""


@dataclass(frozen=True, slots=True)
class Levels:
    """How loud the parts are, 0 to 1. ``memory``: notes for blocks that come back, ticks and buzzes for what goes wrong."""

    ambience: float = 0.5
    steps: float = 0.7
    cues: float = 0.8
    memory: float = 0.0


@dataclass(slots=True)
class _Voice:
    """A short sound under way."""

    samples: Samples
    left: float
    right: float
    at: int = 0


class Mixer:
    """A `SoundSource`: `hear` chunks, `render` samples. ``seed`` chooses the wind."""

    def __init__(self, levels: Levels | None = None, seed: int = 1) -> None:
        self.levels = levels or Levels()
        self._score = Score()
        self._scenes: deque[Scene] = deque(maxlen=SCENES)
        self._scene = Scene(0.0)
        self._left_of_scene = 0.0
        self._rng = np.random.default_rng(seed)
        self._tail = np.zeros((KERNEL - 1, 2))
        self._wind = self._light = 0.0
        self._chord = np.array([note(step, 110.0) for step in CHORD])
        self._phases = np.zeros(len(CHORD))
        self._walked = 0.0
        self._steps = 0
        self._voices: deque[_Voice] = deque(maxlen=VOICES)
        self._ready = np.zeros((0, 2), np.float32)

    def hear(self, cue: object) -> None:
        """A chunk that is shown from now on; anything else is passed over."""
        if isinstance(cue, PublishedChunk):
            self._scenes.append(self._score.read(cue))

    def play(self, scene: Scene) -> None:
        """A scene that is heard from now on, after those that wait."""
        self._scenes.append(scene)

    def strike(self, name: str) -> None:
        """An event of the program, such as ``kept``; KeyError for an unknown one."""
        self._voice(cue(name), self.levels.cues, 0.0)

    def render(self, samples: int) -> NDArray[np.float32]:
        """The next ``samples``, [samples, 2]."""
        pieces, have = [self._ready], len(self._ready)
        while have < samples:
            piece = self._piece()
            pieces.append(piece)
            have += len(piece)
        sound = np.concatenate(pieces)
        self._ready = sound[samples:]
        return sound[:samples]

    def _piece(self) -> NDArray[np.float32]:
        self._advance()
        sound = self._ambience()
        for voice in list(self._voices):
            part = voice.samples[voice.at : voice.at + PIECE]
            sound[: len(part), 0] += part * voice.left
            sound[: len(part), 1] += part * voice.right
            voice.at += PIECE
        while self._voices and self._voices[0].at >= len(self._voices[0].samples):
            self._voices.popleft()
        return np.tanh(sound).astype(np.float32)

    def _advance(self) -> None:
        """Go on in time by one piece: the next scene if the last is over, steps that fall due."""
        self._left_of_scene -= PIECE / RATE
        if self._left_of_scene <= 0:
            if self._scenes:
                self._begin(self._scenes.popleft())
            elif self._left_of_scene < -1.0:  # nothing new for a second: the world rests
                self._scene = Scene(0.0, light=self._scene.light, warmth=self._scene.warmth, hue=self._scene.hue)
        self._walked += self._scene.speed * PIECE / RATE
        if self._walked >= STRIDE:
            self._walked -= STRIDE
            self._steps += 1
            self._voice(footstep(round(4 * self._scene.warmth), self._steps % 7), self.levels.steps, 0.22 * (-1) ** self._steps)

    def _begin(self, scene: Scene) -> None:
        self._scene, self._left_of_scene = scene, scene.seconds
        if scene.speed == 0.0:
            self._walked = 0.6 * STRIDE  # the first step comes soon after setting off
        if self.levels.memory > 0:
            for place, step in enumerate(scene.notes):
                self._voice(pluck(step), 0.35 * self.levels.memory, 0.5 * (-1) ** place)
            for event in scene.events:
                self._voice(cue(event), 0.6 * self.levels.memory, 0.0)

    def _voice(self, samples: Samples, level: float, pan: float) -> None:
        if level > 0:
            self._voices.append(_Voice(samples, level * (1 - max(0.0, pan)), level * (1 + min(0.0, pan))))

    def _ambience(self) -> NDArray[np.float64]:
        """Wind, fuller while one moves, and a chord whose root follows the hue and whose loudness the light."""
        scene, level = self._scene, self.levels.ambience
        self._wind += GLIDE * (0.05 + 0.05 * min(1.0, scene.speed) + 0.05 * min(1.0, scene.turning) - self._wind)
        self._light += GLIDE * (scene.light - self._light)
        noise = np.concatenate((self._tail, self._rng.standard_normal((PIECE, 2))))
        self._tail = noise[-(KERNEL - 1) :]
        kernel = np.hanning(KERNEL) / KERNEL * 2
        wind = np.stack([np.convolve(noise[:, side], kernel, "valid") for side in (0, 1)], axis=1) * 5.0 * self._wind
        root = note(round(4 * scene.hue), 98.0)
        aims = np.array([note(step, root) for step in CHORD])
        self._chord += GLIDE / 2 * (aims - self._chord)
        at = np.arange(PIECE)[:, None]
        phases = self._phases + 2 * np.pi * self._chord / RATE * at
        self._phases = (self._phases + 2 * np.pi * self._chord / RATE * PIECE) % (2 * np.pi)
        chord = np.sin(phases) @ np.array([[0.030, 0.020], [0.022, 0.022], [0.014, 0.024]]) * (0.3 + self._light)
        ambience: NDArray[np.float64] = level * (wind + chord)
        return ambience
