"""The index of a kept world: an SQLite database in the world's folder. Bytes of blocks lie in the arena beside it.

Rows are committed after the bytes that they speak of are durable, one transaction at a time, with full synchronisation: what a commit has
returned from survives a killed process, and a lost power supply as far as the drive keeps its promises. Actions are only ever appended.
"""

from __future__ import annotations

import json
import logging
import math
import os
import sqlite3
import struct
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any

from worldpager.engine.errors import InputError, TierError
from worldpager.engine.session.branch import Branch, Chunk
from worldpager.engine.session.lock import WorldLock
from worldpager.engine.types import BlockId, Pose

log = logging.getLogger(__name__)

INDEX = "world.db"
FORMAT = 1
"""Raised with every change of the tables' meaning; a program refuses formats newer than its own."""
APPLICATION = 0x57504744
BUSY_SECONDS = 5.0

TABLES = """
CREATE TABLE about (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE branches (id INTEGER PRIMARY KEY, name TEXT NOT NULL, fork INTEGER, made REAL NOT NULL);
CREATE TABLE chunks (id INTEGER PRIMARY KEY, parent INTEGER, branch INTEGER NOT NULL, number INTEGER NOT NULL, block INTEGER,
    poses BLOB NOT NULL, clearance REAL, follows INTEGER, opening INTEGER NOT NULL);
CREATE TABLE pictures (chunk INTEGER PRIMARY KEY, jpeg BLOB NOT NULL);
CREATE TABLE bookmarks (name TEXT PRIMARY KEY, chunk INTEGER NOT NULL, made REAL NOT NULL) WITHOUT ROWID;
CREATE TABLE actions (id INTEGER PRIMARY KEY AUTOINCREMENT, kind TEXT NOT NULL, body TEXT NOT NULL);
"""

POSE = struct.Struct("<5d")

Statement = tuple[str, tuple[Any, ...]]


@dataclass(frozen=True, slots=True)
class Entry:
    """What is to be committed together. It must wait until the bytes of ``block`` are durable, if there is one.

    ``frees`` are blocks that nothing needs any more once it is committed.
    """

    statements: tuple[Statement, ...]
    block: BlockId | None = None
    frees: tuple[BlockId, ...] = ()


@dataclass(frozen=True, slots=True)
class Bookmark:
    """A place with a name."""

    name: str
    chunk: int
    made: float = 0.0


@dataclass(frozen=True, slots=True)
class Contents:
    """What an index holds, without pictures and actions. ``about``: model, seed, settings, fingerprint, head, times."""

    about: dict[str, Any]
    chunks: list[Chunk] = field(default_factory=list)
    branches: list[Branch] = field(default_factory=list)
    bookmarks: list[Bookmark] = field(default_factory=list)


