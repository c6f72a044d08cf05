"""Plain twin of unpack + rotate."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor


def unpack(codes: Tensor, step: Tensor, low: Tensor, out: Tensor) -> None:
    """Write low + code * step of ``codes`` uint8 [R, ceil(n / 2), I] and ``step``, ``low`` float16 [R, I] to float32 ``out`` [R, n, I]."""
    half = codes.shape[1]
    n = out.shape[1]
    out[:, :half].copy_(codes & 15)
    out[:, half:].copy_(codes[:, : n - half] >> 4)
    out.mul_(step.float()[:, None]).add_(low.float()[:, None])


def rotate(keys: Tensor, start: int, frequencies: Sequence[float], offset: float) -> None:
    """Turn channel pairs (start + 2 i, start + 2 i + 1) of ``keys`` [..., D] in place by offset * frequencies[i] radians, in float32."""
    if not frequencies or offset == 0:
        return
    pairs = keys[..., start:start + 2 * len(frequencies)].unflatten(-1, (len(frequencies), 2))
    angle = torch.tensor(frequencies, dtype=torch.float64, device=keys.device) * offset
    cos, sin = angle.cos().float(), angle.sin().float()
    a, b = pairs[..., 0].float(), pairs[..., 1].float()
    pairs.copy_(torch.stack([a * cos - b * sin, a * sin + b * cos], -1))
