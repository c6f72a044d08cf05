"""Two stages: the index names a shortlist, the blocks' own keys decide.

A mean hides the one token that matters among 32. The shortlist is a few times what fits; its keys are fetched as they are stored and every
token is scored. With ``power`` 2 (the policy ``focused``) both stages square each head's shares, so that the few heads that look something
up outvote the many that look everywhere. Sink and recent blocks, which every view holds anyway, are left out of the softmax.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
import torch
from torch import Tensor

from worldpager.engine.retrieval.mean_k_index import MeanKeyIndex
from worldpager.engine.retrieval.text_query import KeysOf, NewBlocks, Ranking, TextQuery
from worldpager.engine.types import BlockId

SHORTLIST = 4
"""Times the wanted blocks."""


class RescoredMeanK:
    """``rescored``, or with ``power`` 2 ``focused``: exact shares for the best of ``index``."""

    def __init__(self, index: MeanKeyIndex, power: int = 1, shortlist: int = SHORTLIST) -> None:
        self.name = "rescored" if power == 1 else "focused"
        self.index, self._power, self._shortlist = index, power, shortlist

    def __len__(self) -> int:
        return len(self.index)

    def add(self, blocks: NewBlocks) -> None:
        """See `TextPolicy`."""
        self.index.add(blocks.ids, self.index.means(blocks.keys))

    def drop(self, blocks: Iterable[BlockId]) -> None:
        """See `TextPolicy`."""
        self.index.drop(blocks)

    def rank(self, query: TextQuery, wanted: int, exclude: Iterable[BlockId], keys_of: KeysOf) -> Ranking:
        """See `TextPolicy`. Blocks outside the shortlist, and those that can't be had, come behind all that were rescored."""
        first = Ranking(*self.index.shares(query.queries, exclude, self._power))
        listed, keys = keys_of(sorted(first.best(wanted * self._shortlist)))
        if not listed:
            return first
        scores = first.scores - first.scores.max() - 1.0
        scores[np.searchsorted(first.ids, listed)] = exact_shares(query.queries, keys, self._power).numpy()
        return Ranking(first.ids, scores)


@torch.inference_mode()
def exact_shares(queries: Tensor, keys: Tensor, power: int = 1) -> Tensor:
    """Shares of attention among blocks whose every token counts: float32 [blocks], in sum 1 unless squared (see `MeanKeyIndex.shares`).

    ``queries`` [layers, n, heads, head_dim], ``keys`` [layers, blocks, tokens, kv_heads, head_dim], both before any position.
    """
    layers, n, heads, d = queries.shape
    blocks, tokens, kv_heads = keys.shape[1:4]
    total = torch.zeros(blocks, dtype=torch.float64, device=keys.device)
    for layer in range(layers):
        q = queries[layer].to(keys.device, torch.float32).view(n, kv_heads, -1, d).permute(1, 0, 2, 3).reshape(kv_heads, -1, d)
        k = keys[layer].float().flatten(0, 1).permute(1, 2, 0)
        share = torch.softmax(q @ k / math.sqrt(d), -1).unflatten(-1, (blocks, tokens)).sum(-1)
        total += (share if power == 1 else share.pow_(power)).sum((0, 1))
    return (total / (layers * n * heads)).float().cpu()
