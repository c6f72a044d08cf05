"""Which blocks a kept arena holds: a table beside it, committed after the bytes are on the drive.

One row a block: its slot, the number of its writing, the checksums of its parts. What isn't in the table doesn't exist, whatever
the bytes of the arena are. Calls may come from any thread, one after the other.
"""

from __future__ import annotations

import errno
import secrets
import sqlite3
import threading
from collections.abc import Iterable
from pathlib import Path

from worldpager.engine.errors import TierError
from worldpager.engine.memory.disk_tier import ArenaFacts
from worldpager.engine.memory.tier import Stamp

FORMAT = 1
"""Raised with every change of the tables or of a slot's header."""

TABLES = """
CREATE TABLE IF NOT EXISTS arena (name TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS blocks (
    id INTEGER PRIMARY KEY, slot INTEGER NOT NULL UNIQUE, generation INTEGER NOT NULL, checksum BLOB NOT NULL
);
"""


class BlockIndex:
    """The table at ``place``, a path or an open connection (made with ``check_same_thread=False``), made if it isn't there.

    Raises `TierError` when the file is no such table, or is one for blocks of another kind than ``facts``.
    """

    def __init__(self, place: Path | sqlite3.Connection, facts: ArenaFacts) -> None:
        self._lock = threading.Lock()
        self._name = str(place) if isinstance(place, Path) else "the block table"
        try:
            self._rows = sqlite3.connect(place, check_same_thread=False, isolation_level=None) if isinstance(place, Path) else place
            self._rows.executescript("PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA busy_timeout=5000;" + TABLES)
            self.session, run = self._begin_run(facts)
        except sqlite3.Error as error:
            what = f"The block table {self._name} can't be read: {error}."
            raise TierError(what, "Bring the folder back from a copy, or begin a new world in another folder.") from error
        self.first_generation = run << 32
        """Numbers of writings from here on are this run's."""

    def blocks(self) -> dict[int, tuple[int, Stamp]]:
        """Slot and stamp of every block, by its id."""
        with self._lock:
            rows = self._rows.execute("SELECT id, slot, generation, checksum FROM blocks ORDER BY id").fetchall()
        return {block: (slot, Stamp(block, generation, checksum)) for block, slot, generation, checksum in rows}

    @property
    def next_id(self) -> int:
        """Above every id that ever had a row."""
        with self._lock:
            return int(self._fact("next_id"))

    def commit(self, added: tuple[int, Stamp] | None, freed_slots: Iterable[int] = ()) -> None:
        """In one transaction: the blocks in ``freed_slots`` go, the block ``added`` (slot, stamp) comes. Durable on return.

        Raises OSError when it can't be written; then nothing has changed.
        """
        with self._lock:
            try:
                self._rows.execute("BEGIN IMMEDIATE")
                self._rows.executemany("DELETE FROM blocks WHERE slot = ?", ((slot,) for slot in freed_slots))
                if added is not None:
                    slot, stamp = added
                    row = (stamp.block, slot, stamp.generation, stamp.checksum)
                    self._rows.execute("INSERT OR REPLACE INTO blocks VALUES (?, ?, ?, ?)", row)
                    self._rows.execute("UPDATE arena SET value = max(value, ?) WHERE name = 'next_id'", (stamp.block + 1,))
                self._rows.execute("COMMIT")
            except sqlite3.Error as error:
                if self._rows.in_transaction:
                    self._rows.execute("ROLLBACK")
                raise OSError(errno.EIO, f"the block table can't be written: {error}") from error

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._rows.close()

    def _begin_run(self, facts: ArenaFacts) -> tuple[bytes, int]:
        """Session and number of this run; facts are noted at the first and compared at later ones."""
        self._rows.execute("BEGIN IMMEDIATE")
        try:
            fresh = {
                "format": FORMAT, "session": secrets.token_bytes(16), "layout": f"{facts.layout:016x}", "tokens": facts.tokens,
                "record_bytes": facts.record_bytes, "runs": 0, "next_id": 0,
            }  # fmt: skip
            self._rows.executemany("INSERT OR IGNORE INTO arena VALUES (?, ?)", fresh.items())
            for name in ("format", "layout", "tokens", "record_bytes"):
                if self._fact(name) != fresh[name]:
                    words = name.replace("_", " ")
                    what = f"{self._name} holds blocks of another kind: its {words} is {self._fact(name)!r}, not {fresh[name]!r}."
                    raise TierError(what, "Open this world with the model and codec that it was made with.")
            self._rows.execute("UPDATE arena SET value = value + 1 WHERE name = 'runs'")
            session, run = self._fact("session"), self._fact("runs")
        except BaseException:
            self._rows.execute("ROLLBACK")
            raise
        self._rows.execute("COMMIT")
        assert isinstance(session, bytes)
        return session, int(run)

    def _fact(self, name: str) -> int | str | bytes:
        found: tuple[int | str | bytes] | None = self._rows.execute("SELECT value FROM arena WHERE name = ?", (name,)).fetchone()
        if found is None:
            raise sqlite3.DatabaseError(f"it doesn't tell {name}")
        return found[0]
