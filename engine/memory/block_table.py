"""All blocks by id, in order of use. Knows no bytes; only the generator thread touches it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from worldpager.engine.memory.block import Block
from worldpager.engine.memory.tier import Stamp
from worldpager.engine.types import BlockId


class BlockTable:
    """Blocks, and apart from them those in host slots, from the least to the most recently used."""

    def __init__(self) -> None:
        self._blocks: dict[BlockId, Block] = {}
        self._hosted: dict[BlockId, Block] = {}
        self._leaving: dict[BlockId, Block] = {}
        self._next = 0

    def __len__(self) -> int:
        return len(self._blocks)

    def __iter__(self) -> Iterator[Block]:
        return iter(self._blocks.values())

    @property
    def hosted(self) -> Iterator[Block]:
        """Blocks in host slots, the coldest first."""
        return iter(self._hosted.values())

    def add(self, host: int) -> Block:
        """A new block, complete in a host slot. Ids rise and are never used twice."""
        block = Block(BlockId(self._next), host=host)
        self._next += 1
        self._blocks[block.id] = self._hosted[block.id] = block
        return block

    def adopt(self, number: BlockId, disk: int, stamp: Stamp, references: int) -> None:
        """A block of an earlier run, complete on disk."""
        self._blocks[number] = Block(number, disk=disk, stamp=stamp, references=references)
        self.count_from(number + 1)

    def share(self, ids: Iterable[BlockId]) -> None:
        """One more branch holds these blocks. Raises `ValueError`, before anything changes, when one is unknown."""
        ids = list(ids)
        unknown = sorted(set(ids) - self._blocks.keys())
        if unknown:
            raise ValueError(f"blocks {unknown} are unknown and can't be shared")
        for number in ids:
            self._blocks[number].references += 1

    def count_from(self, number: int) -> None:
        """Ids below ``number`` are never given to a new block."""
        self._next = max(self._next, number)

    def get(self, number: BlockId) -> Block | None:
        """The block of this id, or None when it is unknown or dropped."""
        return self._blocks.get(number)

    def touch(self, block: Block) -> None:
        """It was used just now."""
        if block.host is not None:
            self._hosted[block.id] = self._hosted.pop(block.id)

    def evict(self, block: Block) -> int:
        """Forget the host copy of a block and return its slot. It must be on disk, idle and unpinned."""
        assert block.evictable, f"block {block.id} must not be evicted: {block}"
        slot, block.host = block.host, None
        assert slot is not None
        del self._hosted[block.id]
        return slot

    def remove(self, block: Block) -> None:
        """Forget a block. While workers move it, it stays among the leaving ones, with its slots."""
        del self._blocks[block.id]
        self._hosted.pop(block.id, None)
        block.dropped = True
        if block.moving:
            self._leaving[block.id] = block

    def left(self, block: Block) -> None:
        """The last move of a removed block has ended."""
        del self._leaving[block.id]

    def everything(self) -> list[Block]:
        """Blocks and leaving ones."""
        return [*self._blocks.values(), *self._leaving.values()]

    def check(self) -> None:
        """AssertionError when a block breaks the rules that need no bytes."""
        for block in self._blocks.values():
            assert block.complete, f"block {block.id} has no complete copy"
            assert not block.dropped, f"block {block.id} is dropped but known"
            assert block.references > 0, f"block {block.id} is known but {block.references} branches hold it"
            assert (block.disk is None) == (block.stamp is None), f"block {block.id}: disk slot {block.disk} with stamp {block.stamp}"
        hosted = {block.id for block in self if block.host is not None}
        assert hosted == set(self._hosted), f"blocks in host slots {sorted(hosted)} but listed are {sorted(self._hosted)}"
        for block in self._leaving.values():
            assert block.dropped, f"block {block.id} is leaving but not dropped"
            assert block.moving, f"block {block.id} is leaving but nothing moves it"
            assert block.pins == 0, f"block {block.id} is leaving with {block.pins} pins"
        for block in self.everything():
            assert block.pins >= 0, f"block {block.id} has {block.pins} pins"
            assert block.writing is None or block.complete, f"block {block.id} is written from nowhere"
            assert block.staging is None or block.device is None, f"block {block.id} is staged twice"
            assert block.staging is None or block.complete, f"block {block.id} is staged from nowhere"
