"""Leaving out tokens of a chunk that say what its anchor frame says already, as WorldKV does before storing.

One frame is kept whole; of the others the tokens stay whose keys are least like the mean key of that frame. Turning a whole chunk in time
changes no likeness, so it means the same before and after the turn. Every block of the network chooses by its own keys.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from worldpager.engine.models.base import BlockKV

SMALLEST = 1e-8


def kept_tokens(frames: int, places: int, ratio: float) -> int:
    """Tokens that are left of ``frames`` frames of ``places`` tokens when the others share one budget of ``ratio`` of their tokens."""
    return places + math.ceil(ratio * (frames - 1) * places)


def likeness(keys: Tensor, anchor: slice) -> Tensor:
    """Cosine [blocks, tokens] of each token's key, all heads together, with the mean key of the ``anchor`` tokens."""
    flat = keys.flatten(2).float()
    mean = flat[:, anchor].mean(dim=1, keepdim=True)
    lengths = flat.norm(dim=2) * mean.norm(dim=2)
    return (flat * mean).sum(dim=2) / (lengths + SMALLEST)


def kept_rows(keys: Tensor, frames: int, ratio: float, anchor: int = 0, pooled: bool = True) -> Tensor:
    """Token numbers that stay, int64 [blocks, kept], of ``keys`` [blocks, frames * places, heads, head_dim].

    ``pooled``: one budget for all frames but the ``anchor``; the anchor's tokens come first, the others in their order. Otherwise each
    frame keeps its own share and all stay in their order.
    """
    blocks, tokens = keys.shape[:2]
    places = tokens // frames
    alike = likeness(keys, slice(anchor * places, (anchor + 1) * places))
    numbers = torch.arange(tokens, device=keys.device)
    held = numbers[anchor * places : (anchor + 1) * places].expand(blocks, -1)
    others = [numbers[f * places : (f + 1) * places] for f in range(frames) if f != anchor]
    groups = [torch.cat(others)] if pooled else others
    chosen = [_least(alike[:, group], math.ceil(ratio * len(group)), group) for group in groups]
    rows = torch.cat([held, *chosen], dim=1)
    return rows if pooled else rows.sort(dim=1).values


def _least(alike: Tensor, count: int, numbers: Tensor) -> Tensor:
    """The ``count`` of ``numbers`` with the lowest values in each row of ``alike``, in their order."""
    return numbers[alike.topk(count, dim=1, largest=False).indices.sort(dim=1).values]


def pruned(kv: BlockKV, frames: int, ratio: float, anchor: int = 0, pooled: bool = True) -> BlockKV:
    """``kv`` without the tokens that are left out, [blocks, kept, heads, head_dim]."""
    rows = kept_rows(kv.keys, frames, ratio, anchor, pooled)
    return BlockKV(_rows(kv.keys, rows), _rows(kv.values, rows))


def _rows(x: Tensor, rows: Tensor) -> Tensor:
    return x.gather(1, rows[..., None, None].expand(-1, -1, *x.shape[2:]))