class Archive:
    """An open world folder, locked against other programs. ``before`` is called with the name of each step that writes: for tests."""

    def __init__(self, folder: Path, lock: WorldLock, db: sqlite3.Connection, before: Callable[[str], None]) -> None:
        self.folder, self._lock, self._db, self._before = folder, lock, db, before

    @classmethod
    def create(cls, folder: Path, about: dict[str, Any], *, before: Callable[[str], None] = lambda step: None) -> Archive:
        """A new world in ``folder``, which may exist but must hold no world. Raises `InputError` or `TierError`."""
        if (folder / INDEX).exists():
            raise InputError(f"{folder} holds a world already.", "Choose another name, or open that world.")
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise TierError(f"The folder {folder} can't be made: {error.strerror}.", "Choose another folder.") from error
        lock = WorldLock(folder)
        try:
            make_index(folder / INDEX, {"made": time.time(), "played": time.time(), "head": None, **about}, before)
            db = connect(folder / INDEX)
        except (sqlite3.Error, OSError) as error:
            lock.release()
            raise TierError(f"The index of {folder} can't be written: {error}.", "Check the drive, or choose another folder.") from error
        except BaseException:
            lock.release()
            raise
        return cls(folder, lock, db, before)

    @classmethod
    def open(cls, folder: Path, *, before: Callable[[str], None] = lambda step: None) -> Archive:
        """The world in ``folder``. Raises `InputError`: no world, a newer format, damaged beyond reading, in use by another program."""
        if not (folder / INDEX).is_file():
            raise InputError(f"{folder} holds no world: {INDEX} is not there.", "See `worldpager sessions list`; copy the whole folder.")
        lock = WorldLock(folder)
        try:
            db = connect(folder / INDEX)
            check_format(folder, db)
        except sqlite3.DatabaseError as error:
            lock.release()
            raise InputError(
                f"The index of {folder} is damaged: {error}.", f"Save what can be read of it: worldpager sessions verify --repair {folder}"
            ) from error
        except BaseException:
            lock.release()
            raise
        return cls(folder, lock, db, before)

    @classmethod
    def peek(cls, folder: Path) -> Contents:
        """The contents of a world that others may be playing. Raises `InputError` when they can't be read."""
        try:
            db = connect(folder / INDEX, read_only=True)
            check_format(folder, db)
            try:
                return read_contents(db)
            finally:
                db.close()
        except (sqlite3.Error, ValueError, TypeError) as error:
            raise InputError(f"The index of {folder} can't be read: {error}.", "See `worldpager sessions verify`.") from error

    @property
    def index(self) -> sqlite3.Connection:
        """The database, for those who keep tables of their own in it."""
        return self._db

    def read(self) -> Contents:
        """All of it but pictures and actions. Raises `InputError` when it is damaged."""
        try:
            return read_contents(self._db)
        except (sqlite3.DatabaseError, ValueError, TypeError) as error:
            raise InputError(
                f"The index of {self.folder} is damaged: {error}.",
                f"Save what can be read of it: worldpager sessions verify --repair {self.folder}",
            ) from error

    def pictures(self) -> dict[int, bytes]:
        """JPEG of every chunk."""
        return dict(self._db.execute("SELECT chunk, jpeg FROM pictures"))

    def actions(self) -> list[tuple[str, dict[str, Any]]]:
        """The action log, oldest first."""
        return [(kind, json.loads(body)) for kind, body in self._db.execute("SELECT kind, body FROM actions ORDER BY id")]

    def commit(self, entries: Sequence[Entry]) -> None:
        """Write entries as one transaction. Raises sqlite3.Error when it can't be; then nothing has changed."""
        self._before("begin")
        self._db.execute("BEGIN IMMEDIATE")
        try:
            for entry in entries:
                for statement, values in entry.statements:
                    self._before(statement.split("(")[0])
                    self._db.execute(statement, values)
            self._before("commit")
            self._db.execute("COMMIT")
        except BaseException:
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
            raise
        self._before("committed")

    def discard(self) -> None:
        """Close the index and remove it: nothing was kept after all."""
        self.close()
        (self.folder / INDEX).unlink(missing_ok=True)

    def close(self) -> None:
        """Close the index and let others in. A second call does nothing."""
        self._db.close()
        self._lock.release()


def make_index(path: Path, about: dict[str, Any], before: Callable[[str], None]) -> None:
    """A database at ``path``, all of it or nothing."""
    half = path.with_suffix(".new")
    half.unlink(missing_ok=True)
    before("make index")
    db = connect(half)
    try:
        db.execute("BEGIN")
        for statement in TABLES.split(";"):
            db.execute(statement)
        db.execute(f"PRAGMA application_id={APPLICATION}")
        db.execute(f"PRAGMA user_version={FORMAT}")
        db.executemany("INSERT INTO about VALUES (?, ?)", [(name, json.dumps(value)) for name, value in about.items()])
        before("commit index")
        db.execute("COMMIT")
    finally:
        db.close()
    before("name index")
    half.replace(path)
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Make the names in ``folder`` durable."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def connect(path: Path, *, read_only: bool = False) -> sqlite3.Connection:
    """The database with full synchronisation; every call of one object comes from one thread at a time."""
    place = f"{path.absolute().as_uri()}?mode={'ro' if read_only else 'rwc'}"
    db = sqlite3.connect(place, uri=True, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False)
    try:
        db.execute("PRAGMA trusted_schema=OFF")
        if not read_only:
            db.execute("PRAGMA synchronous=EXTRA")
    except BaseException:
        db.close()
        raise
    return db


