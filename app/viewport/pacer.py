"""Presents a chunk's frames evenly: no burst when a chunk arrives, no freeze until the next.

Pure bookkeeping on an injected clock. Chunks come every ``interval`` seconds (a moving average); on arrival all frames that are not shown
yet are spread over the time until the next chunk is expected and a little more, so that a small reserve covers chunks that come late.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from worldpager.engine.types import Frames

SMOOTHING = 0.25
"""Weight of the newest interval between chunks in their average."""
RESERVE = 0.15
"""Share of a chunk that is kept back for chunks that come late."""
CATCH_UP = 1.08
"""How much faster than the world's own rate frames may go while too many wait."""
MOST_CHUNKS = 2
"""More chunks than these never wait: the oldest are left out."""
PAUSE = 3.0
"""A gap of this many average intervals is a rest, not a slow chunk."""


class Pacer:
    """Takes chunks, gives frames when they are due. ``clock`` in seconds."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._waiting: deque[tuple[int, Frames]] = deque()
        self._interval: float | None = None
        self._period = 0.0
        self._arrived: float | None = None
        self._next = 0.0

    @property
    def waiting(self) -> int:
        """Frames that are not shown yet."""
        return len(self._waiting)

    def offer(self, index: int, frames: Frames, rate: float) -> None:
        """Chunk ``index`` has arrived; ``frames`` uint8 [n, height, width, 3], ``rate`` frames a second at natural speed."""
        now, count = self._clock(), len(frames)
        self._learn(now, count / rate)
        while self._waiting and len(self._waiting) + count > MOST_CHUNKS * count:
            self._waiting.popleft()
        if not self._waiting:
            self._next = max(now, self._next)
        self._waiting.extend((index, frame) for frame in frames)
        spread = (self._interval or count / rate) * (1 + RESERVE) / len(self._waiting)
        self._period = max(spread, 1 / (rate * (CATCH_UP if self.waiting > count * (1 + RESERVE) else 1.0)))

    def _learn(self, now: float, natural: float) -> None:
        """Take the newest interval between chunks into the average; never below the world's own pace."""
        since = None if self._arrived is None else now - self._arrived
        self._arrived = now
        if self._interval is None:
            self._interval = natural
        if since is not None and since < PAUSE * self._interval:
            self._interval = max(natural, self._interval + SMOOTHING * (since - self._interval))
        elif since is not None and since < 2 * PAUSE * self._interval:
            self._interval += SMOOTHING * (PAUSE - 1) * self._interval  # slower by much: believe it little by little

    def due(self) -> tuple[int, Frames] | None:
        """The frame to show now, with its chunk's index; None when the one on the screen stays. At most one a call."""
        now = self._clock()
        if not self._waiting or now < self._next:
            return None
        late = now - self._next
        self._next = now + self._period - min(late, 0.5 * self._period)
        return self._waiting.popleft()

    def clear(self) -> None:
        """Forget what waits and what was learned: another world begins."""
        self._waiting.clear()
        self._interval, self._arrived = None, None
