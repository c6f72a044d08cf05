"""Which blocks a view holds: sink, recent, and the best of the rest; in order of time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from worldpager.engine.retrieval.text_query import Ranking
from worldpager.engine.types import BlockId


@dataclass(frozen=True, slots=True)
class Kept:
    """Blocks that every view holds."""

    sink: tuple[BlockId, ...]
    recent: tuple[BlockId, ...]

    @property
    def ids(self) -> tuple[BlockId, ...]:
        """Both, each block once, in order of time."""
        return tuple(dict.fromkeys((*self.sink, *self.recent)))


@dataclass(frozen=True, slots=True)
class Selection:
    """``ids`` in order of time; ``picked`` of them by score, best first; ``mass`` is their share of the ranking, NaN without shares."""

    ids: tuple[BlockId, ...]
    picked: tuple[BlockId, ...]
    mass: float


def kept_blocks(blocks: Sequence[BlockId], sink: int, recent: int) -> Kept:
    """The first ``sink`` and last ``recent`` of ``blocks``, which are in order of time."""
    return Kept(tuple(blocks[:sink]), tuple(blocks[max(sink, len(blocks) - recent) :]) if recent else ())


def select(ranking: Ranking, kept: Kept, room: int) -> Selection:
    """The kept blocks and up to ``room`` more."""
    picked = ranking.best(room, kept.ids)
    ids = sorted((*kept.ids, *picked))
    mass = float(ranking.scores[np.isin(ranking.ids, ids)].sum()) if ranking.shares else float("nan")
    return Selection(tuple(ids), tuple(picked), mass)
