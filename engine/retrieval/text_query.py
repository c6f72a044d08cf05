"""What a policy over blocks of text must answer: which past blocks a question should see again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from worldpager.engine.types import BlockId


@dataclass(frozen=True, slots=True)
class TextQuery:
    """A question: its queries before any position, float [layers, tokens, heads, head_dim], and its words."""

    queries: Tensor
    text: str


@dataclass(frozen=True, slots=True)
class NewBlocks:
    """Sealed blocks: keys and values without positions, [layers, blocks, tokens, kv_heads, head_dim], and their words."""

    ids: tuple[BlockId, ...]
    keys: Tensor
    values: Tensor
    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Ranking:
    """A score for every block of an index, in no special order; the larger the more wanted.

    ``shares`` says whether scores estimate shares of attention, which sum to 1.
    """

    ids: NDArray[np.int64]
    scores: NDArray[np.float32]
    shares: bool = False

    def best(self, count: int, exclude: Iterable[BlockId] = ()) -> list[BlockId]:
        """The best ``count`` blocks outside ``exclude``, best first; equal scores: the older one first."""
        banned = np.fromiter(exclude, np.int64)
        order = np.lexsort((self.ids, -self.scores))
        ids = self.ids[order]
        if len(banned):
            ids = ids[~np.isin(ids, banned)]
        return [BlockId(int(number)) for number in ids[:count]]


KeysOf = Callable[[Sequence[BlockId]], tuple[list[BlockId], Tensor]]
"""Fetches blocks: those that can be had, and their keys without positions [layers, blocks, tokens, kv_heads, head_dim]."""


class TextPolicy(Protocol):
    """An index over blocks of text. One writer and reader: the workspace's thread."""

    @property
    def name(self) -> str:
        """As the user writes it."""
        ...

    def __len__(self) -> int:
        """Blocks in the index."""
        ...

    def add(self, blocks: NewBlocks) -> None:
        """Index blocks, which are new."""
        ...

    def drop(self, blocks: Iterable[BlockId]) -> None:
        """Forget blocks; unknown ones are ignored."""
        ...

    def rank(self, query: TextQuery, wanted: int, exclude: Iterable[BlockId], keys_of: KeysOf) -> Ranking:
        """Score all blocks for a question that has room for ``wanted`` of them beside ``exclude``. The index stays as it is."""
        ...