def check_format(folder: Path, db: sqlite3.Connection) -> None:
    """Raise `InputError` unless this program reads the format; sqlite3.DatabaseError when it is no database. Closes ``db`` then."""
    try:
        application, version = (db.execute(f"PRAGMA {name}").fetchone()[0] for name in ("application_id", "user_version"))
    except sqlite3.DatabaseError:
        db.close()
        raise
    if application == APPLICATION and 1 <= version <= FORMAT:
        return
    db.close()
    if application != APPLICATION:
        raise InputError(f"{folder / INDEX} is no world's index.", "Choose another folder.")
    raise InputError(f"The world in {folder} has format {version}; this program reads up to {FORMAT}.", "Open it with a newer WorldPager.")


def read_contents(db: sqlite3.Connection) -> Contents:
    """What the tables hold. Raises sqlite3.DatabaseError, ValueError or TypeError where they are damaged."""
    about = read_about(db)
    chunks = [chunk_of(row) for row in db.execute("SELECT * FROM chunks ORDER BY id")]
    branches = [Branch(*row) for row in db.execute("SELECT id, name, fork, made FROM branches ORDER BY id")]
    bookmarks = [Bookmark(*row) for row in db.execute("SELECT name, chunk, made FROM bookmarks ORDER BY made, name")]
    return Contents(about, chunks, branches, bookmarks)


def read_about(db: sqlite3.Connection) -> dict[str, Any]:
    """The facts about a world. Raises sqlite3.DatabaseError or ValueError where they are damaged."""
    return {name: json.loads(value) for name, value in db.execute("SELECT name, value FROM about")}


def chunk_of(row: Sequence[Any]) -> Chunk:
    """A row of ``chunks``. Raises ValueError or TypeError when it can't be one."""
    number, parent, branch, place, block, poses, clearance, follows, opening = row
    try:
        seen = tuple(map(Pose._make, POSE.iter_unpack(poses)))
    except struct.error as error:
        raise ValueError(f"chunk {number} has torn poses") from error
    if not seen or not all(map(math.isfinite, chain.from_iterable(seen))):
        raise ValueError(f"chunk {number} has no poses")
    free = float("inf") if clearance is None else float(clearance)
    known = None if block is None else BlockId(int(block))
    return Chunk(int(number), parent, int(branch), int(place), known, seen, free, follows, bool(opening))


# What is written

def chunk_rows(chunk: Chunk) -> Statement:
    """A new chunk."""
    poses = b"".join(POSE.pack(*pose) for pose in chunk.poses)
    free = chunk.clearance if math.isfinite(chunk.clearance) else None
    row = (chunk.id, chunk.parent, chunk.branch, chunk.number, chunk.block, poses, free, chunk.follows, int(chunk.opening))
    return "INSERT INTO chunks VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", row


def picture_row(chunk: int, jpeg: bytes) -> Statement:
    """The picture of a chunk."""
    return "INSERT INTO pictures VALUES (?, ?)", (chunk, jpeg)


def branch_row(branch: Branch) -> Statement:
    """A new or renamed branch."""
    return "INSERT OR REPLACE INTO branches VALUES (?, ?, ?, ?)", (branch.id, branch.name, branch.fork, branch.made)


def bookmark_row(bookmark: Bookmark) -> Statement:
    """A new or moved bookmark."""
    return "INSERT OR REPLACE INTO bookmarks VALUES (?, ?, ?)", (bookmark.name, bookmark.chunk, bookmark.made)


def no_bookmark(name: str) -> Statement:
    """A bookmark goes."""
    return "DELETE FROM bookmarks WHERE name = ?", (name,)


def action_row(kind: str, body: Mapping[str, Any]) -> Statement:
    """The next line of the action log."""
    return "INSERT INTO actions (kind, body) VALUES (?, ?)", (kind, json.dumps(dict(body)))


def about_row(name: str, value: object) -> Statement:
    """A fact about the world."""
    return "INSERT OR REPLACE INTO about VALUES (?, ?)", (name, json.dumps(value))


def lost_block(chunk: int) -> Statement:
    """The block of a chunk is no more."""
    return "UPDATE chunks SET block = NULL WHERE id = ?", (chunk,)


def gone(branch: int, chunks: Iterable[int]) -> tuple[Statement, ...]:
    """A deleted branch with its own chunks."""
    rows: list[Statement] = [("DELETE FROM branches WHERE id = ?", (branch,))]
    for chunk in chunks:
        rows += [(f"DELETE FROM {table} WHERE {key} = ?", (chunk,)) for table, key in (("chunks", "id"), ("pictures", "chunk"))]
    return tuple(rows)
