"""Short sounds as arrays of samples, mono float32. Pure functions of their arguments: the same call gives the same samples."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

Samples = NDArray[np.float32]

RATE = 48000
SCALE = (0, 2, 4, 7, 9)
"""Steps of the pentatonic scale in semitones: whatever sounds together fits together."""


def note(step: int, root: float = 220.0) -> float:
    """Hertz of ``step`` on the scale over ``root``; negative steps lie below."""
    octave, degree = divmod(step, len(SCALE))
    return float(root * 2 ** (octave + SCALE[degree] / 12))


@lru_cache(64)
def footstep(warmth: int, variant: int) -> Samples:
    """A step: a thump and a scrape. ``warmth`` 0 (hard, bright ground) to 4 (soft); ``variant`` tells steps apart."""
    noise = np.random.default_rng(17 * variant + 3).standard_normal(round(0.11 * RATE))
    at = np.arange(len(noise)) / RATE
    scrape = np.convolve(noise, np.hanning(5 + 6 * warmth), "same")
    scrape *= np.exp(-at * (55 - 5 * warmth)) / (np.abs(scrape).max() + 1e-9)
    thump = np.sin(2 * np.pi * (62 + 5 * (variant % 3)) * at) * np.exp(-at * 38)
    return _shaped(0.4 * scrape + 0.7 * thump)


@lru_cache(64)
def pluck(step: int) -> Samples:
    """A soft plucked note: a block came in time."""
    at = np.arange(round(0.5 * RATE)) / RATE
    pitch = note(step, 330.0)
    wave = sum(np.sin(2 * np.pi * pitch * k * at) * np.exp(-at * (6 + 5 * k)) / k**1.6 for k in (1, 2, 3, 4))
    return _shaped(np.asarray(wave) * 0.5)


@lru_cache(8)
def cue(name: str) -> Samples:
    """The sound of an event. KeyError for an unknown one."""
    return _CUES[name]()


def _kept() -> Samples:
    """Two notes up: something is safe."""
    return _sequence((note(2, 440.0), note(5, 440.0)), 0.11, 0.5)


def _branched() -> Samples:
    """A note that parts into two."""
    at = np.arange(round(0.6 * RATE)) / RATE
    middle = note(3, 330.0)
    low, high = middle * 2 ** (-4 * at / 12 / 0.6), middle * 2 ** (5 * at / 12 / 0.6)
    wave = np.sin(2 * np.pi * np.cumsum(low) / RATE) + np.sin(2 * np.pi * np.cumsum(high) / RATE)
    return _shaped(0.35 * wave * np.exp(-at * 4))


def _missed() -> Samples:
    """A hollow pair that rubs: what was wanted was not there."""
    at = np.arange(round(0.35 * RATE)) / RATE
    wave = np.sin(2 * np.pi * 311 * at) + np.sin(2 * np.pi * 329 * at)
    return _shaped(0.32 * wave * np.exp(-at * 9))


def _stalled() -> Samples:
    """A low buzz that nobody overhears."""
    at = np.arange(round(0.45 * RATE)) / RATE
    wave = np.sign(np.sin(2 * np.pi * 73 * at)) * 0.5 + np.sin(2 * np.pi * 146 * at) * 0.5
    return _shaped(0.5 * np.convolve(wave, np.hanning(41) / 20.5, "same") * np.exp(-at * 5))


def _spilled() -> Samples:
    """A small wooden tick: a block has gone to disk."""
    at = np.arange(round(0.06 * RATE)) / RATE
    return _shaped(0.4 * np.sin(2 * np.pi * 870 * at) * np.exp(-at * 95))


def _sequence(pitches: tuple[float, ...], apart: float, last: float) -> Samples:
    wave = np.zeros(round((apart * len(pitches) + last) * RATE))
    for place, pitch in enumerate(pitches):
        start = round(place * apart * RATE)
        at = np.arange(len(wave) - start) / RATE
        wave[start:] += 0.35 * (np.sin(2 * np.pi * pitch * at) + 0.3 * np.sin(4 * np.pi * pitch * at)) * np.exp(-at * 7)
    return _shaped(wave)


_CUES = {"kept": _kept, "branched": _branched, "missed": _missed, "stalled": _stalled, "spilled": _spilled}
CUES = tuple(_CUES)


def _shaped(wave: NDArray[np.float64]) -> Samples:
    """Ends faded, so that nothing clicks."""
    edge = min(240, len(wave) // 4)
    wave = wave.copy()
    wave[:edge] *= np.linspace(0, 1, edge) ** 0.5
    wave[-edge:] *= np.linspace(1, 0, edge)
    return np.clip(wave, -1, 1).astype(np.float32)
