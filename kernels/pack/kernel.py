"""Triton twin of quantise + pack: programs that each take whole groups of one layer of one block, keys first, then values.

Numbers are read as tiles [fields, halves, ...] whose first axes lie within a thread: a byte is put together without moving anything. A
few neighbouring threads share a group of values; a warp takes rows of keys, and warps meet once a group. Products aren't fused into sums,
so that the codes are the plain twin's. A second launch mends layers in which the first found numbers that aren't finite: nearly always
none.
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
    """Size of a program: ``numbers`` read at once, of keys in ``columns`` channels; warps."""

    numbers: int = 4096
    columns: int = 128
    warps: int = 4


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


@triton.jit
def _codes(x, floor, inverse):  # type: ignore[no-untyped-def]
    """Codes in the lowest bits of 2^23, which has no room for more: rounded by that."""
    return ((x - floor) * inverse + 8388608.0).to(tl.int32, bitcast=True)


@triton.jit
def _suspects(count, least, most, limit):  # type: ignore[no-untyped-def]
    """Raise ``count`` for groups that hold a number to mend: there the least or the most is beyond the limit or no number."""
    tl.atomic_add(count + tl.zeros_like(least).to(tl.int32), 1, mask=((most <= limit) & (least >= -limit)) == 0)


@triton.jit
def _save(base, offset, x, mask):  # type: ignore[no-untyped-def]
    """float32 numbers that bfloat16 holds, to byte address ``base`` on."""
    tl.store(base.to(tl.pointer_type(tl.bfloat16)) + offset, x.to(tl.bfloat16), mask=mask)


@triton.jit  # type: ignore[untyped-decorator]
def _key_range(  # type: ignore[no-untyped-def]
    source, field, half, wanted, n, e, token_stride, limit,
    FIELDS: tl.constexpr, HALVES: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr, MEND: tl.constexpr,
):  # fmt: skip
    """Least and most of a group's ``n`` tokens in each column, and how many numbers had to be mended."""
    most = tl.full([FIELDS, HALVES, ROWS, COLUMNS], float("-inf"), tl.float32)
    least = tl.full([FIELDS, HALVES, ROWS, COLUMNS], float("inf"), tl.float32)
    mended = 0
    for first in range(0, e, ROWS):
        # what lies outside repeats the group's last token: it changes neither least nor most
        row = first + tl.arange(0, ROWS)[None, None, :, None]
        token = (field * HALVES + half) * e + row
        read = tl.load(source + tl.minimum(token, n - 1) * token_stride, mask=wanted & (row >= 0), other=0.0).to(tl.float32)
        if MEND:
            fixed = _mended(read, limit)
            mended += tl.sum(((fixed != read) & (row < e) & (token < n) & wanted).to(tl.int32))
            read = fixed
        most = tl.maximum(most, read, propagate_nan=tl.PropagateNan.ALL)
        least = tl.minimum(least, read)
    most = tl.max(tl.max(tl.max(tl.where(most == most, most, float("inf")), 0), 0), 0)
    least = tl.min(tl.min(tl.min(least, 0), 0), 0)
    return least, most, mended


