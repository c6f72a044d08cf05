"""The causal DiT of LingBot-World: one pass over a chunk, writing its keys and values into the context that it attends to.

Parameters carry the published names. Tokens are [tokens, width] in order frame, row, column. The stream of tokens, modulation, time and
head are float32; the large matrices may be in half precision.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from worldpager.engine.models.lingbot_world.config import DitConfig
from worldpager.engine.models.lingbot_world.context import Context
from worldpager.engine.models.wan.attention import CrossAttention, Projections
from worldpager.engine.models.wan.parts import EPS, TIME_WIDTH, PatchEmbedding, attention, patches, sinusoid, unpatched
from worldpager.engine.models.wan.rope import Rotation

CAMERA_CHANNELS = 384
"""Six numbers of 8x8 pixels; a patch has four times as many."""
Pair = tuple[Tensor, Tensor]


@dataclass(frozen=True, slots=True)
class Pass:
    """What all passes over a chunk share, and how much of the context they see.

    ``placed`` turns tokens to their own latent frames, ``stored`` as if the chunk's first frame were 0. ``camera`` has (scale, shift) of
    every block, ``text`` its (keys, values). ``keep`` writes keys for the memory: the pass at t = 0.
    """

    placed: Rotation
    stored: Rotation
    camera: list[Pair]
    text: list[Pair]
    context: Context
    seen: slice
    keep: bool = False


class SelfAttention(Projections):
    """Attention of a chunk to its context and itself."""

    def forward(self, x: Tensor, block: int, step: Pass) -> Tensor:
        """Answer for tokens ``x``; leaves their keys and values in the context's current places."""
        context = step.context
        k, keys, values = self.keys(x), context.keys[block], context.values[block]
        keys[context.current] = step.placed(k)
        values[context.current] = self.values(x)
        if step.keep:
            context.kept[block] = step.stored(k)
        return self.o(attention(step.placed(self.queries(x)), keys[step.seen], values[step.seen]))


class Block(nn.Module):
    """Self attention, the camera, cross attention to the text, feed forward."""

    def __init__(self, c: DitConfig, index: int) -> None:
        super().__init__()
        self.index = index
        self.modulation = nn.Parameter(torch.zeros(1, 6, c.width))
        self.self_attn, self.cross_attn = SelfAttention(c.width, c.heads), CrossAttention(c.width, c.heads)
        self.norm3 = nn.LayerNorm(c.width, eps=EPS)
        self.ffn = nn.Sequential(nn.Linear(c.width, c.ffn), nn.GELU(approximate="tanh"), nn.Linear(c.ffn, c.width))
        self.cam_injector_layer1, self.cam_injector_layer2 = nn.Linear(c.width, c.width), nn.Linear(c.width, c.width)
        self.cam_scale_layer, self.cam_shift_layer = nn.Linear(c.width, c.width), nn.Linear(c.width, c.width)

    def camera(self, p: Tensor) -> Pair:
        """(scale, shift) [tokens, width] of this block for a chunk's camera tokens ``p``."""
        g = self.cam_injector_layer2(F.silu(self.cam_injector_layer1(p))) + p
        return self.cam_scale_layer(g), self.cam_shift_layer(g)

    def forward(self, x: Tensor, six: Tensor, step: Pass) -> Tensor:
        """Tokens ``x`` after this block; ``six`` [6, width] comes from the time."""
        m, kind = self.modulation[0] + six, self.cam_shift_layer.weight.dtype
        x = torch.addcmul(x, m[2], self.self_attn(modulated(x, m[0], m[1]).to(kind), self.index, step))
        scale, shift = step.camera[self.index]
        x = torch.addcmul(x, scale, x) + shift
        normed = F.layer_norm(x, x.shape[-1:], self.norm3.weight.to(x), self.norm3.bias.to(x), EPS)
        x = x + self.cross_attn(normed.to(kind), *step.text[self.index])
        return torch.addcmul(x, m[5], self.ffn(modulated(x, m[3], m[4]).to(kind)))


def modulated(x: Tensor, shift: Tensor, gain: Tensor) -> Tensor:
    """Layer norm without parameters, stretched and moved: one kernel."""
    return F.layer_norm(x, x.shape[-1:], 1 + gain, shift, EPS)


