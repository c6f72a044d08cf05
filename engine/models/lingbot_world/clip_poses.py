"""The published ways from a clip's poses, or from held keys, to camera-to-world poses: what the street's own pose track is measured by.

Playing needs neither: there the pose track moves the camera, at the same speeds (see `adapter.MOTION`). A clip that is known as a whole
goes through here.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor

WALK, TURN, STEEPEST = 0.05, math.radians(2), math.radians(85)
"""A video frame's step and turn of the published key tool, and its limit of pitch."""


def clip_poses(poses: Tensor, latent_frames: int) -> Tensor:
    """``poses`` [n, 4, 4] of a clip brought to ``latent_frames`` evenly spaced moments: straight lines, shortest turns. Float64."""
    at = torch.linspace(0, len(poses) - 1, latent_frames, dtype=torch.float64)
    low = at.floor().long().clamp(max=len(poses) - 2)
    share = at - low
    a, b = poses[low].double(), poses[low + 1].double()
    out = a.clone()
    out[:, :3, 3] = a[:, :3, 3] + share[:, None] * (b[:, :3, 3] - a[:, :3, 3])
    turn = a[:, :3, :3].transpose(1, 2) @ b[:, :3, :3]
    out[:, :3, :3] = a[:, :3, :3] @ torch.linalg.matrix_exp(share[:, None, None] * rotation_log(turn))
    return out


def rotation_log(turn: Tensor) -> Tensor:
    """The antisymmetric matrices whose exponentials are ``turn`` [n, 3, 3], for turns below half a circle."""
    skew = (turn - turn.transpose(1, 2)) / 2
    axis = torch.stack([skew[:, 2, 1], skew[:, 0, 2], skew[:, 1, 0]], dim=1)
    sine = axis.norm(dim=1)
    cosine = (turn.diagonal(dim1=1, dim2=2).sum(1) - 1) / 2
    factor = torch.where(sine > 1e-12, torch.atan2(sine, cosine) / sine.clamp(min=1e-300), torch.ones_like(sine))
    return skew * factor[:, None, None]


def keys_to_poses(keys: Sequence[Sequence[int]]) -> Tensor:
    """Float64 [n + 1, 4, 4]: where rows of held keys W A S D I J K L lead, one a video frame, as the published tool has it.

    First the turn (J, L about the vertical, I, K about the camera's own x), then the step along the ground in the new direction.
    """
    pose, pitch = torch.eye(4, dtype=torch.float64), 0.0
    poses = [pose]
    for w, a, s, d, i, j, k, n in keys:
        wanted = max(-STEEPEST, min(STEEPEST, pitch + TURN * (i - k)))
        pose = pose.clone()
        pose[:3, :3] = _about_y(TURN * (n - j)) @ pose[:3, :3] @ _about_x(wanted - pitch)
        pitch = wanted
        pose[:3, 3] += WALK * ((w - s) * _flat(pose[:3, 2]) + (d - a) * _flat(pose[:3, 0]))
        poses.append(pose)
    return torch.stack(poses)


def _flat(direction: Tensor) -> Tensor:
    """``direction`` along the ground, unit length."""
    level = direction * torch.tensor([1.0, 0.0, 1.0], dtype=torch.float64)
    return level / level.norm()


def _about_y(angle: float) -> Tensor:
    cos, sin = math.cos(angle), math.sin(angle)
    return torch.tensor([[cos, 0, sin], [0, 1, 0], [-sin, 0, cos]], dtype=torch.float64)


def _about_x(angle: float) -> Tensor:
    cos, sin = math.cos(angle), math.sin(angle)
    return torch.tensor([[1, 0, 0], [0, cos, -sin], [0, sin, cos]], dtype=torch.float64)
