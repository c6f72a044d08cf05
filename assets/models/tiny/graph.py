"""The training graph: teacher forcing over all chunks of a sequence at once, in two streams.

Context stream C: chunks at the small noise at which play writes its KV. Target stream T: chunks at play's noise levels. Both attend to the
C stream's KV of their slots and to themselves, so a cached play and this graph compute the same thing.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import Tensor
from torch.nn import functional as F

from worldpager.engine.models.tiny.network import TIME_FREQUENCIES, TIME_PAIRS, Layer, TinyNetwork, pose_features
from worldpager.engine.models.tiny.rollout import slot_offsets

WINDOW, MEMORY = 2, 2
SLOTS = 1 + WINDOW + MEMORY


@dataclass
class Layout:
    """Everything of a batch that does not depend on pictures. B sequences, S chunks, N tokens."""

    rotation: Tensor    # [B, S, N, H, 32, 2]
    still: Tensor
    features: Tensor    # [B * S, F, 12]
    pick: Tensor        # [B, S, SLOTS]: the chunk behind each slot
    turn: Tensor        # [SLOTS, 3, 2] cos, sin of the slots' placement


def slot_table(retrieved: Tensor) -> Tensor:
    """Chunk index behind every slot, [B, S, SLOTS], from ``retrieved`` [B, S, MEMORY]."""
    batch, chunks = retrieved.shape[:2]
    s = torch.arange(chunks, device=retrieved.device)
    fixed = torch.stack([torch.zeros_like(s), *((s - 1 - i).clamp_min(0) for i in range(WINDOW))], -1)
    return torch.cat([fixed.expand(batch, -1, -1), retrieved], -1)


def layout(network: TinyNetwork, poses: Tensor, retrieved: Tensor) -> Layout:
    """Layout of ``poses`` [B, S, F, 5] with ``retrieved`` [B, S, MEMORY]."""
    batch, chunks, frames = poses.shape[:3]
    rotation, still = network.geometry.rotations(poses.flatten(0, 1))
    before = torch.cat([poses[:, :1, 0], poses[:, :-1, -1]], 1)
    angle = poses.new_tensor(slot_offsets(WINDOW, MEMORY, frames))[:, None] * poses.new_tensor(TIME_FREQUENCIES)
    return Layout(
        rotation.unflatten(0, (batch, chunks)), still.unflatten(0, (batch, chunks)),
        pose_features(poses.flatten(0, 1), before.flatten(0, 1)),
        slot_table(retrieved), torch.stack([angle.cos(), angle.sin()], -1))


class Gathered(torch.autograd.Function):
    """Chunks of ``x`` [B, S, ...] behind the slots ``pick`` [B, S, SLOTS]: [B, S, SLOTS, ...].

    Forward reads by index, which fuses with what follows; backward sums by a one-hot product instead of scattered additions.
    """

    @staticmethod
    def forward(x: Tensor, pick: Tensor) -> Tensor:
        """The gather."""
        rows = torch.arange(len(x), device=x.device)[:, None, None]
        return x[rows, pick]

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Tensor, Tensor], output: Tensor) -> None:
        """Keep what backward needs."""
        ctx.save_for_backward(inputs[1])

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, None]:
        """Sum of the slots' gradients per chunk."""
        (pick,), (grad,) = ctx.saved_tensors, grads
        one_hot = F.one_hot(pick, pick.shape[1]).flatten(1, 2).to(grad.dtype)
        return torch.bmm(one_hot.transpose(1, 2), grad.flatten(1, 2).flatten(2)).view(len(grad), pick.shape[1], *grad.shape[3:]), None


def _placed(keys: Tensor, turn: Tensor) -> Tensor:
    """Keys [B, S, SLOTS, N, H, 64] with their time pairs turned slot by slot."""
    a, b = keys[..., : 2 * TIME_PAIRS].unflatten(-1, (TIME_PAIRS, 2)).unbind(-1)
    cos, sin = turn.to(keys.dtype)[:, None, None].unbind(-1)
    return torch.cat([torch.stack([a * cos - b * sin, a * sin + b * cos], -1).flatten(-2), keys[..., 2 * TIME_PAIRS:]], -1)


