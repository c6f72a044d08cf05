"""Plain twin of quantise + pack."""

from __future__ import annotations

import torch
from torch import Tensor

LIMIT = 2.0**126
"""Largest size of a number: a group's range then fits float32."""
TINY = 2.0**-126
"""Least step, so that its inverse is finite and no group divides by zero."""

UPPER_HALF = -65536
LOWER_HALF = 65535


def pack(x: Tensor, codes: Tensor, step: Tensor, low: Tensor, repaired: Tensor) -> None:
    """See the package. Works layer by layer, so that what it makes on the way stays in the cache."""
    for layer in range(len(x)):
        _pack_layer(x[layer].float(), codes[layer], step[layer], low[layer], repaired)


def _pack_layer(x: Tensor, codes: Tensor, step: Tensor, low: Tensor, repaired: Tensor) -> None:
    least, most = x.amin(1), x.amax(1)  # aminmax along an axis is several times slower
    if not max(-float(least.min()), float(most.max())) <= LIMIT:  # also when it is NaN
        fixed = torch.nan_to_num(x, nan=0.0).clamp_(-LIMIT, LIMIT)
        repaired += (fixed != x).sum()
        x, least, most = fixed, fixed.amin(1), fixed.amax(1)
    floor = _floor(least)
    size = _ceil((most - floor) * (1 / 15) + TINY)
    low.copy_(floor)
    step.copy_(size)
    levels = (x - floor[:, None]).mul_((1 / size)[:, None]).add_(0.5).to(torch.int32)  # 0..15: floor <= x, and the step is rounded up
    half = codes.shape[1]
    high = levels[:, half:] << 4
    levels[:, : high.shape[1]] |= high
    codes.copy_(levels[:, :half])


def _floor(x: Tensor) -> Tensor:
    """The largest bfloat16 not above each number, as float32."""
    bits = x.view(torch.int32)
    return torch.where(bits < 0, bits + LOWER_HALF, bits).bitwise_and_(UPPER_HALF).view(torch.float32)


def _ceil(x: Tensor) -> Tensor:
    """The smallest bfloat16 not below each positive number, as float32."""
    return (x.view(torch.int32) + LOWER_HALF).bitwise_and_(UPPER_HALF).view(torch.float32)
