"""Counts the street as it runs and builds the snapshot of each chunk.

Written by the generator thread alone; everybody else reads the frozen `Snapshot`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from worldpager.engine.telemetry.block_rows import BlockRows
from worldpager.engine.telemetry.snapshot import MemoryCounters, Snapshot, TierUse
from worldpager.engine.telemetry.spans import Spans
from worldpager.engine.types import Action, BlockId, FieldOfView, Pose

RATE_CHUNKS = 12
"""Chunks that the generated rate is averaged over."""

SUMS = (
    "blocks_wanted", "blocks_missed", "stale_uses", "prefetch_hits", "prefetch_wasted", "stalls_over_half_ms", "spilled_blocks",
    "evicted_blocks", "blocks_refused", "blocks_dropped", "failed_moves", "disk_read_bytes", "disk_written_bytes",
)  # fmt: skip
"""Memory counters that only rise; they are reported since the world began."""


class MeasuredMemory(Protocol):
    """What the counters ask of the memory."""

    def tiers(self) -> tuple[TierUse, ...]:
        """Occupancy, fastest tier first."""
        ...

    def counters(self) -> MemoryCounters:
        """Totals since the memory was made."""
        ...

    def degraded(self) -> tuple[str, ...]:
        """Named degradations in force."""
        ...

    def disk_rates(self) -> tuple[float, float]:
        """Bytes a second read and written lately."""
        ...

    def spill_chunk(self) -> int | None:
        """Predicted count of blocks at which the host tier overflows."""
        ...

    def tier_of(self, ids: NDArray[np.int64]) -> NDArray[np.uint8]:
        """Tier code of each block."""
        ...

    def copies_of(self, ids: NDArray[np.int64]) -> NDArray[np.uint8]:
        """Bits of each block's complete copies."""
        ...


@dataclass(frozen=True, slots=True)
class StreetState:
    """What the street knows of the chunk just made and no counter holds."""

    pose: Pose
    futures: tuple[tuple[Pose, ...], ...] = ()
    working_set: tuple[BlockId, ...] = ()
    stale: bool = False
    action_stamp: float = 0.0
    policy: str = ""
    opening: bool = False
    idle: bool = False
    paused: bool = False
    degraded: tuple[str, ...] = ()
    received: Action = field(default_factory=Action)


class Counters:
    """Counts of one run. ``clock`` in seconds."""

    def __init__(self, model: str, device: str, rate: float, view: FieldOfView, clock: Callable[[], float]) -> None:
        self.spans = Spans(clock)
        self._clock = clock
        self._still = Snapshot(
            model=model, device=device, seed=0, chunk=0, frames=0, rate=rate, generated_fps=0.0, chunk_ms=0.0, stage_ms={},
            pose=Pose(0, 0, 0, 0, 0), view=view, predicted=(), tiers=(), memory=MemoryCounters(), disk_read_rate=0.0, disk_write_rate=0.0,
            spill_chunk=None,
        )  # fmt: skip
        self._before_world = MemoryCounters()
        self._rows = BlockRows()
        self._pace: deque[tuple[float, int]] = deque(maxlen=RATE_CHUNKS)
        self._last_end: float | None = None

    def begin_world(self, seed: int, memory: MemoryCounters) -> None:
        """Count from zero again. ``memory`` are the totals of the worlds before."""
        self._before_world = memory
        self._rows = BlockRows()
        self._still = replace(self._still, seed=seed, chunk=0, frames=0)
        self.stand_still()
        self._pace.clear()

    def stand_still(self) -> None:
        """The street rests: the time until the next chunk is not generating time."""
        self._last_end = None

    def end_opening(self) -> None:
        """From here on chunks are generated: what was rendered before has no part in the rate."""
        self._still = replace(self._still, generated_fps=0.0)
        self.stand_still()
        self._pace.clear()

    def remembered(self) -> list[BlockId]:
        """All blocks of this world, oldest first."""
        return [BlockId(int(block)) for block in self._rows.ids]

    def remember(self, block: BlockId, pose: Pose) -> None:
        """``block`` has joined the memory."""
        self._rows.add(block, pose)

    def forget_all(self) -> None:
        """No block is remembered any more, or not here."""
        self._rows = BlockRows()

    def stand_at(self, chunk: int, frames: int) -> None:
        """Play stands elsewhere in the world's history: after ``chunk`` chunks of ``frames`` frames in all."""
        self._still = replace(self._still, chunk=chunk, frames=frames)
        self.stand_still()

    def forget(self, blocks: list[BlockId]) -> None:
        """``blocks`` are gone from the memory."""
        self._rows.drop(blocks)

    def count_chunk(self, frames: int) -> None:
        """One more chunk is done; its time is that of its spans."""
        now = self._clock()
        stages = self.spans.take()
        busy = sum(stages.values())
        since = busy / 1e3 if self._last_end is None else now - self._last_end
        self._last_end = now
        self._pace.append((since, frames))
        seconds = sum(taken for taken, _ in self._pace)
        self._still = replace(
            self._still,
            chunk=self._still.chunk + 1,
            frames=self._still.frames + frames,
            chunk_ms=busy,
            stage_ms=stages,
            generated_fps=sum(made for _, made in self._pace) / seconds if seconds > 0 else 0.0,
        )

    def snapshot(self, memory: MeasuredMemory, street: StreetState) -> tuple[Snapshot, list[BlockId]]:
        """The present state, frozen, and the blocks that no tier holds any more."""
        block_map, lost = self._rows.map(memory.copies_of)
        read_rate, write_rate = memory.disk_rates()
        return replace(
            self._still,
            pose=street.pose,
            predicted=street.futures[0] if street.futures else (),
            futures=street.futures,
            tiers=memory.tiers(),
            memory=self._since_begin(memory.counters()),
            disk_read_rate=read_rate,
            disk_write_rate=write_rate,
            spill_chunk=memory.spill_chunk(),
            working_set=street.working_set,
            stale=street.stale,
            action_stamp=street.action_stamp, received=street.received,
            idle=street.idle,
            paused=street.paused,
            opening=street.opening,
            policy=street.policy,
            degraded=memory.degraded() + street.degraded,
            block_map=block_map,
        ), lost

    def _since_begin(self, now: MemoryCounters) -> MemoryCounters:
        """``now`` less what the worlds before had counted."""
        return replace(now, **{name: getattr(now, name) - getattr(self._before_world, name) for name in SUMS})
