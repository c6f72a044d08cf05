"""The closed-form model of a session: when each tier is full, what the drive must give, and when a wait would show (WorldPager II.E).

Everything follows from the bytes of a block, the blocks that fit, and the time of a chunk. Nothing here measures: see `probe`. Chunks are
counted from 1; rates are bytes a second of wall time.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum

from worldpager.engine.config import GiB

WATERMARK = 3
"""Blocks: writing begins when fewer host slots are left."""
TERABYTE = 1e12


@dataclass(frozen=True, slots=True)
class Workload:
    """What a model asks of its memory.

    ``chunk_seconds`` is wall time, ``retrieved`` the blocks that attention reads (k), ``fresh`` how many of them are new a chunk: about one
    on a steady camera, since neighbouring poses share the others. ``horizon`` is the last chunk whose birth position was trained (None: no
    horizon).
    """

    block_bytes: int
    frames_per_chunk: int
    rate: float
    chunk_seconds: float
    retrieved: int
    fresh: float = 1.0
    horizon: int | None = None

    @property
    def video_seconds(self) -> float:
        """Seconds of the world that a chunk shows."""
        return self.frames_per_chunk / self.rate


@dataclass(frozen=True, slots=True)
class Room:
    """What a machine has for blocks: bytes, bytes a second. ``disk_bytes`` 0 = no disk tier; ``endurance``: bytes it may be written."""

    host_bytes: int
    disk_bytes: int = 0
    read_rate: float = math.inf
    write_rate: float = math.inf
    watermark: int = WATERMARK
    endurance: float = 600 * TERABYTE


class StallClass(Enum):
    """Whether bytes come in time."""

    NONE = "never waits"
    SOME = "comes too late"


@dataclass(frozen=True, slots=True)
class Plan:
    """Answers for one workload in one room.

    ``spill_chunk`` is the first whose block calls for a write, ``full_chunk`` the last that the host holds without a drive,
    ``first_eviction`` the first that takes another's slot, ``disk_full_chunk`` the first that finds no slot anywhere (None: no disk tier).
    """

    host_slots: int
    disk_slots: int
    spill_chunk: int
    full_chunk: int
    first_eviction: int
    disk_full_chunk: int | None
    write_need: float
    read_need: float
    reads: StallClass
    writes: StallClass


def slots(budget: float, block_bytes: int) -> int:
    """Blocks that fit in ``budget`` bytes."""
    return max(0, int(budget // block_bytes))


def plan(work: Workload, room: Room) -> Plan:
    """The plan of ``work`` in ``room``. Raises ValueError for a block or a chunk of no size."""
    if work.block_bytes <= 0 or work.chunk_seconds <= 0:
        raise ValueError(f"a block of {work.block_bytes} bytes every {work.chunk_seconds} s can't be planned")
    host, disk = slots(room.host_bytes, work.block_bytes), slots(room.disk_bytes, work.block_bytes)
    need, wanted = write_need(work), read_need(work)
    return Plan(
        host_slots=host,
        disk_slots=disk,
        spill_chunk=max(1, host - room.watermark + 1),
        full_chunk=host,
        first_eviction=host + 1,
        disk_full_chunk=host + disk + 1 if disk else None,
        write_need=need,
        read_need=wanted,
        reads=StallClass.NONE if room.read_rate >= wanted else StallClass.SOME,
        writes=StallClass.NONE if room.write_rate >= need else StallClass.SOME,
    )


def write_need(work: Workload) -> float:
    """Bytes a second that write-back must move once the host is full: each new block pushes one out."""
    return work.block_bytes / work.chunk_seconds


def read_need(work: Workload) -> float:
    """Bytes a second that prefetch reads while everything wanted lies on the drive."""
    return work.fresh * work.block_bytes / work.chunk_seconds


def most_read(work: Workload) -> float:
    """The same when all retrieved blocks change at once."""
    return work.retrieved * work.block_bytes / work.chunk_seconds


def on_demand_stall(work: Workload, read_rate: float, blocks: float | None = None) -> float:
    """Seconds a chunk that a street waits which reads its blocks (``blocks``, or the fresh ones) only when it needs them."""
    return (work.fresh if blocks is None else blocks) * work.block_bytes / read_rate


def prefetch_stall(work: Workload, read_rate: float) -> float:
    """Seconds a chunk that a street would wait which reads one chunk ahead: what doesn't fit in the chunk's own time."""
    return max(0.0, on_demand_stall(work, read_rate) - work.chunk_seconds)


def first_read(host_slots: int, out: int) -> int | None:
    """Chunk at which a walk of ``out`` chunks and back the same way first wants a block that only the drive has; None if none does.

    Chunk out + r retraces chunk out + 1 - r, and the host then holds the newest ``host_slots`` of out + r.
    """
    back = (host_slots + 1) // 2
    return out + back if back < out else None


def written(work: Workload, room: Room, chunks: int) -> int:
    """Bytes written to the drive in a session of ``chunks``: each block once, but for the last host-full."""
    return max(0, chunks - slots(room.host_bytes, work.block_bytes)) * work.block_bytes


def minutes_of_video(work: Workload, chunks: int) -> float:
    """Minutes of the world that ``chunks`` show."""
    return chunks * work.video_seconds / 60


def session_bytes(work: Workload, room: Room, seconds: float, *, wall: bool) -> int:
    """Bytes beyond host memory after ``seconds`` of wall time, or of the world's own time."""
    return written(work, room, int(seconds / (work.chunk_seconds if wall else work.video_seconds)))


def wear_days(work: Workload, room: Room) -> float:
    """Days of play without a pause until the drive's rated writes are used up; inf without a disk tier."""
    return room.endurance / (write_need(work) * 86400) if room.disk_bytes else math.inf


def matrix_game_2(*, block_bytes: int = 129_392_640, chunk_seconds: float = 1.2) -> Workload:
    """The paper's workload: Matrix-Game 2.0 on its card."""
    return Workload(block_bytes, frames_per_chunk=12, rate=16.0, chunk_seconds=chunk_seconds, retrieved=3, horizon=341)


BF16_BLOCK = 486_604_800
PAPER_BASELINE = int(4.7 * GiB)
"""What the paper's process and its 2 GiB margin leave out of a host budget, worked out from its 60 and 226 chunks."""


def paper_room(host_gib: int) -> Room:
    """The paper's machine with ``host_gib`` GiB of main memory and a drive without end."""
    return Room(host_gib * GiB - PAPER_BASELINE, disk_bytes=1 << 50)
