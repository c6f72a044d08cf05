"""A layer of the tiny network for one sequence on a CPU, in buffers that are made once: the same sums as `network.Layer`, but no memory
is taken and given back on the way, which costs a CPU about as much as the sums' small parts themselves.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from worldpager.engine.models.tiny.network import HEAD, PAIRS, Layer, TinyConfig


@dataclass(frozen=True, slots=True)
class Turns:
    """Rotations of a chunk's tokens as complex numbers [N, heads, 32]: of queries and keys, of values, and back."""

    turn: Tensor
    still: Tensor
    back: Tensor

    @classmethod
    def of(cls, rotation: tuple[Tensor, Tensor]) -> Turns:
        """From what `Geometry.rotations` gives for one sequence."""
        turn, still = (torch.view_as_complex(r[0].contiguous()) for r in rotation)
        return cls(turn, still, still.conj().resolve_conj())


def as_pairs(x: Tensor) -> Tensor:
    """Channel pairs of ``x`` [..., 64] as complex numbers [..., 32] in the same place."""
    return torch.view_as_complex(x.unflatten(-1, (PAIRS, 2)))


class LayerBuffers:
    """Room for one layer's work on N tokens that look at no more than ``seen`` tokens."""

    def __init__(self, config: TinyConfig, seen: int) -> None:
        tokens, heads = config.tokens, config.heads
        self._normed = torch.empty(tokens, config.width)
        self._qkv = torch.empty(tokens, 3 * config.width)
        self._query = torch.empty(heads, tokens, HEAD)
        self._scores = torch.empty(heads * tokens * seen)
        self._attended = torch.empty(heads, tokens, HEAD)
        self._hidden = torch.empty(tokens, config.hidden)
        self.all = (self._normed, self._qkv, self._query, self._scores, self._attended, self._hidden)

    def project(self, layer: Layer, x: Tensor, turns: Turns, keys: Tensor, values: Tensor) -> None:
        """Write the turned keys and values of ``x`` [N, width] to ``keys`` and ``values`` [heads, N, 64]; keep the queries."""
        heads = len(keys)
        torch.mm(self._norm(x), layer.qkv.weight.t(), out=self._qkv)
        parts = self._qkv.view(len(x), 3 * heads, HEAD)
        both = parts[:, : 2 * heads]
        # Queries get the layer's sharpness and attention's 1 / sqrt(64); their RMS is their length over sqrt(64).
        wanted = torch.cat([layer.sharpness.exp(), torch.full_like(layer.sharpness, HEAD**0.5)])
        both.mul_((wanted / torch.linalg.vector_norm(both, dim=-1).clamp_min(1e-6))[..., None])
        query, key, value = as_pairs(parts).split(heads, 1)
        for source, turn, to in ((query, turns.turn, self._query), (key, turns.turn, keys), (value, turns.still, values)):
            torch.mul(source, turn, out=as_pairs(to).transpose(0, 1))

    def finish(self, layer: Layer, x: Tensor, turns: Turns, keys: Tensor, values: Tensor) -> None:
        """Let the kept queries look at ``keys`` and ``values`` [heads, M, 64], then the MLP; ``x`` changes in place."""
        heads, tokens, _ = self._query.shape
        scores = self._scores[: heads * tokens * keys.shape[1]].view(heads, tokens, keys.shape[1])
        torch.bmm(self._query, keys.transpose(1, 2), out=scores)
        torch.softmax(scores, -1, out=scores)
        torch.bmm(scores, values, out=self._attended)
        mixed = as_pairs(self._normed.view(tokens, heads, HEAD))
        torch.mul(as_pairs(self._attended).transpose(0, 1), turns.back, out=mixed)
        x.addmm_(self._normed, layer.out.weight.t())
        torch.mm(self._norm(x), layer.up.weight.t(), out=self._hidden)
        self._hidden.relu_()
        self._hidden.mul_(self._hidden)
        x.addmm_(self._hidden, layer.down.weight.t())

    def _norm(self, x: Tensor) -> Tensor:
        """``x`` [N, width] over its RMS."""
        scale = x.shape[1] ** 0.5 / torch.linalg.vector_norm(x, dim=-1, keepdim=True).clamp_min(1e-6)
        return torch.mul(x, scale, out=self._normed)
