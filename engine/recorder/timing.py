"""Which frame of play stands in which frame of the film.

By model time each frame of the world is one of the film: a slow machine makes the same film as a fast one. By wall time the film lasts as
long as the play did: what took long stays long. The film's rate is constant either way, so it plays everywhere; a frame that stayed longer
is repeated, which costs an encoder next to nothing.
"""

from __future__ import annotations

TIMINGS = ("model", "wall")
SLOWEST_FRAME = 1.0
"""Most seconds over which one frame of a chunk is spread; a chunk that came later left its last frame standing."""


class WallSlots:
    """Film frames by wall time. Pure arithmetic on times that are handed in, in seconds; ``fps`` is the film's rate.

    A chunk's frames are spread evenly until the next chunk arrives, as they were shown.
    """

    def __init__(self, fps: float) -> None:
        self._fps = fps
        self._start: float | None = None
        self._at = 0.0
        self._count = 0
        self._slot = 0
        self._reached = 0

    def arrive(self, now: float, frames: int) -> list[int]:
        """A chunk of ``frames`` comes. Returns which frames of the one before it fill the film until now, in order."""
        filled = self.fill(now)
        if self._start is None:
            self._start = now
        self._at, self._count, self._reached = now, frames, 0
        return filled

    def fill(self, now: float) -> list[int]:
        """Frames of the newest chunk that fill the film until ``now``."""
        if self._start is None or not self._count:
            return []
        period = max(1e-9, min(SLOWEST_FRAME, (now - self._at) / self._count))
        filled = []
        while (when := self._start + self._slot / self._fps) < now:
            self._reached = max(self._reached, min(self._count - 1, int((when - self._at) / period)))  # never back, though the pace bends
            filled.append(self._reached)
            self._slot += 1
        return filled

    def end(self, now: float) -> list[int]:
        """The frames until the film's end; at least one, so that a chunk that came last is seen."""
        return self.fill(now) or ([self._count - 1] if self._count else [])
