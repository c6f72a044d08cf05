"""A plan in lines that a person can read."""

from __future__ import annotations

import math
from collections.abc import Iterator

from worldpager.engine.config import GiB, MiB
from worldpager.engine.planner import cost_model as c


def size(count: float) -> str:
    """Bytes for a person."""
    return f"{count / GiB:.1f} GiB" if count >= GiB else f"{count / MiB:.1f} MiB"


def rate(value: float) -> str:
    """Bytes a second for a person."""
    if math.isinf(value):
        return "unlimited"
    return f"{value / 1e9:.2f} GB/s" if value >= 1e8 else f"{value / 1e6:.2f} MB/s"


def duration(seconds: float) -> str:
    """Seconds for a person."""
    if seconds >= 5400:
        return f"{seconds / 3600:.1f} hours"
    return f"{seconds / 60:.1f} minutes" if seconds >= 90 else f"{seconds:.0f} seconds"


def lines(work: c.Workload, room: c.Room) -> Iterator[str]:
    """What will happen, in the order in which it happens."""
    p = c.plan(work, room)
    yield f"a block: {size(work.block_bytes)}, one every {work.chunk_seconds:.3g} s, {work.retrieved} read back a chunk"
    yield f"main memory: {size(room.host_bytes)} = {p.host_slots} blocks"
    if not p.disk_slots:
        after = duration(p.full_chunk * work.chunk_seconds)
        yield f"no disk tier: from chunk {p.first_eviction} on, after {after}, new chunks are not remembered"
        return
    after = duration(p.spill_chunk * work.chunk_seconds)
    yield f"first write to the drive at chunk {p.spill_chunk}, after {after}; then {rate(p.write_need)} all the time"
    yield f"walking back the way one came, the first read comes half a memory after the turn ({p.host_slots // 2} chunks)"
    most = rate(c.most_read(work))
    yield f"reads: {rate(p.read_need)} on a steady camera, {most} at most; the drive gives {rate(room.read_rate)}: {p.reads.value}"
    yield f"writes: {rate(p.write_need)}; the drive gives {rate(room.write_rate)}: {p.writes.value}"
    if not math.isinf(room.read_rate):
        wait = 1e3 * c.on_demand_stall(work, room.read_rate, 1)
        yield f"read only when needed, each fresh block would stop the picture for {wait:.1f} ms"
    after = duration((p.disk_full_chunk or 0) * work.chunk_seconds)
    yield f"the disk tier ({size(room.disk_bytes)}) is full at chunk {p.disk_full_chunk}, after {after}"
    hour = size(c.session_bytes(work, room, 3600, wall=True))
    yield f"an hour of play writes {hour}; {c.wear_days(work, room):.0f} days of it use up a drive rated for 600 TB"
    if work.horizon is not None:
        yield f"positions were trained up to chunk {work.horizon}; beyond it memory is placed near the present"