def _attend(q: Tensor, k: Tensor, v: Tensor, ck: Tensor, cv: Tensor) -> Tensor:
    """Attention of each chunk over its context and itself; q, k, v [B, S, N, H, 64], ck, cv [B, S, SLOTS * N, H, 64]."""
    keys, values = torch.cat([ck, k], 2).flatten(0, 1).transpose(1, 2), torch.cat([cv, v], 2).flatten(0, 1).transpose(1, 2)
    out = F.scaled_dot_product_attention(q.flatten(0, 1).transpose(1, 2), keys, values)
    return out.transpose(1, 2).unflatten(0, q.shape[:2])


def context_layer(layer: Layer, x: Tensor, rotation: Tensor, still: Tensor, pick: Tensor, turn: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """A layer of the C stream: (x, context keys, context values), the last two [B, S, SLOTS * N, H, 64]."""
    q, k, v = layer.project(x, rotation, still)
    ck, cv = (Gathered.apply(part, pick) for part in (k, v))  # type: ignore[no-untyped-call]
    ck, cv = _placed(ck, turn).flatten(2, 3), cv.flatten(2, 3)
    return layer.finish(x, _attend(q, k, v, ck, cv), still), ck, cv


def target_layer(layer: Layer, x: Tensor, rotation: Tensor, still: Tensor, ck: Tensor, cv: Tensor) -> Tensor:
    """A layer of the T stream over the context that the C stream made."""
    q, k, v = layer.project(x, rotation, still)
    return layer.finish(x, _attend(q, k, v, ck, cv), still)


Compiled = Literal["nothing", "layers", "all"]
"""What is compiled: ``layers`` is ready in half the time that ``all`` takes, which then is a tenth faster a step."""


@functools.cache
def fused(f: Callable[..., Any]) -> Callable[..., Any]:
    """``f`` compiled for one shape."""
    return torch.compile(f, dynamic=False)


def same(f: Callable[..., Any]) -> Callable[..., Any]:
    """``f`` as it is."""
    return f


class Graph:
    """The two streams of one network; ``compiled`` says which of their pieces torch.compile fuses, layer by layer (short to compile)."""

    def __init__(self, network: TinyNetwork, compiled: Compiled) -> None:
        self.network = network
        self.wrap = fused if compiled == "all" else same
        layer = same if compiled == "nothing" else fused
        self.context_layer, self.target_layer = layer(context_layer), layer(target_layer)
        head = network.head
        self._embed_flat, self._head, self._inverse = (self.wrap(f) for f in (network.embed, head.forward, head.inverse_depth))

    def _embed(self, pictures: Tensor, level: Tensor, plan: Layout) -> Tensor:
        x = self._embed_flat(pictures.flatten(0, 1), level.flatten(), plan.features)
        return x.unflatten(0, pictures.shape[:2])

    def context(self, pictures: Tensor, level: Tensor, plan: Layout) -> tuple[Tensor, list[tuple[Tensor, Tensor]]]:
        """C stream of noisy ``pictures`` [B, S, F, 3, h, w] at ``level`` [B, S]: tokens [B, S, N, width] and KV of the slots per layer."""
        x = self._embed(pictures, level, plan)
        kept: list[tuple[Tensor, Tensor]] = []
        for layer in self.network.layers:
            x, ck, cv = self.context_layer(layer, x, plan.rotation, plan.still, plan.pick, plan.turn)
            kept.append((ck, cv))
        return x, kept

    def target(self, pictures: Tensor, level: Tensor, plan: Layout, context: list[tuple[Tensor, Tensor]]) -> Tensor:
        """T stream tokens [B, S, N, width]."""
        x = self._embed(pictures, level, plan)
        for layer, (ck, cv) in zip(self.network.layers, context, strict=True):
            x = self.target_layer(layer, x, plan.rotation, plan.still, ck, cv)
        return x

    def pictures(self, x: Tensor, noisy: Tensor, level: Tensor) -> Tensor:
        """Head over all chunks: [B, S, F, 3, h, w] in float32."""
        out = self._head(x.flatten(0, 1), noisy.flatten(0, 1), level.flatten())
        return out.float().unflatten(0, x.shape[:2])

    def depth(self, x: Tensor) -> Tensor:
        """Inverse depth over all chunks: [B, S, F, 16, 24]."""
        return self._inverse(x.flatten(0, 1)).float().unflatten(0, x.shape[:2])
