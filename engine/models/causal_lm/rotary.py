"""Rotary positions of language models: neighbouring channels form a pair, pair i turns by ``position * base ** (-2 i / head_dim)``."""

from __future__ import annotations

import torch
from torch import Tensor


class Turns:
    """Unit complex numbers by which pairs turn, reckoned in float64 once and kept as complex64 for positions 0..limit-1."""

    def __init__(self, head_dim: int, base: float, device: torch.device) -> None:
        self._frequencies = base ** (-torch.arange(0, head_dim, 2, dtype=torch.float64) / head_dim)
        self._device = device
        self._table = torch.empty(0, head_dim // 2, dtype=torch.complex64, device=device)

    def at(self, start: int, count: int) -> Tensor:
        """Turns of positions [start, start + count), complex64 [count, head_dim / 2]."""
        if start + count > len(self._table):
            limit = max(2 * len(self._table), start + count, 1024)
            angle = torch.arange(limit, dtype=torch.float64)[:, None] * self._frequencies
            self._table = torch.polar(torch.ones_like(angle), angle).to(self._device, torch.complex64)
        return self._table[start : start + count]


def rotated(x: Tensor, turns: Tensor) -> Tensor:
    """A float32 copy of ``x`` [..., tokens, heads, head_dim], token i turned by ``turns[i]`` (complex64 [tokens, head_dim / 2])."""
    pairs = torch.view_as_complex(x.float().unflatten(-1, (-1, 2)).contiguous())
    return torch.view_as_real(pairs * turns[:, None]).flatten(-2)


def rotate_in_place(keys: Tensor, turns: Tensor) -> None:
    """Turn ``keys`` [layers, tokens, heads, head_dim] once, layer by layer, reckoned in float32."""
    for layer in keys:
        layer.copy_(rotated(layer, turns))
