"""What the overlays show: the newest snapshot, the window's own rates, and a little history of both."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from worldpager.engine.telemetry.snapshot import Snapshot

SAMPLES = 72
"""Disk rates and stage times kept for the curves."""
PATH_POINTS = 1500
RATE_SECONDS = 2.0


class RateMeter:
    """Events a second over the last two seconds."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._times: deque[float] = deque(maxlen=512)

    def count(self) -> None:
        """One event, now."""
        self._times.append(self._clock())

    @property
    def rate(self) -> float:
        """Events a second."""
        now = self._clock()
        while self._times and now - self._times[0] > RATE_SECONDS:
            self._times.popleft()
        return len(self._times) / RATE_SECONDS if self._times and now - self._times[-1] < 0.5 * RATE_SECONDS else 0.0


@dataclass(frozen=True, slots=True)
class ChunkReading:
    """One chunk in the timeline: its time, how many wanted blocks were missed, and whether the set was stale."""

    milliseconds: float
    missed: int
    stale: bool


class Readings:
    """Gathers as chunks and frames come. ``clock`` in seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self.snapshot: Snapshot | None = None
        self.presented, self.display = RateMeter(clock), RateMeter(clock)
        self.key_to_picture_ms: float | None = None
        self.read_rates: deque[float] = deque([0.0] * SAMPLES, maxlen=SAMPLES)
        self.write_rates: deque[float] = deque([0.0] * SAMPLES, maxlen=SAMPLES)
        self.chunks: deque[ChunkReading] = deque(maxlen=SAMPLES)
        self.path: deque[tuple[float, float]] = deque(maxlen=PATH_POINTS)

    def see(self, snapshot: Snapshot) -> None:
        """Take a snapshot in; another world empties what was gathered of the last one."""
        last = self.snapshot
        if last is None or snapshot.seed != last.seed or snapshot.chunk < last.chunk:
            self.chunks.clear()
            self.path.clear()
            last = None
        self.snapshot = snapshot
        if last is not None and snapshot.chunk == last.chunk:
            return
        missed = snapshot.memory.blocks_missed - (last.memory.blocks_missed if last else 0)
        self.chunks.append(ChunkReading(snapshot.chunk_ms, missed, snapshot.stale))
        self.path.append((snapshot.pose.x, snapshot.pose.y))

    def sample(self) -> None:
        """Once per redraw of the overlays: the disk's rates join their curves."""
        if self.snapshot is not None:
            self.read_rates.append(self.snapshot.disk_read_rate)
            self.write_rates.append(self.snapshot.disk_write_rate)

    def presented_frame(self, stamp: float) -> None:
        """A frame went to the screen; ``stamp`` of the newest input that it obeys, 0 for none."""
        self.presented.count()
        if stamp > 0:
            self.key_to_picture_ms = 1e3 * (self._clock() - stamp)


def bytes_text(count: float) -> str:
    """``count`` bytes in a unit that keeps it short."""
    for unit in ("B", "KiB", "MiB"):
        if count < 1024:
            return f"{count:.0f} {unit}" if unit == "B" or count >= 100 else f"{count:.1f} {unit}"
        count /= 1024
    return f"{count:.1f} GiB"


def rate_text(rate: float) -> str:
    """Bytes a second in megabytes."""
    return f"{rate / 1e6:.1f} MB/s"
