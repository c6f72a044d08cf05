"""Brings blocks to the staging slots before they are needed, and hands out the working set without ever waiting (WorldPager III.C).

`request` names what will likely be wanted, `take` what is wanted now. A wanted block that isn't at hand is missed: one of the last working
set stands in for it, and it is read at once for the next time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from worldpager.engine.memory.block import Block
from worldpager.engine.memory.block_table import BlockTable
from worldpager.engine.memory.device_tier import DeviceTier
from worldpager.engine.memory.host_tier import HostTier
from worldpager.engine.memory.tally import Tally
from worldpager.engine.memory.tier import Purpose, Stamp, Tier, verify
from worldpager.engine.memory.transfer import Move, Outcome, Transfers
from worldpager.engine.types import BlockId


@dataclass(frozen=True, slots=True)
class WorkingSet:
    """The blocks that a chunk uses: ``ids`` in order, stale ones in the places of ``missed`` ones as far as there are any."""

    ids: tuple[BlockId, ...]
    missed: tuple[BlockId, ...]
    stale: bool


class Prefetcher:
    """Owns the staging slots. With ``stage_hosted`` blocks in host memory are staged, too (a GPU); else they are at hand as they are."""

    def __init__(
        self,
        table: BlockTable,
        host: HostTier,
        device: DeviceTier,
        disk: Tier | None,
        transfers: Transfers,
        tally: Tally,
        *,
        stage_hosted: bool,
    ) -> None:
        self._table, self._host, self._device, self._disk = table, host, device, disk
        self._transfers, self._tally, self._stage_hosted = transfers, tally, stage_hosted
        self._moves: dict[Block, Move] = {}
        self._staged: dict[Block, None] = {}
        self._working: list[Block] = []
        self._missed: tuple[BlockId, ...] = ()

    @property
    def reading(self) -> bool:
        """Whether a worker has moves of ours."""
        return bool(self._moves)

    def use_disk(self, disk: Tier) -> None:
        """Read from another tier from now on, by the slots that blocks then have."""
        self._disk = disk

    def request(self, ranked: Sequence[BlockId]) -> None:
        """Read what the last `take` missed, then stage ``ranked``, most likely first, as far as slots go.

        Reads queued before that haven't begun are given up, if they aren't asked for again.
        """
        missed, ahead = self._known(self._missed), self._known(ranked)
        for block in reversed(ahead):
            self._touch(block)
        self._withdraw(list(self._moves))
        keep = {block.id for block in (*missed, *ahead)}
        purposes = dict.fromkeys(missed, Purpose.EXACT) | {block: Purpose.AHEAD for block in ahead if block.id not in self._missed}
        moves = []
        for block, purpose in purposes.items():
            if self._needs_staging(block):
                slot = self._room(keep)
                if slot is None:
                    break
                moves.append(self._reading(block, slot, purpose))
        self._transfers.submit(moves)

    def take(self, wanted: Sequence[BlockId]) -> WorkingSet:
        """The working set for ``wanted``: the blocks at hand, stale ones for the others. Bookkeeping alone; takes no lock."""
        wanted = tuple(dict.fromkeys(wanted))
        at_hand = {block.id: block for block in self._known(wanted) if block.hosted or block.device is not None}
        self._missed = tuple(number for number in wanted if number not in at_hand)
        spare = iter([block for block in self._working if block.id not in at_hand])
        used = [block for number in wanted if (block := at_hand.get(number) or next(spare, None))]
        self._count(len(wanted), len(self._missed), len(used) - len(at_hand))
        self._pin(used)
        return WorkingSet(tuple(block.id for block in used), self._missed, len(used) > len(at_hand))

    def finish(self, outcome: Outcome) -> None:
        """A read has ended: the block is staged, or not and the slot given back."""
        block = outcome.move.block
        del self._moves[block]
        slot, block.staging = block.staging, None
        assert slot is not None
        if outcome.error is None and not block.dropped:
            block.device, block.taken = slot, False
            self._staged[block] = None
        else:
            self._device.free(slot)

    def forget(self, block: Block) -> None:
        """Let go of a block that is dropped, as far as no worker holds it."""
        if block in self._working:
            self._working.remove(block)
            block.pins -= 1
        self._withdraw([block])
        if block.device is not None:
            self._free_staged(block)

    def check(self) -> None:
        """AssertionError when pins or lists are wrong."""
        everything = self._table.everything()
        assert {block for block in everything if block.staging is not None} == set(self._moves), "moves and claimed staging slots differ"
        assert {block for block in everything if block.device is not None} == set(self._staged), "staged list and staged blocks differ"
        pins = {block.id: block.pins for block in everything if block.pins}
        assert pins == {block.id: 1 for block in self._working}, f"pins {pins} but working set {[block.id for block in self._working]}"
        for block in self._working:
            assert block.host is not None or block.device is not None, f"block {block.id} is in the working set but not at hand"

    def _known(self, ids: Sequence[BlockId]) -> list[Block]:
        return [block for number in dict.fromkeys(ids) if (block := self._table.get(number))]

    # Working set

    def _pin(self, used: list[Block]) -> None:
        for block in used:
            block.pins += 1
            block.taken = True
            self._touch(block)
        for block in self._working:
            block.pins -= 1
        self._working = used

    def _count(self, wanted: int, missed: int, stale: int) -> None:
        self._tally.blocks_wanted += wanted
        self._tally.blocks_missed += missed
        self._tally.prefetch_hits += wanted - missed
        self._tally.stale_uses += stale

    def _touch(self, block: Block) -> None:
        self._table.touch(block)
        if block in self._staged:
            self._staged[block] = self._staged.pop(block)

    # Staging

    def _needs_staging(self, block: Block) -> bool:
        return block.device is None and block.staging is None and not block.landing and (block.host is None or self._stage_hosted)

    def _room(self, keep: set[BlockId]) -> int | None:
        """A free staging slot, if need be that of the least recently used block which is neither pinned nor in ``keep``."""
        slot = self._device.allocate()
        if slot is None:
            victim = next((block for block in self._staged if block.pins == 0 and block.id not in keep), None)
            if victim is None:
                return None
            self._tally.prefetch_wasted += not victim.taken
            self._free_staged(victim)
            slot = self._device.allocate()
        return slot

    def _free_staged(self, block: Block) -> None:
        assert block.device is not None
        self._device.free(block.device)
        block.device = None
        del self._staged[block]

    def _withdraw(self, blocks: list[Block]) -> None:
        """Give up the reads of ``blocks`` that haven't begun."""
        for move in self._transfers.withdraw({move for block in blocks if (move := self._moves.get(block))}):
            assert move.block.staging is not None
            self._device.free(move.block.staging)
            move.block.staging = None
            del self._moves[move.block]

    def _reading(self, block: Block, slot: int, purpose: Purpose) -> Move:
        """The move that fills staging slot ``slot``, now the block's."""
        if block.host is not None:
            move = Move(purpose, block, 0, partial(self._upload, block.host, slot, block.id))
        else:
            assert self._disk is not None
            assert block.disk is not None
            assert block.stamp is not None
            move = Move(purpose, block, self._disk.slot_bytes, partial(self._read, self._disk, block.disk, slot, block.stamp, purpose))
        block.staging = slot
        self._moves[block] = move
        return move

    def _upload(self, source: int, slot: int, block: int) -> Stamp:
        """On a worker: host to device."""
        stamp = Stamp(block, 0, b"")
        self._device.write(slot, self._host.bytes_of(source), stamp)
        return stamp

    def _read(self, disk: Tier, source: int, slot: int, stamp: Stamp, purpose: Purpose) -> Stamp:
        """On a worker: disk to device. Bytes that aren't the block's raise `DamagedError`."""
        with self._device.landing(slot, stamp) as record:
            disk.read(source, record, stamp, purpose)
            if not disk.verifies:
                verify(record, stamp)
        return stamp
