"""The planner against the paper's own figures (WorldPager II, IV.C, IV.E, Table II)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from worldpager.engine.config import GiB
from worldpager.engine.planner import cost_model as c


@dataclass(frozen=True, slots=True)
class Check:
    """A figure: what the paper says, what the model gives, and how far apart they may be."""

    name: str
    paper: float
    planned: float
    tolerance: float
    unit: str = ""

    @property
    def agrees(self) -> bool:
        """Within the tolerance."""
        return abs(self.paper - self.planned) <= self.tolerance


def checks() -> Iterator[Check]:
    """Every figure of the paper that the model covers."""
    int4, bf16 = c.matrix_game_2(), c.matrix_game_2(block_bytes=c.BF16_BLOCK)
    small, large = c.paper_room(32), c.paper_room(64)
    yield Check("int4 chunks in 32 GiB", 226, c.plan(int4, small).host_slots, 1, "chunks")
    yield Check("bf16 chunks in 32 GiB", 60, c.plan(bf16, small).host_slots, 1, "chunks")
    yield Check("int4 chunks in 64 GiB (registered)", 492, c.plan(int4, large).host_slots, 1, "chunks")
    yield Check("video of 60 bf16 chunks", 45, 60 * c.minutes_of_video(bf16, 60), 0.5, "s")
    yield Check("video of 226 int4 chunks", 2.8, c.minutes_of_video(int4, 226), 0.05, "min")
    yield Check("video of the positional horizon, chunk 341", 4.3, c.minutes_of_video(int4, int4.horizon or 0), 0.05, "min")
    yield Check("prefetch fails below", 0.1, c.read_need(int4) / 1e9, 0.02, "GB/s")
    yield Check("write-back needs", 0.11, c.write_need(int4) / 1e9, 0.005, "GB/s")
    yield Check("written in 3,000 chunks", 334, c.written(int4, small, 3000) / GiB, 2, "GiB")
    yield Check("an hour with 64 GiB, wall time, least", 300, c.session_bytes(int4, large, 3600, wall=True) / GiB, 20, "GiB")
    yield Check("an hour with 64 GiB, video time, most", 600, c.session_bytes(int4, large, 3600, wall=False) / GiB, 100, "GiB")
    need = (c.write_need(int4) + c.read_need(int4)) / 1e9
    yield Check("reads and writes together stay below", 0.21, need, 0.01, "GB/s")
