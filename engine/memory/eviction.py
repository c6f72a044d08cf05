"""Which host slot goes when a new block needs one: that of the least recently used clean block (WorldPager III.D)."""

from __future__ import annotations

from itertools import islice

from worldpager.engine.memory.block import Block
from worldpager.engine.memory.block_table import BlockTable


def victims(table: BlockTable, count: int) -> list[Block]:
    """Up to ``count`` blocks whose host slots may go now, the coldest first. Pinned and moving blocks are never among them."""
    return list(islice((block for block in table.hosted if block.evictable), count))
