"""The words of a workspace on disk, and which of its blocks are durable: ``workspace.sqlite``, beside the memory's own files.

The log of tokens is the truth: a part is committed before it is read in, so whatever kills the program, what was added is read in to its
end at the next opening. A block's row is committed after its bytes are durable.
"""

from __future__ import annotations

import json
import sqlite3
from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from worldpager.engine.errors import InputError
from worldpager.engine.types import BlockId

FILE = "workspace.sqlite"
FORMAT = 1
SCHEMA = """
CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS parts (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL, kind TEXT NOT NULL, first INTEGER NOT NULL, tokens BLOB NOT NULL, added TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS blocks (id INTEGER PRIMARY KEY, first INTEGER NOT NULL UNIQUE, recalls INTEGER NOT NULL, means BLOB);
CREATE TABLE IF NOT EXISTS given_up (first INTEGER PRIMARY KEY);
"""


@dataclass(frozen=True, slots=True)
class Part:
    """A stretch of the log: a source (``kind`` "source"), a turn or the opening. ``first`` and ``count`` in tokens."""

    name: str
    kind: str
    first: int
    count: int


@dataclass(frozen=True, slots=True)
class BlockRow:
    """A durable block and its row of the index, if that was saved."""

    id: BlockId
    first: int
    recalls: int
    means: bytes | None


class TokenLog:
    """The log in ``folder``. Raises `InputError` when the file can't be used."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / FILE
        try:
            self._base = sqlite3.connect(self._path, check_same_thread=False)  # one thread at a time, not always the same
            self._base.execute("PRAGMA journal_mode=WAL")
            self._base.execute("PRAGMA synchronous=FULL")
            self._base.executescript(SCHEMA)
        except sqlite3.Error as error:
            hint = "Give the folder of a workspace, or make one: worldpager workspace new."
            raise InputError(f"{self._path} can't be used: {error}.", hint) from error

    def facts(self) -> dict[str, str]:
        """What the workspace was made with."""
        return dict(self._base.execute("SELECT name, value FROM facts"))

    def set_facts(self, facts: Mapping[str, object]) -> None:
        """Write facts, in one step."""
        with self._base:
            rows = [(name, value if isinstance(value, str) else json.dumps(value)) for name, value in facts.items()]
            self._base.executemany("INSERT OR REPLACE INTO facts VALUES (?, ?)", rows)

    def add(self, name: str, kind: str, tokens: Sequence[int]) -> Part:
        """Append a part."""
        first = self.length()
        with self._base:
            row = (name, kind, first, array("i", tokens).tobytes())
            self._base.execute("INSERT INTO parts (name, kind, first, tokens, added) VALUES (?, ?, ?, ?, datetime('now'))", row)
        return Part(name, kind, first, len(tokens))

    def length(self) -> int:
        """Tokens in all."""
        (count,) = self._base.execute("SELECT coalesce(max(first + length(tokens) / 4), 0) FROM parts").fetchone()
        return int(count)

    def parts(self) -> list[Part]:
        """All parts in order."""
        rows = self._base.execute("SELECT name, kind, first, length(tokens) / 4 FROM parts ORDER BY id")
        return [Part(*row) for row in rows]

    def tokens(self) -> array[int]:
        """The whole log."""
        joined = array("i")
        for (part,) in self._base.execute("SELECT tokens FROM parts ORDER BY id"):
            joined.frombytes(part)
        return joined

    def blocks(self) -> list[BlockRow]:
        """Durable blocks in order of time."""
        return [BlockRow(BlockId(number), *rest) for number, *rest in self._base.execute("SELECT * FROM blocks ORDER BY first")]

    def given_up(self) -> set[int]:
        """First tokens of blocks whose keys and values were given up."""
        return {first for (first,) in self._base.execute("SELECT first FROM given_up")}

    def commit(self, rows: Iterable[BlockRow], given_up: Iterable[int] = (), gone: Iterable[BlockId] = ()) -> None:
        """Write block rows, in one step."""
        with self._base:
            self._base.executemany("DELETE FROM blocks WHERE id = ?", [(number,) for number in gone])
            self._base.executemany("INSERT OR IGNORE INTO given_up VALUES (?)", [(first,) for first in given_up])
            self._base.executemany(
                "INSERT OR REPLACE INTO blocks VALUES (?, ?, ?, ?)", [(row.id, row.first, row.recalls, row.means) for row in rows]
            )

    def count_recalls(self, recalls: Mapping[BlockId, int]) -> None:
        """Write how often blocks were picked."""
        with self._base:
            self._base.executemany("UPDATE blocks SET recalls = ? WHERE id = ?", [(count, number) for number, count in recalls.items()])

    def close(self) -> None:
        """Nothing may be called afterwards."""
        self._base.close()
