"""Encoded blocks in an arena file: a page of header and the record in every slot.

The header says whose bytes they are; a slot whose header isn't the expected one, to the byte, is never served.
"""

from __future__ import annotations

import secrets
import shutil
import struct
import threading
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import torch
import xxhash
from torch import Tensor

from worldpager.engine.errors import TierError
from worldpager.engine.memory.disk_io import Arena, open_arena
from worldpager.engine.memory.layout import PAGE, aligned_bytes
from worldpager.engine.memory.requests import RequestPool
from worldpager.engine.memory.slots import Slots
from worldpager.engine.memory.tier import DamagedError, Purpose, Stamp, part_bytes, part_sum, parts_of

HEADER = struct.Struct("<8s16sQQQQQQ")
"""Magic, session, block, generation, layout fingerprint, true token count, record bytes, bytes of a part; then the xxh3 of every part, then
the header's own."""
MAGIC = b"WPBLOCK2"

FREE_SHARE = 0.5
"""Of the free space, when no budget is given."""
SPARE_BYTES = 64 << 20
"""Left free on the drive whatever the budget."""


@dataclass(frozen=True, slots=True)
class ArenaFacts:
    """What all blocks of an arena share: codec and shape by their fingerprint, true tokens of a block, bytes of a record."""

    layout: int
    tokens: int
    record_bytes: int


def open_disk_tier(
    folder: Path, budget: int | None, facts: ArenaFacts, requests: RequestPool | None = None, *, direct: bool = True
) -> DiskTier:
    """A scratch disk tier of ``budget`` bytes (None: half of the free space), less when the drive has less.

    Raises `TierError` when the folder can't be used or there is room for no block.
    """
    arena = open_arena(folder, direct=direct)
    try:
        capacity = slots_within(folder, budget, PAGE + facts.record_bytes)
    except BaseException:
        arena.close()
        raise
    return DiskTier(arena, capacity, facts, requests)


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
    verifies = True

    def __init__(
        self, arena: Arena, capacity: int, facts: ArenaFacts, requests: RequestPool | None = None, session: bytes | None = None
    ) -> None:
        self.capacity, self.slot_bytes, self.note = capacity, PAGE + facts.record_bytes, arena.note
        self._arena, self._facts, self._requests = arena, facts, requests or RequestPool()
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

    def write(self, slot: int, record: Tensor, stamp: Stamp) -> Stamp:
        """See `Tier`. The header comes last, so that it never stands over bytes that aren't there."""
        parts, at = parts_of(record), slot * self.slot_bytes + PAGE
        if len(parts) == 1:
            stamp = stamp.summed(record)
            whole = partial(self._arena.write, at - PAGE, [self._header_page(stamp), record])
            self._requests.run(Purpose.WRITE_BACK, self.slot_bytes, [whole])
            return stamp
        sums = [b""] * len(parts)

        def move(number: int) -> None:
            sums[number] = part_sum(parts[number])
            self._arena.write(at + number * len(parts[0]), [parts[number]])

        self._requests.run(Purpose.WRITE_BACK, len(parts[0]), [partial(move, number) for number in range(len(parts))])
        stamp = replace(stamp, checksum=b"".join(sums))
        self._arena.write(at - PAGE, [self._header_page(stamp)])
        return stamp

    def read(self, slot: int, record: Tensor, stamp: Stamp, purpose: Purpose = Purpose.EXACT) -> None:
        """See `Tier`."""
        parts, at = parts_of(record), slot * self.slot_bytes + PAGE
        if len(stamp.checksum) != 8 * len(parts):
            what = f"Block {stamp.block} has {len(stamp.checksum) // 8} checksums for {len(parts)} parts."
            raise DamagedError(what, "It counts as a miss.")

        def move(number: int) -> None:
            page = [self._page()] if number == 0 else []
            place = at + number * len(parts[0]) - PAGE * len(page)
            self._arena.read(place, [*page, parts[number]])
            if page:
                self._compare(slot, page[0], stamp)
            if part_sum(parts[number]) != stamp.checksum[8 * number : 8 * number + 8]:
                what = f"Part {number + 1} of {len(parts)} of block {stamp.block} came back from disk with a wrong checksum."
                raise DamagedError(what, "It counts as a miss.")

        self._requests.run(purpose, len(parts[0]), [partial(move, number) for number in range(len(parts))])

    def check(self, expected: set[int]) -> None:
        """See `Tier`."""
        self._slots.check(expected, self.name)

    def close(self) -> None:
        """See `Tier`."""
        self._requests.close()
        self._arena.close()

    def stop(self) -> None:
        """See `Tier`."""
        self._requests.stop()

    def _compare(self, slot: int, page: Tensor, stamp: Stamp) -> None:
        """Raise `DamagedError` unless ``page`` is the header that ``stamp`` makes, to the byte."""
        header = self._header(stamp)
        if page[: len(header)].numpy().tobytes() != header:
            raise DamagedError(f"Slot {slot} of the disk tier doesn't hold block {stamp.block}.", "It counts as a miss.")

    def _header_page(self, stamp: Stamp) -> Tensor:
        """A page of the calling thread's own with the header of ``stamp``."""
        page, header = self._page(), self._header(stamp)
        page[: len(header)] = torch.frombuffer(bytearray(header), dtype=torch.uint8)
        return page

    def _header(self, stamp: Stamp) -> bytes:
        facts = self._facts
        size = facts.record_bytes
        fields = (self._session, stamp.block, stamp.generation, facts.layout, facts.tokens, size, part_bytes(size))
        header = HEADER.pack(MAGIC, *fields) + stamp.checksum
        return header + xxhash.xxh3_64_digest(header)

    def _page(self) -> Tensor:
        """A page of this thread's own, zeroed."""
        if not hasattr(self._own, "page"):
            self._own.page = aligned_bytes(PAGE)
        page: Tensor = self._own.page
        return page.zero_()
