"""Where retrieved blocks are placed in time: how far their keys are turned from the stored, position-free ones.

Below a model's native horizon a block stands where it was born, so that the view equals the model's own cache. Beyond it the distance would
leave what the model was trained on: there all retrieved blocks stand a fixed distance before the chunk in the making. One turn, always from
the stored source.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Placement:
    """``frames`` positions that a chunk takes, ``horizon`` the first chunk that doesn't fit the trained range, counted from 0.

    ``before`` is how many frames before the chunk in the making retrieved blocks stand from that chunk on.
    """

    frames: int
    horizon: int
    before: float

    def beyond(self, now: int) -> bool:
        """Whether chunk ``now`` leaves the trained range."""
        return now >= self.horizon

    def offsets(self, births: Sequence[int], now: int) -> list[float]:
        """Frames by which the keys of blocks born as chunks ``births`` are turned for chunk ``now``; stored keys begin at frame 0."""
        if self.beyond(now):
            return [now * self.frames - self.before] * len(births)
        return [float(birth * self.frames) for birth in births]
