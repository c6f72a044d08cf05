"""Turning keys: exact, reversible, and relative in effect."""

from __future__ import annotations

import math

import torch

from worldpager.engine.models.base import RotarySpec
from worldpager.engine.positions.rope import turned

ROTARY = RotarySpec(2, (0.9, 0.3))


def noise(seed: int = 0) -> torch.Tensor:
    return torch.randn(5, 3, 8, generator=torch.Generator().manual_seed(seed))


def test_a_pair_turns_by_hand() -> None:
    keys = torch.tensor([7.0, 7.0, 1.0, 0.0, 0.0, 2.0])
    quarter = turned(keys, RotarySpec(2, (math.pi / 4, math.pi / 2)), 2.0)
    assert torch.allclose(quarter, torch.tensor([7.0, 7.0, 0.0, 1.0, 0.0, -2.0]), atol=1e-6)


def test_other_channels_and_the_source_stay_as_they_are() -> None:
    keys = noise()
    before = keys.clone()
    out = turned(keys, ROTARY, 3.0)
    assert torch.equal(keys, before)
    assert torch.equal(out[..., [0, 1, 6, 7]], keys[..., [0, 1, 6, 7]])
    assert not torch.allclose(out[..., 2:6], keys[..., 2:6], atol=0.1)


def test_turning_back_gives_the_stored_key_even_far_out() -> None:
    keys = noise()
    assert torch.allclose(turned(turned(keys, ROTARY, 1e5), ROTARY, -1e5), keys, atol=1e-6)


def test_only_the_difference_of_positions_counts() -> None:
    query, key = noise(1), noise(2)
    near = (turned(query, ROTARY, 5.0) * turned(key, ROTARY, 2.0)).sum(-1)
    far = (turned(query, ROTARY, 1005.0) * turned(key, ROTARY, 1002.0)).sum(-1)
    assert torch.allclose(near, far, atol=1e-5)


def test_keys_without_time_never_turn() -> None:
    keys = noise().bfloat16()
    out = turned(keys, RotarySpec(), 9.0)
    assert out.dtype == torch.float32
    assert torch.equal(out, keys.float())
