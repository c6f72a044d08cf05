"""What the memory view tells: the newest state, what moved, what was seen again, and the row of chunks until now. All of it bounded."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from worldpager.app.memory_view.cells import BlockCells
from worldpager.app.memory_view.modes import MODES, mode_of
from worldpager.app.memory_view.sights import Revisit, Sights
from worldpager.engine.mailbox import PublishedChunk
from worldpager.engine.telemetry.snapshot import COPY_HOST, MemoryCounters, Snapshot

KEPT_CHUNKS = 4096
"""Chunks that the history reaches back: twenty minutes of ``tiny``."""
SOON, LATER = 0, 1
"""A place seen again while its block was still in main memory, and after it had spilled."""


@dataclass(frozen=True, slots=True)
class ChunkRow:
    """One chunk of the history. Counts are this chunk's own; ``retrieved`` are numbers of past chunks of the same world."""

    index: int
    seed: int
    chunk: int
    policy: str
    x: float
    y: float
    yaw: float
    retrieved: tuple[int, ...]
    wanted: int
    hits: int
    misses: int
    stale: bool
    stalls: int
    wait_ms: float
    used: tuple[int, int, int]
    read_bytes: int
    written_bytes: int
    generated_fps: float
    chunk_ms: float
    opening: bool = False
    likeness: float | None = None
    """Decibels against the first time that this place was seen; None where it is new."""


@dataclass(slots=True)
class Score:
    """How alike places looked when they were seen again, summed."""

    count: int = 0
    total: float = 0.0

    @property
    def mean(self) -> float | None:
        """Mean decibels; None before the first."""
        return self.total / self.count if self.count else None


@dataclass(slots=True)
class Scores:
    """Of one mode: `SOON` and `LATER`, and what its memory did."""

    likeness: tuple[Score, Score] = field(default_factory=lambda: (Score(), Score()))
    wanted: int = 0
    hits: int = 0
    stalls: int = 0


class MemoryStory:
    """Fed with every published chunk by `take`; remembers the last ``kept`` of them."""

    def __init__(self, kept: int = KEPT_CHUNKS) -> None:
        self.rows: deque[ChunkRow] = deque(maxlen=kept)
        self.cells = BlockCells()
        self.scores = tuple(Scores() for _ in MODES)
        self.revisit: Revisit | None = None
        self.snapshot: Snapshot | None = None
        self.version = 0
        """Rises with every chunk."""
        self._sights = Sights()
        self._index = -1
        self._counters = MemoryCounters()
        self._first_block = 0

    @property
    def remembered_sights(self) -> int:
        """Pictures kept for comparison."""
        return len(self._sights)

    def take(self, chunk: PublishedChunk) -> bool:
        """Take in a chunk; the same chunk with a newer snapshot only refreshes the state. True when it was new."""
        snapshot, before = chunk.snapshot, self.snapshot
        self.snapshot = snapshot
        if chunk.index == self._index:
            return False
        if before is None or snapshot.chunk <= before.chunk or snapshot.seed != before.seed:
            self._begin_world(snapshot)
        self._index = chunk.index
        self.version += 1
        self.cells.update(snapshot)
        revisit = self._look(chunk)
        self.revisit = revisit or self.revisit
        row = self._row(chunk, revisit)
        self._score(row, revisit)
        self.rows.append(row)
        self._counters = snapshot.memory
        return True

    def _begin_world(self, snapshot: Snapshot) -> None:
        self._sights.clear()
        self.cells = BlockCells()
        self.revisit = None
        self._counters = MemoryCounters()
        ids = snapshot.block_map.ids
        self._first_block = int(ids[0]) if len(ids) else 0

    def _look(self, chunk: PublishedChunk) -> Revisit | None:
        snapshot = chunk.snapshot
        ids = snapshot.block_map.ids
        return self._sights.look(snapshot.pose, chunk.frames[-1], snapshot.chunk, int(ids[-1]) if len(ids) else -1)

    def _row(self, chunk: PublishedChunk, revisit: Revisit | None) -> ChunkRow:
        snapshot, was = chunk.snapshot, self._counters
        memory, pose = snapshot.memory, snapshot.pose
        used = {tier.name: tier.used for tier in snapshot.tiers}
        return ChunkRow(
            index=chunk.index, seed=snapshot.seed, chunk=snapshot.chunk, policy=snapshot.policy, x=pose.x, y=pose.y, yaw=pose.yaw,
            retrieved=tuple(int(block) - self._first_block for block in snapshot.working_set), stale=snapshot.stale,
            wanted=max(0, memory.blocks_wanted - was.blocks_wanted), hits=max(0, memory.prefetch_hits - was.prefetch_hits),
            misses=max(0, memory.blocks_missed - was.blocks_missed), stalls=max(0, memory.stalls_over_half_ms - was.stalls_over_half_ms),
            wait_ms=memory.longest_wait_ms, used=(used.get("device", 0), used.get("host", 0), used.get("disk", 0)),
            read_bytes=max(0, memory.disk_read_bytes - was.disk_read_bytes),
            written_bytes=max(0, memory.disk_written_bytes - was.disk_written_bytes), generated_fps=snapshot.generated_fps,
            chunk_ms=snapshot.chunk_ms, opening=snapshot.opening, likeness=revisit.decibels if revisit else None,
        )  # fmt: skip

    def _score(self, row: ChunkRow, revisit: Revisit | None) -> None:
        """Count the chunk for its mode. What the model renders itself at a world's opening proves nothing."""
        place = mode_of(row.policy)
        if place is None or row.opening:
            return
        scores = self.scores[place]
        scores.wanted += row.wanted
        scores.hits += row.hits
        scores.stalls += row.stalls
        if revisit is not None:
            score = scores.likeness[SOON if self._in_host(revisit.then.block) else LATER]
            score.count += 1
            score.total += revisit.decibels

    def _in_host(self, block: int) -> bool:
        """Whether the block that remembers a sight is still in main memory."""
        assert self.snapshot is not None
        block_map = self.snapshot.block_map
        return bool((block_map.copy_bits[block_map.ids == block] & COPY_HOST).any())
