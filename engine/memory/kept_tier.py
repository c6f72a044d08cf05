"""A disk tier that outlasts the program: an arena with a name, the table of its blocks, and a lock on their folder.

A block is durable when its bytes are on the drive and its row is committed after them. A slot given back is written again only once the row
of its last block is gone; so whatever kills the process, every row stands for whole bytes.
"""

from __future__ import annotations

import os
import sys
import threading
from pathlib import Path

from torch import Tensor

from worldpager.engine.errors import TierError
from worldpager.engine.memory.block_index import BlockIndex
from worldpager.engine.memory.disk_io import Arena, open_kept_arena
from worldpager.engine.memory.disk_tier import ArenaFacts, DiskTier, slots_within
from worldpager.engine.memory.folder_lock import FolderLock
from worldpager.engine.memory.layout import PAGE
from worldpager.engine.memory.requests import RequestPool
from worldpager.engine.memory.tier import Stamp

ARENA, INDEX = "blocks.arena", "blocks.sqlite"


def open_kept_tier(
    folder: Path, budget: int | None, facts: ArenaFacts, requests: RequestPool | None = None, *, direct: bool = True
) -> KeptTier:
    """The kept disk tier of ``folder``, made if need be, of ``budget`` bytes as in `open_disk_tier`.

    Raises `TierError` when the folder can't be used, another program uses it, or its blocks are of another kind.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = FolderLock(folder)
    except OSError as error:
        raise TierError(f"No world can be kept in {folder}: {error.strerror}.", "Choose a folder that you may write to.") from error
    try:
        arena = open_kept_arena(folder / ARENA, direct=direct)
        try:
            index = BlockIndex(folder / INDEX, facts)
            try:
                _sync_folder(folder)
                capacity = slots_within(folder, budget, PAGE + facts.record_bytes, held=(folder / ARENA).stat().st_blocks * 512)
                return KeptTier(arena, index, lock, capacity, facts, requests)
            except BaseException:
                index.close()
                raise
        except BaseException:
            arena.close()
            raise
    except BaseException:
        lock.release()
        raise


class KeptTier(DiskTier):
    """See the module. One worker writes at a time; the generator thread gives slots out and takes them back."""

    def __init__(
        self, arena: Arena, index: BlockIndex, lock: FolderLock, capacity: int, facts: ArenaFacts, requests: RequestPool | None
    ) -> None:
        super().__init__(arena, capacity, facts, requests, index.session)
        self._index, self._folder_lock = index, lock
        self._changing = threading.Lock()
        self._given_back: dict[int, None] = {}
        """Slots without an owner whose rows may still be there."""
        self._leaving: list[int] = []
        """Those of them whose rows a worker is removing."""
        self._cleared: list[int] = []
        self.hanging = False
        """The drive doesn't answer: closing leaves it as it is."""
        self._reused: set[int] = set()
        """Slots given out again while their last rows were there."""
        self.known = self._sound_blocks()
        """Slot and stamp of the blocks of earlier runs, by id, until somebody takes them."""
        self._slots.reserve(slot for slot, _ in self.known.values())
        self._clear_unowned()

    @property
    def used(self) -> int:
        """Slots given out."""
        with self._changing:
            return self._slots.used - len(self._unowned())

    @property
    def next_id(self) -> int:
        """Above the id of every block that was ever kept here."""
        return self._index.next_id

    @property
    def first_generation(self) -> int:
        """The number of this run's first writing."""
        return self._index.first_generation

    def lasts(self, slot: int) -> bool:
        """Whether a slot is in the kept folder: all are."""
        return True

    def take_known(self) -> dict[int, tuple[int, Stamp]]:
        """The blocks of earlier runs, handed over: from here on their slots belong to the caller."""
        known, self.known = self.known, {}
        return known

    def allocate(self) -> int | None:
        """A slot, or None when all are in use."""
        with self._changing:
            for cleared in self._cleared:
                self._slots.free(cleared)
            self._cleared.clear()
            slot = self._slots.allocate()
            if slot is None and self._given_back and self._slots.used - len(self._unowned()) < self.capacity:
                slot = next(iter(self._given_back))
                del self._given_back[slot]
                self._reused.add(slot)
            return slot

    def free(self, slot: int) -> None:
        """Take a slot back; its row and room go with the next write or at the end."""
        with self._changing:
            if slot not in self._slots or slot in self._unowned():
                raise ValueError(f"slot {slot} is not in use")
            self._reused.discard(slot)
            self._given_back[slot] = None

    def write(self, slot: int, record: Tensor, stamp: Stamp) -> Stamp:
        """See `Tier`. On return the block is durable."""
        if slot in self._reused:
            self._index.commit(None, [slot])
            self._reused.discard(slot)
        stamp = super().write(slot, record, stamp)
        self._arena.sync()
        self._commit((slot, stamp))
        return stamp

    def check(self, expected: set[int]) -> None:
        """See `Tier`. Slots of known blocks that nobody has adopted yet count as used."""
        with self._changing:
            unowned = self._unowned()
            assert unowned.isdisjoint(expected), f"{self.name}: slots given back but held: {sorted(unowned & expected)}"
            self._slots.check(expected | unowned | {slot for slot, _ in self.known.values()}, self.name)

    def close(self) -> None:
        """Remove what nobody owns, cut the file, let go of the folder; a second time does nothing."""
        if not self._folder_lock.held:
            return
        try:
            if not self.hanging:
                self._commit(None)
                self._arena.cut(self.slot_bytes * (1 + max((slot for slot, _ in self._index.blocks().values()), default=-1)))
        except OSError as error:
            self.note = f"not tidied: {error}"
        finally:
            self._index.close()
            super().close()
            self._folder_lock.release()

    def _commit(self, added: tuple[int, Stamp] | None) -> None:
        """On a worker: rows of slots given back go, the row of ``added`` comes, then the room of the former is given back, too."""
        with self._changing:
            self._leaving, self._given_back = list(self._given_back), {}
        try:
            if added is not None or self._leaving:
                self._index.commit(added, self._leaving)
        except OSError:
            with self._changing:
                self._given_back |= dict.fromkeys(self._leaving)
                self._leaving = []
            raise
        for slot in self._leaving:
            self._arena.give_back(slot * self.slot_bytes, self.slot_bytes)
        with self._changing:
            self._cleared += self._leaving
            self._leaving = []

    def _unowned(self) -> set[int]:
        return {*self._given_back, *self._leaving, *self._cleared}

    def _sound_blocks(self) -> dict[int, tuple[int, Stamp]]:
        """Blocks in the table whose slots lie within the file; rows of others go."""
        blocks, size = self._index.blocks(), self._arena.size
        lost = [slot for slot, _ in blocks.values() if (slot + 1) * self.slot_bytes > size]
        if lost:
            self._index.commit(None, lost)
        gone = set(lost)
        return {block: place for block, place in blocks.items() if place[0] not in gone}

    def _clear_unowned(self) -> None:
        """Give back the room of what a dead run wrote and never committed."""
        owned = sorted(slot for slot, _ in self.known.values())
        self._arena.cut(self.slot_bytes * (1 + (owned[-1] if owned else -1)))
        for before, after in zip([-1, *owned], owned, strict=False):
            if after - before > 1:
                self._arena.give_back((before + 1) * self.slot_bytes, (after - before - 1) * self.slot_bytes)


def _sync_folder(folder: Path) -> None:
    """The names of fresh files survive a power cut, where the system lets a folder be synced."""
    if sys.platform != "win32":
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
