"""The planner's inputs from this machine and a model: budgets as play would choose them, the drive's rates by a short try."""

from __future__ import annotations

import math
import shutil
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from worldpager.engine.config import MemoryConfig
from worldpager.engine.errors import TierError
from worldpager.engine.memory.budget import host_budget
from worldpager.engine.memory.codec import make_codec
from worldpager.engine.memory.layout import aligned_bytes, view_of
from worldpager.engine.models.base import ModelSpec
from worldpager.engine.planner.cost_model import Room, Workload

REQUEST = 8 << 20
"""Bytes of one request of the probe, the largest that the disk tier makes."""


@dataclass(frozen=True, slots=True)
class DriveRates:
    """Bytes a second of plain sequential writes and reads with their bytes on the drive, one request at a time."""

    write: float
    read: float


def workload(spec: ModelSpec, memory: MemoryConfig, chunk_seconds: float | None = None) -> Workload:
    """What ``spec`` asks of a memory set up as ``memory``; without ``chunk_seconds`` it runs at its natural rate."""
    record = make_codec(memory.codec, spec.kv, spec.rotary).record_bytes
    seconds = chunk_seconds or spec.frames_per_chunk / spec.rate
    return Workload(record, spec.frames_per_chunk, spec.rate, seconds, spec.retrieved, horizon=spec.native_horizon)


def room(memory: MemoryConfig, drive: DriveRates | None = None) -> Room:
    """What ``memory`` has on this machine. Raises `TierError` when its host budget is more than the machine allows."""
    disk = 0
    if memory.disk_dir is not None:
        free = shutil.disk_usage(memory.disk_dir).free
        disk = free if memory.disk_budget is None else min(free, memory.disk_budget)
    read = drive.read if drive else math.inf
    write = drive.write if drive else math.inf
    return Room(
        host_budget(memory.host_budget), disk, min(read, memory.read_limit or math.inf), min(write, memory.write_limit or math.inf),
        memory.watermark,
    )  # fmt: skip


def measure_drive(folder: Path, size: int = 256 << 20) -> DriveRates:
    """Write and read back ``size`` bytes in ``folder``. Raises `TierError` when it can't be written.

    The reading may come from the page cache where the system doesn't let a file's pages be dropped; it is a ceiling then.
    """
    import os

    record = aligned_bytes(REQUEST)
    record.random_()
    data, count = view_of(record), max(1, size // REQUEST)
    try:
        with tempfile.NamedTemporaryFile(dir=folder) as file:
            began = time.perf_counter()
            for _ in range(count):
                file.write(data)
            file.flush()
            os.fsync(file.fileno())
            wrote = time.perf_counter() - began
            if hasattr(os, "posix_fadvise"):
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
            began = time.perf_counter()
            for part in range(count):
                os.pread(file.fileno(), REQUEST, part * REQUEST)
            read = time.perf_counter() - began
    except OSError as error:
        raise TierError(f"{folder} can't be tried: {error.strerror}.", "Give another folder, or the rates by hand.") from error
    return DriveRates(count * REQUEST / wrote, count * REQUEST / read)
