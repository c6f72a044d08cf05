"""The causal DiT of Matrix-Game 2.0: one forward over a chunk, writing its keys and values into the context that it attends to.

Parameters carry the published names (without the prefix ``model.``). Tokens are [frames, places, width]; a chunk has three latent frames.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from worldpager.engine.models.matrix_game2.action_module import ActionInput, ActionModule
from worldpager.engine.models.matrix_game2.config import DitConfig
from worldpager.engine.models.matrix_game2.context import Context
from worldpager.engine.models.wan.attention import CrossAttention, Projections
from worldpager.engine.models.wan.parts import EPS, PatchEmbedding, attention, plain_norm, sinusoid, unpatched
from worldpager.engine.models.wan.rope import Rotation

CLIP_WIDTH = 1280
PATCH_VALUES = 4
"""Latent pixels of a token."""


@dataclass(frozen=True, slots=True)
class Placing:
    """Rotations of a chunk's tokens: ``placed`` at their own latent frames, ``stored`` as if the chunk's first frame were 0."""

    placed: Rotation
    stored: Rotation


@dataclass(frozen=True, slots=True)
class Pass:
    """What one forward needs besides the tokens. ``keep`` writes the keys for the memory, too: the pass at t = 0."""

    placing: Placing
    heard: ActionInput
    context: Context
    retrieved: int
    keep: bool = False


class SelfAttention(Projections):
    """Attention of a chunk to its context and itself."""

    def forward(self, x: Tensor, block: int, step: Pass) -> Tensor:
        """Answer for tokens ``x`` [tokens, width]; leaves their keys and values in the context's current places."""
        visual = step.context.visual
        q, k = self.queries(x), self.keys(x)
        keys, values, seen = visual.keys[block], visual.values[block], visual.seen(step.retrieved)
        keys[visual.current] = step.placing.placed(k)
        values[visual.current] = self.values(x)
        if step.keep:
            visual.kept[block] = step.placing.stored(k)
        return self.o(attention(step.placing.placed(q), keys[seen], values[seen]))


class Block(nn.Module):
    """Self attention, cross attention, actions where the block has a module, feed forward."""

    def __init__(self, config: DitConfig, index: int) -> None:
        super().__init__()
        self.index = index
        self.modulation = nn.Parameter(torch.zeros(1, 6, config.width))
        self.self_attn, self.cross_attn = SelfAttention(config.width, config.heads), CrossAttention(config.width, config.heads)
        self.norm3 = nn.LayerNorm(config.width, eps=EPS)
        self.ffn = nn.Sequential(nn.Linear(config.width, config.ffn), nn.GELU(approximate="tanh"), nn.Linear(config.ffn, config.width))
        if index in config.action.blocks:
            self.action_model = ActionModule(config)

    def forward(self, x: Tensor, six: Tensor, step: Pass) -> Tensor:
        """Tokens ``x`` [frames, places, width] after this block; ``six`` [frames, 6, width] come from the time."""
        m = (self.modulation + six).unsqueeze(2).unbind(1)
        x = x + self.self_attn(self._normed(x, m[1], m[0]).flatten(0, 1), self.index, step).view_as(x) * m[2]
        keys, values = step.context.picture[self.index]
        x = x + self.cross_attn(self.norm3(x).flatten(0, 1), keys, values).view_as(x)
        if hasattr(self, "action_model"):
            x = self._act(x, step)
        return x + self.ffn(self._normed(x, m[4], m[3])) * m[5]

    def _act(self, x: Tensor, step: Pass) -> Tensor:
        module, windows = self.action_model, step.context.actions[self.index]
        if windows.mouse is not None:
            q, k, v = module.mouse_qkv(x, step.heard)
            windows.mouse.write(k, v)
            x = module.add_mouse(x, q, *windows.mouse.seen())
        windows.keyboard.write(*module.keyboard_kv(step.heard))
        return module.add_keyboard(x, module.keyboard_q(x, step.heard), *windows.keyboard.seen())

    def _normed(self, x: Tensor, gain: Tensor, shift: Tensor) -> Tensor:
        return (plain_norm(x) * (1 + gain) + shift).to(x.dtype)


class Head(nn.Module):
    """From tokens to the flow of their patches."""

    def __init__(self, config: DitConfig) -> None:
        super().__init__()
        self.modulation = nn.Parameter(torch.zeros(1, 2, config.width))
        self.head = nn.Linear(config.width, PATCH_VALUES * config.outputs)

    def forward(self, x: Tensor, time: Tensor) -> Tensor:
        """[frames, places, 64] of ``x`` [frames, places, width] and ``time`` [frames, width]."""
        shift, gain = (self.modulation + time.unsqueeze(1)).unsqueeze(2).unbind(1)
        return self.head((plain_norm(x) * (1 + gain) + shift).to(x.dtype))


class ImageEmbedding(nn.Module):
    """CLIP tokens to the width of the network."""

    def __init__(self, config: DitConfig) -> None:
        super().__init__()
        self.proj = nn.Sequential(
            nn.LayerNorm(CLIP_WIDTH), nn.Linear(CLIP_WIDTH, CLIP_WIDTH), nn.GELU(), nn.Linear(CLIP_WIDTH, config.width),
            nn.LayerNorm(config.width),
        )  # fmt: skip

    def forward(self, tokens: Tensor) -> Tensor:
        """[257, width] of ``tokens`` [257, 1280]."""
        return self.proj(tokens)


class MatrixGameDit(nn.Module):
    """The network. `picture_context` once a world, then `forward` four or five times a chunk."""

    def __init__(self, config: DitConfig) -> None:
        super().__init__()
        self.config = config
        self.patch_embedding = PatchEmbedding(config.inputs, config.width)
        self.time_embedding = nn.Sequential(nn.Linear(config.frequencies, config.width), nn.SiLU(), nn.Linear(config.width, config.width))
        self.time_projection = nn.Sequential(nn.SiLU(), nn.Linear(config.width, 6 * config.width))
        self.img_emb = ImageEmbedding(config)
        self.blocks = nn.ModuleList(Block(config, index) for index in range(config.blocks))
        self.head = Head(config)

    def picture_context(self, clip_tokens: Tensor) -> list[tuple[Tensor, Tensor]]:
        """Keys and values of the start picture for every block, of ``clip_tokens`` [257, 1280]."""
        picture = self.img_emb(clip_tokens.to(self.patch_embedding.weight.dtype))
        return [block.cross_attn.context(picture) for block in self.blocks]  # type: ignore[operator,union-attr]

    def time(self, t: Tensor) -> tuple[Tensor, Tensor]:
        """(time [n, width], six vectors [n, 6, width]) of timesteps ``t`` [n]."""
        time = self.time_embedding(sinusoid(t, self.config.frequencies).to(self.patch_embedding.weight.dtype))
        return time, self.time_projection(time).unflatten(-1, (6, -1))

    def forward(self, noisy: Tensor, condition: Tensor, t: Tensor, step: Pass) -> Tensor:
        """The flow (noise minus clean) [16, frames, h, w] of ``noisy`` of the same shape at timesteps ``t`` [frames].

        ``condition`` [20, frames, h, w]: mask and latent of the start picture. Leaves keys and values in the context.
        """
        frames, height, width = noisy.shape[1:]
        x = self.patch_embedding(torch.cat([noisy, condition]).to(self.patch_embedding.weight.dtype)).unflatten(0, (frames, -1))
        time, six = self.time(t)
        for block in self.blocks:
            x = block(x, six, step)
        flow: Tensor = unpatched(self.head(x, time).flatten(0, 1), frames, height, width)
        return flow.to(noisy.dtype)
