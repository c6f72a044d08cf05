"""KVMem's policy: blocks by the share of attention that their mean keys promise; and the same with several means a block."""

from __future__ import annotations

from collections.abc import Iterable

from worldpager.engine.retrieval.mean_k_index import MeanKeyIndex
from worldpager.engine.retrieval.text_query import KeysOf, NewBlocks, Ranking, TextQuery
from worldpager.engine.types import BlockId


class MeanK:
    """One mean a block is the paper's way (``mean-k``); four have a quarter of its dilution (``prototypes``)."""

    def __init__(self, index: MeanKeyIndex) -> None:
        self.name = "mean-k" if index.prototypes == 1 else "prototypes"
        self.index = index

    def __len__(self) -> int:
        return len(self.index)

    def add(self, blocks: NewBlocks) -> None:
        """See `TextPolicy`."""
        self.index.add(blocks.ids, self.index.means(blocks.keys))

    def drop(self, blocks: Iterable[BlockId]) -> None:
        """See `TextPolicy`."""
        self.index.drop(blocks)

    def rank(self, query: TextQuery, wanted: int, exclude: Iterable[BlockId], keys_of: KeysOf) -> Ranking:
        """Shares of attention; needs no keys."""
        return Ranking(*self.index.shares(query.queries), shares=True)
