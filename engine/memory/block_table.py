"""Block id to block, in the order of their birth; the order of last use; nothing about bytes. Only the generator thread writes it."""

from __future__ import annotations

from collections.abc import Iterator

from worldpager.engine.memory.block import Block
from worldpager.engine.types import BlockId


class BlockTable:
    """All blocks of a store."""

    def __init__(self) -> None:
        self._blocks: dict[BlockId, Block] = {}
        self._next = 0
        self._turn = 0

    def __len__(self) -> int:
        return len(self._blocks)

    def __iter__(self) -> Iterator[Block]:
        return iter(self._blocks.values())

    def __contains__(self, block: BlockId) -> bool:
        return block in self._blocks

    def create(self) -> Block:
        """A new block with an id that was never used before."""
        block = Block(BlockId(self._next), generation=self._next + 1)
        self._next += 1
        self._blocks[block.id] = block
        self.touch(block)
        return block

    def get(self, block: BlockId) -> Block | None:
        """The block, or None if it is gone."""
        return self._blocks.get(block)

    def remove(self, block: Block) -> None:
        """Forget ``block``; its slots are the caller's business."""
        assert block.pins == 0, f"block {block.id} is pinned"
        del self._blocks[block.id]

    def touch(self, block: Block) -> None:
        """Mark ``block`` as used now."""
        self._turn += 1
        block.used = self._turn

    def coldest(self, blocks: Iterator[Block]) -> Block | None:
        """The one of ``blocks`` that was used longest ago, or None."""
        return min(blocks, key=lambda b: b.used, default=None)
