"""Memory off: nothing is ever brought back. Blocks are still stored, so that memory can be switched on again."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from worldpager.engine.types import BlockId, Pose


class NoRetrieval:
    """The policy ``none``."""

    def __len__(self) -> int:
        return 0

    def add(self, block: BlockId, poses: Sequence[Pose]) -> None:
        """Nothing to remember."""

    def drop(self, blocks: Iterable[BlockId]) -> None:
        """Nothing to forget."""

    def clear(self) -> None:
        """Nothing to forget."""

    def select(self, poses: Sequence[Pose], k: int, exclude: Iterable[BlockId] = (), *, under_way: Sequence[Pose] = ()) -> list[BlockId]:
        """Always empty."""
        return []

    def select_each(
        self, futures: Sequence[Sequence[Pose]], k: int, exclude: Iterable[BlockId] = (), *, under_way: Sequence[Pose] = ()
    ) -> list[list[BlockId]]:
        """The same for every future."""
        return [self.select((), k, exclude)] * len(futures)
