"""Encoded blocks in an arena file: a page of header and the record in every slot.

The header says whose bytes they are; a slot whose header isn't the expected one, to the byte, is never served.
"""

from __future__ import annotations

import secrets
import shutil
import struct
import threading
from pathlib import Path

import torch
import xxhash
from torch import Tensor

from worldpager.engine.errors import TierError
from worldpager.engine.memory.disk_io import Arena, open_arena
from worldpager.engine.memory.layout import PAGE, aligned_bytes
from worldpager.engine.memory.slots import Slots
from worldpager.engine.memory.tier import DamagedError, Stamp, part_bytes

HEADER = struct.Struct("<8s16sQQQQQQ")
"""Magic, session, block, generation, layout fingerprint, true token count, record bytes, bytes of a part; then the xxh3 of every part, then
the header's own."""
MAGIC = b"WPBLOCK2"

FREE_SHARE = 0.5
"""Of the free space, when no budget is given."""
SPARE_BYTES = 64 << 20
"""Left free on the drive whatever the budget."""


def open_disk_tier(folder: Path, budget: int | None, record_bytes: int, layout: int, tokens: int, *, direct: bool = True) -> DiskTier:
    """A scratch disk tier of ``budget`` bytes (None: half of the free space), less when the drive has less.

    Raises `TierError` when the folder can't be used or there is room for no block.
    """
    arena = open_arena(folder, direct=direct)
    try:
        capacity = slots_within(folder, budget, PAGE + record_bytes)
    except BaseException:
        arena.close()
        raise
    return DiskTier(arena, capacity, record_bytes, layout, tokens)


def slots_within(folder: Path, budget: int | None, slot_bytes: int, held: int = 0) -> int:
    """How many slots ``budget`` bytes (None: half of the free space) hold in ``folder``, of which ``held`` bytes are already there.

    Raises `TierError` when there is room for none.
    """
    free = shutil.disk_usage(folder).free + held
    limit = int(free * FREE_SHARE) if budget is None else budget
    room = max(free - SPARE_BYTES, int(free * 0.9))
    capacity = min(limit, room) // slot_bytes
    if capacity < 1:
        raise TierError(
            f"The disk tier in {folder} has {min(limit, room)} bytes and a block takes {slot_bytes}.",
            "Free some space, raise --disk-budget, choose another folder with --disk, or --no-disk.",
        )
    return capacity


class DiskTier:
    """``capacity`` slots in ``arena``. Reads and writes of different slots may run at once."""

    name = "disk"

    def __init__(self, arena: Arena, capacity: int, record_bytes: int, layout: int, tokens: int, session: bytes | None = None) -> None:
        self.capacity, self.slot_bytes, self.note = capacity, PAGE + record_bytes, arena.note
        self._arena, self._record_bytes, self._layout, self._tokens = arena, record_bytes, layout, tokens
        self._session = session or secrets.token_bytes(16)
        self._slots = Slots(capacity)
        self._own = threading.local()

    @property
    def used(self) -> int:
        """Slots given out."""
        return self._slots.used

    def allocate(self) -> int | None:
        """A slot, or None when all are in use."""
        return self._slots.allocate()

    def free(self, slot: int) -> None:
        """Take a slot back."""
        self._slots.free(slot)

    def write(self, slot: int, record: Tensor, stamp: Stamp) -> None:
        """See `Tier`."""
        page = self._page()
        page.zero_()
        header = self._header(stamp)
        page[: len(header)] = torch.frombuffer(bytearray(header), dtype=torch.uint8)
        self._arena.write(slot * self.slot_bytes, [page, record])

    def read(self, slot: int, record: Tensor, stamp: Stamp) -> None:
        """See `Tier`. The record's own checksum is left to the caller, who has it in the stamp."""
        page = self._page()
        page.zero_()
        self._arena.read(slot * self.slot_bytes, [page, record])
        header = self._header(stamp)
        if page[: len(header)].numpy().tobytes() != header:
            raise DamagedError(f"Slot {slot} of the disk tier doesn't hold block {stamp.block}.", "It counts as a miss.")

    def check(self, expected: set[int]) -> None:
        """See `Tier`."""
        self._slots.check(expected, self.name)

    def close(self) -> None:
        """See `Tier`."""
        self._arena.close()

    def _header(self, stamp: Stamp) -> bytes:
        size = self._record_bytes
        fields = (self._session, stamp.block, stamp.generation, self._layout, self._tokens, size, part_bytes(size))
        header = HEADER.pack(MAGIC, *fields) + stamp.checksum
        return header + xxhash.xxh3_64_digest(header)

    def _page(self) -> Tensor:
        """A page of this thread's own."""
        if not hasattr(self._own, "page"):
            self._own.page = aligned_bytes(PAGE)
        page: Tensor = self._own.page
        return page
