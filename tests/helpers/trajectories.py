"""Camera paths as chunks of poses, for tests of pose, retrieval and prefetch."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from worldpager.engine.pose.track import Stance, move
from worldpager.engine.types import Action, Button, FieldOfView, Motion, Pose

FRAMES = 4
MOTION = Motion(walk=0.12, run=0.2, turn=0.08, look=0.04, pitch_limit=0.45, eye_height=0.55)
VIEW = FieldOfView(math.radians(84), math.radians(60), 14.0)
ORIGIN = Pose(0.0, 0.0, 0.55, 0.0, 0.0)
TRACES = Path(__file__).resolve().parents[2].parent / "shared" / "traces"

Chunk = tuple[Pose, ...]


def walked(actions: Iterable[Action], start: Pose = ORIGIN) -> Iterator[Chunk]:
    """Chunks of poses under ``actions``, one each."""
    stance = Stance(start)
    for action in actions:
        stance, poses = move(stance, action, MOTION, FRAMES)
        yield poses


def standing(x: float, y: float, yaw_degrees: float) -> Chunk:
    """A chunk that stands still."""
    return (Pose(x, y, 0.55, math.radians(yaw_degrees), 0.0),) * FRAMES


def forward(chunks: int) -> list[Action]:
    return [Action(Button.FORWARD)] * chunks


def turn(degrees: float, chunks: int) -> list[Action]:
    return [Action(turn=degrees / chunks)] * chunks


def trace(name: str) -> Path:
    """A recorded trace; skips the test where they are absent."""
    path = TRACES / name
    if not path.exists():
        pytest.skip(f"recorded traces are not here ({path})")
    return path
