"""Plain twin of quantise + pack."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from worldpager.kernels.record import PackedLayout, Pieces, grouped_keys, grouped_values

LIMIT = 2.0**126
"""Largest size of a number: a group's range then fits float32."""
TINY = 2.0**-126
"""Least step, so that its inverse is finite and no group divides by zero."""
ROUNDER = 2.0**23
"""Added to a float32 below it, leaves the number rounded to whole (ties to even) in the lowest bits."""

UPPER_HALF = -65536
LOWER_HALF = 65535


def pack(layout: PackedLayout, keys: Tensor, values: Tensor, records: Sequence[Tensor]) -> None:
    """See the package. Works layer by layer, so that what it makes on the way stays in the cache."""
    for number, record in enumerate(records):
        mended = layout.mended(record).zero_()
        for run in layout.runs:
            _pack_run(layout, grouped_keys(keys[:, number], run), layout.key_pieces(record, run), mended)
        _pack_run(layout, grouped_values(values[:, number], layout.value_group), layout.value_pieces(record), mended)


def _pack_run(layout: PackedLayout, x: Tensor, pieces: Pieces, mended: Tensor) -> None:
    for layer in range(layout.layers):
        numbers, least, most = _mended(x[layer].float(), mended[layer])
        low, step = symmetric(least, most, layout.bits) if layout.symmetric else asymmetric(least, most, layout.bits)
        pieces.step[layer].copy_(step)
        if pieces.low is not None:
            pieces.low[layer].copy_(low)
        levels = (numbers - low[:, None]).mul_((1 / step)[:, None]).add_(ROUNDER).view(torch.int32)  # their lowest bytes count
        width = 8 // layout.group(1).fields
        if pieces.third is None:
            _merge(levels, pieces.codes[layer], width)
        else:
            _merge(levels & 3, pieces.codes[layer], width)
            _merge(levels >> 2, pieces.third[layer], 1)


def _mended(x: Tensor, count: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """``x`` [outer, n, I, J] without NaN and beyond-limit numbers, and each group's least and most; raises ``count`` by what it mends."""
    least, most = x.amin(1), x.amax(1)  # aminmax along an axis is several times slower
    if not max(-float(least.min()), float(most.max())) <= LIMIT:  # also when it is NaN
        fixed = torch.nan_to_num(x, nan=0.0).clamp_(-LIMIT, LIMIT)
        count += (fixed != x).sum()
        x, least, most = fixed, fixed.amin(1), fixed.amax(1)
    return x, least, most


def asymmetric(least: Tensor, most: Tensor, bits: int) -> tuple[Tensor, Tensor]:
    """Low and step of groups, float32 that bfloat16 holds: low <= least, and step is rounded up."""
    low = _floor(least)
    return low, _ceil((most - low) * (1 / ((1 << bits) - 1)) + TINY)


def symmetric(least: Tensor, most: Tensor, bits: int) -> tuple[Tensor, Tensor]:
    """The same for codes about zero: the largest size is 2^(bits - 1) - 1 steps."""
    zero = float(1 << bits - 1)
    step = _ceil(torch.maximum(most, -least) * (1 / (zero - 1)) + TINY)
    return step * -zero, step


def _merge(levels: Tensor, codes: Tensor, width: int) -> None:
    """Put ``levels`` int32 [outer, n, I, J], ``width`` bits of a lowest byte each, into ``codes`` [outer, rows, I, J]. Spoils them."""
    rows, n = codes.shape[1], levels.shape[1]
    for field in range(1, -(-n // rows)):
        run = levels[:, field * rows : (field + 1) * rows]
        levels[:, : run.shape[1]].bitwise_or_(run << field * width)
    codes[:, :n].copy_(levels[:, :rows])
    if n < rows:
        codes[:, n:] = 0


def _floor(x: Tensor) -> Tensor:
    """The largest bfloat16 not above each number, as float32."""
    bits = x.view(torch.int32)
    return torch.where(bits < 0, bits + LOWER_HALF, bits).bitwise_and_(UPPER_HALF).view(torch.float32)


def _ceil(x: Tensor) -> Tensor:
    """The smallest bfloat16 not below each positive number, as float32."""
    return (x.view(torch.int32) + LOWER_HALF).bitwise_and_(UPPER_HALF).view(torch.float32)
