"""An arena: one file of fixed size slots, read and written at positions from any thread.

Direct I/O is used where it is proven on that very file by writing, reading back and comparing; else buffered I/O, and the note says why.
"""

from __future__ import annotations

import errno
import os
import re
import secrets
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

import torch
from torch import Tensor

from worldpager.engine.errors import TierError
from worldpager.engine.memory.boot import alive, boot_id
from worldpager.engine.memory.file_system import MEMORY_BACKED, direct_alignment, drop_pages, file_system, punch_hole
from worldpager.engine.memory.layout import PAGE, aligned_bytes, view_of

LEFTOVER = re.compile(r"worldpager-(\d+)-([0-9a-f]+)-[0-9a-f]+\.arena")
"""Names of arenas: process, boot, a random number."""


CLOSE_ON_EXEC = getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
NEW = os.O_RDWR | os.O_CREAT | os.O_EXCL | CLOSE_ON_EXEC


class Arena:
    """An open file. Offsets and buffers must be whole pages, buffers at a page."""

    def __init__(self, descriptor: int, direct: bool, note: str) -> None:
        self._descriptor, self.direct, self.note = descriptor, direct, note
        self._seeking = threading.Lock()

    def write(self, offset: int, parts: Sequence[Tensor]) -> None:
        """Write ``parts`` one after another. Raises OSError when they don't all arrive."""
        total = self._move(getattr(os, "pwritev", self._write_at), offset, parts, "wrote")
        if not self.direct:  # the page cache's copies would count against the memory budget, and only clean ones can go
            self.sync()
            drop_pages(self._descriptor, offset, total)

    def read(self, offset: int, parts: Sequence[Tensor]) -> None:
        """Fill ``parts`` one after another. Raises OSError when the file ends before."""
        total = self._move(getattr(os, "preadv", self._read_at), offset, parts, "read")
        if not self.direct:
            drop_pages(self._descriptor, offset, total)

    def empty(self) -> None:
        """Forget all bytes."""
        self.cut(0)

    def cut(self, size: int) -> None:
        """Forget the bytes from ``size`` on."""
        if self.size > size:
            os.ftruncate(self._descriptor, size)

    def give_back(self, offset: int, count: int) -> None:
        """Let the file system have these bytes' room again, if it can; what they then hold is nothing."""
        punch_hole(self._descriptor, offset, count)

    def sync(self) -> None:
        """Return once all that was written is on the drive. Raises OSError."""
        getattr(os, "fdatasync", os.fsync)(self._descriptor)

    @property
    def size(self) -> int:
        """Bytes of the file."""
        return os.fstat(self._descriptor).st_size

    def close(self) -> None:
        """Close the file; a scratch arena is gone then."""
        if self._descriptor >= 0:
            descriptor, self._descriptor = self._descriptor, -1
            os.close(descriptor)

    def _move(self, call: Callable[[int, list[memoryview], int], int], offset: int, parts: Sequence[Tensor], verb: str) -> int:
        """All bytes of ``parts``; returns how many that are."""
        views = [view_of(part) for part in parts]
        total = sum(len(view) for view in views)
        done = 0
        while done < total:
            count = call(self._descriptor, _from(views, done), offset + done)
            if count == 0 or (self.direct and count % PAGE and done + count < total):
                raise OSError(errno.EIO, f"{verb} {done + count} of {total} bytes")
            done += count
        return total

    def _write_at(self, descriptor: int, views: list[memoryview], offset: int) -> int:
        """`os.pwritev` for systems without it."""
        with self._seeking:
            os.lseek(descriptor, offset, os.SEEK_SET)
            return os.write(descriptor, views[0])

    def _read_at(self, descriptor: int, views: list[memoryview], offset: int) -> int:
        """`os.preadv` for systems without it."""
        with self._seeking:
            os.lseek(descriptor, offset, os.SEEK_SET)
            found = os.read(descriptor, len(views[0]))
        views[0][: len(found)] = found
        return len(found)


def _from(views: Sequence[memoryview], done: int) -> list[memoryview]:
    """``views`` without their first ``done`` bytes."""
    rest = []
    for view in views:
        if done < len(view):
            rest.append(view[done:])
        done = max(0, done - len(view))
    return rest


