"""What every tier answers: slots of one size, bytes in, bytes out.

The generator thread gives out and takes back slots; workers read and write the slots of blocks that are pinned by the move in hand. A tier
knows no blocks beyond the stamp that it keeps beside their bytes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import xxhash
from torch import Tensor

from worldpager.engine.errors import TierError
from worldpager.engine.memory.layout import view_of


@dataclass(frozen=True, slots=True)
class Stamp:
    """Whose bytes a slot holds: the block, a number that no other writing has, and xxh3-64 of the record."""

    block: int
    generation: int
    checksum: int


class DamagedError(TierError):
    """A slot doesn't hold the bytes that its stamp stands for."""

    code = "damaged"


def reason(error: Exception) -> str:
    """What went wrong, for a person: without the error's number or type where there are words."""
    words = error.strerror if isinstance(error, OSError) else str(error)
    return words or type(error).__name__


def checksum(record: Tensor) -> int:
    """xxh3-64 of a record in host memory."""
    return xxhash.xxh3_64_intdigest(view_of(record))


def verify(record: Tensor, stamp: Stamp) -> None:
    """Raise `DamagedError` unless ``record`` holds what ``stamp`` says."""
    found = checksum(record)
    if found != stamp.checksum:
        what = f"Block {stamp.block} came back with checksum {found:016x} instead of {stamp.checksum:016x}."
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

    def write(self, slot: int, record: Tensor, stamp: Stamp) -> None:
        """Fill a slot from ``record`` (host memory). Raises `TierError` or OSError; what the slot then holds is nothing."""
        ...

    def read(self, slot: int, record: Tensor, stamp: Stamp) -> None:
        """Fill ``record`` (host memory) from a slot. Raises `DamagedError` when another stamp lies there, `TierError` or OSError.

        The bytes themselves are checked by the caller: see `verify`.
        """
        ...

    def check(self, expected: set[int]) -> None:
        """AssertionError unless exactly ``expected`` slots are in use."""
        ...

    def close(self) -> None:
        """Free everything; reads and writes under way may fail."""
        ...
