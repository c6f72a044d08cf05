"""What a retrieval policy must answer: which past chunks a chunk at given poses should see again."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

from worldpager.engine.types import BlockId, Pose


class RetrievalPolicy(Protocol):
    """An index over the poses of stored blocks. One writer and reader: the generator thread. It knows no tensors and no tiers."""

    def __len__(self) -> int:
        """Blocks in the index."""
        ...

    def add(self, block: BlockId, poses: Sequence[Pose]) -> None:
        """Remember that ``block`` was seen from ``poses``, one per frame. Blocks are added once, in the order of their birth."""
        ...

    def drop(self, blocks: Iterable[BlockId]) -> None:
        """Forget ``blocks``; unknown ones are ignored."""
        ...

    def clear(self) -> None:
        """Forget everything."""
        ...

    def select(self, poses: Sequence[Pose], k: int, exclude: Iterable[BlockId] = (), *, under_way: Sequence[Pose] = ()) -> list[BlockId]:
        """At most ``k`` blocks for a chunk at ``poses``, best first, each once.

        ``exclude`` (sink, window) are never picked: the model sees them anyway. ``under_way`` are the poses of a chunk that will be in the
        window by then but has no block yet. The index stays as it is.
        """
        ...

    def select_each(
        self, futures: Sequence[Sequence[Pose]], k: int, exclude: Iterable[BlockId] = (), *, under_way: Sequence[Pose] = ()
    ) -> list[list[BlockId]]:
        """`select` for each of several chunks that are near each other; may be cheaper than one by one."""
        ...
