"""Care for kept worlds that nobody plays: check every byte, give back room, save what can be read of a damaged index, delete."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from worldpager.engine.errors import InputError
from worldpager.engine.memory.folder_lock import FolderLock
from worldpager.engine.session import archive
from worldpager.engine.session.archive import INDEX, Archive, chunk_of
from worldpager.engine.session.blocks import KeptBlocks
from worldpager.engine.session.branch import Branch, Chunk
from worldpager.engine.session.catalogue import bytes_of
from worldpager.engine.session.lock import WorldLock

Before = Callable[[str], None]
DAMAGED = f"{INDEX}.damaged"


def nothing(step: str) -> None:
    """Nobody listens."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What `verify` found. ``damaged`` and ``missing`` are chunks whose bytes are wrong or absent: their memory is lost, nothing else."""

    chunks: int
    blocks: int
    damaged: tuple[int, ...]
    missing: tuple[int, ...]
    unowned: int
    """Blocks that no chunk refers to: room that the next opening gives back."""
    without: int
    """Chunks that never had a block, or lost it before."""
    index: str
    """What is wrong with the index; empty when nothing is."""

    @property
    def whole(self) -> bool:
        """Whether nothing is damaged."""
        return not (self.damaged or self.missing or self.index)


def verify(folder: Path, progress: Callable[[float], None] = lambda share: None) -> Verdict:
    """Read all of a world and compare every checksum. Changes nothing. Raises `InputError` when its index or block table can't be read."""
    with _held(folder) as kept:
        contents = kept.read()
        trouble = [row[0] for row in kept.index.execute("PRAGMA integrity_check(3)") if row[0] != "ok"]
        blocks = KeptBlocks(folder)
        try:
            owned = {chunk.block: chunk.id for chunk in contents.chunks if chunk.block is not None}
            missing = [chunk for block, chunk in owned.items() if block not in blocks.rows]
            here = [block for block in owned if block in blocks.rows]
            damaged = []
            for done, block in enumerate(here):
                if not blocks.sound(block):
                    damaged.append(owned[block])
                progress((done + 1) / len(here))
            unowned, without = len(blocks.rows.keys() - owned.keys()), len(contents.chunks) - len(owned)
            return Verdict(len(contents.chunks), len(here), tuple(damaged), tuple(missing), unowned, without, "; ".join(trouble))
        finally:
            blocks.close()


def compact(folder: Path, before: Before = nothing) -> tuple[int, int]:
    """Give back the room of deleted branches and of blocks that nobody owns. Returns the bytes on the drive before and after.

    May be killed at any moment: every step leaves a world as whole as before. Raises `InputError`.
    """
    size = bytes_of(folder)
    with _held(folder, before) as kept:
        contents = kept.read()
        blocks = KeptBlocks(folder, before=before)
        try:
            owned = {chunk.block for chunk in contents.chunks if chunk.block is not None}
            blocks.forget(blocks.rows.keys() - owned)
            blocks.squeeze()
        finally:
            blocks.close()
        before("vacuum")
        kept.index.execute("VACUUM")
    return size, bytes_of(folder)


def delete(folder: Path) -> int:
    """Remove a world for good. Returns the bytes given back. Raises `InputError` when it is none, or in use."""
    if not (folder / INDEX).exists():
        raise InputError(f"{folder} holds no world.", "See `worldpager sessions list`.")
    lock = WorldLock(folder)
    try:
        size = bytes_of(folder)
        (folder / INDEX).unlink()  # first: half a world must not look like one
        for path in folder.iterdir():
            if path.is_file() and path.name.split(".")[0] in OWN_FILES:
                path.unlink(missing_ok=True)
    except OSError as error:
        raise InputError(f"{folder} can't be deleted: {error.strerror}.", "Check whose folder it is.") from error
    finally:
        lock.release()
    with contextlib.suppress(OSError):  # something else lies in it: that stays
        folder.rmdir()
    return size


OWN_FILES = frozenset(("world", "blocks", "window", "lock", "owner"))
"""First parts of the names of what a world's folder holds."""


@contextlib.contextmanager
def _held(folder: Path, before: Before = nothing) -> Iterator[Archive]:
    """The index of a world, locked against play from both sides. Raises `InputError`."""
    kept = Archive.open(folder, before=before)
    try:
        lock = FolderLock(folder)
        try:
            yield kept
        finally:
            lock.release()
    finally:
        kept.close()