def open_arena(folder: Path, *, direct: bool = True) -> Arena:
    """A scratch arena in ``folder`` (made if need be), its name removed at once. Without ``direct`` buffered I/O is used unasked.

    Raises `TierError` naming the folder when it can't be had.
    """
    path = folder / f"worldpager-{os.getpid()}-{boot_id()}-{secrets.token_hex(4)}.arena"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        sweep(folder)
        descriptor = os.open(path, NEW | getattr(os, "O_TEMPORARY", 0), 0o600)
        try:
            return _proven_arena(path, descriptor, direct)
        finally:
            os.close(descriptor)
            if not hasattr(os, "O_TEMPORARY"):
                path.unlink(missing_ok=True)
    except OSError as error:
        what = f"No disk tier can be made in {folder}: {error.strerror}."
        raise TierError(what, "Choose another folder with --disk, or --no-disk.") from error


def open_kept_arena(path: Path, *, direct: bool = True) -> Arena:
    """The arena at ``path``, made if it isn't there, in the mode that is proven on a scratch arena beside it.

    Raises `TierError` naming the folder when it can't be had.
    """
    probe = open_arena(path.parent, direct=direct)
    probe.close()
    try:
        flags = os.O_RDWR | os.O_CREAT | CLOSE_ON_EXEC | (os.O_DIRECT if probe.direct else 0)
        return Arena(os.open(path, flags, 0o600), probe.direct, probe.note)
    except OSError as error:
        raise TierError(f"{path} can't be opened: {error.strerror}.", "Give yourself leave to read and write it.") from error


def _proven_arena(path: Path, descriptor: int, direct: bool) -> Arena:
    """The fresh file ``path``, open as ``descriptor``, in the best mode that gives back what is written."""
    refusal = "asked for" if not direct else ""
    if not refusal:
        found = _direct(path)
        if isinstance(found, Arena):
            return found
        refusal = found
    kind = file_system(path)
    memory = f"; {kind} takes main memory" if kind in MEMORY_BACKED else ""
    arena = Arena(os.dup(descriptor), False, f"buffered: {refusal}{memory}")
    if not _proven(arena):
        arena.close()
        raise TierError(f"What is written to {path.parent} doesn't come back.", "Check the drive, or choose another folder with --disk.")
    return arena


def _direct(path: Path) -> Arena | str:
    """The file opened for direct I/O if that works, else why not."""
    if not hasattr(os, "O_DIRECT"):
        return "this system has no direct I/O"
    align = direct_alignment(path)
    if align is not None and align > PAGE:
        return f"direct I/O here wants {align} byte alignment"
    try:
        kind = file_system(path)
        note = f"direct I/O; {kind} takes main memory" if kind in MEMORY_BACKED else "direct I/O"
        arena = Arena(os.open(path, os.O_RDWR | CLOSE_ON_EXEC | os.O_DIRECT), True, note)
    except OSError:
        return "the file system refuses direct I/O"
    if _proven(arena):
        return arena
    arena.close()
    return "the file system refuses direct I/O"


def _proven(arena: Arena) -> bool:
    """Whether bytes written at a page's distance come back; the file is empty afterwards."""
    source, back = aligned_bytes(4 * PAGE), aligned_bytes(4 * PAGE)
    source.copy_(torch.frombuffer(bytearray(secrets.token_bytes(4 * PAGE)), dtype=torch.uint8))
    back.zero_()
    try:
        arena.write(PAGE, [source[:PAGE], source[PAGE:]])
        arena.read(PAGE, [back[:PAGE], back[PAGE:]])
        arena.empty()
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            arena.close()
            raise
        return False
    return bool(torch.equal(source, back))


def sweep(folder: Path) -> None:
    """Remove arenas whose process is no more. Scratch arenas have no name while in use, so at worst a name is removed early."""
    for path in folder.glob("worldpager-*.arena"):
        match = LEFTOVER.fullmatch(path.name)
        if match and not (match[2] == boot_id() and alive(int(match[1]))):
            path.unlink(missing_ok=True)
