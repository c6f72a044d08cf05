"""Retrieval by age: the newest chunks that the window no longer holds. The baseline that pose overlap has to beat."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice

from worldpager.engine.types import BlockId, Pose


class Recency:
    """The recency policy: poses play no part."""

    def __init__(self) -> None:
        self._ids: dict[BlockId, None] = {}

    def __len__(self) -> int:
        return len(self._ids)

    def add(self, block: BlockId, poses: Sequence[Pose]) -> None:
        """Remember ``block`` as the newest."""
        self._ids[block] = None

    def drop(self, blocks: Iterable[BlockId]) -> None:
        """Forget ``blocks``; unknown ones are ignored."""
        for block in blocks:
            self._ids.pop(block, None)

    def clear(self) -> None:
        """Forget everything."""
        self._ids.clear()

    def select(self, poses: Sequence[Pose], k: int, exclude: Iterable[BlockId] = (), *, under_way: Sequence[Pose] = ()) -> list[BlockId]:
        """The newest ``k`` blocks that are not in ``exclude``."""
        banned = frozenset(exclude)
        return list(islice((block for block in reversed(self._ids) if block not in banned), k))

    def select_each(
        self, futures: Sequence[Sequence[Pose]], k: int, exclude: Iterable[BlockId] = (), *, under_way: Sequence[Pose] = ()
    ) -> list[list[BlockId]]:
        """The same for every future."""
        newest = self.select((), k, exclude)
        return [list(newest) for _ in futures]
