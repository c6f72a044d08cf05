"""Pack and unpack: bounds for any numbers, layout by hand, and the Triton kernels against their plain twins."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from worldpager.kernels.dispatch import Twin, forced, twin_for
from worldpager.kernels.int4_pack import LIMIT, pack
from worldpager.kernels.int4_unpack_rotate import rotate, rotation, unpack

Packed = tuple[Tensor, Tensor, Tensor, Tensor]
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
HALF = torch.bfloat16 if DEVICE.type == "cuda" else torch.float16
"""The interpreter cuts numbers off to bfloat16 instead of rounding them."""
SHAPES = [(2, 3, 16, 2, 8), (1, 2, 7, 3, 6), (1, 1, 1, 1, 2), (2, 1, 60, 1, 10), (1, 1, 63, 2, 20)]
"""[A, B, group, I, J]: whole groups, odd ones, a single number, sizes that no power of two divides."""


def packed(x: Tensor, twin: Twin = "plain") -> Packed:
    """``x`` encoded into poisoned memory: codes, step, low, repaired."""
    a, b, n, i, j = x.shape
    codes = torch.full((a, b, (n + 1) // 2, i, j), 0xFF, dtype=torch.uint8, device=x.device)
    step, low = (torch.full((a, b, i, j), math.nan, dtype=torch.bfloat16, device=x.device) for _ in range(2))
    repaired = torch.zeros(1, dtype=torch.int32, device=x.device)
    with forced(twin):
        pack(x, codes, step, low, repaired)
    return codes, step, low, repaired


def unpacked(
    parts: Packed, n: int, twin: Twin = "plain", turn: Tensor | None = None, start: int = 0, dtype: torch.dtype = torch.float32
) -> Tensor:
    codes, step, low, _ = parts
    a, b, _, i, j = codes.shape
    out = torch.full((a, b, n, i, j), math.nan, dtype=dtype, device=codes.device)
    with forced(twin):
        unpack(codes, step, low, out, turn, start)
    return out


def noise(shape: tuple[int, ...], seed: int = 0, scale: float = 3.0) -> Tensor:
    return (torch.randn(shape, generator=torch.Generator().manual_seed(seed)) * scale).to(DEVICE)


def assert_within_half_a_step(x: Tensor, parts: Packed) -> None:
    """The promise of the codec, for every number, and a step no larger than the group's range calls for."""
    _, step, low, _ = parts
    x, step64, low64 = x.double(), step.double()[:, :, None], low.double()[:, :, None]
    error = (unpacked(parts, x.shape[2]).double() - x).abs()
    assert (error <= step64 * 0.5001 + x.abs() * 2**-22).all()
    most = x.amax(2, keepdim=True)
    assert (low64 <= x).all()
    assert (low64 >= x.amin(2, keepdim=True) - x.amin(2, keepdim=True).abs() * 2**-7 - 2**-125).all()
    assert (step64 <= (most - low64) / 15 * (1 + 2**-6) + 2**-125).all()


@pytest.mark.parametrize("shape", SHAPES)
def test_error_is_within_half_a_step(shape: tuple[int, ...]) -> None:
    x = noise(shape)
    assert_within_half_a_step(x, packed(x))


FLOATS = st.floats(-LIMIT, LIMIT, width=32, allow_subnormal=False)


@settings(max_examples=150)
@given(st.lists(FLOATS, min_size=1, max_size=9), st.floats(-100, 100), st.sampled_from([0.0, 1e-30, 1e-3, 1.0, 1e4, 1e30]))
def test_error_is_within_half_a_step_for_any_numbers(numbers: list[float], offset: float, scale: float) -> None:
    wild = torch.tensor(numbers)
    tame = torch.tensor([offset + scale * math.sin(n) for n in range(len(numbers))])
    x = torch.stack([wild, tame], -1).view(1, 1, -1, 1, 2)
    parts = packed(x)
    assert not parts[3]
    assert_within_half_a_step(x, parts)


def test_codes_by_hand() -> None:
    x = torch.tensor([0.0, 15.0, 7.0, 4.0]).view(1, 1, 4, 1, 1)
    codes, step, low, _ = packed(x)
    assert 1 <= float(step) <= 1.01
    assert float(low) == 0
    assert codes.flatten().tolist() == [0 | 7 << 4, 15 | 4 << 4]


def test_constant_groups_come_back_as_they_are() -> None:
    x = torch.tensor([2.5, 0.0, -1.0, 1e30]).bfloat16().float().expand(8, 4).reshape(1, 1, 8, 1, 4)
    parts = packed(x)
    assert torch.equal(unpacked(parts, 8), x)
    assert not parts[0].any()


@pytest.mark.parametrize("twin", ["plain", "triton"])
def test_what_is_not_finite_is_repaired_counted_and_harms_no_other_group(twin: Twin) -> None:
    x = noise((1, 2, 9, 1, 8))
    x[0, 1, 3, 0, 2], x[0, 1, 4, 0, 2], x[0, 0, 8, 0, 7], x[0, 0, 1, 0, 7] = math.nan, 3.0, math.inf, -math.inf
    parts = packed(x, twin)
    assert parts[3].item() == 3
    back = unpacked(parts, 9)
    assert torch.isfinite(back).all()
    whole = torch.isfinite(x).all(2, keepdim=True).expand_as(x)
    assert ((back - x).abs()[whole] <= (parts[1].float()[:, :, None].expand_as(x)[whole] * 0.501)).all()
    assert back[0, 1, 3, 0, 2].abs() <= parts[1][0, 1, 0, 2] * 0.501


