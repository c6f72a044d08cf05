"""Reads chunks as music: how fast one walks, what colours one sees, what the memory does."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from worldpager.engine.mailbox import PublishedChunk
from worldpager.engine.telemetry.snapshot import Snapshot
from worldpager.engine.types import Frames

STRIDE = 0.62
"""Cells from one step to the next."""


@dataclass(frozen=True, slots=True)
class Scene:
    """What is to be heard for a while: ``speed`` in cells a second of model time, ``light`` and ``warmth`` 0 to 1, ``hue`` 0 to 1.

    ``notes`` are steps of the scale, one for each block that came back; ``events`` are names of cues.
    """

    seconds: float
    speed: float = 0.0
    turning: float = 0.0
    light: float = 0.5
    warmth: float = 0.5
    hue: float = 0.6
    notes: tuple[int, ...] = ()
    events: tuple[str, ...] = ()


class Score:
    """Compares each chunk with the one before."""

    def __init__(self) -> None:
        self._last: Snapshot | None = None

    def read(self, chunk: PublishedChunk) -> Scene:
        """The scene of ``chunk``."""
        snapshot, last = chunk.snapshot, self._last
        self._last = snapshot
        seconds = len(chunk.frames) / snapshot.rate
        light, warmth, hue = palette(chunk.frames)
        same = last is not None and last.seed == snapshot.seed and snapshot.chunk == last.chunk + 1
        if last is None or not same:
            return Scene(seconds, 0.0, 0.0, light, warmth, hue)
        pose, was = snapshot.pose, last.pose
        turned = abs(math.remainder(pose.yaw - was.yaw, 2 * math.pi))
        speed = math.hypot(pose.x - was.x, pose.y - was.y) / seconds
        return Scene(seconds, speed, turned / seconds, light, warmth, hue, _notes(snapshot), _events(snapshot, last))


def palette(frames: Frames) -> tuple[float, float, float]:
    """(light, warmth, hue) from 0 to 1 of the last frame's colours."""
    red, green, blue = (float(part) / 255 for part in frames[-1, ::4, ::4].reshape(-1, 3).mean(axis=0))
    high, low = max(red, green, blue), min(red, green, blue)
    spread = max(1e-6, high - low)
    if high == red:
        hue = ((green - blue) / spread) % 6
    elif high == green:
        hue = (blue - red) / spread + 2
    else:
        hue = (red - green) / spread + 4
    return (red + green + blue) / 3, min(1.0, max(0.0, 0.5 + red - blue)), hue / 6


def _notes(snapshot: Snapshot) -> tuple[int, ...]:
    """A note for each block in use: the older, the lower."""
    ids = snapshot.block_map.ids
    if not len(ids) or snapshot.stale:
        return ()
    newest, span = int(ids[-1]), max(1, int(ids[-1]) - int(ids[0]))
    return tuple(round(8 - 13 * (newest - int(block)) / span) for block in snapshot.working_set[:4])


def _events(snapshot: Snapshot, last: Snapshot) -> tuple[str, ...]:
    now, was = snapshot.memory, last.memory
    grown = (
        ("missed", now.blocks_missed - was.blocks_missed), ("stalled", now.stalls_over_half_ms - was.stalls_over_half_ms),
        ("spilled", now.spilled_blocks - was.spilled_blocks),
    )  # fmt: skip
    return tuple(name for name, more in grown if more > 0)


def average(values: list[float]) -> float:
    """Mean; 0 for none."""
    return float(np.mean(values)) if values else 0.0
