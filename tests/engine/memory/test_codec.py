"""The codec: bounds, odd shapes, extreme numbers, strided views, one rotation from the source."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from worldpager.engine.config import CodecConfig
from worldpager.engine.errors import InputError
from worldpager.engine.memory.codec import Codec, PackedCodec, decode, fingerprint, make_codec, transcode
from worldpager.engine.memory.layout import PAGE
from worldpager.engine.models.base import BlockKV, KVShape, RotarySpec
from worldpager.engine.positions.rope import turned

ROTARY = RotarySpec(2, (0.9, 0.3))
STILL = RotarySpec()


def noise(kv: KVShape, seed: int = 0) -> BlockKV:
    made = torch.Generator().manual_seed(seed)
    shape = (kv.layers, kv.tokens, kv.heads, kv.head_dim)
    return BlockKV(torch.randn(shape, generator=made), torch.randn(shape, generator=made) * 2)


def encoded(codec: Codec, block: BlockKV) -> Tensor:
    record = torch.full((codec.record_bytes,), 0xCD, dtype=torch.uint8)
    codec.encode(block, record)
    return record


def round_trip(codec: Codec, block: BlockKV, offset: float = 0.0) -> BlockKV:
    out = BlockKV(torch.full_like(block.keys, math.nan), torch.full_like(block.values, math.nan))
    decode(codec, encoded(codec, block), out.keys, out.values, offset)
    return out


def spread(x: Tensor, dim: int) -> Tensor:
    return x.amax(dim, keepdim=True) - x.amin(dim, keepdim=True)


@settings(max_examples=40)
@given(
    layers=st.integers(1, 3),
    tokens=st.integers(1, 70),
    heads=st.integers(1, 3),
    head_dim=st.sampled_from([6, 12, 48, 80]),
    key_group=st.sampled_from([5, 16, 64]),
    value_group=st.sampled_from([8, 64]),
    seed=st.integers(0, 99),
)
def test_error_is_within_half_a_step_of_its_group(
    layers: int, tokens: int, heads: int, head_dim: int, key_group: int, value_group: int, seed: int
) -> None:
    kv = KVShape(layers, tokens, heads, head_dim)
    block = noise(kv, seed)
    out = round_trip(make_codec(CodecConfig(4, key_group, value_group), kv, ROTARY), block)
    for first in range(0, tokens, key_group):
        group = block.keys[:, first : first + key_group]
        bound = (spread(group, 1) + group.abs().amax(1, keepdim=True) / 128) / 29
        assert ((out.keys[:, first : first + key_group] - group).abs() <= bound).all()
    bound = (spread(block.values, -1) + block.values.abs().amax(-1, keepdim=True) / 128) / 29
    assert ((out.values - block.values).abs() <= bound).all()


@pytest.mark.parametrize("scale", [1e-30, 1e-6, 1.0, 1e4, 1e30, 2e37])
def test_any_size_of_numbers_keeps_its_relative_error(scale: float) -> None:
    kv = KVShape(1, 64, 1, 16)
    block = noise(kv)
    big = BlockKV(block.keys * scale, block.values * scale)
    out = round_trip(make_codec(CodecConfig(4, 64, 16), kv, STILL), big)
    for got, true in ((out.keys.double(), big.keys.double()), (out.values.double(), big.values.double())):
        assert (got - true).norm() / true.norm() < 0.12


@pytest.mark.parametrize("poison", [math.nan, math.inf, -math.inf])
def test_numbers_that_are_not_finite_are_mended_counted_and_spoil_no_other_channel(poison: float) -> None:
    kv = KVShape(2, 32, 1, 16)
    codec, block = make_codec(CodecConfig(4, 32, 16), kv, STILL), noise(kv)
    assert codec.repaired(encoded(codec, block)) == 0
    clean = round_trip(codec, block)
    block.keys[1, 3, 0, 5] = block.values[0, 2, 0, 1] = poison
    assert codec.repaired(encoded(codec, block)) == 2
    out = round_trip(codec, block)
    assert torch.isfinite(out.keys).all()
    assert torch.isfinite(out.values).all()
    others = torch.arange(16) != 5
    assert torch.equal(out.keys[..., others], clean.keys[..., others])
    assert torch.equal(out.values[1], clean.values[1])


def test_16_bits_give_back_what_bf16_can_hold() -> None:
    kv = KVShape(2, 9, 2, 8)
    codec, block = make_codec(CodecConfig(16), kv, ROTARY), noise(kv)
    out = round_trip(codec, block)
    assert torch.equal(out.keys, block.keys.bfloat16().float())
    assert torch.equal(out.values, block.values.bfloat16().float())
    placed = round_trip(codec, block, -7.0)
    assert torch.allclose(placed.keys, turned(out.keys, ROTARY, -7.0), atol=1e-6)
    assert torch.equal(placed.values, out.values)


def test_placing_turns_once_and_always_from_the_source() -> None:
    kv = KVShape(2, 20, 2, 16)
    codec, block = make_codec(CodecConfig(4, 8, 16), kv, ROTARY), noise(kv)
    still, placed = round_trip(codec, block), round_trip(codec, block, -16.0)
    assert torch.allclose(placed.keys, turned(still.keys, ROTARY, -16.0), atol=2e-6)
    assert torch.equal(placed.keys[..., [0, 1, *range(6, 16)]], still.keys[..., [0, 1, *range(6, 16)]])
    assert torch.equal(placed.values, still.values)
    assert torch.equal(round_trip(codec, block, -16.0).keys, placed.keys)
    assert torch.equal(round_trip(codec, block, 0.0).keys, still.keys)


@pytest.mark.parametrize("bits", [4, 16])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_writes_into_a_strided_view_of_any_type_and_nowhere_else(bits: int, dtype: torch.dtype) -> None:
    kv = KVShape(2, 12, 3, 8)
    codec, block = make_codec(CodecConfig(bits, 5, 8), kv, ROTARY), noise(kv)
    contexts = [torch.full((2, 3, 4 * 12, 8), 7.0, dtype=dtype) for _ in range(2)]
    keys, values = (context.view(2, 3, 4, 12, 8).permute(0, 2, 3, 1, 4) for context in contexts)
    decode(codec, encoded(codec, block), keys[:, 2], values[:, 2], -4.0)
    expected = round_trip(codec, block, -4.0)
    assert torch.equal(keys[:, 2], expected.keys.to(dtype))
    assert torch.equal(values[:, 2], expected.values.to(dtype))
    for view in (keys, values):
        assert (view[:, [0, 1, 3]] == 7).all()


@pytest.mark.parametrize("bits", [4, 16])
def test_takes_keys_of_any_type_and_strides(bits: int) -> None:
    kv = KVShape(2, 12, 3, 8)
    codec, block = make_codec(CodecConfig(bits, 5, 8), kv, ROTARY), noise(kv)
    half = BlockKV(block.keys.bfloat16(), block.values.bfloat16())
    odd = BlockKV(half.keys.permute(3, 2, 1, 0).contiguous().permute(3, 2, 1, 0), half.values.transpose(1, 2).contiguous().transpose(1, 2))
    plain = BlockKV(half.keys.float(), half.values.float())
    assert torch.equal(encoded(codec, odd)[:-PAGE], encoded(codec, plain)[:-PAGE])
    assert torch.equal(round_trip(codec, odd).keys.float(), round_trip(codec, plain).keys.bfloat16().float())


def test_a_record_is_whole_pages_and_a_little_over_a_quarter_of_bf16() -> None:
    kv = KVShape(6, 192, 7, 64)
    codec = make_codec(CodecConfig(), kv, ROTARY)
    assert codec.record_bytes % PAGE == 0
    assert 0.25 < codec.record_bytes / kv.bf16_bytes < 0.29


@pytest.mark.parametrize("bits", [2, 3, 4, 8])
@pytest.mark.parametrize("symmetric", [False, True])
def test_every_width_keeps_its_error(bits: int, symmetric: bool) -> None:
    """Half a step at the worst; a uniform error of one step's width has a deviation of step / sqrt(12)."""
    kv = KVShape(2, 70, 2, 16)
    block = noise(kv)
    out = round_trip(make_codec(CodecConfig(bits, 32, 16, symmetric), kv, ROTARY), block)
    levels = 2 ** (bits - 1) - 1 if symmetric else 2**bits - 1
    for first in range(0, 70, 32):
        group = block.keys[:, first : first + 32]
        span = group.abs().amax(1, keepdim=True) if symmetric else spread(group, 1) + group.abs().amax(1, keepdim=True) / 128
        assert ((out.keys[:, first : first + 32] - group).abs() <= span / levels * 0.51).all()


