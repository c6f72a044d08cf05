"""One world's chunks in latent space: from noise and a camera to clean latents, with the context kept up to date.

Every denoising pass writes the keys of a noisy chunk over those of the pass before; the pass at t = 0 leaves the clean ones, and only those
go into the memory.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from torch import Tensor

from worldpager.engine.models.base import BlockKV
from worldpager.engine.models.lingbot_world.context import Context
from worldpager.engine.models.lingbot_world.network import LingBotDit, Pair, Pass
from worldpager.engine.models.wan.flow import denoise, whole_steps
from worldpager.engine.models.wan.pruning import kept_tokens, pruned
from worldpager.engine.models.wan.rope import TRAINED_ROWS, frame_rotation, grid_rotation

SINK_STEP = 64


class Rollout:
    """The network over the context of one world. ``height`` and ``width`` are latent pixels, ``retrieved`` the chunks of a memory view.

    ``keep`` is the share of tokens of a chunk's frames, its first one excepted, that goes into the memory (see `wan.pruning`).
    """

    def __init__(self, network: LingBotDit, height: int, width: int, retrieved: int, keep: float = 1.0) -> None:
        c, weight = network.config, network.patch_embedding.weight
        self.network, self.config, self.device = network, c, weight.device
        self.steps = whole_steps(c.steps, c.shift)
        self._grid = (height // 2, width // 2)
        self._keep, places = keep, self._grid[0] * self._grid[1]
        self.context = Context(c, places, retrieved, weight.dtype, weight.device, kept_tokens(c.chunk, places, keep))
        self._stored = grid_rotation(c.head_dim, range(c.chunk), *self._grid, self.device)
        self._text: list[Pair] = []
        self.frame = self._sink_at = 0

    def begin(self, prompt: Tensor, frame: int = 0) -> None:
        """A new world under ``prompt`` [L, text width], its first chunk at latent ``frame``."""
        self.context.clear()
        self.tell(prompt)
        self.frame, self._sink_at = frame, 0

    def tell(self, prompt: Tensor) -> None:
        """Another prompt from the next chunk on; what is in the context was made under the old one."""
        self._text = self.network.text(prompt.to(self.device))

    def place_sink(self) -> None:
        """Past the trained rows the sink follows, `SINK_STEP` frames at a time, so that no distance is longer than training saw."""
        place = self._sink_place(self.frame)
        if place != self._sink_at:
            self.context.move_sink(frame_rotation(self.config.head_dim, place, self.device))
            self._sink_at = place

    def _sink_place(self, frame: int) -> int:
        """The latent frame at which the sink begins for the chunk from ``frame`` on."""
        beyond = frame + self.config.chunk - TRAINED_ROWS
        return -(-max(0, beyond) // SINK_STEP) * SINK_STEP

    def stand(self, frame: int, sink: BlockKV, newest: Sequence[BlockKV]) -> None:
        """The next chunk begins at ``frame``, after the ``newest`` chunks, the newest first. ``sink`` is the world's first chunk."""
        n, context = self.config.chunk, self.context
        context.clear()
        self.frame, self._sink_at = frame, 0
        past = {frame // n - 1 - i: kv for i, kv in enumerate(newest)} | {0: sink}
        for number in sorted(past):
            if number > 1:
                context.fill_sink()
            context.put(past[number], frame_rotation(self.config.head_dim, number * n, self.device))
            context.advance()

    def take_context(self, state: Mapping[str, Tensor]) -> None:
        """Put back what `Context.state` gave at this frame. Raises `ValueError` when it is of another model."""
        self.context.take_state(state)
        self._sink_at = 0 if "sink" not in state else self._sink_place(self.frame - self.config.chunk)

    def prepare(self, camera: Tensor, retrieved: int = 0, recent: int | None = None) -> Pass:
        """What every pass over the next chunk shares. ``camera`` [384, chunk, h, w]; ``recent`` as in `Context.seen`."""
        placed = grid_rotation(self.config.head_dim, range(self.frame, self.frame + self.config.chunk), *self._grid, self.device)
        seen = self.context.seen(retrieved, recent)
        return Pass(placed, self._stored, self.network.camera(camera), self._text, self.context, seen)

    def denoise(self, noise: Tensor, condition: Tensor, fresh: Callable[[], Tensor], step: Pass) -> Tensor:
        """The clean latent [16, chunk, h, w] from ``noise``; `finish` must follow."""
        return denoise(noise, self.steps, lambda noisy, t: self.network(noisy, condition, t, step), fresh)

    def finish(self, clean: Tensor, condition: Tensor, step: Pass) -> BlockKV:
        """The pass at t = 0. The finished chunk's keys (as if its first frame were 0) and values; `advance` must follow."""
        self.network(clean, condition, 0.0, replace(step, keep=True))
        keys, values = self.context.kept, self.context.values[:, self.context.current]
        if self._keep < 1:
            return pruned(BlockKV(keys, values), self.config.chunk, self._keep)
        return BlockKV(keys.clone(), values.clone())

    def advance(self) -> None:
        """On to the next chunk."""
        self.context.advance()
        self.frame += self.config.chunk
