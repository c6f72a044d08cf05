"""Triton twin of unpack + rotate: a program decodes some channels of one (A, B) place and writes each number once, turned.

A channel's partner in its pair is decoded a second time (its codes are in the cache by then), so no program needs another's numbers.
"""

from __future__ import annotations

import triton
import triton.language as tl
from torch import Tensor

COLUMNS = 64
"""Channels of a program."""


@triton.jit
def _numbers(codes, step, low, at, step_at, low_at, half_mask, inside):  # type: ignore[no-untyped-def]
    """Both halves of some groups, decoded."""
    code = tl.load(codes + at, mask=half_mask, other=0).to(tl.int32)
    size = tl.load(step + step_at, mask=inside, other=0.0).to(tl.float32)[None, :]
    floor = tl.load(low + low_at, mask=inside, other=0.0).to(tl.float32)[None, :]
    return floor + (code & 15).to(tl.float32) * size, floor + (code >> 4).to(tl.float32) * size


@triton.jit  # type: ignore[untyped-decorator]
def _unpack(  # type: ignore[no-untyped-def]
    codes, step, low, out, turn, B, IJ, J, n, half, start, pairs,
    ca, cb, cn, ci, cj, sa, sb, si, sj, la, lb, li, lj, oa, ob, on, oi, oj,
    TURNED: tl.constexpr, HALF: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    place = tl.program_id(0).to(tl.int64)
    a, b = place // B, place % B
    column = tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)
    i, j = (column // J).to(tl.int64), (column % J).to(tl.int64)
    row = tl.arange(0, HALF).to(tl.int64)
    inside = column < IJ
    in_low = (row < half)[:, None] & inside[None, :]
    in_high = (row + half < n)[:, None] & inside[None, :]
    code_base, step_base, low_base = a * ca + b * cb + i * ci, a * sa + b * sb + i * si, a * la + b * lb + i * li

    at = (code_base + j * cj)[None, :] + (row * cn)[:, None]
    first, second = _numbers(codes, step, low, at, step_base + j * sj, low_base + j * lj, in_low, inside)
    if TURNED:
        pair = (j - start) // 2
        turns = inside & (j >= start) & (pair < pairs)
        other = tl.where((j - start) % 2 == 0, j + 1, j - 1)
        other = tl.where(turns, other, j)
        at = (code_base + other * cj)[None, :] + (row * cn)[:, None]
        mate, second_mate = _numbers(codes, step, low, at, step_base + other * sj, low_base + other * lj, in_low, inside)
        cos = tl.load(turn + 2 * pair, mask=turns, other=1.0)[None, :]
        sin = tl.load(turn + 2 * pair + 1, mask=turns, other=0.0)
        sin = tl.where((j - start) % 2 == 0, -sin, sin)[None, :]
        first, second = first * cos + mate * sin, second * cos + second_mate * sin

    target = out + (a * oa + b * ob + i * oi + j * oj)[None, :] + (row * on)[:, None]
    tl.store(target, first.to(out.dtype.element_ty), mask=in_low)
    tl.store(target + half * on, second.to(out.dtype.element_ty), mask=in_high)


def unpack(codes: Tensor, step: Tensor, low: Tensor, out: Tensor, turn: Tensor | None, start: int) -> None:
    """See the package."""
    outer, B, n, heads, J = out.shape
    half = codes.shape[2]
    columns = heads * J
    grid = (outer * B, triton.cdiv(columns, COLUMNS))
    strides = (*codes.stride(), *step.stride(), *low.stride(), *out.stride())
    _unpack[grid](
        codes, step, low, out, step if turn is None else turn, B, columns, J, n, half, start, 0 if turn is None else len(turn), *strides,
        TURNED=turn is not None, HALF=triton.next_power_of_2(half), COLUMNS=COLUMNS, enable_fp_fusion=False,
    )  # fmt: skip
