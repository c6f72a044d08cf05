"""Small pieces that Wan 2.1 transformers share: norms, the sinusoid of a timestep, patches, attention over a flat list of tokens."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

EPS = 1e-6
TIME_WIDTH = 256


class RmsNorm(nn.Module):
    """RMS norm over the last dimension with a gain: one kernel, which reckons in float32 and rounds once."""

    def __init__(self, width: int, eps: float = EPS) -> None:
        super().__init__()
        self.eps, self.weight = eps, nn.Parameter(torch.ones(width))

    def forward(self, x: Tensor) -> Tensor:
        """Same shape and type."""
        return F.rms_norm(x, self.weight.shape, self.weight, self.eps)


def plain_norm(x: Tensor) -> Tensor:
    """Layer norm without parameters, in float32."""
    return F.layer_norm(x.float(), x.shape[-1:], eps=EPS)


def sinusoid(timesteps: Tensor, width: int = TIME_WIDTH) -> Tensor:
    """Float64 [n, width] of ``timesteps`` [n]: cosines of t * 10000^(-i / half) first, then the sines."""
    half = width // 2
    rates = torch.pow(10000.0, -torch.arange(half, dtype=torch.float64, device=timesteps.device) / half)
    angle = torch.outer(timesteps.double(), rates)
    return torch.cat([angle.cos(), angle.sin()], dim=1)


def patches(x: Tensor) -> Tensor:
    """Tokens [f * h/2 * w/2, channel * 4] of ``x`` [channel, f, h, w]: order frame, row, column; features channel, row, column."""
    c, f, h, w = x.shape
    return x.view(c, f, h // 2, 2, w // 2, 2).permute(1, 2, 4, 0, 3, 5).reshape(-1, c * 4)


def unpatched(tokens: Tensor, frames: int, height: int, width: int) -> Tensor:
    """[channel, frames, height, width] of ``tokens`` [tokens, 4 * channel]; features row, column, channel. Sizes in latent pixels."""
    grid = tokens.view(frames, height // 2, width // 2, 2, 2, -1)
    return grid.permute(5, 0, 1, 3, 2, 4).reshape(-1, frames, height, width)


class PatchEmbedding(nn.Conv3d):
    """A linear map of 1x2x2 patches, kept in the shape of the published convolution."""

    def __init__(self, channels: int, width: int) -> None:
        super().__init__(channels, width, (1, 2, 2), stride=(1, 2, 2))

    def forward(self, x: Tensor) -> Tensor:
        """Tokens [n, width] of ``x`` [channels, f, h, w]."""
        return F.linear(patches(x), self.weight.flatten(1), self.bias)


def attention(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """Every query of ``q`` [n, heads, head_dim] sees every key of ``k``, ``v`` [m, heads, head_dim]: [n, heads * head_dim]."""
    q, k, v = (x.transpose(0, 1).unsqueeze(0) for x in (q, k, v))
    return F.scaled_dot_product_attention(q, k, v).squeeze(0).transpose(0, 1).flatten(1)
