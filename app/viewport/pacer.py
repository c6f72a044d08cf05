"""When each frame of a chunk is due: evenly, never faster than the world's own rate, soon.

A chunk brings several frames at once and comes when it comes. The pacer plays them at the pace at which chunks have lately arrived (an
exponential average), and bends that pace a little so that a small lead remains, as large as arrivals are uneven: without a lead each late
chunk would freeze the picture, with a larger one the keys would feel slow. Pure arithmetic on times that are handed in, in seconds.
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass

SMOOTHING = 0.2
"""Weight of the newest interval in the averages."""
PAUSE_SECONDS, PAUSE_INTERVALS = 0.5, 5.0
"""An interval that exceeds both is an interruption, not the pace."""
FASTEST, SLOWEST = 0.90, 1.05
"""Bounds of the bent frame period, as shares of the even one."""
OVER_RATE = 0.985
"""Shortest period as a share of the natural rate's: a lead may shrink while the model keeps its full rate."""
LEAD_PER_JITTER = 1.5
"""Lead wanted over the mean unevenness of arrivals."""
SHORTEST = 1 / 1000
"""Frame period in seconds when the natural rate is not kept."""
SPARE_FRAMES = 2
"""Frames beyond the wanted lead that may still wait when a chunk arrives; older ones are skipped, so that keys never feel slow for long."""


@dataclass(frozen=True, slots=True)
class Due:
    """A frame to be shown now: which chunk, which of its frames."""

    chunk: int
    frame: int


class Pacer:
    """Spreads chunks over time. ``rate`` is the world's natural rate in frames a second."""

    def __init__(self, rate: float) -> None:
        self._natural = self._shortest = 1.0 / rate
        self._waiting: deque[Due] = deque()
        self._next_due = float("-inf")
        self._period = self._shortest
        self._arrived: float | None = None
        self._interval: float | None = None
        self._jitter = 0.0
        self._newest = -1
        self._frames = 1
        self.skipped = 0
        """Frames never shown: too late, or overtaken before they could be fetched."""
        self.due_at = float("-inf")
        """When the last frame that was handed out was due."""
        self.held_seconds = 0.0
        """Time that frames stayed beyond their period because the next chunk was late."""

    def hold(self, on: bool) -> None:
        """Keep the natural rate (as at first), or show frames as fast as they come."""
        self._shortest = self._natural if on else SHORTEST
        self._period = max(self._period, OVER_RATE * self._shortest)

    @property
    def waiting(self) -> int:
        """Frames that have arrived and are not yet due."""
        return len(self._waiting)

    @property
    def period(self) -> float:
        """Seconds between two frames at the pace of this moment."""
        return self._period

    @property
    def next_due(self) -> float | None:
        """When the next frame is due; None while none waits."""
        return self._next_due if self._waiting else None

    @property
    def newest(self) -> int:
        """Number of the newest chunk taken in; -1 before the first."""
        return self._newest

    def offer(self, chunk: int, frames: int, now: float) -> None:
        """Take in a chunk that arrived at ``now``. One that is not newer than the last is ignored."""
        if chunk <= self._newest:
            return
        if self._newest >= 0:
            self.skipped += (chunk - self._newest - 1) * frames
        resumed = self._measure(now, chunk - self._newest)
        self._newest, self._frames = chunk, frames
        self._skip_surplus()
        if resumed:
            self._next_due = max(now, self._next_due) if self._waiting else now
        elif not self._waiting and now > self._next_due:
            self.held_seconds += now - self._next_due
            self._next_due = now
        self._waiting.extend(Due(chunk, frame) for frame in range(frames))
        self._bend(now)

    def rest(self) -> None:
        """No chunk is being made: the time until the next one says nothing about the pace."""
        self._arrived = None

    def due(self, now: float) -> Due | None:
        """The frame to show at ``now``, if its time has come: one a call. Frames whose time has wholly passed are skipped, but the last."""
        if not self._waiting or now < self._next_due:
            return None
        while len(self._waiting) > 1 and now >= self._next_due + self._period:
            self._waiting.popleft()
            self._next_due += self._period
            self.skipped += 1
        self.due_at = max(self._next_due, now - self._period)
        self._next_due = self.due_at + self._period
        return self._waiting.popleft()

    def _measure(self, now: float, chunks: int) -> bool:
        """Average intervals and their unevenness. True after a rest or at the start, when the interval says nothing."""
        before, self._arrived = self._arrived, now
        if before is None:
            return True
        interval = (now - before) / chunks
        usual = self._interval
        if usual is None:
            self._interval = interval
            return False
        if interval > max(PAUSE_SECONDS, PAUSE_INTERVALS * usual):
            return True
        self._jitter += SMOOTHING * (abs(interval - usual) - self._jitter)
        self._interval = usual + SMOOTHING * (interval - usual)
        return False

    @property
    def _even(self) -> float:
        """Seconds a frame at the pace of arrivals."""
        return max(self._shortest, (self._interval or 0.0) / self._frames)

    @property
    def _wanted_lead(self) -> float:
        """Seconds from a chunk's arrival to its first frame that hide the unevenness of arrivals."""
        return min(LEAD_PER_JITTER * self._jitter, self._frames * self._even)

    def _skip_surplus(self) -> None:
        """Of the frames that still wait, keep as many as the wanted lead needs and few more."""
        most = math.ceil(self._wanted_lead / self._even) + SPARE_FRAMES
        while len(self._waiting) > most:
            self._waiting.popleft()
            self.skipped += 1

    def _bend(self, now: float) -> None:
        """The frame period until the next chunk: the even one, a little shorter when the lead is too long, longer when too short."""
        even, wanted = self._even, self._wanted_lead
        lead = self._next_due + (len(self._waiting) - self._frames) * even - now
        bent = even * max(FASTEST, min(SLOWEST, 1.0 - (lead - wanted) / (self._frames * even)))
        self._period = max(OVER_RATE * self._shortest, bent)
