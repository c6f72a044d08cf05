"""What every tier answers: slots of one size, bytes in, bytes out.

The generator thread gives out and takes back slots; workers read and write the slots of blocks that are pinned by the move in hand. A tier
knows no blocks beyond the stamp that it keeps beside their bytes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import IntEnum
from typing import Protocol

import xxhash
from torch import Tensor

from worldpager.engine.errors import TierError
from worldpager.engine.memory.layout import PAGE, view_of

PART = 4 << 20
"""Bytes of a part: what is summed, and moved to and from a drive, at once."""
MOST_PARTS = 480
"""Checksums that fit the header page of a block."""


@dataclass(frozen=True, slots=True)
class Stamp:
    """Whose bytes a slot holds: the block, a number that no other writing has, and xxh3-64 of every part of the record, packed."""

    block: int
    generation: int
    checksum: bytes

    def summed(self, record: Tensor) -> Stamp:
        """The same with the checksums of ``record``, unless it has some."""
        return self if self.checksum else replace(self, checksum=checksum(record))


class Purpose(IntEnum):
    """Why bytes move; the smaller the sooner."""

    EXACT = 0
    """Read: was wanted and missed."""
    AHEAD = 1
    """Read: will likely be wanted."""
    WRITE_BACK = 2
    LANDING = 3
    """From the device to host memory; never meets the others."""


class DamagedError(TierError):
    """A slot doesn't hold the bytes that its stamp stands for."""

    code = "damaged"


def reason(error: Exception) -> str:
    """What went wrong, for a person: without the error's number or type where there are words."""
    words = error.strerror if isinstance(error, OSError) else str(error)
    return words or type(error).__name__


def part_bytes(record_bytes: int) -> int:
    """Size of a record's parts, the last may be short: `PART`, or more where a header has no room for so many checksums."""
    return max(PART, -(-record_bytes // (MOST_PARTS * PAGE)) * PAGE)


def parts_of(record: Tensor) -> list[Tensor]:
    """A record cut into its parts."""
    size = part_bytes(len(record))
    return [record[at : at + size] for at in range(0, len(record), size)]


def part_sum(part: Tensor) -> bytes:
    """xxh3-64 of a part in host memory, eight bytes."""
    return xxhash.xxh3_64_digest(view_of(part))


def checksum(record: Tensor) -> bytes:
    """The sums of all parts of a record in host memory, one after the other."""
    return b"".join(map(part_sum, parts_of(record)))


def verify(record: Tensor, stamp: Stamp) -> None:
    """Raise `DamagedError` unless ``record`` holds what ``stamp`` says."""
    found = checksum(record)
    if found != stamp.checksum:
        parts = [at // 8 for at in range(0, len(found), 8) if found[at : at + 8] != stamp.checksum[at : at + 8]]
        what = f"Block {stamp.block} came back with wrong checksums in parts {parts or 'that it should have'} of {len(found) // 8}."
        raise DamagedError(what, "It counts as a miss.")


class Tier(Protocol):
    """A place for encoded blocks."""

    @property
    def name(self) -> str:
        """``device``, ``host``, ``disk`` or what else it is."""
        ...

    @property
    def capacity(self) -> int:
        """Slots in all."""
        ...

    @property
    def used(self) -> int:
        """Slots given out."""
        ...

    @property
    def slot_bytes(self) -> int:
        """Bytes that a slot takes up."""
        ...

    @property
    def note(self) -> str:
        """How it works just now, in a few words for the user."""
        ...

    def allocate(self) -> int | None:
        """A slot, or None when all are in use."""
        ...

    def free(self, slot: int) -> None:
        """Take a slot back. Raises ValueError when it isn't in use."""
        ...

    @property
    def verifies(self) -> bool:
        """Whether `read` itself compares the bytes with their checksums; else the caller does, by `verify`."""
        ...

    def write(self, slot: int, record: Tensor, stamp: Stamp) -> Stamp:
        """Fill a slot from ``record`` (host memory). Returns the stamp, with checksums where the tier keeps them and it came without.

        Raises `TierError` or OSError; what the slot then holds is nothing.
        """
        ...

    def read(self, slot: int, record: Tensor, stamp: Stamp, purpose: Purpose = Purpose.EXACT) -> None:
        """Fill ``record`` (host memory) from a slot. Raises `DamagedError` when another stamp lies there, `TierError` or OSError."""
        ...

    def check(self, expected: set[int]) -> None:
        """AssertionError unless exactly ``expected`` slots are in use."""
        ...

    def stop(self) -> None:
        """Reads and writes may fail from now on, so that those under way end soon."""
        ...

    def close(self) -> None:
        """Free everything."""
        ...
