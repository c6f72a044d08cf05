"""Pack and unpack: bounds for any numbers, layout by hand, and the Triton kernels against their plain twins."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from worldpager.kernels.dispatch import Twin, forced, twin_for
from worldpager.kernels.pack import LIMIT, pack
from worldpager.kernels.record import PAGE, PackedLayout
from worldpager.kernels.unpack_rotate import rotate, rotation, unpack

DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
HALF = torch.bfloat16 if DEVICE.type == "cuda" else torch.float16
"""The interpreter cuts numbers off to bfloat16 instead of rounding them."""
FREQUENCIES = (0.9, 0.3)
LAYOUTS = [
    PackedLayout(2, 20, 2, 16, 4, 8, 16),
    PackedLayout(1, 7, 3, 10, 4, 5, 2),
    PackedLayout(1, 33, 1, 20, 3, 64, 10),
    PackedLayout(2, 24, 2, 6, 2, 9, 6),
    PackedLayout(1, 9, 1, 8, 8, 4, 8),
    PackedLayout(1, 20, 1, 16, 2, 8, 8, symmetric=True),
    PackedLayout(1, 7, 1, 8, 3, 4, 8, symmetric=True),
]
"""Whole groups and short ones, sizes that no power of two divides, groups of one number."""


def name(layout: PackedLayout) -> str:
    return f"{layout.bits} bits, {layout.tokens} tokens" + ", symmetric" * layout.symmetric


every_layout = pytest.mark.parametrize("layout", LAYOUTS, ids=name)


def noise(layout: PackedLayout, blocks: int = 2, seed: int = 0) -> tuple[Tensor, Tensor]:
    """Keys and values [layers, blocks, tokens, heads, head_dim]."""
    made = torch.Generator().manual_seed(seed)
    shape = (layout.layers, blocks, layout.tokens, layout.heads, layout.head_dim)
    return torch.randn(shape, generator=made).mul(3).to(DEVICE), torch.randn(shape, generator=made).add(1).to(DEVICE)


def packed(layout: PackedLayout, keys: Tensor, values: Tensor, twin: Twin = "plain") -> list[Tensor]:
    """Records; between sections they keep the zeros they began with."""
    records = [torch.zeros(layout.record_bytes, dtype=torch.uint8, device=keys.device) for _ in range(keys.shape[1])]
    for record in records:
        for pieces in (*(layout.key_pieces(record, run) for run in layout.runs), layout.value_pieces(record)):
            for piece in pieces:
                if piece is not None:
                    piece.copy_(torch.full_like(piece, 0xCD if piece.dtype == torch.uint8 else math.nan))
    with forced(twin):
        pack(layout, keys, values, records)
    return records


def unpacked(
    layout: PackedLayout, records: Sequence[Tensor], twin: Twin = "plain", positions: Tensor | None = None, start: int = 2,
    dtype: torch.dtype = torch.float32,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """Keys and values of ``records`` from poisoned memory."""
    shape = (layout.layers, len(records), layout.tokens, layout.heads, layout.head_dim)
    keys, values = (torch.full(shape, math.nan, dtype=dtype, device=records[0].device) for _ in range(2))
    exact = torch.float64 if dtype == torch.float64 else torch.float32
    turn = None if positions is None else rotation(FREQUENCIES, positions, keys.device, exact)
    with forced(twin):
        unpack(layout, records, keys, values, None, turn, start)
    return keys, values


def steps_of(layout: PackedLayout, record: Tensor) -> tuple[Tensor, Tensor]:
    """The step of every key and value, [layers, tokens, heads, head_dim]."""
    runs = [layout.key_pieces(record, run).step.repeat_interleave(run.size, 1) for run in layout.runs]
    return torch.cat(runs, 1).double(), layout.value_pieces(record).step.repeat_interleave(layout.value_group, 3).double()


def assert_within_half_a_step(layout: PackedLayout, keys: Tensor, values: Tensor, records: Sequence[Tensor]) -> None:
    out = unpacked(layout, records)
    for block, record in enumerate(records):
        for x, got, step in zip((keys, values), out, steps_of(layout, record), strict=True):
            source = x[:, block].double()
            assert ((got[:, block].double() - source).abs() <= step * 0.5001 + source.abs() * 2**-21).all()


@every_layout
def test_error_is_within_half_a_step(layout: PackedLayout) -> None:
    keys, values = noise(layout)
    assert_within_half_a_step(layout, keys, values, packed(layout, keys, values))


@every_layout
def test_a_step_is_no_larger_than_the_groups_range_calls_for(layout: PackedLayout) -> None:
    keys, values = noise(layout, 1)
    record = packed(layout, keys, values)[0]
    levels = (1 << layout.bits - 1) - 1 if layout.symmetric else (1 << layout.bits) - 1
    key_step, value_step = steps_of(layout, record)
    for run in layout.runs:
        for first in range(run.first, run.first + run.groups * run.size, run.size):
            assert_tight(layout, keys[:, 0, first : first + run.size], key_step[:, first], 1, levels)
    grouped = values[:, 0].unflatten(-1, (-1, layout.value_group))
    assert_tight(layout, grouped, value_step.unflatten(-1, (-1, layout.value_group))[..., 0], -1, levels)


def assert_tight(layout: PackedLayout, group: Tensor, step: Tensor, dim: int, levels: int) -> None:
    least, most = group.double().amin(dim), group.double().amax(dim)
    span = torch.maximum(most, -least) if layout.symmetric else most - least + least.abs() * 2**-7
    assert (step >= (torch.maximum(most, -least) if layout.symmetric else most - least) / levels).all()
    assert (step <= span / levels * (1 + 2**-6) + 2**-125).all()


FLOATS = st.floats(-LIMIT, LIMIT, width=32, allow_subnormal=False)


@settings(max_examples=60)
@given(
    st.lists(FLOATS, min_size=1, max_size=9), st.floats(-100, 100), st.sampled_from([0.0, 1e-30, 1e-3, 1.0, 1e4, 1e30]),
    st.sampled_from([2, 3, 4, 8]), st.booleans(),
)  # fmt: skip
def test_error_is_within_half_a_step_for_any_numbers(numbers: list[float], offset: float, scale: float, bits: int, symmetric: bool) -> None:
    layout = PackedLayout(1, len(numbers), 1, 2, bits, len(numbers), 2, symmetric)
    tame = torch.tensor([offset + scale * math.sin(n) for n in range(len(numbers))])
    x = torch.stack([torch.tensor(numbers), tame], -1).view(1, 1, -1, 1, 2)
    records = packed(layout, x, x)
    assert not layout.mended(records[0]).any()
    assert_within_half_a_step(layout, x, x, records)


def test_codes_by_hand() -> None:
    layout = PackedLayout(1, 4, 1, 2, 4, 4, 2)
    keys = torch.tensor([0.0, 15.0, 7.0, 4.0])[:, None].expand(4, 2).reshape(1, 1, 4, 1, 2)
    pieces = layout.key_pieces(packed(layout, keys, keys)[0], layout.runs[0])
    assert pieces.low is not None
    assert (pieces.low == 0).all()
    assert ((pieces.step >= 1) & (pieces.step <= 1.01)).all()
    assert pieces.codes[0, 0, :, 0, 0].tolist() == [0 | 7 << 4, 15 | 4 << 4]


def test_three_bit_codes_by_hand() -> None:
    layout = PackedLayout(1, 10, 1, 2, 3, 10, 2)
    codes = [0, 7, 1, 6, 2, 5, 3, 4, 7, 0]
    keys = torch.tensor([float(code) for code in codes])[:, None].expand(10, 2).reshape(1, 1, 10, 1, 2)
    pieces = layout.key_pieces(packed(layout, keys, keys)[0], layout.runs[0])
    assert pieces.third is not None
    main, third = [0] * 4, [0] * 2  # e = ceil(10 / 8) = 2 bytes of third bits, 4 of the lower two
    for at, code in enumerate(codes):
        main[at % 4] |= (code & 3) << 2 * (at // 4)
        third[at % 2] |= (code >> 2) << at // 2
    assert pieces.codes[0, 0, :, 0, 0].tolist() == main
    assert pieces.third[0, 0, :, 0, 0].tolist() == third


@pytest.mark.parametrize("bits", [2, 3, 4, 8])
def test_constant_groups_come_back_as_they_are(bits: int) -> None:
    layout = PackedLayout(1, 8, 1, 4, bits, 8, 4)
    keys = torch.tensor([2.5, 0.0, -1.0, 1e30]).bfloat16().float().expand(8, 4).reshape(1, 1, 8, 1, 4)
    values = keys.transpose(2, 4)[:, :, :4].contiguous().expand(1, 1, 4, 1, 8).transpose(2, 4)
    out = unpacked(layout, packed(layout, keys, values))
    assert torch.equal(out[0], keys)
    assert torch.isfinite(out[1]).all()


@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")  # the interpreter's own, where NaN is reckoned with
@pytest.mark.parametrize("twin", ["plain", "triton"])
def test_what_is_not_finite_is_mended_counted_and_harms_no_other_group(twin: Twin) -> None:
    layout = PackedLayout(1, 18, 1, 8, 4, 9, 4)
    keys, values = noise(layout, 1)
    keys[0, 0, 12, 0, 2], keys[0, 0, 13, 0, 2], keys[0, 0, 8, 0, 7], keys[0, 0, 1, 0, 7] = math.nan, 3.0, math.inf, -math.inf
    values[0, 0, 3, 0, 1] = math.nan
    records = packed(layout, keys, values, twin)
    assert layout.mended(records[0]).tolist() == [4]
    (got_keys, got_values), (key_step, value_step) = unpacked(layout, records), steps_of(layout, records[0])
    assert torch.isfinite(got_keys).all()
    assert torch.isfinite(got_values).all()
    error = (got_keys[:, 0] - keys[:, 0]).abs()
    assert (error[:, :9, :, :7] <= key_step[:, :9, :, :7] * 0.501).all()
    assert (error[:, 9:, :, 3:] <= key_step[:, 9:, :, 3:] * 0.501).all()
    assert got_keys[0, 0, 12, 0, 2].abs() <= key_step[0, 12, 0, 2] * 0.501
    assert got_values[0, 0, 3, 0, 1].abs() <= value_step[0, 3, 0, 1] * 0.501


def test_any_strides_in_and_out_and_nothing_beside_the_view() -> None:
    layout = LAYOUTS[0]
    keys, values = noise(layout)
    records = packed(layout, keys, values)
    odd_keys, odd_values = (x.permute(4, 3, 2, 1, 0).contiguous().permute(4, 3, 2, 1, 0) for x in (keys, values))
    assert all(torch.equal(a, b) for a, b in zip(packed(layout, odd_keys, odd_values), records, strict=True))
    for twin in ("plain", "triton"):
        contexts = [torch.full((2, 2, 4 * 20, 16), 7.0, device=DEVICE) for _ in range(2)]
        views = [context.view(2, 2, 4, 20, 16).permute(0, 2, 3, 1, 4) for context in contexts]
        with forced(twin):
            unpack(layout, records, views[0], views[1], [3, 1])
        for view, expected in zip(views, unpacked(layout, records), strict=True):
            assert torch.equal(view[:, [3, 1]], expected)
            assert (view[:, [0, 2]] == 7).all()


def test_rotation_is_the_complex_product_and_leaves_other_channels() -> None:
    keys, turn = noise(LAYOUTS[0], 1)[0][0, 0], rotation(FREQUENCIES, torch.tensor([[-16.0]]), DEVICE)
    assert turn is not None
    before = keys.clone()
    rotate(keys, turn[0], 4)
    pairs = torch.view_as_complex(before[..., 4:8].double().unflatten(-1, (2, 2)).contiguous())
    angle = torch.tensor(FREQUENCIES, dtype=torch.float64, device=DEVICE) * -16.0
    turned = torch.view_as_real(pairs * torch.polar(torch.ones_like(angle), angle)).flatten(-2)
    assert torch.allclose(keys[..., 4:8].double(), turned, atol=2e-6)
    assert torch.equal(keys[..., :4], before[..., :4])
    assert torch.equal(keys[..., 8:], before[..., 8:])


def test_each_span_turns_by_its_own_position() -> None:
    keys, positions = noise(LAYOUTS[0], 1)[0][0, 0], [3.0, 0.0, -2.0, 8.0]
    together, apart = keys.clone(), keys.clone()
    turn = rotation(FREQUENCIES, torch.tensor([positions]), DEVICE)
    assert turn is not None
    rotate(together, turn[0], 2)
    for number, position in enumerate(positions):
        one = rotation(FREQUENCIES, torch.tensor([[position]]), DEVICE)
        if one is not None:
            rotate(apart[5 * number : 5 * number + 5], one[0], 2)
    assert torch.equal(together, apart)


def test_no_offset_and_no_pairs_are_no_rotation() -> None:
    assert rotation((1.0,), torch.zeros(3, 1), DEVICE) is None
    assert rotation((), torch.ones(3, 1), DEVICE) is None


@pytest.mark.parametrize(
    ("places", "positions"), [([0, 1, 2], None), ([0, -1], None), ([0, 9], None), (None, torch.ones(1, 1)), (None, torch.ones(2, 3))]
)
def test_what_does_not_fit_is_refused(places: list[int] | None, positions: Tensor | None) -> None:
    layout = LAYOUTS[0]
    keys, values = noise(layout)
    turn = None if positions is None else rotation(FREQUENCIES, positions, DEVICE)
    with pytest.raises(ValueError, match=r"fit|turn"):
        unpack(layout, packed(layout, keys, values), keys, values, places, turn)


def test_sections_do_not_overlap_and_fill_whole_pages() -> None:
    for layout in LAYOUTS:
        record = torch.zeros(layout.record_bytes, dtype=torch.uint8)
        assert layout.record_bytes % PAGE == 0
        pieces = [piece for run in layout.runs for piece in layout.key_pieces(record, run)] + [*layout.value_pieces(record)]
        spans = sorted(_span(piece) for piece in [*pieces, layout.mended(record)] if piece is not None)
        assert all(end <= start for (_, end), (start, _) in pairwise(spans))
        assert spans[-1][1] <= layout.layer_bytes


def _span(piece: Tensor) -> tuple[int, int]:
    """First and last byte of a piece within the first layer."""
    start = int(piece.storage_offset()) * piece.element_size()
    return start, start + int(piece[0].numel()) * piece.element_size()


# The Triton kernels, interpreted where there is no GPU


@every_layout
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_triton_packs_the_same_bytes(layout: PackedLayout, dtype: torch.dtype) -> None:
    keys, values = (x.to(dtype) for x in noise(layout, seed=5))
    for plain, triton in zip(packed(layout, keys, values), packed(layout, keys, values, "triton"), strict=True):
        assert torch.equal(plain, triton)


def test_triton_packs_offset_and_huge_groups_the_same() -> None:
    layout = PackedLayout(1, 16, 1, 8, 4, 8, 8)
    keys, values = noise(layout, 1, seed=6)
    keys[:, :, :8] = keys[:, :, :8] * 1e-3 + 40
    keys[..., :2] *= 1e37
    values[:, :, 3:7] *= 1e-30
    assert torch.equal(packed(layout, keys, values)[0], packed(layout, keys, values, "triton")[0])


@every_layout
def test_triton_unpacks_the_same_numbers(layout: PackedLayout) -> None:
    records = packed(layout, *noise(layout, seed=7))
    for plain, triton in zip(unpacked(layout, records), unpacked(layout, records, "triton"), strict=True):
        assert torch.equal(plain, triton)


@pytest.mark.parametrize(("layout", "start"), [(LAYOUTS[0], 0), (LAYOUTS[0], 2), (LAYOUTS[1], 2), (LAYOUTS[2], 4)])
@pytest.mark.parametrize("spans", ["block", "token"])
def test_triton_turns_as_the_twin_in_float64_does(layout: PackedLayout, start: int, spans: str) -> None:
    records = packed(layout, *noise(layout, seed=8))
    positions = torch.tensor([[-16.0], [700.0]]) + (torch.zeros(1) if spans == "block" else torch.arange(layout.tokens))
    exact = unpacked(layout, records, "plain", positions, start, torch.float64)
    for dtype, bound in ((torch.float32, 1e-6), (HALF, 2**-8 if HALF is torch.bfloat16 else 2**-10)):
        for judge, triton in zip(exact, unpacked(layout, records, "triton", positions, start, dtype), strict=True):
            assert ((judge - triton.double()).abs() <= bound * judge.abs().amax()).all()


def test_the_kernel_runs_on_a_gpu_and_the_twin_elsewhere() -> None:
    assert twin_for(torch.device("cpu")) == "plain"
    assert twin_for(torch.device("cuda")) == "triton"
    with forced("triton"):
        assert twin_for(torch.device("cpu")) == "triton"
    assert twin_for(torch.device("cpu")) == "plain"
