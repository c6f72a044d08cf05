"""How long the stages of the street take."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager


class Spans:
    """Times named stretches of one chunk. ``clock`` in seconds."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._ms: dict[str, float] = {}

    @contextmanager
    def __call__(self, stage: str) -> Iterator[None]:
        """Time what happens inside; the same stage twice adds up."""
        start = self._clock()
        try:
            yield
        finally:
            self._ms[stage] = self._ms.get(stage, 0.0) + (self._clock() - start) * 1e3

    def take(self) -> dict[str, float]:
        """Milliseconds of each stage since the last take, in the order in which they began."""
        taken, self._ms = self._ms, {}
        return taken
