"""Background writing of cold dirty blocks to disk, so that host slots can be had at once when new blocks come (WorldPager III.D).

A kept world is written through: every block, oldest first, as soon as it is there.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import islice

from torch import Tensor

from worldpager.engine.memory.block import Block
from worldpager.engine.memory.block_table import BlockTable
from worldpager.engine.memory.eviction import victims
from worldpager.engine.memory.host_tier import HostTier
from worldpager.engine.memory.tally import Tally
from worldpager.engine.memory.tier import Purpose, Stamp, Tier, reason
from worldpager.engine.memory.transfer import Move, Outcome, Transfers

FIRST_PAUSE, LONGEST_PAUSE = 1.0, 30.0
"""Seconds without writing after a failure; each further failure doubles them."""
UNDER_WAY = 4
"""Writes that writing through has queued at once."""


class WriteBack:
    """Keeps at least ``watermark`` host slots free or reclaimable. ``clock`` in seconds.

    With ``first_generation`` it writes through, and numbers its writings from there.
    """

    def __init__(
        self,
        table: BlockTable,
        host: HostTier,
        disk: Tier,
        transfers: Transfers,
        tally: Tally,
        watermark: int,
        clock: Callable[[], float],
        first_generation: int | None = None,
    ) -> None:
        self._table, self._host, self._disk, self._transfers, self._tally = table, host, disk, transfers, tally
        self._watermark, self._clock = watermark, clock
        self._moves: dict[Block, Move] = {}
        self._through = first_generation is not None
        self._generation = first_generation or 0
        self._unwritten: dict[Block, None] = {}
        self._durable: list[Block] = []
        self._pause = 0.0
        self._resume_at = 0.0
        self._failure = ""
        self._disk_full = False

    @property
    def note(self) -> str:
        """The degradation in force, or nothing."""
        if self._failure:
            return f"{self._disk.name} not written: {self._failure}; main memory goes on with {self._host.capacity} blocks"
        if self._disk_full:
            return f"{self._disk.name} full: {self._disk.capacity} blocks; new ones are kept while main memory has room"
        return ""

    @property
    def unwritten(self) -> int:
        """Blocks that writing through has still to write."""
        return len(self._unwritten) + len(self._moves)

    def expect(self, block: Block) -> None:
        """A new dirty block."""
        if self._through:
            self._unwritten[block] = None

    def take_durable(self) -> list[Block]:
        """Blocks written through since the last call that are still there."""
        durable, self._durable = self._durable, []
        return [block for block in durable if not block.dropped]

    def hurry(self) -> None:
        """Don't pause any longer after a failure."""
        self._resume_at = self._clock()

    def run(self) -> None:
        """Start as many writes as the watermark asks for, or writing through has to do."""
        self._disk_full = False
        if self._clock() >= self._resume_at:
            self._start(list(islice(self._unwritten, UNDER_WAY - len(self._moves))) if self._through else self._cold())

    def _cold(self) -> list[Block]:
        """The coldest dirty blocks, as many as the watermark is short of."""
        short = self._watermark - (self._host.capacity - self._host.used) - len(self._moves)
        if short <= 0:
            return []
        short -= len(victims(self._table, short))
        return list(islice((block for block in self._table.hosted if block.dirty and block.writing is None), max(0, short)))

    def _start(self, blocks: list[Block]) -> None:
        """Queue the writes of ``blocks`` as far as slots go."""
        moves = []
        for block in blocks:
            slot = self._disk.allocate()
            if slot is None:
                self._disk_full = True
                break
            self._unwritten.pop(block, None)
            moves.append(self._writing(block, slot))
        self._transfers.submit(moves)

    def finish(self, outcome: Outcome) -> None:
        """A write has ended: the block is clean, or dirty as before and the slot given back."""
        block = outcome.move.block
        del self._moves[block]
        slot, block.writing = block.writing, None
        assert slot is not None
        if outcome.error is None:
            block.disk, block.stamp = slot, outcome.stamp
            self._pause, self._failure = 0.0, ""
            self._tally.spilled_blocks += 1
            self._tally.disk_written_bytes += outcome.move.bytes
            if self._through:
                self._durable.append(block)
        else:
            self._disk.free(slot)
            if self._through and not block.dropped:
                self._unwritten = {block: None, **self._unwritten}
            self._pause = min(LONGEST_PAUSE, max(FIRST_PAUSE, 2 * self._pause))
            self._resume_at = self._clock() + self._pause
            self._failure = reason(outcome.error)

    def withdraw(self, block: Block) -> None:
        """Give up the queued write of a block that is dropped; one that has begun goes on."""
        self._unwritten.pop(block, None)
        move = self._moves.get(block)
        if move is not None and self._transfers.withdraw({move}):
            assert block.writing is not None
            self._disk.free(block.writing)
            block.writing = None
            del self._moves[block]

    def _writing(self, block: Block, slot: int) -> Move:
        """The move that fills disk slot ``slot``, now the block's."""
        assert block.host is not None
        self._generation += 1
        block.writing = slot
        work = partial(self._write, self._host.bytes_of(block.host), slot, block.id, self._generation)
        self._moves[block] = move = Move(Purpose.WRITE_BACK, block, self._disk.slot_bytes, work)
        return move

    def _write(self, record: Tensor, slot: int, block: int, generation: int) -> Stamp:
        """On a worker."""
        return self._disk.write(slot, record, Stamp(block, generation, b""))
