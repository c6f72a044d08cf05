"""The blocks of a closed world, looked at from outside: the table beside the arena, and the arena's bytes. Needs no model."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterable
from pathlib import Path

from torch import Tensor

from worldpager.engine.errors import InputError, TierError
from worldpager.engine.memory.disk_io import Arena
from worldpager.engine.memory.disk_tier import ArenaFacts, DiskTier
from worldpager.engine.memory.kept_tier import ARENA
from worldpager.engine.memory.kept_tier import INDEX as TABLE
from worldpager.engine.memory.layout import PAGE, aligned_bytes
from worldpager.engine.memory.tier import DamagedError, Stamp
from worldpager.engine.types import BlockId

PIECE = 4 << 20
"""Bytes copied at once."""


class KeptBlocks:
    """Table and arena of ``folder``, which nobody plays meanwhile. ``before`` hears the name of each step that writes.

    Raises `InputError` when the table can't be read.
    """

    def __init__(self, folder: Path, *, before: Callable[[str], None] = lambda step: None) -> None:
        self._before = before
        self._arena = -1
        try:
            self._db = sqlite3.connect(f"{(folder / TABLE).absolute().as_uri()}?mode=rw", uri=True, isolation_level=None)
        except sqlite3.Error as error:
            raise InputError(f"The block table of {folder} can't be opened: {error}.", "Bring it back from a copy.") from error
        try:
            facts = dict(self._db.execute("SELECT name, value FROM arena"))
            found = self._db.execute("SELECT id, slot, generation, checksum FROM blocks ORDER BY slot").fetchall()
            self.facts = ArenaFacts(int(str(facts["layout"]), 16), int(facts["tokens"]), int(facts["record_bytes"]))
            self.rows = {BlockId(number): (int(slot), Stamp(number, generation, checksum)) for number, slot, generation, checksum in found}
            self._arena = os.open(folder / ARENA, os.O_RDWR | os.O_CLOEXEC)
        except (sqlite3.DatabaseError, KeyError, ValueError, TypeError, OSError) as error:
            self.close()
            raise InputError(f"The blocks of {folder} can't be read: {error}.", "Bring the folder back from a copy.") from error
        self.slot_bytes = PAGE + self.facts.record_bytes
        self._tier = DiskTier(Arena(os.dup(self._arena), False, ""), len(self.rows), self.facts, session=facts["session"])
        self._record = aligned_bytes(self.facts.record_bytes)

    @property
    def arena_bytes(self) -> int:
        """Length of the arena."""
        return os.fstat(self._arena).st_size

    def read(self, block: BlockId, record: Tensor) -> bool:
        """Fill ``record`` with the encoded bytes of a block. False when header or a checksum isn't right."""
        slot, stamp = self.rows[block]
        try:
            self._tier.read(slot, record, stamp)
        except (DamagedError, TierError, OSError):
            return False
        return True

    def sound(self, block: BlockId) -> bool:
        """Whether the bytes of a block are whole: header and every checksum."""
        return self.read(block, self._record)

    def forget(self, blocks: Iterable[BlockId]) -> None:
        """Remove rows."""
        blocks = list(blocks)
        if blocks:
            self._commit("DELETE FROM blocks WHERE id = ?", [(block,) for block in blocks])
            for block in blocks:
                del self.rows[block]

    def squeeze(self, batch: int = 16) -> None:
        """Move the blocks at the arena's end into its gaps and cut the rest off. Old bytes stay until the row says the new place."""
        wanted = len(self.rows)
        used = {slot for slot, _ in self.rows.values()}
        gaps = iter([slot for slot in range(wanted) if slot not in used])
        moving = [(block, slot, stamp, next(gaps)) for block, (slot, stamp) in self.rows.items() if slot >= wanted]
        for first in range(0, len(moving), batch):
            for _, slot, _, gap in moving[first : first + batch]:
                self._copy(slot, gap)
            self._before("sync arena")
            os.fdatasync(self._arena)
            self._commit("UPDATE blocks SET slot = ? WHERE id = ?", [(gap, block) for block, _, _, gap in moving[first : first + batch]])
            self.rows |= {block: (gap, stamp) for block, _, stamp, gap in moving[first : first + batch]}
        self._before("cut arena")
        os.ftruncate(self._arena, min(self.arena_bytes, wanted * self.slot_bytes))
        os.fsync(self._arena)

    def close(self) -> None:
        """Close both files."""
        self._db.close()
        if hasattr(self, "_tier"):
            self._tier.close()
        if self._arena >= 0:
            os.close(self._arena)
            self._arena = -1

    def _copy(self, source: int, target: int) -> None:
        for at in range(0, self.slot_bytes, PIECE):
            count = min(PIECE, self.slot_bytes - at)
            data = os.pread(self._arena, count, source * self.slot_bytes + at)
            self._before("copy block")
            if os.pwrite(self._arena, data, target * self.slot_bytes + at) != len(data):
                raise TierError("A block could not be copied whole.", "Free some space, then compact again: nothing is lost.")

    def _commit(self, statement: str, rows: list[tuple[int, ...]]) -> None:
        self._before("begin blocks")
        self._db.execute("PRAGMA synchronous=FULL")
        self._db.execute("BEGIN IMMEDIATE")
        try:
            self._db.executemany(statement, rows)
            self._before("commit blocks")
            self._db.execute("COMMIT")
        except BaseException:
            self._db.execute("ROLLBACK")
            raise
        self._before("committed blocks")
