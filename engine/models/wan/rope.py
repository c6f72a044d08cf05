"""Rotary positions over three axes: the first pairs of a head turn with the latent frame, the next with the row, the last with the column.

Pairs are adjacent channels (2j, 2j + 1). Tables are made in float64. Published code stops at 1024 rows; a row here depends on nothing but
its own number, so a longer table has the same first rows and a session never runs out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from worldpager.engine.models.base import RotarySpec

TRAINED_ROWS = 1024
"""Latent frames that published tables hold."""


@dataclass(frozen=True, slots=True)
class Rotation:
    """Cosines and sines of some tokens, each [tokens, 1, head_dim / 2], ready to turn queries and keys of those tokens."""

    cos: Tensor
    sin: Tensor

    def __call__(self, x: Tensor) -> Tensor:
        """``x`` [..., tokens, heads, head_dim] turned; reckoned in the type of the cosines, answered in that of ``x``."""
        pairs = torch.view_as_complex(x.to(self.cos.dtype).unflatten(-1, (-1, 2)))
        return torch.view_as_real(pairs * torch.complex(self.cos, self.sin)).flatten(-2).to(x.dtype)


def part_widths(head: int) -> tuple[int, int, int]:
    """Channels of a head that turn with frame, row and column: 44, 42, 42 of 128."""
    side = 2 * (head // 6)
    return head - 2 * side, side, side


def frequencies(width: int, base: float = 10000.0) -> Tensor:
    """Radians a step of each pair in a part of ``width`` channels, float64 [width / 2]."""
    return 1.0 / base ** (torch.arange(0, width, 2, dtype=torch.float64) / width)


def rotary_spec(head: int) -> RotarySpec:
    """How a stored key of ``head`` channels turns when it is placed at another latent frame."""
    return RotarySpec(0, tuple(frequencies(part_widths(head)[0]).tolist()))


def angles(head: int, rows: Sequence[int] | Tensor) -> Tensor:
    """Row by row the angles of all pairs of a head, float64 [rows, head / 2], as if frame, row and column all were that number."""
    at = torch.as_tensor(rows, dtype=torch.float64)
    return torch.cat([torch.outer(at, frequencies(width)) for width in part_widths(head)], dim=1)


def grid_rotation(
    head: int, frames: Sequence[float], height: int, width: int, device: torch.device | str = "cpu", dtype: torch.dtype = torch.float32
) -> Rotation:
    """The rotation of tokens at latent ``frames``, ``height`` rows and ``width`` columns each, in token order frame, row, column."""
    parts = [frequencies(channels).to(device) for channels in part_widths(head)]
    axes = [torch.tensor(list(axis), dtype=torch.float64, device=device) for axis in (frames, range(height), range(width))]
    grids = torch.meshgrid(*axes, indexing="ij")
    angle = torch.cat([torch.outer(grid.flatten(), part) for grid, part in zip(grids, parts, strict=True)], dim=1)
    return Rotation(*(table.to(dtype).unsqueeze(1) for table in (angle.cos(), angle.sin())))


def frame_rotation(head: int, offset: float, device: torch.device | str = "cpu", dtype: torch.dtype = torch.float32) -> Rotation:
    """The rotation that carries a stored key ``offset`` latent frames on: rows and columns stay."""
    widths = part_widths(head)
    angle = torch.cat([offset * frequencies(widths[0]), torch.zeros((widths[1] + widths[2]) // 2, dtype=torch.float64)])
    return Rotation(*(table.to(device, dtype).view(1, 1, -1) for table in (angle.cos(), angle.sin())))
