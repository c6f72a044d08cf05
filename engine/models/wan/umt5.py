"""The umT5 encoder that turns a prompt into vectors.

Full size it has 5.7 billion parameters, so playing doesn't load it: prompts are encoded once and kept (see `prompts`). Names of parameters
follow the published file (`models_t5_umt5-xxl-enc-bf16.pth`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from worldpager.engine.models.wan.parts import EPS, RmsNorm

BUCKETS, FARTHEST = 32, 128


@dataclass(frozen=True, slots=True)
class Umt5Config:
    """Sizes; the published file has the defaults."""

    width: int = 4096
    heads: int = 64
    ffn: int = 10240
    layers: int = 24
    vocabulary: int = 256384


def relative_buckets(length: int) -> Tensor:
    """Int64 [length, length]: the bucket of key j for query i. Half of them look ahead; near distances have one each, far ones share."""
    at = torch.arange(length)
    offset = at[None] - at[:, None]
    side, distance = BUCKETS // 2, offset.abs()
    exact = side // 2
    share = torch.log(distance.clamp(min=1).float() / exact) / math.log(FARTHEST / exact)
    far = (exact + (share * (side - exact)).long()).clamp(max=side - 1)
    return side * (offset > 0) + torch.where(distance < exact, distance, far)


class PositionTable(nn.Module):
    """What each head adds to the likeness of a query and a key by how far they lie apart."""

    def __init__(self, heads: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(BUCKETS, heads)

    def forward(self, buckets: Tensor) -> Tensor:
        """[heads, n, n] of ``buckets`` [n, n]."""
        return self.embedding(buckets).permute(2, 0, 1)


class Attention(nn.Module):
    """Self attention without scaling and without biases."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.q, self.k, self.v, self.o = (nn.Linear(width, width, bias=False) for _ in range(4))

    def forward(self, x: Tensor, added: Tensor) -> Tensor:
        """Answer for ``x`` [n, width]; ``added`` [heads, n, n] lies on top of the likeness."""
        q, k, v = (line(x).unflatten(-1, (self.heads, -1)).transpose(0, 1) for line in (self.q, self.k, self.v))
        likeness = (q @ k.transpose(1, 2)).float() + added.float()
        return self.o((likeness.softmax(-1).to(x.dtype) @ v).transpose(0, 1).flatten(1))


class FeedForward(nn.Module):
    """Gated GELU."""

    def __init__(self, width: int, ffn: int) -> None:
        super().__init__()
        self.gate = nn.Sequential(nn.Linear(width, ffn, bias=False), nn.GELU(approximate="tanh"))
        self.fc1, self.fc2 = nn.Linear(width, ffn, bias=False), nn.Linear(ffn, width, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        """Same shape."""
        return self.fc2(self.fc1(x) * self.gate(x))


class EncoderBlock(nn.Module):
    """Attention and feed forward, each on a normed copy, added to what came in."""

    def __init__(self, c: Umt5Config) -> None:
        super().__init__()
        self.norm1, self.norm2 = RmsNorm(c.width, EPS), RmsNorm(c.width, EPS)
        self.attn, self.ffn = Attention(c.width, c.heads), FeedForward(c.width, c.ffn)
        self.pos_embedding = PositionTable(c.heads)

    def forward(self, x: Tensor, buckets: Tensor) -> Tensor:
        """Same shape [n, width]."""
        x = x + self.attn(self.norm1(x), self.pos_embedding(buckets))
        return x + self.ffn(self.norm2(x))


class Umt5Encoder(nn.Module):
    """Words to vectors. Padding would only be masked away again, so it is left out."""

    def __init__(self, config: Umt5Config | None = None) -> None:
        super().__init__()
        c = config or Umt5Config()
        self.token_embedding = nn.Embedding(c.vocabulary, c.width)
        self.blocks = nn.ModuleList(EncoderBlock(c) for _ in range(c.layers))
        self.norm = RmsNorm(c.width, EPS)

    @torch.no_grad()
    def forward(self, ids: Tensor) -> Tensor:
        """Vectors [n, width] of token ``ids`` [n], the end token included."""
        x = self.token_embedding(ids)
        buckets = relative_buckets(len(ids)).to(ids.device)
        for block in self.blocks:
            x = block(x, buckets)
        return self.norm(x)
