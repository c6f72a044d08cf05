"""Batched play of the tiny model: many worlds at once, for training, evaluation and as the plain twin of the player.

Slots of the context, in order: sink (chunk 0), the last chunk, the last but one, then retrieved chunks. Missing ones are copies of chunk 0.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional as F

from worldpager.engine.models.tiny.network import TIME_FREQUENCIES, TIME_PAIRS, TinyNetwork, pose_features

SINK_OFFSET, MEMORY_OFFSET = -24.0, -16.0
COARSE = 0.6
LAST_LEVEL = 0.06
SCHEDULES: dict[int, tuple[float, ...]] = {2: (1.0, LAST_LEVEL), 3: (1.0, 0.5, LAST_LEVEL), 4: (1.0, 0.85, 0.6, LAST_LEVEL)}
"""Noise levels of a chunk's passes by their number; the last pass also writes the KV."""

KV = tuple[Tensor, Tensor]


def slot_offsets(window: int, retrieved: int, frames: int) -> list[float]:
    """Placement in frames of each context slot relative to the current chunk."""
    return [SINK_OFFSET, *(-float(frames) * (i + 1) for i in range(window)), *([MEMORY_OFFSET] * retrieved)]


def placed(keys: Tensor, offset: float) -> Tensor:
    """Keys [..., 64] turned by ``offset`` frames in their time pairs."""
    angle = offset * torch.tensor(TIME_FREQUENCIES, device=keys.device)
    cos, sin = angle.cos().to(keys.dtype), angle.sin().to(keys.dtype)
    a, b = keys[..., : 2 * TIME_PAIRS].unflatten(-1, (TIME_PAIRS, 2)).unbind(-1)
    head = torch.stack([a * cos - b * sin, a * sin + b * cos], -1).flatten(-2)
    return torch.cat([head, keys[..., 2 * TIME_PAIRS:]], -1)