# Saving what can be read

@dataclass(frozen=True, slots=True)
class Salvage:
    """How much of a damaged index came back."""

    chunks: int
    pictures: int
    actions: int
    relinked: int
    """Chunks whose predecessor is lost: they follow the last one before it."""


def repair(folder: Path) -> Salvage:
    """Read what can be read of a damaged index into a new one; the old one stays as ``world.db.damaged``.

    Raises `InputError` when not even model and seed can be read.
    """
    lock = WorldLock(folder)
    try:
        db = archive.connect(folder / INDEX, read_only=True)
        try:
            saved = _read_rows(db)
        finally:
            db.close()
        about = dict(saved["about"])
        if not {"model", "seed", "options", "codec"} <= about.keys():
            raise InputError(f"The index of {folder} is past saving: not even model and seed can be read.", "Bring it back from a copy.")
        chunks, relinked = relink([chunk for row in saved["chunks"] if (chunk := _chunk(row))])
        (folder / INDEX).replace(folder / DAMAGED)
        _write_anew(folder / INDEX, saved, chunks)
        return Salvage(len(chunks), len(saved["pictures"]), len(saved["actions"]), relinked)
    finally:
        lock.release()


def relink(chunks: list[Chunk]) -> tuple[list[Chunk], int]:
    """Chunks whose parent is lost follow the last one before it; all are numbered anew. And how many of them there were."""
    known: dict[int, Chunk] = {}
    relinked = 0
    for chunk in sorted(chunks, key=lambda chunk: chunk.id):
        parent = chunk.parent
        if (parent is not None and parent not in known) or (parent is None and known):
            before = [number for number in known if parent is None or number < parent]
            parent, relinked = max(before, default=None), relinked + 1
        number = 0 if parent is None else known[parent].number + 1
        known[chunk.id] = replace(chunk, parent=parent, number=number)
    return list(known.values()), relinked


def _chunk(row: tuple[Any, ...]) -> Chunk | None:
    try:
        return chunk_of(row)
    except (ValueError, TypeError):
        return None


def _read_rows(db: sqlite3.Connection) -> dict[str, list[tuple[Any, ...]]]:
    """What can be read of every table."""
    keys = {"about": "name", "branches": "id", "chunks": "id", "pictures": "chunk", "bookmarks": "name", "actions": "id"}
    return {table: _rows(db, table, key) for table, key in keys.items()}


def _rows(db: sqlite3.Connection, table: str, key: str) -> list[tuple[Any, ...]]:
    """Rows of ``table`` from the front as far as they can be read, then from the back."""
    found: dict[Any, tuple[Any, ...]] = {}
    for order in ("ASC", "DESC"):
        try:
            cursor = db.execute(f"SELECT {key}, * FROM {table} ORDER BY {key} {order}")
            while (row := cursor.fetchone()) is not None and row[0] not in found:
                found[row[0]] = row[1:]
        except (sqlite3.DatabaseError, ValueError):
            continue
    return [found[name] for name in sorted(found)]


def _write_anew(path: Path, saved: dict[str, list[tuple[Any, ...]]], chunks: list[Chunk]) -> None:
    archive.make_index(path, {}, nothing)
    db = archive.connect(path)
    try:
        db.execute("BEGIN")
        db.executemany("INSERT OR REPLACE INTO about VALUES (?, ?)", saved["about"])
        for chunk in chunks:
            db.execute(*archive.chunk_rows(chunk))
        names = {row[0] for row in saved["branches"]}
        lost = {chunk.branch for chunk in chunks} - names
        db.executemany("INSERT INTO branches VALUES (?, ?, ?, ?)", saved["branches"])
        for number in sorted(lost):
            first = min((chunk for chunk in chunks if chunk.branch == number), key=lambda chunk: chunk.id)
            db.execute(*archive.branch_row(Branch(number, f"branch {number}", first.parent)))
        db.executemany("INSERT INTO pictures VALUES (?, ?)", saved["pictures"])
        db.executemany("INSERT INTO bookmarks VALUES (?, ?, ?)", [row for row in saved["bookmarks"] if row[1] in {c.id for c in chunks}])
        db.executemany("INSERT INTO actions VALUES (?, ?, ?)", saved["actions"])
        db.execute("COMMIT")
    finally:
        db.close()