class Head(nn.Module):
    """From tokens to the flow of their patches."""

    def __init__(self, c: DitConfig) -> None:
        super().__init__()
        self.modulation = nn.Parameter(torch.zeros(1, 2, c.width))
        self.head = nn.Linear(c.width, 4 * c.outputs)

    def forward(self, x: Tensor, time: Tensor) -> Tensor:
        """[tokens, 64] of ``x`` [tokens, width] at ``time`` [width]."""
        shift, gain = self.modulation[0] + time
        return self.head(modulated(x, shift, gain))


def exact(name: str) -> bool:
    """Whether the parameter ``name`` stays in float32 where the others are in half precision."""
    return name.startswith(("time_", "head.")) or name.endswith("modulation")


class LingBotDit(nn.Module):
    """The network: `text` once a prompt, `camera` once a chunk, then `forward` once a pass."""

    blocks: nn.ModuleList

    def __init__(self, config: DitConfig) -> None:
        super().__init__()
        self.config = c = config
        self.patch_embedding = PatchEmbedding(c.inputs, c.width)
        self.patch_embedding_wancamctrl = nn.Linear(4 * CAMERA_CHANNELS, c.width)
        self.c2ws_hidden_states_layer1, self.c2ws_hidden_states_layer2 = nn.Linear(c.width, c.width), nn.Linear(c.width, c.width)
        self.text_embedding = nn.Sequential(nn.Linear(c.text_width, c.width), nn.GELU(approximate="tanh"), nn.Linear(c.width, c.width))
        self.time_embedding = nn.Sequential(nn.Linear(TIME_WIDTH, c.width), nn.SiLU(), nn.Linear(c.width, c.width))
        self.time_projection = nn.Sequential(nn.SiLU(), nn.Linear(c.width, 6 * c.width))
        self.blocks = nn.ModuleList(Block(c, index) for index in range(c.blocks))
        self.head = Head(c)

    @property
    def kind(self) -> torch.dtype:
        """Type of the large matrices."""
        return self.patch_embedding.weight.dtype

    def in_type(self, kind: torch.dtype) -> LingBotDit:
        """Itself, to compute in ``kind`` except for modulation, time and head, which stay float32."""
        for name, parameter in self.named_parameters():
            parameter.data = parameter.data.to(torch.float32 if exact(name) else kind)
        return self

    def text(self, vectors: Tensor) -> list[Pair]:
        """Keys and values of a prompt for every block. ``vectors`` [L, text width] are filled up with zero rows, which are attended to."""
        padded = F.pad(vectors.to(self.kind), (0, 0, 0, self.config.text_length - len(vectors)))
        words = self.text_embedding(padded)
        return [block.cross_attn.context(words) for block in self._blocks()]

    def camera(self, condition: Tensor) -> list[Pair]:
        """(scale, shift) of every block for a chunk's camera ``condition`` [384, frames, h, w]."""
        p = self.patch_embedding_wancamctrl(patches(condition.to(self.kind)))
        p = p + self.c2ws_hidden_states_layer2(F.silu(self.c2ws_hidden_states_layer1(p)))
        return [block.camera(p) for block in self._blocks()]

    def time(self, timestep: float) -> tuple[Tensor, Tensor]:
        """(time [width], six vectors [6, width]) in float32."""
        at = torch.tensor([timestep], dtype=torch.float64, device=self.head.modulation.device)
        time = self.time_embedding(sinusoid(at).float())[0]
        return time, self.time_projection(time).view(6, -1)

    def forward(self, noisy: Tensor, condition: Tensor, timestep: float, step: Pass) -> Tensor:
        """The flow (noise minus clean) of ``noisy`` [16, frames, h, w].

        ``condition`` [20, frames, h, w]: mask and latent of the start picture. Leaves keys and values in the context.
        """
        frames, height, width = noisy.shape[1:]
        x = self.patch_embedding(torch.cat([noisy, condition]).to(self.kind)).float()
        time, six = self.time(timestep)
        for block in self._blocks():
            x = block(x, six, step)
        return unpatched(self.head(x, time), frames, height, width)

    def _blocks(self) -> list[Block]:
        return list(self.blocks)  # type: ignore[arg-type]
