"""Forward pass of a Llama- or Qwen3-class model over an execution view.

Keys leave the projection without a position: that is what the memory stores. They are rounded to bfloat16 at birth, on every machine, so
that a key that comes back from a bf16 store is the very number that the view held, and turned once, in float32, on their way into the view.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from worldpager.engine.errors import ModelError
from worldpager.engine.models.causal_lm.config import LMConfig
from worldpager.engine.models.causal_lm.rotary import Turns, rotated
from worldpager.engine.models.causal_lm.view import ExecutionView
from worldpager.engine.models.causal_lm.weights import Layer, LMWeights

TILE = 256
"""Query tokens whose attention is reckoned at once: bounds the mask."""


@dataclass(frozen=True, slots=True)
class Pass:
    """What one forward pass over n tokens yields.

    ``logits`` float32 [1 or n, vocab] (None when not asked for); ``keys``, ``values`` bfloat16 [layers, n, kv_heads, head_dim] without
    positions and ``queries`` float32 [layers, n, heads, head_dim] likewise, as far as asked for.
    """

    logits: Tensor | None
    keys: Tensor | None
    values: Tensor | None
    queries: Tensor | None


class CausalLM:
    """A model with its weights on one device. One thread at a time."""

    def __init__(self, config: LMConfig, weights: LMWeights) -> None:
        self.config, self._weights = config, weights
        self.device, self.dtype = weights.embedding.device, weights.embedding.dtype
        self.turns = Turns(config.head_dim, config.rope_base, self.device)

    def new_view(self, capacity: int) -> ExecutionView:
        """An empty view of ``capacity`` tokens."""
        return ExecutionView(self.config, capacity, self.device, self.dtype)

    def sample(self) -> Tensor:
        """A few of the model's numbers, by which it can be told from others."""
        return self._weights.layers[-1].down[:8, :64]

    @torch.inference_mode()
    def forward(
        self, tokens: Tensor, view: ExecutionView, *, logits: str = "last", keep: bool = False, queries: bool = False
    ) -> Pass:
        """Run ``tokens`` int64 [n] at the end of ``view`` and append them to it.

        ``logits``: "last", "all" or "none". ``keep`` returns position-free keys and values, ``queries`` position-free queries. Raises
        `ModelError` when the view is too short.
        """
        n, start = len(tokens), view.length
        if start + n > view.capacity:
            raise ModelError(f"{start + n} tokens don't fit a view of {view.capacity}.", "Choose a smaller budget or a shorter question.")
        turns = self.turns.at(start, n)
        tiles = [(first, min(first + TILE, n), _mask(first, min(first + TILE, n), start, self.config.group, self.device))
                 for first in range(0, n, TILE)]  # fmt: skip
        x = F.embedding(tokens.to(self.device), self._weights.embedding)
        kept: tuple[list[Tensor], list[Tensor], list[Tensor]] = ([], [], [])
        for number, layer in enumerate(self._weights.layers):
            q, k, v = self._project(layer, x)
            view.keys[number, start : start + n] = rotated(k, turns).to(self.dtype)
            view.values[number, start : start + n] = v
            for wanted, numbers, made in zip((keep, keep, queries), kept, (k, v, q), strict=True):
                if wanted:
                    numbers.append(made)
            mixed = self._attend(rotated(q, turns).to(self.dtype), view.keys[number], view.values[number], tiles, start)
            x = x + F.linear(mixed, layer.out)
            x = x + self._mlp(layer, x)
        view.length = start + n
        keys, values, asked = (torch.stack(made) if made else None for made in kept)
        return Pass(self._logits(x, logits), keys, values, asked)

    def _project(self, layer: Layer, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Queries float [n, heads, head_dim]; keys and values as bfloat16 numbers [n, kv_heads, head_dim]."""
        c = self.config
        stacked = F.linear(self._norm(x, layer.attention_norm), layer.qkv).unflatten(-1, (-1, c.head_dim))
        q, k, v = stacked.split([c.heads, c.kv_heads, c.kv_heads], 1)
        if layer.q_norm is not None and layer.k_norm is not None:
            q, k = self._norm(q, layer.q_norm), self._norm(k, layer.k_norm)
        return q.float(), k.to(torch.bfloat16), v.to(torch.bfloat16)

    def _attend(self, q: Tensor, keys: Tensor, values: Tensor, tiles: list[tuple[int, int, Tensor | None]], start: int) -> Tensor:
        """Causal attention of ``q`` [n, heads, head_dim] to a layer of the view: [n, width]. Heads of a group are stacked as rows."""
        c = self.config
        grouped = q.unflatten(1, (c.kv_heads, c.group)).permute(1, 2, 0, 3)
        mixed = []
        for first, last, mask in tiles:
            rows = grouped[:, :, first:last].flatten(1, 2)[None]
            k, v = (x[: start + last].transpose(0, 1)[None] for x in (keys, values))
            out = F.scaled_dot_product_attention(rows, k, v, attn_mask=mask)[0]
            mixed.append(out.unflatten(1, (c.group, last - first)).permute(2, 0, 1, 3).flatten(1))
        return torch.cat(mixed)

    def _mlp(self, layer: Layer, x: Tensor) -> Tensor:
        gate, up = F.linear(self._norm(x, layer.mlp_norm), layer.gate_up).chunk(2, -1)
        return F.linear(F.silu(gate) * up, layer.down)

    def _norm(self, x: Tensor, weight: Tensor) -> Tensor:
        return F.rms_norm(x.float(), (x.shape[-1],), weight.float(), self.config.norm_eps).to(self.dtype)

    def _logits(self, x: Tensor, which: str) -> Tensor | None:
        if which == "none":
            return None
        return F.linear(self._norm(x if which == "all" else x[-1:], self._weights.norm), self._weights.head).float()


def _mask(first: int, last: int, start: int, group: int, device: torch.device) -> Tensor | None:
    """Which keys queries [first, last) after ``start`` earlier ones may see: bool [1, group * queries, keys]; None for a single query."""
    if last - first == 1:
        return None
    seen = torch.arange(start + last, device=device) <= torch.arange(start + first, start + last, device=device)[:, None]
    return seen.repeat(group, 1)[None]
