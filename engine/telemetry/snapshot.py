"""The frozen picture of the counters that the street publishes once a chunk.

Overlays, reports and the recorder read this and nothing else of the engine.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from worldpager.engine.types import Action, BlockId, FieldOfView, Pose

TIER_NAMES = ("device", "host", "disk")
TIER_DEVICE, TIER_HOST, TIER_DISK, TIER_NONE = 0, 1, 2, 3
RATED_WRITES = 600e12
"""Bytes that a usual drive of 1 TB is warranted for."""
COPY_DEVICE, COPY_HOST, COPY_DISK = 1, 2, 4
"""Bits of a block's complete copies."""
FASTEST = np.array([TIER_NONE] + [(copies & -copies).bit_length() - 1 for copies in range(1, 8)], np.uint8)
"""Code of the fastest tier by the bits of the copies."""


@dataclass(frozen=True, slots=True)
class TierUse:
    """Occupancy of one tier. ``capacity`` in blocks; ``note`` says how the tier works ("direct I/O", "off: folder is full", ...)."""

    name: str
    used: int
    capacity: int
    block_bytes: int
    dirty: int = 0
    note: str = ""
    when_full: str = ""
    """Policy in force when it has no slot left: ``drop-least-useful`` or ``stop-keeping``."""

    @property
    def used_bytes(self) -> int:
        """Bytes of the used slots."""
        return self.used * self.block_bytes

    @property
    def capacity_bytes(self) -> int:
        """Bytes of all slots."""
        return self.capacity * self.block_bytes


@dataclass(frozen=True, slots=True)
class MemoryCounters:
    """Totals of the memory since the world began. A stall is time the street waited for bytes: it must stay 0."""

    blocks: int = 0
    blocks_wanted: int = 0
    blocks_missed: int = 0
    stale_uses: int = 0
    prefetch_hits: int = 0
    prefetch_wasted: int = 0
    stalls_over_half_ms: int = 0
    longest_wait_ms: float = 0.0
    spilled_blocks: int = 0
    evicted_blocks: int = 0
    blocks_refused: int = 0
    blocks_dropped: int = 0
    """Given up for newer ones, since the disk tier is full."""
    failed_moves: int = 0
    disk_read_bytes: int = 0
    disk_written_bytes: int = 0
    host_peak_bytes: int = 0
    host_budget_bytes: int = 0

    @property
    def prefetch_hit_rate(self) -> float:
        """Share of wanted blocks that were staged in time; 1.0 while nothing was wanted."""
        return self.prefetch_hits / self.blocks_wanted if self.blocks_wanted else 1.0


@dataclass(frozen=True, slots=True)
class BlockMap:
    """Remembered chunks for the pose map: row i is the i-th block. ``xy_yaw`` float32 [n, 3], ``tier`` uint8 [n] is the fastest tier.

    ``copies`` uint8 [n] are bits: all tiers that hold a complete copy; empty where nobody asked.
    """

    ids: NDArray[np.int64]
    xy_yaw: NDArray[np.float32]
    tier: NDArray[np.uint8]
    copies: NDArray[np.uint8] = field(default_factory=lambda: np.zeros(0, np.uint8))

    @property
    def copy_bits(self) -> NDArray[np.uint8]:
        """``copies``, or the fastest tier's bit alone where they aren't known."""
        if len(self.copies) == len(self.ids):
            return self.copies
        return np.where(self.tier < TIER_NONE, np.left_shift(1, self.tier), 0).astype(np.uint8)


def _empty_map() -> BlockMap:
    return BlockMap(np.zeros(0, np.int64), np.zeros((0, 3), np.float32), np.zeros(0, np.uint8))


@dataclass(frozen=True, slots=True)
class Snapshot:
    """One chunk's published state. Times in milliseconds, rates per second of wall time unless named otherwise."""

    model: str
    device: str
    seed: int
    chunk: int
    frames: int
    rate: float
    """Frames a second at which the world runs at its natural speed."""
    generated_fps: float
    chunk_ms: float
    stage_ms: dict[str, float]
    pose: Pose
    view: FieldOfView
    predicted: tuple[Pose, ...]
    tiers: tuple[TierUse, ...]
    memory: MemoryCounters
    disk_read_rate: float
    disk_write_rate: float
    spill_chunk: int | None
    """Predicted chunk at which the host tier overflows to disk; None without a disk tier."""
    working_set: tuple[BlockId, ...] = ()
    stale: bool = False
    action_stamp: float = 0.0
    """Stamp of the newest input that this chunk's poses obey; 0 when there was none."""
    received: Action = field(default_factory=Action)
    """What the model was given for this chunk, exactly."""
    idle: bool = False
    degraded: tuple[str, ...] = ()
    """Named degradations in force, most recent last."""
    block_map: BlockMap = field(default_factory=_empty_map)
    opening: bool = False
    """True for the rendered look-around that fills a new world's memory, until the player's start view."""
    paused: bool = False
    policy: str = ""
    """Retrieval policy in force; ``none`` means memory off."""
    futures: tuple[tuple[Pose, ...], ...] = ()
    """Every future that blocks were requested for, most likely first; ``predicted`` is the first."""

    @property
    def written_per_minute(self) -> float:
        """Bytes written to the drive for each minute of the world; 0 before the first frame."""
        return self.memory.disk_written_bytes * 60 * self.rate / self.frames if self.frames else 0.0

    @property
    def drive_days(self) -> float:
        """Days of play at this rate, without a pause, that use up a drive rated for `RATED_WRITES`; inf while nothing is written."""
        return RATED_WRITES / (self.written_per_minute * 1440) if self.written_per_minute else float("inf")