def test_symmetric_records_are_smaller_and_coarser() -> None:
    kv = KVShape(1, 64, 2, 16)
    block = noise(kv)
    even, plain = (make_codec(CodecConfig(2, 8, 8, symmetric), kv, STILL) for symmetric in (True, False))
    assert isinstance(even, PackedCodec)
    assert isinstance(plain, PackedCodec)
    assert even.layout.layer_bytes < plain.layout.layer_bytes
    worse, better = ((round_trip(codec, block).keys - block.keys).norm() for codec in (even, plain))
    assert worse > better * 1.2


@pytest.mark.parametrize("bits", [4, 16])
def test_a_quarter_of_the_heads_is_what_the_whole_codec_gives_and_zeros(bits: int) -> None:
    kv = KVShape(2, 12, 6, 8)
    block, config = noise(kv), CodecConfig(bits, 5, 8)
    whole, some = make_codec(config, kv, ROTARY), make_codec(replace(config, head_stride=4), kv, ROTARY)
    full, part = round_trip(whole, block, -4.0), round_trip(some, block, -4.0)
    for got, expected in ((part.keys, full.keys), (part.values, full.values)):
        assert torch.equal(got[:, :, ::4], expected[:, :, ::4])
        assert not got[:, :, [1, 2, 3, 5]].any()
    assert some.record_bytes <= whole.record_bytes


