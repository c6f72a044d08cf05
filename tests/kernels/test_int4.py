"""Packing and unpacking against arithmetic done by hand, and rotation against complex numbers."""

from __future__ import annotations

import pytest
import torch

from worldpager.kernels.int4_pack import pack
from worldpager.kernels.int4_unpack_rotate import rotate, unpack


def _packed(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    rows, n, inner = x.shape
    codes = torch.full((rows, (n + 1) // 2, inner), 0xFF, dtype=torch.uint8)
    step, low = torch.full((rows, inner), float("nan"), dtype=torch.float16), torch.full((rows, inner), float("nan"), dtype=torch.float16)
    pack(x, codes, step, low)
    return codes, step, low


@pytest.mark.parametrize("shape", [(3, 64, 5), (2, 63, 4), (1, 1, 1), (7, 60, 1), (2, 2, 9)])
def test_error_is_within_half_a_step(shape: tuple[int, int, int]) -> None:
    x = torch.randn(shape, generator=torch.Generator().manual_seed(1)) * 3
    codes, step, low = _packed(x)
    out = torch.full(shape, float("nan"))
    unpack(codes, step, low, out)
    # Half a step, and the rounding of step and minimum to float16.
    bound = 0.5 * step.float()[:, None] + 15 * step.float()[:, None] * 2**-11 + low.float().abs()[:, None] * 2**-11 + 1e-6
    assert (out - x).abs().le(bound).all()


def test_codes_by_hand() -> None:
    x = torch.tensor([0.0, 15.0, 7.0, 4.0]).view(1, 4, 1)
    codes, step, low = _packed(x)
    assert (float(step), float(low)) == (1.0, 0.0)
    assert codes.flatten().tolist() == [0 | 7 << 4, 15 | 4 << 4]


def test_constant_and_zero_groups_come_back_as_they_are() -> None:
    x = torch.stack([torch.full((8, 1), 2.5), torch.zeros(8, 1)])
    codes, step, low = _packed(x)
    out = torch.empty_like(x)
    unpack(codes, step, low, out)
    assert torch.equal(out, x)
    assert not codes.any()


def test_rotation_is_the_complex_product_and_leaves_other_channels() -> None:
    keys = torch.randn(2, 5, 3, 16, dtype=torch.float64)
    before = keys.clone()
    frequencies = (0.9, 0.3, 0.1)
    rotate(keys, 4, frequencies, -16.0)
    pairs = torch.view_as_complex(before[..., 4:10].unflatten(-1, (3, 2)).contiguous())
    turned = torch.view_as_real(pairs * torch.exp(1j * torch.tensor(frequencies, dtype=torch.float64) * -16.0)).flatten(-2)
    assert torch.allclose(keys[..., 4:10], turned, atol=1e-5)
    assert torch.equal(keys[..., :4], before[..., :4])
    assert torch.equal(keys[..., 10:], before[..., 10:])


def test_no_offset_is_no_change() -> None:
    keys = torch.randn(2, 8)
    before = keys.clone()
    rotate(keys, 0, (1.0,), 0.0)
    assert torch.equal(keys, before)
