"""What KVMem has to beat: the newest blocks, any blocks, and blocks that share words with the question (BM25)."""

from __future__ import annotations

import math
import random
import re
from collections import Counter
from collections.abc import Iterable

import numpy as np

from worldpager.engine.retrieval.text_query import KeysOf, NewBlocks, Ranking, TextQuery
from worldpager.engine.types import BlockId


class NewestText:
    """``recency``: the newest blocks."""

    name = "recency"

    def __init__(self) -> None:
        self._ids: dict[BlockId, None] = {}

    def __len__(self) -> int:
        return len(self._ids)

    def add(self, blocks: NewBlocks) -> None:
        """See `TextPolicy`."""
        self._ids.update(dict.fromkeys(blocks.ids))

    def drop(self, blocks: Iterable[BlockId]) -> None:
        """See `TextPolicy`."""
        for number in blocks:
            self._ids.pop(number, None)

    def rank(self, query: TextQuery, wanted: int, exclude: Iterable[BlockId], keys_of: KeysOf) -> Ranking:
        """The newer the better."""
        ids = np.fromiter(self._ids, np.int64, len(self._ids))
        return Ranking(ids, ids.argsort().argsort().astype(np.float32))


class AnyText(NewestText):
    """``random``: drawn anew for each question, from a seed and the question's words."""

    name = "random"

    def __init__(self, seed: int = 0) -> None:
        super().__init__()
        self._seed = seed

    def rank(self, query: TextQuery, wanted: int, exclude: Iterable[BlockId], keys_of: KeysOf) -> Ranking:
        """Random scores."""
        draw = random.Random(f"{self._seed} {query.text}")
        ids = np.fromiter(self._ids, np.int64, len(self._ids))
        return Ranking(ids, np.array([draw.random() for _ in ids], np.float32))


class Bm25:
    """``bm25``: words in common with the question, rare ones counting more (Robertson and Zaragoza's weights, k1 1.2, b 0.75)."""

    name = "bm25"
    k1, b = 1.2, 0.75

    def __init__(self) -> None:
        self._words: dict[BlockId, Counter[str]] = {}
        self._holding: Counter[str] = Counter()
        self._length = 0

    def __len__(self) -> int:
        return len(self._words)

    def add(self, blocks: NewBlocks) -> None:
        """See `TextPolicy`."""
        for number, text in zip(blocks.ids, blocks.texts, strict=True):
            counted = Counter(words_of(text))
            self._words[number] = counted
            self._holding.update(counted.keys())
            self._length += counted.total()

    def drop(self, blocks: Iterable[BlockId]) -> None:
        """See `TextPolicy`."""
        for number in blocks:
            counted = self._words.pop(number, None)
            if counted is not None:
                self._holding.subtract(counted.keys())
                self._length -= counted.total()

    def rank(self, query: TextQuery, wanted: int, exclude: Iterable[BlockId], keys_of: KeysOf) -> Ranking:
        """BM25 scores."""
        asked = set(words_of(query.text))
        count = len(self._words)
        mean = self._length / count if count else 1.0
        weight = {w: math.log(1 + (count - self._holding[w] + 0.5) / (self._holding[w] + 0.5)) for w in asked}

        def score(counted: Counter[str]) -> float:
            fill = self.k1 * (1 - self.b + self.b * counted.total() / max(mean, 1e-9))
            return sum(weight[w] * counted[w] * (self.k1 + 1) / (counted[w] + fill) for w in asked if w in counted)

        return Ranking(np.fromiter(self._words, np.int64, count), np.array([score(c) for c in self._words.values()], np.float32))


def words_of(text: str) -> list[str]:
    """Words and numbers, in lower case."""
    return re.findall(r"\w+", text.lower())
