"""A small decoder for Wan 2.1 latents (the TAEHV shape; public weights: taew2_1): an eighth of the large one's parameters, softer pictures.

Plain 2D convolutions on one frame after another; some blocks look at the frame before, which is all that a stream has to keep.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import torch
from torch import Tensor, nn
from torch.nn import functional as F

WIDTHS = (256, 128, 64, 64)
LATENT = 16
LEADING = 3
"""Frames that the first latent frame gives too many: a video begins with a single one."""
SOFT_LIMIT = 3.0

TinyStream = dict[str, Tensor]
"""The last frame that each looking-back block has seen, by its name; empty before a video's beginning."""


class LookBack(nn.Module):
    """A residual block that sees the frame before beside each frame."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.conv = nn.Sequential(_conv(2 * width, width), nn.ReLU(), _conv(width, width), nn.ReLU(), _conv(width, width))

    def forward(self, x: Tensor, before: Tensor | None) -> Tensor:
        """Frames [f, width, h, w]; ``before`` [1, width, h, w] or None for nothing (zeros)."""
        past = torch.cat([torch.zeros_like(x[:1]) if before is None else before, x[:-1]])
        return F.relu(self.conv(torch.cat([x, past], 1)) + x)


class Grow(nn.Module):
    """``times`` frames of each."""

    def __init__(self, width: int, times: int) -> None:
        super().__init__()
        self.conv = nn.Conv2d(width, width * times, 1, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        """[f, width, h, w] to [f * times, width, h, w]."""
        return self.conv(x).reshape(-1, *x.shape[1:])


def _conv(inputs: int, outputs: int, bias: bool = True) -> nn.Conv2d:
    return nn.Conv2d(inputs, outputs, 3, padding=1, bias=bias)


class TinyDecoder(nn.Module):
    """Parameters under their published names."""

    def __init__(self, widths: Sequence[int] = WIDTHS) -> None:
        super().__init__()
        parts: list[nn.Module] = [nn.Identity(), _conv(LATENT, widths[0]), nn.ReLU()]
        for times, (width, after) in zip((1, 2, 2), pairwise(widths), strict=True):
            parts += [LookBack(width) for _ in range(3)]
            parts += [nn.Upsample(scale_factor=2), Grow(width, times), _conv(width, after, bias=False)]
        parts += [nn.ReLU(), _conv(widths[-1], 3)]
        self.decoder = nn.ModuleList(parts)

    @torch.no_grad()
    def forward(self, latents: Tensor, stream: TinyStream) -> Tensor:
        """Frames [4 f, 3, 8h, 8w], about 0 to 1, of normalised ``latents`` [f, 16, h, w]; a video's first `LEADING` are to be dropped."""
        x = torch.tanh(latents / SOFT_LIMIT) * SOFT_LIMIT
        for name, part in self.decoder.named_children():
            if isinstance(part, LookBack):
                newest = x[-1:].clone()
                x = part(x, stream.get(name))
                stream[name] = newest
            else:
                x = part(x)
        return x

    def decode(self, latents: Tensor, stream: TinyStream) -> Tensor:
        """The next frames [F, 3, 8h, 8w] in [0, 1]: one for a video's first latent frame, four for every other."""
        first = not stream
        frames: Tensor = self(latents, stream).clamp(0, 1)
        return frames[LEADING:] if first else frames