def noise(like: Tensor, patch: int, generator: torch.Generator | None = None) -> tuple[Tensor, Tensor]:
    """White noise like ``like`` [B, F, 3, h, w] and coarse noise, one value a patch and colour, the same in all frames."""
    white = torch.randn(like.shape, device=like.device, generator=generator)
    small = torch.randn(len(like), 1, 3, like.shape[3] // patch, like.shape[4] // patch, device=like.device, generator=generator)
    coarse = small.repeat_interleave(patch, 3).repeat_interleave(patch, 4)
    return white, coarse


def noised(clean: Tensor, level: Tensor, white: Tensor, coarse: Tensor) -> Tensor:
    """``clean`` at noise ``level`` [B]. The coarse share grows with the level, so that early passes can commit to shapes
    while the last one leaves a patch's mean colour alone.
    """
    t = level[:, None, None, None, None]
    share = COARSE * t * t
    return (1 - t) * clean + t * ((1 - share * share).sqrt() * white + share * coarse)


def attend(q: Tensor, keys: Tensor, values: Tensor) -> Tensor:
    """Attention of q [B, N, H, 64] over keys/values [B, M, H, 64]."""
    out = F.scaled_dot_product_attention(q.transpose(1, 2), keys.transpose(1, 2), values.transpose(1, 2))
    return out.transpose(1, 2)


class ContextCache:
    """KV of every chunk so far, unplaced: per layer keys and values [S, B, N, H, 64]."""

    def __init__(self, layers: int, chunks: int) -> None:
        self.chunks = chunks
        self.layers: list[KV | None] = [None] * layers

    def write(self, chunk: int, own: Sequence[KV]) -> None:
        """Keep chunk number ``chunk``'s KV per layer."""
        for index, (k, v) in enumerate(own):
            kept = self.layers[index]
            if kept is None:
                kept = self.layers[index] = (k.new_empty(self.chunks, *k.shape), v.new_empty(self.chunks, *v.shape))
            kept[0][chunk], kept[1][chunk] = k, v

    def view(self, layer: int, chunks: Sequence[Tensor | int], offsets: Sequence[float], coded: Callable[[KV], KV] | None) -> KV:
        """Placed keys and values of ``chunks``: an int for all sequences or a tensor [B] of indices, one per slot."""
        kept, keys, values = self.layers[layer], [], []
        assert kept is not None
        for chunk, offset in zip(chunks, offsets, strict=True):
            at = (chunk,) if isinstance(chunk, int) else (chunk, torch.arange(len(chunk), device=chunk.device))
            k, v = kept[0][at], kept[1][at]
            if coded is not None and offset == MEMORY_OFFSET:
                k, v = coded((k, v))
            keys.append(placed(k, offset))
            values.append(v)
        return torch.cat(keys, 1), torch.cat(values, 1)


def run_pass(network: TinyNetwork, noisy: Tensor, level: Tensor, features: Tensor, rotation: tuple[Tensor, Tensor],
             context: Sequence[KV] | None, alone: Sequence[float] = ()) -> tuple[Tensor, Tensor, list[KV]]:
    """One pass: (picture [B, F, 3, h, w], tokens, this chunk's own unplaced KV per layer).

    The first chunk has no context: as in training its slots, placed at the offsets ``alone``, hold copies of itself.
    """
    x = network.embed(noisy, level, features)
    own: list[KV] = []
    for index, layer in enumerate(network.layers):
        q, k, v = layer.project(x, *rotation)  # type: ignore[operator]
        own.append((k, v))
        copies = torch.cat([placed(k, a) for a in alone] or [k[:, :0]], 1) if context is None else k
        seen = (copies, v.repeat(1, len(alone), 1, 1)) if context is None else context[index]
        keys, values = torch.cat([seen[0], k], 1), torch.cat([seen[1], v], 1)
        x = layer.finish(x, attend(q, keys, values), rotation[1])  # type: ignore[operator]
    return network.head(x, noisy, level), x, own


@dataclass(frozen=True, slots=True)
class PlayOptions:
    """How to roll out: passes a chunk, slots in use, what happens to retrieved KV (``coded``)."""

    passes: int = 3
    window: int = 2
    memory: bool = True
    coded: Callable[[KV], KV] | None = None


def chunk_slots(index: int, window: int, memory: Sequence[Tensor | int]) -> list[Tensor | int]:
    """Chunk behind each slot for chunk ``index``: sink, window, then ``memory``."""
    return [0, *(max(0, index - 1 - i) for i in range(window)), *memory]


@torch.no_grad()
def roll(network: TinyNetwork, poses: Tensor, retrieved: Tensor, opening: Tensor, options: PlayOptions,
         generator: torch.Generator | None = None) -> Tensor:
    """Play ``poses`` [B, S, F, 5] with ``retrieved`` [B, S, k] chunk indices after the real ``opening`` [B, P, F, 3, h, w] in [-1, 1].

    Returns all pictures [B, S, F, 3, h, w], the opening included.
    """
    c = network.config
    cache = ContextCache(c.layers, poses.shape[1])
    pictures = [opening[:, i] for i in range(opening.shape[1])]
    before = poses[:, 0, 0]
    for s in range(poses.shape[1]):
        rotation, features = network.geometry.rotations(poses[:, s]), pose_features(poses[:, s], before)
        before = poses[:, s, -1]
        memory: list[Tensor | int] = [retrieved[:, s, j] for j in range(retrieved.shape[2])] if options.memory else []
        offsets = slot_offsets(options.window, len(memory), c.frames)
        if s == 0:
            context = None
        else:
            slots = chunk_slots(s, options.window, memory)
            context = [cache.view(layer, slots, offsets, options.coded) for layer in range(c.layers)]
        shape = poses.new_zeros(len(poses), c.frames, 3, c.image_height, c.image_width)
        white, coarse = noise(shape, c.patch, generator)
        given = s < opening.shape[1]
        picture = opening[:, s] if given else shape
        for t in (LAST_LEVEL,) if given else SCHEDULES[options.passes]:
            level = poses.new_full((len(poses),), t)
            guess, _, own = run_pass(network, noised(picture, level, white, coarse), level, features, rotation, context, offsets)
            picture = picture if given else guess.clamp(-1.05, 1.05).float()
        cache.write(s, own)
        if not given:
            pictures.append(picture)
    return torch.stack(pictures, 1)
