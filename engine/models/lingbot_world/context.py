"""What a chunk attends to besides itself: recent frames, the world's first frames (the sink), and retrieved chunks.

Keys and values of a block lie as [recent frames][current chunk][sink][retrieved chunks], one stretch of tokens. Attention has no mask, so
order means nothing and any number of the oldest recent frames and of the last retrieved chunks can be left out without moving a byte.
"""

from __future__ import annotations

import torch
from torch import Tensor

from worldpager.engine.models.base import MemoryView
from worldpager.engine.models.lingbot_world.config import DitConfig


class Context:
    """Placed keys and values, [blocks, tokens, heads, head_dim] each. ``places`` are the tokens of a latent frame.

    The first ``config.sink`` frames of a world stay; the rest of ``config.window`` holds the newest frames, the chunk in the making
    included. ``retrieved`` chunks of ``stored`` tokens (None: whole ones) more have room in the ``view``. ``kept`` takes the finished chunk's
    keys as if its first frame were 0.
    """

    def __init__(
        self, config: DitConfig, places: int, retrieved: int, dtype: torch.dtype, device: torch.device, stored: int | None = None
    ) -> None:
        self.places, self.chunk, self._sink = places, config.chunk, config.sink
        self.stored = config.chunk * places if stored is None else stored
        self._recent = config.window - config.sink - config.chunk
        if self._recent < 0:
            raise ValueError(f"a window of {config.window} frames has no room for {config.sink} sink frames and a chunk of {config.chunk}")
        shape = (config.blocks, config.window * places + retrieved * self.stored, config.heads, config.head_dim)
        self.keys, self.values = torch.zeros(shape, dtype=dtype, device=device), torch.zeros(shape, dtype=dtype, device=device)
        self.kept = torch.zeros(config.blocks, config.chunk * places, config.heads, config.head_dim, dtype=dtype, device=device)
        self.view = MemoryView(self._slots(self.keys, retrieved), self._slots(self.values, retrieved))
        self.clear()

    def _slots(self, buffer: Tensor, count: int) -> Tensor:
        """The retrieved part as [blocks, count, tokens, heads, head_dim]."""
        part = buffer[:, buffer.shape[1] - count * self.stored :]
        return part.view(part.shape[0], count, self.stored, *part.shape[2:])

    def clear(self) -> None:
        """Forget everything."""
        self.sinks = self.recent = 0

    def _span(self, first: int, last: int) -> slice:
        return slice(first * self.places, last * self.places)

    @property
    def current(self) -> slice:
        """Tokens of the chunk in the making."""
        return self._span(self._recent, self._recent + self.chunk)

    @property
    def sink(self) -> slice:
        """Tokens of the sink frames that there are."""
        start = self._recent + self.chunk
        return self._span(start, start + self.sinks)

    def seen(self, retrieved: int, recent: int | None = None) -> slice:
        """Tokens that the chunk attends to: itself, the sink, the newest ``recent`` frames before it (None: all) and ``retrieved`` chunks.

        Chunks can only be retrieved once the sink is full.
        """
        if retrieved and self.sinks < self._sink:
            raise ValueError("chunks are retrieved before the sink is full")
        before = self.recent if recent is None else min(recent, self.recent)
        window = self._span(self._recent - before, self._recent + self.chunk + self.sinks)
        return slice(window.start, window.stop + retrieved * self.stored)

    def advance(self) -> None:
        """The current chunk is done: its frames fill the sink as long as that has room, the others become the newest recent ones."""
        to_sink = min(self._sink - self.sinks, self.chunk)
        start = self._recent + self.chunk + self.sinks
        self._move(self._span(self._recent, self._recent + to_sink), self._span(start, start + to_sink))
        self.sinks += to_sink
        new = min(self.chunk - to_sink, self._recent)
        stay = self._recent - new
        self._move(self._span(new, self._recent), self._span(0, stay))
        end = self._recent + self.chunk
        self._move(self._span(end - new, end), self._span(stay, self._recent))
        self.recent = min(self.recent + new, self._recent)

    def _move(self, source: slice, target: slice) -> None:
        """Copy tokens, a block at a time where the two places overlap."""
        if source.start == source.stop or source == target:
            return
        overlap = source.start < target.stop and target.start < source.stop
        for buffer in (self.keys, self.values):
            for block in buffer:
                block[target] = block[source].clone() if overlap else block[source]
