"""Background writing of cold dirty blocks to disk, so that host slots can be had at once when new blocks come (WorldPager III.D).

A kept world is written through: every block, oldest first, as soon as it is there.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import islice

from worldpager.engine.memory.block import Block
from worldpager.engine.memory.block_table import BlockTable
from worldpager.engine.memory.eviction import victims
from worldpager.engine.memory.host_tier import HostTier
from worldpager.engine.memory.kept_tier import KeptTier
from worldpager.engine.memory.layout import aligned_bytes
from worldpager.engine.memory.moving_tier import MovingTier
from worldpager.engine.memory.tally import Tally
from worldpager.engine.memory.tier import Purpose, Stamp, Tier, reason, verify
from worldpager.engine.memory.transfer import Move, Outcome, Transfers

FIRST_PAUSE, LONGEST_PAUSE = 1.0, 30.0
"""Seconds without writing after a failure; each further failure doubles them."""
UNDER_WAY = 4
"""Writes that writing through has queued at once."""


class WriteBack:
    """Keeps at least ``watermark`` host slots free or reclaimable, or writes through once told to. ``clock`` in seconds."""

    def __init__(
        self,
        table: BlockTable,
        host: HostTier,
        disk: Tier,
        transfers: Transfers,
        tally: Tally,
        watermark: int,
        clock: Callable[[], float],
    ) -> None:
        self._table, self._host, self._disk, self._transfers, self._tally = table, host, disk, transfers, tally
        self._watermark, self._clock = watermark, clock
        self._moves: dict[Block, Move] = {}
        self._lasting: KeptTier | MovingTier | None = None
        self._generation = 0
        self._unwritten: dict[Block, None] = {}
        self._durable: list[Block] = []
        self.make_room: Callable[[], bool] = lambda: False
        """Tries to free a slot of a full disk tier."""
        self._pause = 0.0
        self._resume_at = 0.0
        self._failure = ""
        self._disk_full = False

    @property
    def note(self) -> str:
        """The degradation in force, or nothing."""
        if self._failure:
            state = "off" if self._pause >= LONGEST_PAUSE else "not written"
            return f"{self._disk.name} {state}: {self._failure}; main memory goes on with {self._host.capacity} blocks"
        if self._disk_full:
            return f"{self._disk.name} full: {self._disk.capacity} blocks; new ones are kept while main memory has room"
        return ""

    @property
    def unwritten(self) -> int:
        """Blocks that writing through has still to write."""
        return len(self._unwritten)

    def write_through(self, disk: KeptTier | MovingTier, first_generation: int) -> None:
        """From now on every block goes to ``disk`` as soon as it can, those that are there already first. Numbers its writings anew."""
        self._disk = self._lasting = disk
        self._generation = first_generation
        self._unwritten = {block: None for block in self._table if block.disk is None or not disk.lasts(block.disk)}

    def expect(self, block: Block) -> None:
        """A new dirty block."""
        if self._lasting is not None:
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
            self._start(self._oldest() if self._lasting is not None else self._cold())

    def _oldest(self) -> list[Block]:
        """The next blocks to be written through."""
        idle = (block for block in self._unwritten if block.writing is None and not block.landing)
        return list(islice(idle, max(0, UNDER_WAY - len(self._moves))))

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
            if slot is None and self.make_room():
                slot = self._disk.allocate()
            if slot is None:
                self._disk_full = True
                break
            moves.append(self._writing(block, slot))
        self._transfers.submit(moves)

    def finish(self, outcome: Outcome) -> None:
        """A write has ended: the block is clean, or dirty as before and the slot given back."""
        block = outcome.move.block
        del self._moves[block]
        slot, block.writing = block.writing, None
        assert slot is not None
        if outcome.error is None:
            if block.disk is not None:
                self._disk.free(block.disk)
            block.disk, block.stamp = slot, outcome.stamp
            self._pause, self._failure = 0.0, ""
            self._tally.spilled_blocks += 1
            self._tally.disk_written_bytes += outcome.move.bytes
            if self._lasting is not None and self._lasting.lasts(slot):
                self._durable.append(block)
                self._unwritten.pop(block, None)
        else:
            self._disk.free(slot)
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
        self._generation += 1
        block.writing = slot
        stamp = Stamp(block.id, self._generation, b"")
        if block.host is not None:
            work = partial(self._disk.write, slot, self._host.bytes_of(block.host), stamp)
        else:
            assert block.disk is not None
            assert block.stamp is not None
            work = partial(self._copy, self._disk, block.disk, block.stamp, slot, stamp)
        self._moves[block] = move = Move(Purpose.WRITE_BACK, block, self._disk.slot_bytes, work)
        return move

    def _copy(self, disk: Tier, source: int, held: Stamp, slot: int, stamp: Stamp) -> Stamp:
        """On a worker: from one slot of ``disk`` to another."""
        record = aligned_bytes(self._host.slot_bytes)
        disk.read(source, record, held, Purpose.WRITE_BACK)
        if not disk.verifies:
            verify(record, held)
        return disk.write(slot, record, stamp)
