"""How a world of the tiny model opens: rendered chunks that fill its memory before the player moves."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import torch
from torch import Tensor

from worldpager.engine.models.tiny import render
from worldpager.engine.models.tiny.worlds import PLAYED, World, free_path, make_world
from worldpager.engine.types import Pose

EYE = 0.55
LOOK_CHUNKS = 10
"""Chunks that turn once around: 9 degrees a frame with four frames a chunk."""
STROLL_CHUNKS = 2
"""Chunks that walk ahead, and as many that walk back."""
STRIDE = 0.13
"""Cells a frame at most while walking."""
MARGIN = 0.35
"""Cells that the walk keeps from what stands ahead."""


def played_world(seed: int) -> World:
    """The player's world ``seed``; training saw none of them."""
    return make_world(PLAYED + seed)


def opening_poses(world: World, prime: bool, frames: int) -> Iterator[tuple[Pose, ...]]:
    """Poses of the opening chunks of ``frames`` frames: a turn around, some steps ahead and back to the start view; or that view alone."""
    x, y, yaw = world.start
    start = Pose(x, y, EYE, yaw, 0.0)
    if not prime:
        yield (start,) * frames
        return
    step = 2 * math.pi / (LOOK_CHUNKS * frames)
    for chunk in range(LOOK_CHUNKS):
        yield tuple(start._replace(yaw=yaw + step * (chunk * frames + i + 1)) for i in range(frames))
    count = STROLL_CHUNKS * frames
    stride = min(STRIDE, max(0.0, free_path(world, x, y, yaw) - MARGIN) / count)
    ahead = [start._replace(x=x + stride * i * math.cos(yaw), y=y + stride * i * math.sin(yaw)) for i in range(1, count + 1)]
    path = [*ahead, *ahead[-2::-1], start]
    for first in range(0, len(path), frames):
        yield tuple(path[first : first + frames])


def rendered(scene: render.Scene, poses: Sequence[Pose]) -> Tensor:
    """True pictures of ``poses`` in a scene of one world, uint8 [F, 3, h, w]."""
    device = scene.cells.device
    at = torch.tensor(poses, dtype=torch.float32, device=device)
    rgb, _ = render.render(scene, torch.zeros(len(at), dtype=torch.long, device=device), at, samples=2)
    return (rgb * 255).round().to(torch.uint8)
