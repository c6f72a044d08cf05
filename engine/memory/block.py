"""What is known of one stored block: which slots hold it and what is on its way."""

from __future__ import annotations

from dataclasses import dataclass, field

from worldpager.engine.memory.tier import Stamp
from worldpager.engine.telemetry.snapshot import COPY_DEVICE, COPY_DISK, COPY_HOST, TIER_DEVICE, TIER_DISK, TIER_HOST
from worldpager.engine.types import BlockId


@dataclass(slots=True, eq=False)
class Block:
    """A block's slots. A slot in ``writing`` or ``staging`` is claimed but not complete; the same slot is never in both of its fields."""

    id: BlockId
    host: int | None = None
    disk: int | None = None
    device: int | None = None
    writing: int | None = None
    """Disk slot that a worker is filling from the host slot."""
    staging: int | None = None
    """Device slot that a worker is filling from the disk or host slot."""
    landing: bool = False
    """Its host slot is being filled from the device."""
    stamp: Stamp | None = None
    """Of the bytes on disk; set with ``disk``."""
    pins: int = 0
    """Working sets that hold it."""
    taken: bool = False
    """Whether the staged copy was ever used."""
    failures: int = 0
    """Moves that failed since the last that didn't."""
    references: int = 1
    """Branches that hold it; forgotten with the last."""
    dropped: bool = field(default=False)
    """Forgotten by the user; lives on until its moves have ended."""

    @property
    def copies(self) -> int:
        """Bits of the tiers that hold a complete copy."""
        bits = COPY_DEVICE if self.device is not None else 0
        bits |= COPY_HOST if self.hosted else 0
        return bits | COPY_DISK if self.disk is not None else bits

    @property
    def tier(self) -> int:
        """Code of the fastest tier that has it."""
        if self.device is not None:
            return TIER_DEVICE
        return TIER_HOST if self.host is not None else TIER_DISK

    @property
    def hosted(self) -> bool:
        """Complete in host memory."""
        return self.host is not None and not self.landing

    @property
    def dirty(self) -> bool:
        """Complete in host memory alone."""
        return self.hosted and self.disk is None

    @property
    def clean(self) -> bool:
        """Complete both in host memory and on disk."""
        return self.hosted and self.disk is not None

    @property
    def moving(self) -> bool:
        """Whether a worker holds slots of it."""
        return self.writing is not None or self.staging is not None or self.landing

    @property
    def evictable(self) -> bool:
        """Whether its host slot may go now."""
        return self.clean and self.pins == 0 and not self.moving

    @property
    def complete(self) -> bool:
        """Whether something other than the staging slots holds all of it: a tier, or the buffer that it lands from."""
        return self.host is not None or self.disk is not None
