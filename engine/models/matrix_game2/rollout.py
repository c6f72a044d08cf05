"""One world's chunks in latent space: from noise and actions to clean latents, with the context kept up to date.

The denoising passes write the keys of a noisy chunk and each overwrites the last; the pass at t = 0 leaves the clean ones, and only those
are kept for the memory. What a pass reads lies in buffers that stay in place, so that passes can be recorded as CUDA graphs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from worldpager.engine.models.base import BlockKV
from worldpager.engine.models.matrix_game2.action_module import ActionInput, action_rotation
from worldpager.engine.models.matrix_game2.config import ACTION_ROWS
from worldpager.engine.models.matrix_game2.context import CHUNK, Context, Window
from worldpager.engine.models.matrix_game2.network import MatrixGameDit, Pass, Placing
from worldpager.engine.models.wan.flow import FlowStep, denoise
from worldpager.engine.models.wan.rope import Rotation, frame_rotation, grid_rotation

SHIFT = 5.0
MASK_CHANNELS = 4


@dataclass(frozen=True, slots=True)
class PassKey:
    """Passes with the same key run the same kernels on the same places."""

    filled: int
    heard: int
    retrieved: int
    keep: bool


Runner = Callable[[PassKey, Callable[[], Tensor]], Tensor]
"""Runs a pass: plainly, or recorded and replayed."""


def run_plainly(key: PassKey, run: Callable[[], Tensor]) -> Tensor:
    """Every time anew."""
    return run()


class Rollout:
    """The network over the context of one world. ``height``, ``width`` in latent pixels; ``window`` None = the model's own, no memory."""

    def __init__(self, network: MatrixGameDit, height: int, width: int, window: Window | None = None, runner: Runner = run_plainly) -> None:
        weight, config = network.patch_embedding.weight, network.config
        self.network, self.device, self._run = network, weight.device, runner
        self._grid = (height // 2, width // 2)
        self.context = Context(config, window or Window(config.window, config.sink), height * width // 4, weight.dtype, weight.device)

        def room(*shape: int) -> Tensor:
            return torch.zeros(shape, dtype=torch.float32, device=self.device)

        self._noisy, self._timesteps = room(config.outputs, CHUNK, height, width), room(CHUNK)
        self._condition = room(config.inputs - config.outputs, CHUNK, height, width)
        mouse = room(CHUNK, ACTION_ROWS, config.action.mouse) if config.action.mouse else None
        heard = ActionInput(mouse, room(CHUNK, ACTION_ROWS, config.action.keys), *action_rotation(0, CHUNK, self.device))
        stored, placed = (grid_rotation(config.head_dim, range(CHUNK), *self._grid, self.device) for _ in range(2))
        self._pass = Pass(Placing(placed, stored), heard, self.context, 0)
        self.frame = 0

    def begin(self, clip_tokens: Tensor, frame: int = 0) -> None:
        """A new world that starts from a picture's ``clip_tokens`` [257, 1280], its first chunk at latent ``frame``."""
        self.context.clear()
        self.context.take_picture(self.network.picture_context(clip_tokens))
        self.frame = frame

    def move_sink(self, frame: float) -> None:
        """Place the sink's first frame at latent ``frame``."""
        self.context.visual.move_sink(frame_rotation(self.network.config.head_dim, frame, self.device))

    def prepare(self, condition: Tensor, mouse: Tensor | None, keyboard: Tensor, retrieved: int) -> None:
        """What every pass of the next chunk shares.

        ``condition`` [20, 3, h, w]: mask and latent of the start picture; ``mouse`` [3, 12, 2], ``keyboard`` [3, 12, keys]: the rows that
        the chunk listens to; ``retrieved`` chunks of the memory view are attended to.
        """
        placed = grid_rotation(self.network.config.head_dim, range(self.frame, self.frame + CHUNK), *self._grid, self.device)
        heard, ours = self._pass.heard, self._pass.placing.placed
        turn = Rotation(*action_rotation(self.frame, CHUNK, self.device))
        for target, source in (
            (self._condition, condition), (ours.cos, placed.cos), (ours.sin, placed.sin), (heard.keyboard, keyboard), (heard.cos, turn.cos),
            (heard.sin, turn.sin),
        ):  # fmt: skip
            target.copy_(source)
        if heard.mouse is not None and mouse is not None:
            heard.mouse.copy_(mouse)
        self._pass = Pass(self._pass.placing, heard, self.context, retrieved)

    def flow(self, noisy: Tensor, t: float, keep: bool = False) -> Tensor:
        """One pass of the network at timestep ``t``: the flow of ``noisy`` [16, 3, h, w], good until the next pass."""
        self._noisy.copy_(noisy)
        self._timesteps.fill_(t)
        step = self._pass if not keep else Pass(self._pass.placing, self._pass.heard, self.context, self._pass.retrieved, keep=True)
        key = PassKey(self.context.filled, self.context.heard, step.retrieved, keep)
        return self._run(key, lambda: self.network(self._noisy, self._condition, self._timesteps, step))

    def denoise(self, noise: Tensor, steps: Sequence[FlowStep], fresh: Callable[[], Tensor]) -> Tensor:
        """The clean latent [16, 3, h, w] from ``noise`` after `prepare`; `finish` must follow."""
        return denoise(noise, steps, self.flow, fresh)

    def finish(self, clean: Tensor) -> None:
        """The pass at t = 0, which leaves the chunk's clean keys and values."""
        self.flow(clean, 0.0, keep=True)

    def take(self) -> BlockKV:
        """A copy of the finished chunk's keys (as if its first frame were 0) and values, [blocks, tokens, heads, head_dim]."""
        visual = self.context.visual
        return BlockKV(visual.kept.clone(), visual.values[:, visual.current].clone())

    def advance(self) -> None:
        """On to the next chunk."""
        self.context.advance()
        self.frame += CHUNK
