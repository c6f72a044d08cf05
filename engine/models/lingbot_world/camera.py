"""From camera poses to the camera condition: six numbers a pixel, folded into the channels of a latent pixel.

A pose is camera to world, 4x4, axes x right, y down, z forward. The network hears each latent frame's step from the frame before it: the
step's translation and, for every pixel, the direction of its ray turned by the step's rotation. Translations are in units of the fastest
step of a latent frame, which while playing is a fixed number: the world's scale.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import torch
from torch import Tensor

from worldpager.engine.types import Pose

FOCAL, CENTRE = (502.9, 503.1), (415.8, 239.8)
"""Intrinsics of the published examples for a picture of 832x480: 79 degrees wide."""
REFERENCE = (832, 480)
FOLD = 8
"""Pixels to a latent pixel."""


def intrinsics(width: int, height: int, focal: tuple[float, float] = FOCAL, centre: tuple[float, float] = CENTRE) -> Tensor:
    """fx, fy, cx, cy of a picture of ``width`` x ``height`` pixels, from those of `REFERENCE`: float32 [4]."""
    x, y = width / REFERENCE[0], height / REFERENCE[1]
    return torch.tensor([focal[0] * x, focal[1] * y, centre[0] * x, centre[1] * y])


def camera_to_world(poses: Iterable[Pose]) -> Tensor:
    """Float64 [n, 4, 4] of the street's poses: their x, y plane is the ground, their z is up."""
    return torch.stack([_matrix(pose) for pose in poses])


def _matrix(pose: Pose) -> Tensor:
    cos, sin, level, up = math.cos(pose.yaw), math.sin(pose.yaw), math.cos(pose.pitch), math.sin(pose.pitch)
    right, down, forward = (sin, -cos, 0.0), (up * cos, up * sin, -level), (level * cos, level * sin, up)
    columns = torch.tensor([right, down, forward, (pose.x, pose.y, pose.z)], dtype=torch.float64).T
    return torch.cat([columns, torch.tensor([[0.0, 0.0, 0.0, 1.0]], dtype=torch.float64)])


def relative_steps(poses: Tensor, before: Tensor | None) -> Tensor:
    """Each of ``poses`` [n, 4, 4] as seen from the one before it; ``before`` [4, 4] is the last of the chunk before, None = a beginning."""
    previous = torch.cat([(poses[0] if before is None else before)[None].to(poses), poses[:-1]])
    return torch.linalg.solve(previous, poses)


def scaled(steps: Tensor, unit: float) -> Tensor:
    """A copy of ``steps`` with translations in units of ``unit``; 0 leaves them alone."""
    out = steps.clone()
    if unit:
        out[:, :3, 3] /= unit
    return out


def largest_step(steps: Tensor) -> float:
    """The longest translation among ``steps``: the unit for a clip that is known as a whole."""
    return float(steps[:, :3, 3].norm(dim=1).max())


def ray_condition(steps: Tensor, lens: Tensor, width: int, height: int) -> Tensor:
    """The condition, float32 [384, n, height / 8, width / 8], of ``steps`` [n, 4, 4] for pictures of ``width`` x ``height`` pixels.

    ``lens`` is fx, fy, cx, cy. Channel = component * 64 + row * 8 + column within the 8x8 pixels; components are the translation (the same
    for all pixels), then the ray's direction. Reckoned where ``lens`` lies.
    """
    fx, fy, cx, cy = lens.unbind()
    x = (torch.arange(width, device=lens.device) + 0.5 - cx) / fx
    y = (torch.arange(height, device=lens.device) + 0.5 - cy) / fy
    rays = torch.stack([x.expand(height, -1), y[:, None].expand(-1, width), torch.ones(height, width, device=lens.device)])
    rays = rays / rays.norm(dim=0)
    steps = steps.to(lens.device, torch.float32)
    turned = torch.einsum("nij,jhw->inhw", steps[:, :3, :3], rays)
    moved = steps[:, :3, 3].T[..., None, None].expand_as(turned)
    six = torch.cat([moved, turned])
    folded = six.unflatten(3, (-1, FOLD)).unflatten(2, (-1, FOLD))
    return folded.permute(0, 3, 5, 1, 2, 4).flatten(0, 2)


def latent_poses(poses: Sequence[Pose], chunk: int) -> list[Pose]:
    """The last pose of each latent frame's video frames: every fourth, counted from the end of the chunk of ``chunk`` latent frames."""
    return [poses[len(poses) - 1 - 4 * (chunk - 1 - i)] for i in range(chunk)]
