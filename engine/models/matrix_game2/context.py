"""What a chunk attends to besides itself: the visual context of every block, and the short windows of the action modules.

The visual context lies as [sink][recent frames][current chunk][retrieved chunks], one stretch of tokens per block, so that attention reads
it where it lies, with retrieved chunks or without, and a memory view decodes straight into it. Attention has no mask: order doesn't matter.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from worldpager.engine.models.base import MemoryView
from worldpager.engine.models.matrix_game2.config import HEAD_CHANNELS, DitConfig
from worldpager.engine.models.wan.rope import Rotation

CHUNK = 3
"""Latent frames of a chunk."""


@dataclass(frozen=True, slots=True)
class Window:
    """Latent ``frames`` of the visual window, ``sink`` and the chunk in the making included; ``retrieved`` chunks come on top."""

    frames: int
    sink: int = 0
    retrieved: int = 0


class VisualContext:
    """Placed keys and values, [blocks, tokens, heads, head_dim] each. ``places`` are the tokens of a latent frame.

    The first ``sink`` frames of a world stay; behind them the newest ``window`` - ``sink`` frames, the chunk in the making included.
    ``retrieved`` chunks more may be attended to. ``kept`` holds the current chunk's keys turned as if its first frame were 0.
    """

    def __init__(self, config: DitConfig, window: Window, places: int, dtype: torch.dtype, device: torch.device) -> None:
        self.places, self.sink = places, window.sink
        self._recent = window.frames - window.sink - CHUNK
        if self._recent < 0:
            raise ValueError(f"a window of {window.frames} frames has no room for {window.sink} sink frames and a chunk")
        self._start = (window.sink + self._recent) * places
        self._end = self._start + CHUNK * places

        def room(tokens: int) -> Tensor:
            return torch.zeros((config.blocks, tokens, config.heads, config.head_dim), dtype=dtype, device=device)

        total = self._end + window.retrieved * CHUNK * places
        self.keys, self.values, self.kept = room(total), room(total), room(CHUNK * places)
        self.kept_sink = room(window.sink * places)
        self.view = MemoryView(self._retrieved(self.keys, window.retrieved), self._retrieved(self.values, window.retrieved))
        self.filled = 0

    def _retrieved(self, buffer: Tensor, count: int) -> Tensor:
        """The retrieved chunks of ``buffer`` as [blocks, count, tokens, heads, head_dim]."""
        blocks, _, heads, head_dim = buffer.shape
        return buffer[:, self._end :].view(blocks, count, CHUNK * self.places, heads, head_dim)

    @property
    def room(self) -> int:
        """Frames before the chunk in the making at most."""
        return self.sink + self._recent

    @property
    def current(self) -> slice:
        """Tokens of the chunk in the making."""
        return slice(self._start, self._end)

    def seen(self, retrieved: int) -> slice:
        """Tokens that the chunk attends to, itself and ``retrieved`` chunks included."""
        return slice(self._start - self.filled * self.places, self._end + retrieved * CHUNK * self.places)

    def clear(self) -> None:
        """Forget everything."""
        self.filled = 0

    def move_sink(self, turn: Rotation) -> None:
        """Place the sink anew: its position-free keys turned by ``turn``."""
        first = self._start - self.filled * self.places
        sink = min(self.sink, self.filled) * self.places
        if sink:
            self.keys[:, first : first + sink] = turn(self.kept_sink[:, :sink])

    def advance(self) -> None:
        """The current chunk is done: its frames become recent ones, the oldest recent ones go, sink frames excepted.

        Frames before the current chunk are kept right-aligned, sink first, so that what is filled is one stretch.
        """
        room, p = self.room, self.places
        if not self.filled:
            self.kept_sink.copy_(self.kept[:, : self.sink * p])
        kept = min(self.filled + CHUNK, room)
        frames = [*range(room - self.filled, room), *range(room, room + CHUNK)]
        chosen = frames[: self.sink] + frames[len(frames) - (kept - self.sink) :]
        targets = range(room - kept, room)
        for buffer in (self.keys, self.values):
            for source, target in zip(chosen, targets, strict=True):
                if source != target:  # sources lie right of their targets, so none is overwritten before it is read
                    buffer[:, target * p : (target + 1) * p] = buffer[:, source * p : (source + 1) * p]
        self.filled = kept


class ActionWindow:
    """Keys and values of one action attention: [places, frames, heads, 64], the newest frames last; no sink.

    ``filled`` frames count, the chunk in the making included.
    """

    def __init__(self, config: DitConfig, places: int, dtype: torch.dtype, device: torch.device) -> None:
        shape = (places, config.window, config.action.heads, HEAD_CHANNELS)
        self.keys, self.values = torch.zeros(shape, dtype=dtype, device=device), torch.zeros(shape, dtype=dtype, device=device)
        self.filled = CHUNK

    def clear(self) -> None:
        """Forget everything."""
        self.filled = CHUNK

    def seen(self) -> tuple[Tensor, Tensor]:
        """Keys and values of the frames that the chunk listens to, itself included."""
        return self.keys[:, -self.filled :], self.values[:, -self.filled :]

    def write(self, keys: Tensor, values: Tensor) -> None:
        """Put the current chunk's in the last places, over those of its last pass."""
        self.keys[:, -CHUNK:], self.values[:, -CHUNK:] = keys, values

    def advance(self) -> None:
        """The current chunk is done: make room for the next."""
        for buffer in (self.keys, self.values):
            buffer[:, :-CHUNK] = buffer[:, CHUNK:].clone()
        self.filled = min(self.filled + CHUNK, self.keys.shape[1])


@dataclass(frozen=True, slots=True)
class ActionWindows:
    """The windows of one block's action module."""

    mouse: ActionWindow | None
    keyboard: ActionWindow


class Context:
    """All that a world's next chunk attends to. ``picture`` holds the start picture's keys and values for each block."""

    def __init__(self, config: DitConfig, window: Window, places: int, dtype: torch.dtype, device: torch.device) -> None:
        self.visual = VisualContext(config, window, places, dtype, device)
        self.actions = {
            block: ActionWindows(
                ActionWindow(config, places, dtype, device) if config.action.mouse else None, ActionWindow(config, 1, dtype, device)
            )
            for block in config.action.blocks
        }
        self.picture: list[tuple[Tensor, Tensor]] = []

    @property
    def filled(self) -> int:
        """Latent frames of the visual context before the chunk in the making."""
        return self.visual.filled

    @property
    def heard(self) -> int:
        """Latent frames that the action windows hold, the chunk in the making included."""
        return next((windows.keyboard.filled for windows in self.actions.values()), 0)

    def take_picture(self, keys_values: list[tuple[Tensor, Tensor]]) -> None:
        """Attend to another start picture from now on; its tensors lie where those of the last one lay."""
        if not self.picture:
            self.picture = keys_values
        for ours, theirs in zip(self.picture, keys_values, strict=True):
            for target, source in zip(ours, theirs, strict=True):
                target.copy_(source)

    def _windows(self) -> list[ActionWindow]:
        return [window for windows in self.actions.values() for window in (windows.mouse, windows.keyboard) if window is not None]

    def clear(self) -> None:
        """Begin a world: nothing came before."""
        self.visual.clear()
        for window in self._windows():
            window.clear()

    def advance(self) -> None:
        """The chunk in the making is done, its pass at t = 0 included."""
        self.visual.advance()
        for window in self._windows():
            window.advance()
