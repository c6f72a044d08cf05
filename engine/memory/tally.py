"""The memory's running counts, of which `MemoryCounters` is the frozen picture."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from worldpager.engine.telemetry.snapshot import MemoryCounters

STALL_SECONDS = 0.5e-3
RATE_SECONDS = 2.0
"""Disk rates are averaged over the last so many seconds."""


@dataclass(slots=True)
class Tally:
    """Totals since the memory was made; the fields are those of `MemoryCounters`."""

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
    failed_moves: int = 0
    disk_read_bytes: int = 0
    disk_written_bytes: int = 0

    def waited(self, seconds: float) -> None:
        """The street spent ``seconds`` asking for its blocks."""
        self.stalls_over_half_ms += seconds > STALL_SECONDS
        self.longest_wait_ms = max(self.longest_wait_ms, seconds * 1e3)

    def frozen(self, *, blocks: int, host_peak_bytes: int, host_budget_bytes: int) -> MemoryCounters:
        """The totals as they stand, with what isn't a total."""
        totals = {name: getattr(self, name) for name in self.__slots__}
        return MemoryCounters(**totals, blocks=blocks, host_peak_bytes=host_peak_bytes, host_budget_bytes=host_budget_bytes)


class Rate:
    """Bytes a second over the last `RATE_SECONDS` of ``clock``."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._spent: deque[tuple[float, int]] = deque()

    def add(self, count: int) -> None:
        """``count`` bytes have just been moved."""
        self._forget()
        self._spent.append((self._clock(), count))

    def __call__(self) -> float:
        """The rate now."""
        self._forget()
        return sum(count for _, count in self._spent) / RATE_SECONDS

    def _forget(self) -> None:
        since = self._clock() - RATE_SECONDS
        while self._spent and self._spent[0][0] <= since:
            self._spent.popleft()