def test_transcoding_is_decoding_and_encoding_anew() -> None:
    kv = KVShape(2, 40, 2, 16)
    fine, coarse = make_codec(CodecConfig(4, 16, 16), kv, ROTARY), make_codec(CodecConfig(2, 8, 8), kv, ROTARY)
    record, block = torch.zeros(coarse.record_bytes, dtype=torch.uint8), noise(kv)
    transcode(fine, encoded(fine, block), kv, coarse, record)
    expected = torch.zeros_like(record)
    coarse.encode(round_trip(fine, block), expected)
    assert torch.equal(record, expected)


def test_several_blocks_are_placed_each_at_its_own_offset() -> None:
    kv = KVShape(2, 12, 2, 8)
    for config in (CodecConfig(4, 5, 8), CodecConfig(16), CodecConfig(16, head_stride=2)):
        codec, blocks = make_codec(config, kv, ROTARY), [noise(kv, seed) for seed in range(3)]
        keys, values = (torch.full((2, 4, 12, 2, 8), 7.0) for _ in range(2))
        codec.place([encoded(codec, block) for block in blocks], keys, values, [0.0, -3.0, 900.0])
        for slot, (block, offset) in enumerate(zip(blocks, (0.0, -3.0, 900.0), strict=True)):
            alone = round_trip(codec, block, offset)
            assert torch.equal(keys[:, slot], alone.keys)
            assert torch.equal(values[:, slot], alone.values)
        assert (keys[:, 3] == 7).all()


@pytest.mark.parametrize("bits", [4, 16])
def test_every_token_can_stand_at_a_position_of_its_own(bits: int) -> None:
    """As a language model's do: stored without positions, placed in a row, or given as stored."""
    kv, rotary = KVShape(2, 8, 2, 8), RotarySpec(0, (0.9, 0.3, 0.1), spans=8)
    codec, block = make_codec(CodecConfig(bits, 4, 8), kv, rotary), noise(kv)
    keys, values = (torch.full((2, 2, 8, 2, 8), math.nan) for _ in range(2))
    record = encoded(codec, block)
    codec.place([record, record], keys, values, None)
    stored = keys.clone()
    codec.place([record, record], keys, values, [0.0, 40.0])
    for slot, first in enumerate((0.0, 40.0)):
        assert torch.allclose(keys[:, slot], turned(stored[:, slot], rotary, first), atol=2e-6)
        for token in range(8):
            alone = turned(stored[:, slot, token], RotarySpec(0, rotary.frequencies), first + token)
            assert torch.allclose(keys[:, slot, token], alone, atol=2e-6)


MATRIX_GAME_2 = KVShape(30, 2640, 12, 128)


def test_the_papers_block_takes_what_the_paper_says() -> None:
    """Matrix-Game 2.0's chunk: 486.6 MB in bf16; 129.4 MB in int4 with groups of 128, each layer in whole pages (kv_memory 3.2)."""
    assert MATRIX_GAME_2.bf16_bytes == 486_604_800
    assert make_codec(CodecConfig(16), MATRIX_GAME_2, STILL).record_bytes == 486_604_800
    assert make_codec(CodecConfig(4, 128, 128), MATRIX_GAME_2, STILL).record_bytes == 129_392_640


@pytest.mark.parametrize("groups", [(32, 64), (64, 32)])
def test_the_papers_two_bit_block_takes_its_share(groups: tuple[int, int]) -> None:
    size = make_codec(CodecConfig(2, *groups), MATRIX_GAME_2, STILL).record_bytes
    assert size / MATRIX_GAME_2.bf16_bytes == pytest.approx(0.172, abs=5e-4)


@pytest.mark.parametrize(
    ("config", "kv", "rotary", "message"),
    [
        (CodecConfig(5), KVShape(1, 4, 1, 8), ROTARY, "5-bit"),
        (CodecConfig(4, 0), KVShape(1, 4, 1, 8), ROTARY, "at least one"),
        (CodecConfig(4), KVShape(1, 4, 1, 4), ROTARY, "don't fit"),
        (CodecConfig(4), KVShape(1, 4, 1, 7), ROTARY, "in pairs"),
        (CodecConfig(4), KVShape(1, 4, 1, 8), RotarySpec(0, (1.0,), spans=3), "equal spans"),
        (CodecConfig(4, head_stride=3), KVShape(1, 4, 2, 8), ROTARY, "One head in 3"),
    ],
)
def test_what_cannot_be_is_refused(config: CodecConfig, kv: KVShape, rotary: RotarySpec, message: str) -> None:
    with pytest.raises(InputError, match=message):
        make_codec(config, kv, rotary)


def test_fingerprints_tell_layouts_apart() -> None:
    kv = KVShape(1, 8, 1, 16)
    configs = [CodecConfig(4, 4, 16), CodecConfig(4, 8, 16), CodecConfig(16, 8, 16)]
    configs += [CodecConfig(4, 4, 16, True), CodecConfig(4, 4, 16, head_stride=2)]
    prints = {fingerprint(config, kv, ROTARY) for config in configs} | {fingerprint(configs[0], kv, STILL)}
    assert len(prints) == 6
