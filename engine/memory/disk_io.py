"""Bytes to and from an arena file, past the page cache where the folder really allows it.

Direct I/O is proven on the very folder by writing, reading back and comparing; some file systems accept the flag and fail later, or take
it and buffer all the same (kv_memory 4.3). Where the proof fails the file is used buffered and its pages are dropped after each transfer.
"""

from __future__ import annotations

import errno
import mmap
import os
import tempfile
from pathlib import Path

DIRECT = getattr(os, "O_DIRECT", 0)
REQUEST = 4 << 20
"""Largest single transfer in bytes; a drive is saturated at this size (kv_memory 2.1)."""


def aligned_buffer(size: int) -> mmap.mmap:
    """Page-aligned anonymous memory of ``size`` bytes, as direct I/O wants it."""
    return mmap.mmap(-1, size)


def probe_direct(folder: Path) -> str:
    """Empty if direct I/O works in ``folder``, else why not."""
    if not DIRECT:
        return "this system has no direct I/O"
    size = 1 << 16
    pattern = os.urandom(size)
    try:
        descriptor, name = tempfile.mkstemp(prefix="worldpager-probe-", dir=folder)
        os.close(descriptor)
    except OSError as error:
        return f"can't write there: {error.strerror}"
    try:
        descriptor = os.open(name, os.O_RDWR | DIRECT)
    except OSError as error:
        Path(name).unlink()
        return f"refused: {error.strerror}"
    buffer = aligned_buffer(size)
    try:
        buffer[:] = pattern
        write_all(descriptor, memoryview(buffer), 0)
        buffer[:] = bytes(size)
        read_all(descriptor, memoryview(buffer), 0)
        return "" if buffer[:] == pattern else "what was read back differs"
    except OSError as error:
        return f"failed: {error.strerror}"
    finally:
        os.close(descriptor)
        Path(name).unlink()


def write_all(descriptor: int, data: memoryview, offset: int) -> None:
    """Write all of ``data`` at ``offset``. Raises `OSError`, also when the device takes nothing more."""
    done = 0
    while done < len(data):
        wrote = os.pwrite(descriptor, data[done:done + REQUEST], offset + done)
        if wrote <= 0:
            raise OSError(errno.ENOSPC, "nothing more could be written")
        done += wrote


def read_all(descriptor: int, data: memoryview, offset: int) -> None:
    """Fill ``data`` from ``offset``. Raises `OSError`, also when the file is too short."""
    done = 0
    while done < len(data):
        got = os.preadv(descriptor, [data[done:done + REQUEST]], offset + done)
        if got <= 0:
            raise OSError(errno.EIO, "the file is too short")
        done += got


def drop_pages(descriptor: int, offset: int, size: int) -> None:
    """Let go of cached pages of a buffered file, so that they don't count against the host budget."""
    if hasattr(os, "posix_fadvise"):
        os.posix_fadvise(descriptor, offset, size, os.POSIX_FADV_DONTNEED)
