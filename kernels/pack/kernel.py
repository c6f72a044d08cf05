"""Triton twin of quantise + pack: one launch, whose programs each take whole groups of one layer of one block, keys first, then values.

A group is read once, as a tile [fields, halves, ...] whose first axes lie within a thread: a byte is put together without moving anything.
Sums are not fused, so that the codes are the plain twin's.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import triton
import triton.language as tl
from torch import Tensor

from worldpager.kernels.pack.reference import LIMIT, TINY
from worldpager.kernels.record import PackedLayout
from worldpager.kernels.unpack_rotate.kernel import check, shape, table


class Tiles(NamedTuple):
    """Size of a program: ``numbers`` to be packed; warps."""

    numbers: int = 2048
    warps: int = 1


TILES = Tiles()


@triton.jit
def _floor(x):  # type: ignore[no-untyped-def]
    """Largest bfloat16 not above x, as float32."""
    bits = x.to(tl.int32, bitcast=True)
    return (tl.where(bits < 0, bits + 65535, bits) & -65536).to(tl.float32, bitcast=True)


@triton.jit
def _ceil(x):  # type: ignore[no-untyped-def]
    """Smallest bfloat16 not below x > 0, as float32."""
    return ((x.to(tl.int32, bitcast=True) + 65535) & -65536).to(tl.float32, bitcast=True)


@triton.jit
def _mended(x, limit):  # type: ignore[no-untyped-def]
    """NaN as 0, all else within the limit."""
    x = tl.where(x == x, x, 0.0)
    return tl.where(x > limit, limit, tl.where(x < -limit, -limit, x))


@triton.jit  # type: ignore[untyped-decorator]
def _scale(least, most, top, tiny, SYMMETRIC: tl.constexpr, ZERO: tl.constexpr):  # type: ignore[no-untyped-def]
    """Low and step of groups, and what a number is multiplied by to be a code."""
    if SYMMETRIC:
        size = _ceil(tl.maximum(most, -least) * top + tiny)
        floor = size * -ZERO
    else:
        floor = _floor(least)
        size = _ceil((most - floor) * top + tiny)
    return floor, size, tl.div_rn(tl.full(size.shape, 1.0, tl.float32), size)


@triton.jit  # type: ignore[untyped-decorator]
def _quantised(  # type: ignore[no-untyped-def]
    x, valid, limit, tiny, top, KEYS: tl.constexpr, PADDED: tl.constexpr, SYMMETRIC: tl.constexpr, ZERO: tl.constexpr
):
    """Codes of ``x`` [fields, halves, ...] in the lowest bits of 2^23, low and step of its groups, and whether a number needs mending.

    Numbers that need it show afterwards, in what became of them: nothing else puts another bit into the codes.
    """
    low_x, high_x = x, x
    if PADDED:
        low_x, high_x = tl.where(valid, x, limit), tl.where(valid, x, -limit)
    if KEYS:
        least, most = tl.min(tl.min(tl.min(low_x, 0), 0), 0), tl.max(tl.max(tl.max(high_x, 0), 0), 0)
        floor, size, inverse = _scale(least, most, top, tiny, SYMMETRIC, ZERO)
        codes = (x - floor[None, None, None, :]) * inverse[None, None, None, :] + 8388608.0
    else:
        least, most = tl.min(tl.min(tl.min(low_x, 0), 0), 1), tl.max(tl.max(tl.max(high_x, 0), 0), 1)
        floor, size, inverse = _scale(least, most, top, tiny, SYMMETRIC, ZERO)
        codes = (x - floor[None, None, :, None]) * inverse[None, None, :, None] + 8388608.0
    if PADDED:
        codes = tl.where(valid, codes, 8388608.0)
    bits = codes.to(tl.uint32, bitcast=True)
    wrong = (tl.max(bits) > 0x4B0000FF) | (tl.max(most) > limit) | (tl.min(least) < -limit)
    return bits.to(tl.int32, bitcast=True), floor, size, wrong


@triton.jit
def _save(base, offset, x, mask):  # type: ignore[no-untyped-def]
    """float32 numbers that bfloat16 holds, to byte address ``base`` on."""
    tl.store(base.to(tl.pointer_type(tl.bfloat16)) + offset, x.to(tl.bfloat16), mask=mask)


@triton.jit  # type: ignore[untyped-decorator]
def _keys(  # type: ignore[no-untyped-def]
    tile, codes, codes_at, third_at, step_at, low_at, x, token_stride, head_stride, channel_stride, tokens, limit, tiny, top,
    CHANNELS: tl.constexpr, HEAD: tl.constexpr, GROUP: tl.constexpr, FIELDS: tl.constexpr, HALVES: tl.constexpr,
    WIDTH: tl.constexpr, THIRD: tl.constexpr, SYMMETRIC: tl.constexpr, ZERO: tl.constexpr, UNEVEN: tl.constexpr,
    ROWS: tl.constexpr, COLUMNS: tl.constexpr, MEND: tl.constexpr,
):  # fmt: skip
    FULL: tl.constexpr = (GROUP + FIELDS * HALVES - 1) // (FIELDS * HALVES)
    across: tl.constexpr = (CHANNELS + COLUMNS - 1) // COLUMNS
    group = tile // across
    n = tl.minimum(tokens - group * GROUP, GROUP)
    e = (n + FIELDS * HALVES - 1) // (FIELDS * HALVES)
    field = tl.arange(0, FIELDS)[:, None, None, None]
    half = tl.arange(0, HALVES)[None, :, None, None]
    row = tl.arange(0, ROWS)[None, None, :, None]
    column = tile % across * COLUMNS + tl.arange(0, COLUMNS)
    inside = column < CHANNELS
    token = (field * HALVES + half) * e + row
    valid = (row < e) & (token < n)
    # what lies outside repeats the group's last token: it changes neither least nor most
    kept = group * GROUP + tl.minimum(token, n - 1)
    source = x + (kept * token_stride + (column // HEAD * head_stride + column % HEAD * channel_stride)[None, None, None, :])
    wanted = inside[None, None, None, :]
    x = tl.load(source, mask=wanted & (token >= 0), other=0.0).to(tl.float32)
    if MEND:
        fixed = _mended(x, limit)
        wrong = tl.sum(((fixed != x) & valid & wanted).to(tl.int32))
        x = fixed
    levels, floor, size, suspect = _quantised(x, valid, limit, tiny, top, True, False, SYMMETRIC, ZERO)
    if not MEND:
        wrong = suspect.to(tl.int32)
    if UNEVEN:
        levels = tl.where(valid, levels, 0)
    each = group * CHANNELS + column
    _save(codes + step_at, each, size, inside)
    if not SYMMETRIC:
        _save(codes + low_at, each, floor, inside)

    main = tl.sum((levels & 3 if THIRD else levels) << (field * WIDTH), 0)  # in its lowest byte
    at = (tl.arange(0, HALVES)[:, None, None] * e + tl.arange(0, ROWS)[None, :, None]) * CHANNELS + column[None, None, :]
    saved = (tl.arange(0, ROWS) < e)[None, :, None] & inside[None, None, :]
    start = codes + codes_at + group * (FULL * HALVES * CHANNELS)
    tl.store(start + at, main.to(tl.uint8), mask=saved & (at >= 0))
    if THIRD:
        bits = tl.sum(tl.sum((levels >> 2 & 1) << (field * HALVES + half), 0), 0)
        at = tl.arange(0, ROWS)[:, None] * CHANNELS + column[None, :]
        saved = (tl.arange(0, ROWS) < e)[:, None] & inside[None, :]
        tl.store(codes + third_at + group * (FULL * CHANNELS) + at, bits.to(tl.uint8), mask=saved)
    return wrong


@triton.jit  # type: ignore[untyped-decorator]
def _values(  # type: ignore[no-untyped-def]
    tile, codes, codes_at, third_at, step_at, low_at, x, token_stride, head_stride, channel_stride, tokens, limit, tiny, top,
    HEADS: tl.constexpr, SPLIT: tl.constexpr, GROUP: tl.constexpr, FIELDS: tl.constexpr, HALVES: tl.constexpr,
    WIDTH: tl.constexpr, THIRD: tl.constexpr, SYMMETRIC: tl.constexpr, ZERO: tl.constexpr, GROUPS: tl.constexpr, BYTES: tl.constexpr,
    MEND: tl.constexpr,
):  # fmt: skip
    E: tl.constexpr = (GROUP + FIELDS * HALVES - 1) // (FIELDS * HALVES)
    PADDED: tl.constexpr = BYTES * FIELDS * HALVES != GROUP
    group = tile * GROUPS + tl.arange(0, GROUPS)
    inside = group < tokens * (HEADS * SPLIT)
    field = tl.arange(0, FIELDS)[:, None, None, None]
    half = tl.arange(0, HALVES)[None, :, None, None]
    byte = tl.arange(0, BYTES)[None, None, None, :]
    channel = (field * HALVES + half) * E + byte
    valid = (byte < E) & (channel < GROUP)
    to_group = group // (HEADS * SPLIT) * token_stride + group // SPLIT % HEADS * head_stride + group % SPLIT * (GROUP * channel_stride)
    source = x + (to_group[None, None, :, None] + channel * channel_stride)
    wanted = inside[None, None, :, None] & valid
    x = tl.load(source, mask=wanted, other=0.0).to(tl.float32)
    if MEND:
        fixed = _mended(x, limit)
        wrong = tl.sum(((fixed != x) & wanted).to(tl.int32))
        x = fixed
    levels, floor, size, suspect = _quantised(x, valid, limit, tiny, top, False, PADDED, SYMMETRIC, ZERO)
    if not MEND:
        wrong = suspect.to(tl.int32)
    if PADDED:
        levels = tl.where(valid, levels, 0)
    _save(codes + step_at, group, size, inside)
    if not SYMMETRIC:
        _save(codes + low_at, group, floor, inside)

    main = tl.sum((levels & 3 if THIRD else levels) << (field * WIDTH), 0)  # in its lowest byte
    within = tl.arange(0, BYTES) < E
    at = (group[None, :, None] * HALVES + tl.arange(0, HALVES)[:, None, None]) * E + tl.arange(0, BYTES)[None, None, :]
    tl.store(codes + codes_at + at, main.to(tl.uint8), mask=inside[None, :, None] & within[None, None, :] & (at >= 0))
    if THIRD:
        bits = tl.sum(tl.sum((levels >> 2 & 1) << (field * HALVES + half), 0), 0)
        at = group[:, None] * E + tl.arange(0, BYTES)[None, :]
        tl.store(codes + third_at + at, bits.to(tl.uint8), mask=inside[:, None] & within[None, :])
    return wrong


@triton.jit  # type: ignore[untyped-decorator]
def _tile(  # type: ignore[no-untyped-def]
    tile, key_tiles, tokens, codes, keys, values, limit, tiny, top, kc, k3, ks, kl, vc, v3, vs, vl,
    k_token, k_head, k_channel, v_token, v_head, v_channel,
    HEADS: tl.constexpr, HEAD: tl.constexpr, KEY_GROUP: tl.constexpr, VALUE_GROUP: tl.constexpr, FIELDS: tl.constexpr, HALVES: tl.constexpr,
    WIDTH: tl.constexpr, THIRD: tl.constexpr, SYMMETRIC: tl.constexpr, ZERO: tl.constexpr, UNEVEN: tl.constexpr,
    ROWS: tl.constexpr, COLUMNS: tl.constexpr, GROUPS: tl.constexpr, BYTES: tl.constexpr, MEND: tl.constexpr,
):  # fmt: skip
    """Pack one tile; the numbers that were mended or, without mending, whether some must be."""
    if tile < key_tiles:
        wrong = _keys(
            tile, codes, kc, k3, ks, kl, keys, k_token, k_head, k_channel, tokens, limit, tiny, top,
            HEADS * HEAD, HEAD, KEY_GROUP, FIELDS, HALVES, WIDTH, THIRD, SYMMETRIC, ZERO, UNEVEN, ROWS, COLUMNS, MEND,
        )  # fmt: skip
    else:
        wrong = _values(
            tile - key_tiles, codes, vc, v3, vs, vl, values, v_token, v_head, v_channel, tokens, limit, tiny, top,
            HEADS, HEAD // VALUE_GROUP, VALUE_GROUP, FIELDS, HALVES, WIDTH, THIRD, SYMMETRIC, ZERO, GROUPS, BYTES, MEND,
        )  # fmt: skip
    return wrong


@triton.jit  # type: ignore[untyped-decorator]
def _pack(  # type: ignore[no-untyped-def]
    first, table, blocks, layer_bytes, tiles, key_tiles, tokens, keys, values, limit, tiny, top,
    kc, k3, ks, kl, vc, v3, vs, vl, k_layer, k_place, k_token, k_head, k_channel, v_layer, v_place, v_token, v_head, v_channel,
    HEADS: tl.constexpr, HEAD: tl.constexpr, KEY_GROUP: tl.constexpr, VALUE_GROUP: tl.constexpr, FIELDS: tl.constexpr, HALVES: tl.constexpr,
    WIDTH: tl.constexpr, THIRD: tl.constexpr, SYMMETRIC: tl.constexpr, ZERO: tl.constexpr,
    UNEVEN: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr, GROUPS: tl.constexpr, BYTES: tl.constexpr, MEND: tl.constexpr,
):  # fmt: skip
    layer, block = tl.program_id(1).to(tl.int64), tl.program_id(2)
    where = tl.multiple_of(tl.load(table + block), 16)
    place = tl.load(table + blocks + block)
    codes = first + (where + layer * layer_bytes)
    count = codes.to(tl.pointer_type(tl.int32))
    x, y = keys + (layer * k_layer + place * k_place), values + (layer * v_layer + place * v_place)
    if MEND:
        if tl.load(count) > 0:
            total = 0
            for tile in range(tiles):
                total += _tile(
                    tile, key_tiles, tokens, codes, x, y, limit, tiny, top, kc, k3, ks, kl, vc, v3, vs, vl,
                    k_token, k_head, k_channel, v_token, v_head, v_channel, HEADS, HEAD, KEY_GROUP, VALUE_GROUP, FIELDS, HALVES,
                    WIDTH, THIRD, SYMMETRIC, ZERO, UNEVEN, ROWS, COLUMNS, GROUPS, BYTES, MEND,
                )  # fmt: skip
            tl.store(count, total)
    else:
        wrong = _tile(
            tl.program_id(0), key_tiles, tokens, codes, x, y, limit, tiny, top, kc, k3, ks, kl, vc, v3, vs, vl,
            k_token, k_head, k_channel, v_token, v_head, v_channel, HEADS, HEAD, KEY_GROUP, VALUE_GROUP, FIELDS, HALVES,
            WIDTH, THIRD, SYMMETRIC, ZERO, UNEVEN, ROWS, COLUMNS, GROUPS, BYTES, MEND,
        )  # fmt: skip
        if wrong > 0:
            tl.atomic_add(count, 1)


def pack(layout: PackedLayout, keys: Tensor, values: Tensor, records: Sequence[Tensor], tiles: Tiles = TILES) -> None:
    """See the package."""
    check(layout, records, (keys, values), 0)
    for record in records:
        layout.mended(record).zero_()
    one, largest = layout.group(layout.value_group), layout.group(min(layout.key_group, layout.tokens))
    runs = one.fields * one.halves
    rows, columns = shape(tiles.numbers // runs, triton.next_power_of_2(largest.e), layout.channels)
    size, groups = shape(tiles.numbers // runs, triton.next_power_of_2(one.e), layout.tokens * layout.heads * layout.value_groups)
    key_tiles = triton.cdiv(layout.tokens, layout.key_group) * triton.cdiv(layout.channels, columns)
    value_tiles = triton.cdiv(layout.tokens * layout.heads * layout.value_groups, groups)
    zero = float(1 << layout.bits - 1)
    tiles_in_all = key_tiles + value_tiles
    where = table(records, range(len(records)))
    for mend in (False, True):  # mending looks at the counts first, and nearly always finds nothing to do
        _pack[1 if mend else tiles_in_all, layout.layers, len(records)](
            records[0], where, len(records), layout.layer_bytes, tiles_in_all, key_tiles, layout.tokens, keys, values,
            LIMIT, TINY, 1 / (zero - 1 if layout.symmetric else 2 * zero - 1),
            *layout.keys, *layout.values, *keys.stride(), *values.stride(),
            HEADS=layout.heads, HEAD=layout.head_dim, KEY_GROUP=layout.key_group, VALUE_GROUP=layout.value_group,
            FIELDS=one.fields, HALVES=one.halves, WIDTH=8 // one.fields, THIRD=layout.bits == 3, SYMMETRIC=layout.symmetric, ZERO=zero,
            UNEVEN=any(run.size % runs for run in layout.runs), ROWS=rows, COLUMNS=columns, GROUPS=groups, BYTES=size, MEND=mend,
            num_warps=tiles.warps, enable_fp_fusion=False,
        )  # fmt: skip
