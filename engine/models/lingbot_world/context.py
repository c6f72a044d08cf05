"""What a chunk attends to besides itself: recent frames, the world's first frames (the sink), and retrieved chunks.

Keys and values of a block lie as [recent frames][current chunk][sink][retrieved chunks], one stretch of tokens. Attention has no mask, so
order means nothing and any number of the oldest recent frames and of the last retrieved chunks can be left out without moving a byte.
"""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

from worldpager.engine.models.base import BlockKV, MemoryView
from worldpager.engine.models.lingbot_world.config import DitConfig
from worldpager.engine.models.wan.rope import Rotation


class Context:
    """Placed keys and values, [blocks, tokens, heads, head_dim] each. ``places`` are the tokens of a latent frame.

    The first ``config.sink`` frames of a world stay; the rest of ``config.window`` holds the newest frames, the chunk in the making
    included. ``retrieved`` chunks of ``stored`` tokens (None: whole ones) more have room in the ``view``. ``kept`` takes the finished
    chunk's keys as if its first frame were 0.
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
        self._sink_source: Tensor | None = None
        self.clear()

    def _slots(self, buffer: Tensor, count: int) -> Tensor:
        """The retrieved part as [blocks, count, tokens, heads, head_dim]."""
        part = buffer[:, buffer.shape[1] - count * self.stored :]
        return part.view(part.shape[0], count, self.stored, *part.shape[2:])

    def clear(self) -> None:
        """Forget everything."""
        self.sinks = self.recent = 0
        self._sink_source = None

    @property
    def sink_full(self) -> bool:
        """Whether chunks may be retrieved: the sink has all its frames."""
        return self.sinks == self._sink

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
        if retrieved and not self.sink_full:
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

    def fill_sink(self) -> None:
        """Fill what is missing of the sink with copies of its last frames: after going back, its second chunk may be gone."""
        start = self._recent + self.chunk
        while 0 < self.sinks < self._sink:
            count = min(self.sinks, self._sink - self.sinks)
            first = start + self.sinks
            self._move(self._span(first - count, first), self._span(first, first + count))
            self.sinks += count

    def move_sink(self, turn: Rotation) -> None:
        """Place the sink anew: its keys as they were born, turned by ``turn``. The first move puts those aside, in main memory."""
        if self._sink_source is None:
            self._sink_source = self.keys[:, self.sink].to("cpu", copy=True)
        for keys, source in zip(self.keys, self._sink_source, strict=True):
            keys[self.sink] = turn(source.to(keys.device, non_blocking=True))

    def put(self, kv: BlockKV, turn: Rotation) -> None:
        """Take a chunk that was made before, its keys turned by ``turn``, as the current one."""
        for block in range(len(self.keys)):
            self.keys[block, self.current] = turn(kv.keys[block].to(self.keys.device)).to(self.keys.dtype)
        self.values[:, self.current] = kv.values.to(self.values)

    def state(self) -> dict[str, Tensor]:
        """Copies of all that the next chunk would attend to without retrieval."""
        window = slice(0, (self._recent + self.chunk + self._sink) * self.places)
        counts = torch.tensor([self.sinks, self.recent])
        state = {"keys": self.keys[:, window].clone(), "values": self.values[:, window].clone(), "counts": counts}
        return state if self._sink_source is None else {**state, "sink": self._sink_source.clone()}

    def take_state(self, state: Mapping[str, Tensor]) -> None:
        """Put back what `state` gave. Raises `ValueError` when it is of another model."""
        window = slice(0, (self._recent + self.chunk + self._sink) * self.places)
        keys, values, counts = (state.get(name, torch.zeros(0)) for name in ("keys", "values", "counts"))
        if not self.keys[:, window].shape == keys.shape == values.shape or counts.shape != (2,):
            raise ValueError("a window of another shape")
        sinks, recent = counts.tolist()
        if not (0 <= sinks <= self._sink and 0 <= recent <= self._recent):
            raise ValueError("a window that can't be")
        self.keys[:, window], self.values[:, window] = keys.to(self.keys), values.to(self.values)
        self.sinks, self.recent, self._sink_source = int(sinks), int(recent), state.get("sink")

    def _move(self, source: slice, target: slice) -> None:
        """Copy tokens, a block at a time where the two places overlap."""
        if source.start == source.stop or source == target:
            return
        overlap = source.start < target.stop and target.start < source.stop
        for buffer in (self.keys, self.values):
            for block in buffer:
                block[target] = block[source].clone() if overlap else block[source]
