"""Turning keys in time, as `RotarySpec` describes it: for models whose own keys carry a position, and as the yardstick of decoding.

Stored keys carry none. A model that can't give its keys before the rotation turns them back once, at birth, with `turned(keys, rotary,
-position)`; placing turns them from the stored source, never twice.
"""

from __future__ import annotations

import torch
from torch import Tensor

from worldpager.engine.models.base import RotarySpec


def turned(keys: Tensor, rotary: RotarySpec, offset: float) -> Tensor:
    """A float32 copy of ``keys`` turned ``offset`` frames on, reckoned in float64: exact to float32's rounding.

    ``keys`` [..., head_dim], or [..., tokens, heads, head_dim] where a block has several spans.
    """
    out = keys.to(torch.float32, copy=True)
    if rotary.frequencies:
        pairs = out[..., rotary.start : rotary.start + 2 * len(rotary.frequencies)].unflatten(-1, (-1, 2))
        frequencies = torch.tensor(rotary.frequencies, dtype=torch.float64, device=keys.device)
        if rotary.spans > 1:
            pairs = pairs.unflatten(-4, (rotary.spans, -1))
            later = torch.arange(rotary.spans, dtype=torch.float64, device=keys.device) + offset
            angle = (later[:, None] * frequencies)[:, None, None]
        else:
            angle = frequencies * offset
        spun = torch.view_as_complex(pairs.double()) * torch.polar(torch.ones_like(angle), angle)
        pairs.copy_(torch.view_as_real(spun))
    return out