@triton.jit  # type: ignore[untyped-decorator]
def _keys(  # type: ignore[no-untyped-def]
    tile, codes, codes_at, third_at, step_at, low_at, x, token_stride, head_stride, channel_stride, tokens, limit, tiny, top,
    CHANNELS: tl.constexpr, HEAD: tl.constexpr, GROUP: tl.constexpr, FIELDS: tl.constexpr, HALVES: tl.constexpr,
    WIDTH: tl.constexpr, THIRD: tl.constexpr, SYMMETRIC: tl.constexpr, ZERO: tl.constexpr, UNEVEN: tl.constexpr,
    ROWS: tl.constexpr, COLUMNS: tl.constexpr, MEND: tl.constexpr,
):  # fmt: skip
    """One group of some channels, ``ROWS`` rows of bytes at a time: once for least and most, once more, from the cache, for the codes."""
    E: tl.constexpr = (GROUP + FIELDS * HALVES - 1) // (FIELDS * HALVES)
    across: tl.constexpr = (CHANNELS + COLUMNS - 1) // COLUMNS
    group = tile // across
    n = tl.minimum(tokens - group * GROUP, GROUP)
    e = (n + FIELDS * HALVES - 1) // (FIELDS * HALVES)
    field = tl.arange(0, FIELDS)[:, None, None, None]
    half = tl.arange(0, HALVES)[None, :, None, None]
    column = tile % across * COLUMNS + tl.arange(0, COLUMNS)
    inside = column < CHANNELS
    wanted = inside[None, None, None, :] & (field + half >= 0)
    source = x + (group * GROUP * token_stride + (column // HEAD * head_stride + column % HEAD * channel_stride)[None, None, None, :])
    least, most, mended = _key_range(source, field, half, wanted, n, e, token_stride, limit, FIELDS, HALVES, ROWS, COLUMNS, MEND)
    if not MEND:
        _suspects(codes.to(tl.pointer_type(tl.int32)), least, most, limit)
    floor, size, inverse = _scale(least, most, top, tiny, SYMMETRIC, ZERO)
    each = group * CHANNELS + column
    _save(codes + step_at, each, size, inside)
    if not SYMMETRIC:
        _save(codes + low_at, each, floor, inside)

    floor, inverse = floor[None, None, None, :], inverse[None, None, None, :]
    main_at = codes + (codes_at + group * (E * HALVES * CHANNELS))
    for first in range(0, e, ROWS):
        row = first + tl.arange(0, ROWS)[None, None, :, None]
        token = (field * HALVES + half) * e + row
        read = tl.load(source + tl.minimum(token, n - 1) * token_stride, mask=wanted & (row >= 0), other=0.0).to(tl.float32)
        if MEND:
            read = _mended(read, limit)
        levels = _codes(read, floor, inverse)
        if UNEVEN:
            levels = tl.where(token < n, levels, 0)
        main = tl.sum((levels & 3 if THIRD else levels) << (field * WIDTH), 0)  # in its lowest byte
        r = first + tl.arange(0, ROWS)
        at = (tl.arange(0, HALVES)[:, None, None] * e + r[None, :, None]) * CHANNELS + column[None, None, :]
        tl.store(main_at + at, main.to(tl.uint8), mask=(r < e)[None, :, None] & inside[None, None, :] & (at >= 0))
        if THIRD:
            bits = tl.sum(tl.sum((levels >> 2 & 1) << (field * HALVES + half), 0), 0)
            at = group * (E * CHANNELS) + r[:, None] * CHANNELS + column[None, :]
            tl.store(codes + third_at + at, bits.to(tl.uint8), mask=(r < e)[:, None] & inside[None, :])
    return mended


@triton.jit  # type: ignore[untyped-decorator]
def _values(  # type: ignore[no-untyped-def]
    tile, codes, codes_at, third_at, step_at, low_at, x, token_stride, head_stride, channel_stride, tokens, limit, tiny, top,
    HEADS: tl.constexpr, SPLIT: tl.constexpr, GROUP: tl.constexpr, FIELDS: tl.constexpr, HALVES: tl.constexpr,
    WIDTH: tl.constexpr, THIRD: tl.constexpr, SYMMETRIC: tl.constexpr, ZERO: tl.constexpr, GROUPS: tl.constexpr, BYTES: tl.constexpr,
    MEND: tl.constexpr,
):  # fmt: skip
    """Some groups, each within neighbouring threads."""
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
    read = tl.load(source, mask=wanted, other=0.0).to(tl.float32)
    mended = 0
    if MEND:
        fixed = _mended(read, limit)
        mended = tl.sum(((fixed != read) & wanted).to(tl.int32))
        read = fixed
    high = tl.where(read == read, read, float("inf"))
    low = read
    if PADDED:
        high, low = tl.where(valid, high, -limit), tl.where(valid, read, limit)
    most, least = tl.max(tl.max(tl.max(high, 0), 0), 1), tl.min(tl.min(tl.min(low, 0), 0), 1)
    if not MEND:
        _suspects(codes.to(tl.pointer_type(tl.int32)), least, most, limit)
    floor, size, inverse = _scale(least, most, top, tiny, SYMMETRIC, ZERO)
    _save(codes + step_at, group, size, inside)
    if not SYMMETRIC:
        _save(codes + low_at, group, floor, inside)

    levels = _codes(read, floor[None, None, :, None], inverse[None, None, :, None])
    if PADDED:
        levels = tl.where(valid, levels, 0)
    main = tl.sum((levels & 3 if THIRD else levels) << (field * WIDTH), 0)  # in its lowest byte
    within = tl.arange(0, BYTES) < E
    at = (group[None, :, None] * HALVES + tl.arange(0, HALVES)[:, None, None]) * E + tl.arange(0, BYTES)[None, None, :]
    tl.store(codes + codes_at + at, main.to(tl.uint8), mask=inside[None, :, None] & within[None, None, :] & (at >= 0))
    if THIRD:
        bits = tl.sum(tl.sum((levels >> 2 & 1) << (field * HALVES + half), 0), 0)
        at = group[:, None] * E + tl.arange(0, BYTES)[None, :]
        tl.store(codes + third_at + at, bits.to(tl.uint8), mask=inside[:, None] & within[None, :])
    return mended


@triton.jit  # type: ignore[untyped-decorator]
def _tile(  # type: ignore[no-untyped-def]
    tile, key_tiles, tokens, codes, keys, values, limit, tiny, top, kc, k3, ks, kl, vc, v3, vs, vl,
    k_token, k_head, k_channel, v_token, v_head, v_channel,
    HEADS: tl.constexpr, HEAD: tl.constexpr, KEY_GROUP: tl.constexpr, VALUE_GROUP: tl.constexpr, FIELDS: tl.constexpr, HALVES: tl.constexpr,
    WIDTH: tl.constexpr, THIRD: tl.constexpr, SYMMETRIC: tl.constexpr, ZERO: tl.constexpr, UNEVEN: tl.constexpr,
    ROWS: tl.constexpr, COLUMNS: tl.constexpr, GROUPS: tl.constexpr, BYTES: tl.constexpr, MEND: tl.constexpr,
):  # fmt: skip
    """Pack one tile. Without mending, groups that call for it are counted in the record; with it, returns the numbers that were mended."""
    if tile < key_tiles:
        mended = _keys(
            tile, codes, kc, k3, ks, kl, keys, k_token, k_head, k_channel, tokens, limit, tiny, top,
            HEADS * HEAD, HEAD, KEY_GROUP, FIELDS, HALVES, WIDTH, THIRD, SYMMETRIC, ZERO, UNEVEN, ROWS, COLUMNS, MEND,
        )  # fmt: skip
    else:
        mended = _values(
            tile - key_tiles, codes, vc, v3, vs, vl, values, v_token, v_head, v_channel, tokens, limit, tiny, top,
            HEADS, HEAD // VALUE_GROUP, VALUE_GROUP, FIELDS, HALVES, WIDTH, THIRD, SYMMETRIC, ZERO, GROUPS, BYTES, MEND,
        )  # fmt: skip
    return mended


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
        _tile(
            tl.program_id(0), key_tiles, tokens, codes, x, y, limit, tiny, top, kc, k3, ks, kl, vc, v3, vs, vl,
            k_token, k_head, k_channel, v_token, v_head, v_channel, HEADS, HEAD, KEY_GROUP, VALUE_GROUP, FIELDS, HALVES,
            WIDTH, THIRD, SYMMETRIC, ZERO, UNEVEN, ROWS, COLUMNS, GROUPS, BYTES, MEND,
        )  # fmt: skip


def pack(layout: PackedLayout, keys: Tensor, values: Tensor, records: Sequence[Tensor], tiles: Tiles = TILES) -> None:
    """See the package."""
    check(layout, records, (keys, values), 0)
    for record in records:
        layout.mended(record).zero_()
    one, largest = layout.group(layout.value_group), layout.group(min(layout.key_group, layout.tokens))
    runs = one.fields * one.halves
    columns = min(tiles.columns, max(2, triton.next_power_of_2(layout.channels)))
    rows = max(1, min(triton.next_power_of_2(largest.e), tiles.numbers // runs // columns))
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
