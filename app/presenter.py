"""Brings chunks to the eye: fetched once a tick, paced, shown, measured."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from statistics import median

from worldpager.app.viewport.pacer import Pacer
from worldpager.app.viewport.viewport import Viewport
from worldpager.engine.mailbox import PublishedChunk

RATE_SECONDS = 2.0
REMEMBERED_DELAYS = 16


class Meter:
    """Events a second over the last `RATE_SECONDS`."""

    def __init__(self) -> None:
        self._times: deque[float] = deque()

    def count(self, now: float) -> None:
        """An event at ``now``."""
        self._times.append(now)

    def rate(self, now: float) -> float:
        """Events a second lately."""
        while self._times and now - self._times[0] > RATE_SECONDS:
            self._times.popleft()
        if len(self._times) < 2:
            return 0.0
        return (len(self._times) - 1) / (self._times[-1] - self._times[0])


class Presenter:
    """Shows the frames of published chunks on ``viewport``. ``clock`` is that of the actions' stamps."""

    def __init__(self, viewport: Viewport, rate: float, clock: Callable[[], float]) -> None:
        self._viewport, self._clock = viewport, clock
        self.pacer = Pacer(rate)
        self._chunks: dict[int, PublishedChunk] = {}
        self._newest: PublishedChunk | None = None
        self._presented = Meter()
        self._stamp_shown = 0.0
        self._shown_chunk = -1
        self._delays: deque[float] = deque(maxlen=REMEMBERED_DELAYS)
        viewport.on_painted = self._painted

    @property
    def newest(self) -> PublishedChunk | None:
        """The newest chunk seen, with its newest snapshot."""
        return self._newest

    @property
    def presented_fps(self) -> float:
        """Frames of the world shown a second, lately."""
        return self._presented.rate(self._clock())

    @property
    def key_to_picture(self) -> float | None:
        """Seconds from an input to the first painting of a frame that obeys it: the median of the last ones; None before the first."""
        return median(self._delays) if self._delays else None

    def tick(self, chunk: PublishedChunk | None) -> bool:
        """Take in the newest published chunk and show what is due. True when the chunk, or only its snapshot, is new."""
        now = self._clock()
        fresh = chunk is not None and chunk is not self._newest
        if fresh and chunk is not None:
            self._newest = chunk
            if chunk.index > self.pacer.newest:
                self._chunks[chunk.index] = chunk
                self.pacer.offer(chunk.index, len(chunk.frames), now)
            if chunk.snapshot.idle or chunk.snapshot.paused:
                self.pacer.rest()
        self._show_due(now)
        return fresh

    def show_due(self) -> None:
        """Show what is due now."""
        self._show_due(self._clock())

    def seconds_to_due(self) -> float | None:
        """Seconds until the next frame is due; None while none waits."""
        due = self.pacer.next_due
        return None if due is None else max(0.0, due - self._clock())

    def _show_due(self, now: float) -> None:
        due = self.pacer.due(now)
        if due is None:
            return
        for old in [index for index in self._chunks if index < due.chunk]:
            del self._chunks[old]
        chunk = self._chunks[due.chunk]
        if due.chunk != self._shown_chunk:
            self._shown_chunk = due.chunk
            self._stamp_shown = chunk.snapshot.action_stamp
        self._viewport.show_frame(chunk.frames[due.frame])
        self._presented.count(now)

    def _painted(self) -> None:
        """The viewport has painted: if that was the first frame that obeys an input, note the delay."""
        if self._stamp_shown:
            self._delays.append(max(0.0, self._clock() - self._stamp_shown))
            self._stamp_shown = 0.0
