"""One world's chunks in latent space: from noise and actions to clean latents, with the context kept up to date.

The denoising passes write the keys of a noisy chunk and each overwrites the last; the pass at t = 0 leaves the clean ones, and only those
are kept for the memory.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from worldpager.engine.models.base import BlockKV
from worldpager.engine.models.matrix_game2.action_module import ActionInput, action_rotation
from worldpager.engine.models.matrix_game2.context import CHUNK, Context
from worldpager.engine.models.matrix_game2.network import MatrixGameDit, Pass, Placing
from worldpager.engine.models.wan.flow import FlowStep, denoise
from worldpager.engine.models.wan.rope import grid_rotation

SHIFT = 5.0


class Rollout:
    """The network over the context of one world. ``height`` and ``width`` are latent pixels, ``retrieved`` the chunks of a memory view."""

    def __init__(self, network: MatrixGameDit, height: int, width: int, retrieved: int) -> None:
        weight = network.patch_embedding.weight
        self.network, self.device = network, weight.device
        self._grid = (height // 2, width // 2)
        self.context = Context(network.config, height * width // 4, retrieved, weight.dtype, weight.device)
        self._stored = grid_rotation(network.config.head_dim, range(CHUNK), *self._grid, self.device)
        self.frame = 0

    def begin(self, clip_tokens: Tensor, frame: int = 0) -> None:
        """A new world that starts from a picture's ``clip_tokens`` [257, 1280], its first chunk at latent ``frame``."""
        self.context.clear()
        self.context.picture = self.network.picture_context(clip_tokens)
        self.frame = frame

    def prepare(self, mouse: Tensor | None, keyboard: Tensor, retrieved: int) -> Pass:
        """What every pass of the next chunk shares. ``mouse`` [3, 12, 2] and ``keyboard`` [3, 12, keys]: the rows that it listens to."""
        placed = grid_rotation(self.network.config.head_dim, range(self.frame, self.frame + CHUNK), *self._grid, self.device)
        heard = ActionInput(mouse, keyboard, *action_rotation(self.frame, CHUNK, self.device))
        return Pass(Placing(placed, self._stored), heard, self.context, retrieved)

    def flow(self, noisy: Tensor, condition: Tensor, t: float, step: Pass) -> Tensor:
        """One pass of the network at timestep ``t``."""
        timesteps = torch.full((CHUNK,), t, dtype=torch.float32, device=self.device)
        return self.network(noisy, condition, timesteps, step)

    def denoise(self, noise: Tensor, condition: Tensor, steps: Sequence[FlowStep], fresh: Callable[[], Tensor], step: Pass) -> Tensor:
        """The clean latent [16, 3, h, w] from ``noise``; `finish` must follow."""
        return denoise(noise, steps, lambda noisy, t: self.flow(noisy, condition, t, step), fresh)

    def finish(self, clean: Tensor, condition: Tensor, step: Pass) -> None:
        """The pass at t = 0 and the chunk's entry into the windows."""
        kept = Pass(step.placing, step.heard, step.context, step.retrieved, keep=True)
        self.flow(clean, condition, 0.0, kept)

    def take(self) -> BlockKV:
        """A copy of the finished chunk's keys (as if its first frame were 0) and values, [blocks, tokens, heads, head_dim]."""
        visual = self.context.visual
        return BlockKV(visual.kept.clone(), visual.values[:, visual.current].clone())

    def advance(self) -> None:
        """On to the next chunk."""
        self.context.advance()
        self.frame += CHUNK
