"""The disk tier: an arena file of aligned slots, a header and a checksum per record (WorldPager III.B).

A scratch arena is unlinked as soon as it is open, so nothing is left behind whatever ends the process. One process per arena file; files
whose process is gone (killed between creating and unlinking) are swept at start.
"""

from __future__ import annotations

import os
import secrets
import shutil
import struct
import threading
from pathlib import Path

import torch
import xxhash
from torch import Tensor

from worldpager.engine.errors import TierError
from worldpager.engine.memory.disk_io import DIRECT, aligned_buffer, drop_pages, probe_direct, read_all, write_all
from worldpager.engine.memory.slots import Slots
from worldpager.engine.memory.tier import Label, RecordLost

HEADER_BYTES = 4096
MAGIC = b"WPBLOCK1"
HEADER = struct.Struct("<8s16sQQQQQQ")  # magic, session, block, generation, layout, tokens, payload bytes, payload checksum
PREFIX = "worldpager-scratch-"
FREE_SHARE = 0.5
"""Share of the free space that a scratch arena may take when no budget is given."""


class DiskTier:
    """Records in one arena file under ``folder``. Reads and writes may run on any number of threads, each with a buffer of its own."""

    name = "disk"

    def __init__(self, folder: Path, record_bytes: int, layout: int, budget: int | None = None) -> None:
        try:
            folder.mkdir(parents=True, exist_ok=True)
            sweep(folder)
            room = int(shutil.disk_usage(folder).free * FREE_SHARE)
            why = probe_direct(folder)
            self._session = secrets.token_bytes(16)
            path = folder / f"{PREFIX}{os.getpid()}-{_boot_id()}-{self._session.hex()[:8]}.arena"
            self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | (0 if why else DIRECT), 0o600)
            path.unlink()
        except OSError as error:
            raise TierError(f"The disk tier can't use the folder {folder}: {error.strerror}.",
                            "Name another with --disk, or play without one (--no-disk).") from error
        self.direct = not why
        self.note = "direct I/O" if self.direct else f"buffered ({why})"
        self.slot_bytes = HEADER_BYTES + record_bytes
        self.slots = Slots(max(0, min(room, budget if budget is not None else room) // self.slot_bytes))
        self._layout, self._record_bytes = layout, record_bytes
        self._own = threading.local()

    def write(self, slot: int, record: Tensor, label: Label) -> None:
        """See `Tier.write`."""
        data = self._buffer()
        body = memoryview(record.cpu().numpy())  # type: ignore[arg-type]  # numpy arrays are buffers; the stubs say so from 3.12 on
        data[HEADER_BYTES:] = body
        HEADER.pack_into(data, 0, MAGIC, self._session, label.block, label.generation, self._layout, label.tokens, self._record_bytes,
                         xxhash.xxh3_64_intdigest(body))
        struct.pack_into("<Q", data, HEADER.size, xxhash.xxh3_64_intdigest(data[:HEADER.size]))
        try:
            write_all(self._file, data, slot * self.slot_bytes)
            if not self.direct:
                os.fdatasync(self._file)
                drop_pages(self._file, slot * self.slot_bytes, self.slot_bytes)
        except OSError as error:
            raise RecordLost(f"writing block {label.block}: {error.strerror}") from error

    def read(self, slot: int, out: Tensor, label: Label) -> None:
        """See `Tier.read`. Header, checksum and label are verified before a byte reaches ``out``."""
        data = self._buffer()
        try:
            read_all(self._file, data, slot * self.slot_bytes)
            if not self.direct:
                drop_pages(self._file, slot * self.slot_bytes, self.slot_bytes)
        except OSError as error:
            raise RecordLost(f"reading block {label.block}: {error.strerror}") from error
        magic, session, block, generation, layout, tokens, size, checksum = HEADER.unpack_from(data)
        (own,) = struct.unpack_from("<Q", data, HEADER.size)
        if own != xxhash.xxh3_64_intdigest(data[:HEADER.size]) or magic != MAGIC:
            raise RecordLost(f"block {label.block}: its header is damaged")
        if (session, layout, size) != (self._session, self._layout, self._record_bytes) or Label(block, generation, tokens) != label:
            raise RecordLost(f"block {label.block}: the slot holds another record")
        if checksum != xxhash.xxh3_64_intdigest(data[HEADER_BYTES:]):
            raise RecordLost(f"block {label.block}: its checksum is wrong")
        out.copy_(torch.frombuffer(data, dtype=torch.uint8, offset=HEADER_BYTES))

    def _buffer(self) -> memoryview:
        if not hasattr(self._own, "data"):
            self._own.data = memoryview(aligned_buffer(self.slot_bytes))
        data: memoryview = self._own.data
        return data

    def close(self) -> None:
        """Close the arena; a scratch arena's space is free again with that."""
        os.close(self._file)


def _boot_id() -> str:
    """The running system's boot, or zeros where the system doesn't say."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip().replace("-", "")[:12]
    except OSError:
        return "0" * 12


def sweep(folder: Path) -> list[Path]:
    """Remove scratch arenas of processes that are gone; returns them. Files of the living and of other programs stay."""
    swept = []
    for path in folder.glob(f"{PREFIX}*.arena"):
        parts = path.stem.removeprefix(PREFIX).split("-")
        if len(parts) != 3 or not parts[0].isdigit():
            continue
        if parts[1] == _boot_id() and _alive(int(parts[0])):
            continue
        path.unlink(missing_ok=True)
        swept.append(path)
    return swept


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
