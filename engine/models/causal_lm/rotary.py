"""Rotary positions of language models: neighbouring channels form a pair, pair i turns by ``position * base ** (-2 i / head_dim)``.

The same steps in the same order as the memory takes when it places a block, so that a block that comes back is what stood there before.
"""

from __future__ import annotations

import torch
from torch import Tensor

from worldpager.engine.models.base import RotarySpec


def frequencies(head_dim: int, base: float) -> tuple[float, ...]:
    """Radians a position, for each pair."""
    return tuple(float(base ** (-2 * pair / head_dim)) for pair in range(head_dim // 2))


def rotary_spec(head_dim: int, base: float, tokens: int) -> RotarySpec:
    """How a block of ``tokens`` tokens turns: each stands one position after the one before it."""
    return RotarySpec(0, frequencies(head_dim, base), spans=tokens)


class Turns:
    """Cosines and sines, reckoned in float64 once and kept in float32 for positions from 0 on."""

    def __init__(self, head_dim: int, base: float, device: torch.device) -> None:
        self._frequencies = torch.tensor(frequencies(head_dim, base), dtype=torch.float64)
        self._device = device
        self._table = torch.empty(0, head_dim // 2, 2, device=device)

    def at(self, start: int, count: int) -> Tensor:
        """Cosine and sine of positions [start, start + count): float32 [count, head_dim / 2, 2]."""
        if start + count > len(self._table):
            limit = max(2 * len(self._table), start + count, 1024)
            angle = torch.arange(limit, dtype=torch.float64)[:, None] * self._frequencies
            self._table = torch.stack([angle.cos(), angle.sin()], -1).to(self._device, torch.float32)
        return self._table[start : start + count]


def rotated(x: Tensor, turns: Tensor) -> Tensor:
    """A float32 copy of ``x`` [..., tokens, heads, head_dim], token i turned by ``turns[i]`` (see `Turns.at`)."""
    a, b = x.float().unflatten(-1, (-1, 2)).unbind(-1)
    cos, sin = turns[:, None].unbind(-1)
    return torch.stack([a * cos - b * sin, a * sin + b * cos], -1).flatten(-2)
