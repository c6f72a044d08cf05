"""How far a body can walk straight ahead, from the tiny model's own depth."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from worldpager.engine.models.tiny.render import FOV_X
from worldpager.engine.types import Pose

BODY = 0.3
"""Half the width in cells of what must be free."""
KNEE, HEAD = 0.15, 0.9
"""Heights in cells between which a thing is in the way."""
REACH = 6.0
"""Cells; farther away the depth says nothing firm."""
RANK = 2
"""So many nearest samples are taken for noise."""


def clearance(inverse_depth: Tensor, pose: Pose) -> float:
    """Free cells ahead of ``pose`` along its yaw; inf = nothing within reach.

    ``inverse_depth`` [rows, columns] in 1/cells lies evenly over the picture.
    """
    rows, columns = inverse_depth.shape
    focal = 0.5 / math.tan(FOV_X / 2)
    left = -((torch.arange(columns) + 0.5) / columns - 0.5) / focal
    up = -((torch.arange(rows) + 0.5) / rows - 0.5) / focal * 2 / 3
    far = 1 / inverse_depth.float().cpu().clamp_min(1 / (2 * REACH)) / (1 + left.square() + up[:, None].square()).sqrt()
    ahead = far * (math.cos(pose.pitch) - up[:, None] * math.sin(pose.pitch))
    height = pose.z + far * (math.sin(pose.pitch) + up[:, None] * math.cos(pose.pitch))
    inside = ((far * left).abs() < BODY) & (height > KNEE) & (height < HEAD) & (ahead < REACH)
    found = ahead[inside].sort().values
    return float(found[RANK]) if len(found) > RANK else math.inf
