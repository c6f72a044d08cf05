"""The two attentions of a Wan 2.1 block: their projections, and attention to a context that is made once."""

from __future__ import annotations

from torch import Tensor, nn

from worldpager.engine.models.wan.parts import RmsNorm, attention


class Projections(nn.Module):
    """Queries, keys, values, output, each [width, width]; queries and keys are normed over all heads together."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.q, self.k, self.v, self.o = (nn.Linear(width, width) for _ in range(4))
        self.norm_q, self.norm_k = RmsNorm(width), RmsNorm(width)

    def _split(self, x: Tensor) -> Tensor:
        return x.unflatten(-1, (self.heads, -1))

    def queries(self, x: Tensor) -> Tensor:
        """[tokens, heads, head_dim] of ``x`` [tokens, width]."""
        return self._split(self.norm_q(self.q(x)))

    def keys(self, x: Tensor) -> Tensor:
        """The same for keys, before any rotation."""
        return self._split(self.norm_k(self.k(x)))

    def values(self, x: Tensor) -> Tensor:
        """The same for values, which have no norm."""
        return self._split(self.v(x))


class CrossAttention(Projections):
    """Attention to a context that stays for many chunks, such as a text."""

    def context(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Keys and values of context ``x`` [n, width], each [n, heads, head_dim]: made once."""
        return self.keys(x), self.values(x)

    def forward(self, x: Tensor, keys: Tensor, values: Tensor) -> Tensor:
        """Answer for tokens ``x`` [tokens, width]."""
        return self.o(attention(self.queries(x), keys, values))
