"""What happens when the disk tier is full: the least useful blocks go for new ones, or new ones aren't kept. The user chooses.

What is useful the memory can't know: whoever knows where blocks were seen from ranks them. Without a ranking the oldest go first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from worldpager.engine.errors import InputError
from worldpager.engine.memory.block import Block
from worldpager.engine.memory.block_table import BlockTable
from worldpager.engine.memory.tally import Tally
from worldpager.engine.types import BlockId

DROP, STOP = "drop-least-useful", "stop-keeping"
POLICIES = (DROP, STOP)
SAMPLE = 64
"""Blocks that are ranked at once, spread over all ages: ranking them must not hold up the street."""

Ranking = Callable[[Sequence[BlockId]], Sequence[BlockId]]
"""Orders blocks, the least useful first."""


class MakingRoom:
    """The policy in force. ``remove`` forgets a block, bytes and all. Raises `InputError` for an unknown policy.

    With None scratch worlds drop, and kept ones, which were promised to last, stop.
    """

    def __init__(self, policy: str | None, kept: bool, table: BlockTable, tally: Tally, remove: Callable[[Block], None]) -> None:
        if policy not in (None, *POLICIES):
            raise InputError(f"There is no disk policy {policy!r}.", f"Choose {DROP} or {STOP}.")
        self._chosen, self.policy = policy, policy or (STOP if kept else DROP)
        self._table, self._tally, self._remove = table, tally, remove
        self._rank: Ranking = sorted
        self._turn = 0

    @property
    def note(self) -> str:
        """What has been done so far, or nothing."""
        dropped = self._tally.blocks_dropped
        return f"disk full: {dropped} of the least useful blocks went for new ones" if dropped else ""

    def rank_by(self, ranking: Ranking) -> None:
        """Let ``ranking`` say what is least useful."""
        self._rank = ranking

    def keep(self) -> None:
        """The world is kept from now on."""
        self.policy = self._chosen or STOP

    def __call__(self) -> bool:
        """Drop the least useful block that lies on disk alone and idle. False when there is none, or the policy is to stop."""
        if self.policy != DROP:
            return False
        idle = [block.id for block in self._table if block.host is None and block.pins == 0 and not block.moving and block.references == 1]
        stride = max(1, len(idle) // SAMPLE)
        self._turn += 1
        sample = idle[self._turn % stride :: stride]
        victim = self._table.get(self._rank(sample)[0]) if sample else None
        if victim is None:
            return False
        self._remove(victim)
        self._tally.blocks_dropped += 1
        return True