def test_any_strides_and_nothing_beside_the_view() -> None:
    x = noise((2, 3, 8, 2, 4))
    parts = packed(x.permute(4, 3, 2, 1, 0).contiguous().permute(4, 3, 2, 1, 0))
    codes, step, low, _ = packed(x)
    assert torch.equal(parts[0], codes)
    context = torch.full((2, 2, 3 * 8 * 2, 4), 7.0, device=DEVICE)
    view = context.view(2, 2, 24, 2, 4).permute(0, 2, 3, 1, 4)[:, :, 1].unflatten(1, (3, 8))
    unpack(codes, step, low, view)
    assert torch.equal(view, unpacked(parts, 8))
    assert (context.view(2, 2, 24, 2, 4)[:, :, :, 0] == 7).all()


def test_rotation_is_the_complex_product_and_leaves_other_channels() -> None:
    keys, frequencies = noise((2, 5, 3, 16)), (0.9, 0.3, 0.1)
    before, turn = keys.clone(), rotation((0.9, 0.3, 0.1), -16.0, DEVICE)
    assert turn is not None
    rotate(keys, turn, 4)
    pairs = torch.view_as_complex(before[..., 4:10].double().unflatten(-1, (3, 2)).contiguous())
    angle = torch.tensor(frequencies, dtype=torch.float64, device=DEVICE) * -16.0
    turned = torch.view_as_real(pairs * torch.polar(torch.ones_like(angle), angle)).flatten(-2)
    assert torch.allclose(keys[..., 4:10].double(), turned, atol=2e-6)
    assert torch.equal(keys[..., :4], before[..., :4])
    assert torch.equal(keys[..., 10:], before[..., 10:])


def test_no_offset_and_no_pairs_are_no_rotation() -> None:
    assert rotation((1.0,), 0.0, DEVICE) is None
    assert rotation((), 5.0, DEVICE) is None


# The Triton kernels, interpreted where there is no GPU


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_triton_packs_the_same_bytes(shape: tuple[int, ...], dtype: torch.dtype) -> None:
    x = noise(shape, seed=5).to(dtype)
    for plain, triton in zip(packed(x, "plain"), packed(x, "triton"), strict=True):
        assert torch.equal(plain.view(torch.uint8), triton.view(torch.uint8))


def test_triton_packs_offset_and_huge_groups_the_same() -> None:
    x = noise((1, 2, 16, 1, 4), seed=6)
    x[0, 0] = x[0, 0] * 1e-3 + 40
    x[0, 1, :, :, :2] *= 1e37
    for plain, triton in zip(packed(x, "plain"), packed(x, "triton"), strict=True):
        assert torch.equal(plain.view(torch.uint8), triton.view(torch.uint8))


@pytest.mark.parametrize("shape", SHAPES)
def test_triton_unpacks_the_same_numbers(shape: tuple[int, ...]) -> None:
    parts = packed(noise(shape, seed=7))
    assert torch.equal(unpacked(parts, shape[2], "plain"), unpacked(parts, shape[2], "triton"))


@pytest.mark.parametrize(("start", "pairs"), [(0, 3), (2, 1), (4, 2)])
@pytest.mark.parametrize("dtype", [torch.float32, HALF])
def test_triton_turns_the_same(start: int, pairs: int, dtype: torch.dtype) -> None:
    parts = packed(noise((1, 2, 7, 3, 8), seed=8))
    turn = rotation((0.9, 0.3, 0.1)[:pairs], -16.0, DEVICE)
    plain, triton = (unpacked(parts, 7, twin, turn, start, dtype) for twin in ("plain", "triton"))
    bound = 4e-3 if dtype is HALF else 1e-6
    difference = (plain.float() - triton.float()).square().mean().sqrt() / plain.float().square().mean().sqrt()
    assert difference < bound
    fixed = [channel for channel in range(8) if not start <= channel < start + 2 * pairs]
    assert torch.equal(plain[..., fixed], triton[..., fixed])


def test_triton_writes_into_any_strides() -> None:
    parts = packed(noise((1, 2, 6, 2, 4), seed=9))
    out = torch.full((2, 4, 2, 6), math.nan, device=DEVICE).permute(0, 3, 2, 1)[None]
    with forced("triton"):
        unpack(*parts[:3], out)
    assert torch.equal(out, unpacked(parts, 6))


def test_the_kernel_runs_on_a_gpu_and_the_twin_elsewhere() -> None:
    assert twin_for(torch.device("cpu")) == "plain"
    assert twin_for(torch.device("cuda")) == "triton"
    with forced("triton"):
        assert twin_for(torch.device("cpu")) == "triton"
    assert twin_for(torch.device("cpu")) == "plain"
