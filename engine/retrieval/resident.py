"""What a memory without a disk would remember: retrieval among the blocks that are still in host memory.

For comparison. A block that has left host memory once is forgotten by this policy for good, although the disk still holds it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from worldpager.engine.retrieval.policy import RetrievalPolicy
from worldpager.engine.telemetry.snapshot import COPY_HOST
from worldpager.engine.types import BlockId, Pose


class HostOnly:
    """The policy ``host-only``: ``inner`` over the blocks with a copy in host memory, as ``copies_of`` tells."""

    def __init__(self, inner: RetrievalPolicy, copies_of: Callable[[NDArray[np.int64]], NDArray[np.uint8]]) -> None:
        self._inner, self._copies_of = inner, copies_of
        self._ids: list[BlockId] = []

    def __len__(self) -> int:
        return len(self._inner)

    def add(self, block: BlockId, poses: Sequence[Pose]) -> None:
        """Remember that ``block`` was seen from ``poses``."""
        self._ids.append(block)
        self._inner.add(block, poses)
        self._forget_gone()

    def drop(self, blocks: Iterable[BlockId]) -> None:
        """Forget ``blocks``; unknown ones are ignored."""
        gone = set(blocks)
        self._ids = [block for block in self._ids if block not in gone]
        self._inner.drop(gone)

    def clear(self) -> None:
        """Forget everything."""
        self._ids.clear()
        self._inner.clear()

    def select(self, poses: Sequence[Pose], k: int, exclude: Iterable[BlockId] = (), *, under_way: Sequence[Pose] = ()) -> list[BlockId]:
        """At most ``k`` blocks in host memory for a chunk at ``poses``, best first."""
        self._forget_gone()
        return self._inner.select(poses, k, exclude, under_way=under_way)

    def select_each(
        self, futures: Sequence[Sequence[Pose]], k: int, exclude: Iterable[BlockId] = (), *, under_way: Sequence[Pose] = ()
    ) -> list[list[BlockId]]:
        """`select` for each of several chunks."""
        self._forget_gone()
        return self._inner.select_each(futures, k, exclude, under_way=under_way)

    def _forget_gone(self) -> None:
        """Drop what has left host memory; called at every chunk, so that the list stays as short as host memory is small."""
        copies = self._copies_of(np.array(self._ids, np.int64))
        gone = [block for block, bits in zip(self._ids, copies.tolist(), strict=True) if not bits & COPY_HOST]
        if gone:
            self.drop(gone)
