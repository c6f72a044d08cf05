"""The codec: bounds, odd shapes, extreme numbers, strided views, rotation from the source."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from worldpager.engine.config import CodecConfig
from worldpager.engine.errors import InputError
from worldpager.engine.memory.codec import PAGE, Codec
from worldpager.engine.models.base import BlockKV, KVShape, RotarySpec

ROTARY = RotarySpec(0, (0.9, 0.3))


def _block(kv: KVShape, seed: int = 0) -> BlockKV:
    g = torch.Generator().manual_seed(seed)
    shape = (kv.layers, kv.tokens, kv.heads, kv.head_dim)
    return BlockKV(torch.randn(shape, generator=g), torch.randn(shape, generator=g) * 2)


def _round(codec: Codec, block: BlockKV, offset: float = 0.0) -> BlockKV:
    record = torch.full((codec.record_bytes,), 0xCD, dtype=torch.uint8)
    codec.encode(block, record)
    out = BlockKV(torch.full_like(block.keys, float("nan")), torch.full_like(block.values, float("nan")))
    codec.decode(record, out.keys, out.values, offset)
    return out


@settings(max_examples=25, deadline=None)
@given(layers=st.integers(1, 3), tokens=st.integers(1, 70), heads=st.integers(1, 3), half=st.integers(2, 10),
       group=st.sampled_from([7, 16, 32]), seed=st.integers(0, 99))
def test_int4_error_is_bounded_by_the_groups_range(layers: int, tokens: int, heads: int, half: int, group: int, seed: int) -> None:
    kv = KVShape(layers, tokens, heads, 2 * half)
    block = _block(kv, seed)
    out = _round(Codec(CodecConfig(4, group, 2 * half), kv, ROTARY), block)
    for got, true in ((out.keys, block.keys), (out.values, block.values)):
        spread = float(true.max() - true.min())
        assert (got - true).abs().max() <= spread / 30 * 1.01 + 0.01


def test_bf16_gives_back_what_bf16_can_hold() -> None:
    kv = KVShape(2, 9, 2, 8)
    block = _block(kv)
    out = _round(Codec(CodecConfig(16), kv, ROTARY), block)
    assert torch.equal(out.keys, block.keys.bfloat16().float())
    assert torch.equal(out.values, block.values.bfloat16().float())


def test_record_is_a_whole_number_of_pages_and_a_quarter_of_bf16() -> None:
    kv = KVShape(6, 192, 7, 64)
    codec = Codec(CodecConfig(), kv, ROTARY)
    assert codec.record_bytes % PAGE == 0
    assert 0.25 < codec.record_bytes / kv.bf16_bytes < 0.29


@pytest.mark.parametrize("scale", [1e-30, 1e-6, 1.0, 1e4, 1e30])
def test_any_size_of_numbers_keeps_its_relative_error(scale: float) -> None:
    kv = KVShape(1, 64, 1, 16)
    block = _block(kv)
    big = BlockKV(block.keys * scale, block.values * scale)
    out = _round(Codec(CodecConfig(4, 64, 16), kv, RotarySpec()), big)
    assert torch.isfinite(out.keys).all()
    for got, true in ((out.keys.double(), big.keys.double()), (out.values.double(), big.values.double())):
        assert (got - true).norm() / true.norm() < 0.12


@pytest.mark.parametrize("poison", [float("nan"), float("inf"), float("-inf")])
def test_numbers_that_are_not_finite_are_repaired_and_counted(poison: float) -> None:
    kv = KVShape(1, 32, 1, 16)
    block = _block(kv)
    block.keys[0, 3, 0, 5] = poison
    codec = Codec(CodecConfig(4, 32, 16), kv, RotarySpec())
    out = _round(codec, block)
    assert torch.isfinite(out.keys).all()
    assert torch.isfinite(out.values).all()
    assert codec.repairs == 1
    others = torch.arange(16) != 5
    assert (out.keys - block.keys)[..., others].abs().max() < 0.5


def test_placement_turns_once_from_the_source() -> None:
    """Decoding at an offset equals turning the decoded block, and decoding again gives the same bits."""
    kv = KVShape(2, 20, 2, 16)
    codec = Codec(CodecConfig(4, 8, 16), kv, ROTARY)
    block = _block(kv)
    still, placed = _round(codec, block), _round(codec, block, -16.0)
    pairs = torch.view_as_complex(still.keys[..., :4].unflatten(-1, (2, 2)).contiguous())
    turned = torch.view_as_real(pairs * torch.exp(1j * torch.tensor([0.9, 0.3]) * -16.0)).flatten(-2)
    assert torch.allclose(placed.keys[..., :4], turned, atol=1e-5)
    assert torch.equal(placed.keys[..., 4:], still.keys[..., 4:])
    assert torch.equal(placed.values, still.values)
    assert torch.equal(_round(codec, block, -16.0).keys, placed.keys)


def test_writes_into_a_strided_view_and_nowhere_else() -> None:
    kv = KVShape(2, 12, 3, 8)
    codec = Codec(CodecConfig(4, 12, 8), kv, RotarySpec())
    block = _block(kv)
    record = torch.empty(codec.record_bytes, dtype=torch.uint8)
    codec.encode(block, record)
    context = torch.full((2, 3, 4 * 12, 8), 7.0)
    view = context.view(2, 3, 4, 12, 8).permute(0, 2, 3, 1, 4)
    codec.decode(record, view[:, 2], torch.empty(2, 12, 3, 8), 0.0)
    assert (view[:, [0, 1, 3]] == 7).all()
    assert torch.equal(view[:, 2], _round(codec, block).keys)


def test_layouts_that_cannot_be_are_refused() -> None:
    with pytest.raises(InputError, match="3-bit"):
        Codec(CodecConfig(3), KVShape(1, 4, 1, 8), ROTARY)
    with pytest.raises(InputError, match="don't divide"):
        Codec(CodecConfig(4, 64, 64), KVShape(1, 4, 1, 8), ROTARY)


def test_fingerprint_tells_layouts_apart() -> None:
    kv = KVShape(1, 8, 1, 16)
    prints = {Codec(CodecConfig(b, k, 16), kv, ROTARY).fingerprint for b, k in ((4, 4), (4, 8), (16, 8))}
    assert len(prints) == 3
