"""The vision tower that turns the start picture into context tokens: ViT-H/14 of the published CLIP file, all but its last block.

Needed once a world. The text tower and the last block, norm and projection in the file are not loaded.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F

MEAN = (0.48145466, 0.4578275, 0.40821073)
STD = (0.26862954, 0.26130258, 0.27577711)
NORM_EPS = 1e-5


@dataclass(frozen=True, slots=True)
class ClipConfig:
    """Sizes; the published file has the defaults. ``blocks`` are those that run, one fewer than the file holds."""

    image: int = 224
    patch: int = 14
    width: int = 1280
    heads: int = 16
    hidden: int = 5120
    blocks: int = 31

    @property
    def tokens(self) -> int:
        """Tokens of a picture, the class token included."""
        return (self.image // self.patch) ** 2 + 1


def pixels(image: Tensor, size: int) -> Tensor:
    """``image`` [1, 3, h, w] in [-1, 1] as the tower takes it: [1, 3, size, size], aspect not kept, normalised."""
    small = F.interpolate(image, (size, size), mode="bicubic", align_corners=False)
    mean, std = (torch.tensor(values, device=image.device, dtype=image.dtype).view(1, 3, 1, 1) for values in (MEAN, STD))
    return (small * 0.5 + 0.5 - mean) / std


class _Attention(nn.Module):
    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.to_qkv, self.proj = nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x: Tensor) -> Tensor:
        """[tokens, width]."""
        q, k, v = self.to_qkv(x).unflatten(-1, (3, self.heads, -1)).permute(1, 2, 0, 3)[:, None].unbind(0)
        return self.proj(F.scaled_dot_product_attention(q, k, v)[0].transpose(0, 1).flatten(1))


class _Block(nn.Module):
    def __init__(self, c: ClipConfig) -> None:
        super().__init__()
        self.norm1, self.norm2 = (nn.LayerNorm(c.width, eps=NORM_EPS) for _ in range(2))
        self.attn = _Attention(c.width, c.heads)
        self.mlp = nn.Sequential(nn.Linear(c.width, c.hidden), nn.GELU(), nn.Linear(c.hidden, c.width))

    def forward(self, x: Tensor) -> Tensor:
        """[tokens, width]."""
        x = x + self.attn(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class ClipVision(nn.Module):
    """Parameters under their published names, without the prefix ``visual.``."""

    def __init__(self, config: ClipConfig | None = None) -> None:
        super().__init__()
        self.config = c = config or ClipConfig()
        self.cls_embedding = nn.Parameter(torch.zeros(1, 1, c.width))
        self.pos_embedding = nn.Parameter(torch.zeros(1, c.tokens, c.width))
        self.patch_embedding = nn.Conv2d(3, c.width, c.patch, stride=c.patch, bias=False)
        self.pre_norm = nn.LayerNorm(c.width, eps=NORM_EPS)
        self.transformer = nn.ModuleList(_Block(c) for _ in range(c.blocks))

    @torch.no_grad()
    def forward(self, image: Tensor) -> Tensor:
        """Tokens [257, 1280] of ``image`` [1, 3, h, w] in [-1, 1]."""
        patches = self.patch_embedding(pixels(image.float(), self.config.image).to(self.patch_embedding.weight.dtype))
        x = torch.cat([self.cls_embedding[0], patches[0].flatten(1).T]) + self.pos_embedding[0]
        x = self.pre_norm(x)
        for block in self.transformer:
            x = block(x)
        return x
