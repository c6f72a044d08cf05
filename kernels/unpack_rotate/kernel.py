"""Triton twin of unpack + rotate: one launch, whose programs each take a tile of one layer of one block, keys first, then values.

A tile is read once as bytes; each field of a byte becomes a run of numbers that is turned and written where it lies in a row. A thread's 8
neighbouring bytes become 8 neighbouring numbers, 16 bytes of bfloat16, so nothing moves between threads. Codes become floats by being put
into the lowest bits of 2^23: converting integers is several times slower.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
import triton
import triton.language as tl
from torch import Tensor

from worldpager.kernels.record import PackedLayout


class Tiles(NamedTuple):
    """Size of a program: ``codes`` bytes of codes, of keys at most ``rows`` rows; warps; bytes that a thread reads at once."""

    codes: int = 4096
    rows: int = 4
    warps: int = 4
    vector: int = 8


TILES = Tiles()
LARGEST_OFFSET = 2**31


@triton.jit  # type: ignore[untyped-decorator]
def _numbers(code, third, size, floor, field: tl.constexpr, WIDTH: tl.constexpr, THIRD: tl.constexpr):  # type: ignore[no-untyped-def]
    """Field ``field`` of some bytes, decoded. ``third``: the third bit of 3-bit codes, 0 or 4."""
    shift: tl.constexpr = field * WIDTH
    if THIRD:
        whole = ((code >> shift) & 3) | third | 0x4B000000
        scaled = size
    else:
        whole = (code & (((1 << WIDTH) - 1) << shift)) | 0x4B000000
        scaled = size * (1.0 / (1 << shift))
    return (whole.to(tl.float32, bitcast=True) - 8388608.0) * scaled + floor


@triton.jit
def _bf16(base, offset, mask):  # type: ignore[no-untyped-def]
    """bfloat16 numbers from byte address ``base`` on, as float32."""
    return tl.load(base.to(tl.pointer_type(tl.bfloat16)) + offset, mask=mask, other=0.0).to(tl.float32)


@triton.jit  # type: ignore[untyped-decorator]
def _keys(  # type: ignore[no-untyped-def]
    tile, layer_codes, codes_at, third_at, step_at, low_at, out, token_stride, head_stride, channel_stride, tokens,
    turn, span_tokens, start, pairs,
    SPANS: tl.constexpr, CHANNELS: tl.constexpr, HEAD: tl.constexpr, GROUP: tl.constexpr, FIELDS: tl.constexpr, HALVES: tl.constexpr,
    WIDTH: tl.constexpr, THIRD: tl.constexpr, SYMMETRIC: tl.constexpr, ZERO: tl.constexpr,
    ROWS: tl.constexpr, COLUMNS: tl.constexpr, VECTOR: tl.constexpr,
):  # fmt: skip
    FULL: tl.constexpr = (GROUP + FIELDS * HALVES - 1) // (FIELDS * HALVES)
    across: tl.constexpr = (CHANNELS + COLUMNS - 1) // COLUMNS
    down: tl.constexpr = (FULL * HALVES + ROWS - 1) // ROWS
    group = tile // (across * down)
    n = tl.minimum(tokens - group * GROUP, GROUP)
    e = (n + FIELDS * HALVES - 1) // (FIELDS * HALVES)
    q = e * HALVES
    row = (tile // across) % down * ROWS + tl.arange(0, ROWS)
    column = tile % across * COLUMNS + tl.arange(0, COLUMNS)
    inside = column < CHANNELS

    step_offset = group * CHANNELS + column
    size = _bf16(layer_codes + step_at, step_offset, inside)[None, :]
    if SYMMETRIC:
        floor = size * -ZERO
    else:
        floor = _bf16(layer_codes + low_at, step_offset, inside)[None, :]
    at = tl.max_contiguous(row[:, None] * CHANNELS + column[None, :], [1, VECTOR])
    mask = (row < q)[:, None] & inside[None, :]
    code = tl.load(layer_codes + codes_at + group * (FULL * HALVES * CHANNELS) + at, mask=mask, other=0).to(tl.int32)
    if THIRD:
        third_row = row % tl.maximum(e, 1)
        at = third_row[:, None] * CHANNELS + column[None, :]
        thirds = tl.load(layer_codes + third_at + group * (FULL * CHANNELS) + at, mask=mask, other=0).to(tl.int32)
        thirds = thirds >> (row >= e).to(tl.int32)[:, None]

    if SPANS > 0:
        pair_channel = (tile % across * COLUMNS + 2 * tl.arange(0, COLUMNS // 2)) % HEAD - start
        turns = (pair_channel >= 0) & (pair_channel < 2 * pairs)
        pair = pair_channel // 2
    if SPANS == 1:
        cos = tl.load(turn + pair, mask=turns, other=1.0)[None, :]
        sin = tl.load(turn + pairs + pair, mask=turns, other=0.0)[None, :]
    to_column = column // HEAD * head_stride + column % HEAD * channel_stride
    for field in tl.static_range(FIELDS):
        third = 0
        if THIRD:
            third = ((thirds >> (field * HALVES)) & 1) << 2
        x = _numbers(code, third, size, floor, field, WIDTH, THIRD)
        token = row + field * q
        written = (row < q) & (token < n)
        token += group * GROUP
        if SPANS > 0:
            if SPANS > 1:
                span = (token // span_tokens * (2 * pairs))[:, None]
                turned = turns[None, :] & written[:, None]
                cos = tl.load(turn + span + pair[None, :], mask=turned, other=1.0)
                sin = tl.load(turn + span + pairs + pair[None, :], mask=turned, other=0.0)
            a, b = tl.split(tl.reshape(x, [ROWS, COLUMNS // 2, 2]))
            x = tl.reshape(tl.join(a * cos - b * sin, a * sin + b * cos), [ROWS, COLUMNS])
        target = out + (token[:, None] * token_stride + to_column[None, :])
        tl.store(target, x.to(out.dtype.element_ty), mask=written[:, None] & inside[None, :])


@triton.jit  # type: ignore[untyped-decorator]
def _values(  # type: ignore[no-untyped-def]
    tile, layer_codes, codes_at, third_at, step_at, low_at, out, token_stride, head_stride, channel_stride, tokens,
    HEADS: tl.constexpr, SPLIT: tl.constexpr, GROUP: tl.constexpr, FIELDS: tl.constexpr, HALVES: tl.constexpr,
    WIDTH: tl.constexpr, THIRD: tl.constexpr, SYMMETRIC: tl.constexpr, ZERO: tl.constexpr,
    GROUPS: tl.constexpr, BYTES: tl.constexpr, VECTOR: tl.constexpr,
):  # fmt: skip
    E: tl.constexpr = (GROUP + FIELDS * HALVES - 1) // (FIELDS * HALVES)
    Q: tl.constexpr = E * HALVES
    group = tile * GROUPS + tl.arange(0, GROUPS)
    byte = tl.arange(0, BYTES)
    inside = group < tokens * (HEADS * SPLIT)
    size = _bf16(layer_codes + step_at, group, inside)[:, None]
    if SYMMETRIC:
        floor = size * -ZERO
    else:
        floor = _bf16(layer_codes + low_at, group, inside)[:, None]
    mask = inside[:, None] & (byte < Q)[None, :]
    at = tl.max_contiguous(group[:, None] * Q + byte[None, :], [1, VECTOR])
    code = tl.load(layer_codes + codes_at + at, mask=mask, other=0).to(tl.int32)
    if THIRD:
        at = group[:, None] * E + (byte % E)[None, :]
        thirds = tl.load(layer_codes + third_at + at, mask=mask, other=0).to(tl.int32) >> (byte >= E).to(tl.int32)[None, :]

    head = group // SPLIT % HEADS
    to_group = group // (HEADS * SPLIT) * token_stride + head * head_stride + group % SPLIT * (GROUP * channel_stride)
    for field in tl.static_range(FIELDS):
        third = 0
        if THIRD:
            third = ((thirds >> (field * HALVES)) & 1) << 2
        x = _numbers(code, third, size, floor, field, WIDTH, THIRD)
        channel = byte + field * Q
        target = out + (to_group[:, None] + (channel * channel_stride)[None, :])
        tl.store(target, x.to(out.dtype.element_ty), mask=mask & (channel < GROUP)[None, :])


@triton.jit  # type: ignore[untyped-decorator]
def _unpack(  # type: ignore[no-untyped-def]
    first, table, blocks, layer_bytes, key_tiles, tokens, keys, values, turn, span_tokens, start, pairs,
    kc, k3, ks, kl, vc, v3, vs, vl, k_layer, k_place, k_token, k_head, k_channel, v_layer, v_place, v_token, v_head, v_channel,
    SPANS: tl.constexpr, HEADS: tl.constexpr, HEAD: tl.constexpr, KEY_GROUP: tl.constexpr, VALUE_GROUP: tl.constexpr,
    FIELDS: tl.constexpr, HALVES: tl.constexpr, WIDTH: tl.constexpr, THIRD: tl.constexpr, SYMMETRIC: tl.constexpr, ZERO: tl.constexpr,
    ROWS: tl.constexpr, COLUMNS: tl.constexpr, GROUPS: tl.constexpr, BYTES: tl.constexpr, VECTOR: tl.constexpr,
):  # fmt: skip
    tile, layer, block = tl.program_id(0), tl.program_id(1).to(tl.int64), tl.program_id(2)
    where = tl.multiple_of(tl.load(table + block), 16)
    place = tl.load(table + blocks + block)
    codes = first + (where + layer * layer_bytes)
    if tile < key_tiles:
        out = keys + (layer * k_layer + place * k_place)
        _keys(
            tile, codes, kc, k3, ks, kl, out, k_token, k_head, k_channel, tokens,
            turn + block * (SPANS * 2 * pairs), span_tokens, start, pairs,
            SPANS, HEADS * HEAD, HEAD, KEY_GROUP, FIELDS, HALVES, WIDTH, THIRD, SYMMETRIC, ZERO, ROWS, COLUMNS, VECTOR,
        )  # fmt: skip
    else:
        out = values + (layer * v_layer + place * v_place)
        _values(
            tile - key_tiles, codes, vc, v3, vs, vl, out, v_token, v_head, v_channel, tokens,
            HEADS, HEAD // VALUE_GROUP, VALUE_GROUP, FIELDS, HALVES, WIDTH, THIRD, SYMMETRIC, ZERO, GROUPS, BYTES, VECTOR,
        )  # fmt: skip


def unpack(
    layout: PackedLayout, records: Sequence[Tensor], keys: Tensor, values: Tensor, places: Sequence[int],
    turn: Tensor | None, start: int, tiles: Tiles = TILES,
) -> None:  # fmt: skip
    """See the package."""
    check(layout, records, (keys, values), start)
    one, largest = layout.group(layout.value_group), layout.group(layout.key_group)
    rows, columns = shape(tiles.codes, min(tiles.rows, triton.next_power_of_2(largest.rows)), layout.channels)
    size, groups = shape(tiles.codes, triton.next_power_of_2(one.rows), layout.tokens * layout.heads * layout.value_groups)
    key_tiles = triton.cdiv(layout.tokens, layout.key_group) * triton.cdiv(largest.rows, rows) * triton.cdiv(layout.channels, columns)
    value_tiles = triton.cdiv(layout.tokens * layout.heads * layout.value_groups, groups)
    spans, pairs = (0, 0) if turn is None else (turn.shape[1], turn.shape[3])
    _unpack[key_tiles + value_tiles, layout.layers, len(records)](
        records[0], table(records, places), len(records), layout.layer_bytes, key_tiles, layout.tokens, keys, values,
        keys if turn is None else turn, layout.tokens // max(spans, 1), start, pairs,
        *layout.keys, *layout.values, *keys.stride(), *values.stride(),
        SPANS=spans, HEADS=layout.heads, HEAD=layout.head_dim, KEY_GROUP=layout.key_group, VALUE_GROUP=layout.value_group,
        FIELDS=one.fields, HALVES=one.halves, WIDTH=8 // one.fields, THIRD=layout.bits == 3, SYMMETRIC=layout.symmetric,
        ZERO=float(1 << layout.bits - 1), ROWS=rows, COLUMNS=columns, GROUPS=groups, BYTES=size, VECTOR=tiles.vector, num_warps=tiles.warps,
    )  # fmt: skip


def shape(area: int, one: int, other: int) -> tuple[int, int]:
    """A tile of about ``area`` numbers, ``one`` along one axis and no more than ``other`` calls for along the other."""
    return one, max(2, min(area // one, triton.next_power_of_2(other)))


def table(records: Sequence[Tensor], places: Sequence[int]) -> Tensor:
    """int64 [2, records]: bytes from the first record to each, and its place. Doesn't wait for a GPU."""
    first = records[0].data_ptr()
    made = torch.tensor([[record.data_ptr() - first for record in records], list(places)])
    return made.pin_memory().to(records[0].device, non_blocking=True) if records[0].is_cuda else made


def check(layout: PackedLayout, records: Sequence[Tensor], tensors: Sequence[Tensor], start: int) -> None:
    """ValueError for what the kernels' addresses can't hold."""
    if any(record.data_ptr() % 16 or record.dtype != torch.uint8 or len(record) < layout.record_bytes for record in records):
        raise ValueError(f"a record is {layout.record_bytes} bytes, beginning at a multiple of 16")
    if layout.head_dim % 2 or start % 2:
        raise ValueError(f"channels turn in pairs: a head of {layout.head_dim} and a start of {start} must be even")
    for x in tensors:
        if sum((size - 1) * stride for size, stride in zip(x.shape[2:], x.stride()[2:], strict=True)) >= LARGEST_OFFSET:
            raise ValueError(f"a block of shape {tuple(x.shape[2:])} with strides {x.stride()[2:]} spans more than 2^31 numbers")
