"""What the system tells of a file and its file system. Linux is asked by its own calls where there is one; elsewhere nothing is known."""

from __future__ import annotations

import ctypes
import os
import re
import struct
import sys
from pathlib import Path

STATX_DIOALIGN = 0x2000
MEMORY_BACKED = frozenset({"tmpfs", "ramfs", "devtmpfs"})


def direct_alignment(path: Path) -> int | None:
    """Bytes that direct I/O on this file wants addresses, offsets and sizes to be multiples of; 0 = it has none; None = not told."""
    if sys.platform != "linux":
        return None
    statx = getattr(ctypes.CDLL(None, use_errno=True), "statx", None)
    found = ctypes.create_string_buffer(256)
    at_current_folder = -100
    if statx is None or statx(at_current_folder, os.fsencode(path), 0, STATX_DIOALIGN, found):
        return None
    told, memory, offset = struct.unpack_from("<I148xII", found)
    return max(memory, offset) if told & STATX_DIOALIGN else None


def file_system(path: Path) -> str:
    """Name of the file system that holds ``path``, such as ext4; empty when it isn't told."""
    try:
        device = path.stat().st_dev
        lines = Path("/proc/self/mountinfo").read_text().splitlines()
    except OSError:
        return ""
    mark = f" {os.major(device)}:{os.minor(device)} "
    kinds = [match[1] for line in lines if mark in line and (match := re.search(r" - (\S+)", line))]
    return kinds[-1] if kinds else ""


def punch_hole(descriptor: int, offset: int, count: int) -> None:
    """Free the room of these bytes where the file system knows how; else do nothing."""
    if sys.platform == "linux":
        keep_size_and_punch = 3
        fallocate = ctypes.CDLL(None, use_errno=True).fallocate
        fallocate(ctypes.c_int(descriptor), ctypes.c_int(keep_size_and_punch), ctypes.c_int64(offset), ctypes.c_int64(count))


def drop_pages(descriptor: int, offset: int, count: int) -> None:
    """Let go of the page cache's clean copies of these bytes, where the system can."""
    if hasattr(os, "posix_fadvise"):
        os.posix_fadvise(descriptor, offset, count, os.POSIX_FADV_DONTNEED)
