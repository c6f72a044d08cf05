"""Fewer, larger kernels: the small steps between matrix products, compiled into one kernel each by torch.

Norm with modulation, rotations and unit norms read and write the tokens many times over when they run one by one. Compiling them takes some
seconds at the first chunk; what they compute stays the same but for rounding.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import torch
from torch import Tensor

from worldpager.engine.models.matrix_game2 import network
from worldpager.engine.models.wan import parts, rope

Patch = tuple[object, str, Callable[..., Tensor]]


def _normed(self: network.Block, x: Tensor, gain: Tensor, shift: Tensor) -> Tensor:
    return _modulated(x, gain, shift)


def _plain_modulated(x: Tensor, gain: Tensor, shift: Tensor) -> Tensor:
    return (parts.plain_norm(x) * (1 + gain) + shift).to(x.dtype)


def _rotated(self: rope.Rotation, x: Tensor) -> Tensor:
    return _turned(x, self.cos, self.sin)


def _plain_turned(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    even, odd = x.to(cos.dtype).unflatten(-1, (-1, 2)).unbind(-1)
    return torch.stack([even * cos - odd * sin, even * sin + odd * cos], dim=-1).flatten(-2).to(x.dtype)


def _gained(self: parts.RmsNorm, x: Tensor) -> Tensor:
    return _rms(x, self.weight, self.eps)


def _plain_rms(x: Tensor, weight: Tensor, eps: float) -> Tensor:
    wide = x.float()
    return (wide * torch.rsqrt(wide.square().mean(-1, keepdim=True) + eps)).to(x.dtype) * weight


_modulated = torch.compile(_plain_modulated, dynamic=False)
_turned = torch.compile(_plain_turned, dynamic=False)
_rms = torch.compile(_plain_rms, dynamic=False)
PATCHES: tuple[Patch, ...] = (
    (network.Block, "_normed", _normed), (rope.Rotation, "__call__", _rotated), (parts.RmsNorm, "forward", _gained),
)  # fmt: skip


@contextmanager
def fused() -> Iterator[None]:
    """Inside, every network of this family runs with compiled small steps."""
    before = [(owner, name, getattr(owner, name)) for owner, name, _ in PATCHES]
    for owner, name, step in PATCHES:
        setattr(owner, name, step)
    try:
        yield
    finally:
        for owner, name, step in before:
            setattr(owner, name, step)
