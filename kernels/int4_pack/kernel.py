"""Triton twin of quantise + pack: a program takes some groups of one (A, B) place, reads them once and writes codes, steps and minima."""

from __future__ import annotations

import triton
import triton.language as tl
from torch import Tensor

from worldpager.kernels.int4_pack.reference import LIMIT, TINY

COLUMNS = 32
"""Groups of a program."""


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
def _pack(  # type: ignore[no-untyped-def]
    x, codes, step, low, repaired, B, IJ, J, n, half,
    xa, xb, xn, xi, xj, ca, cb, cn, ci, cj, sa, sb, si, sj, la, lb, li, lj,
    limit, tiny, fifteenth, HALF: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    place = tl.program_id(0).to(tl.int64)
    a, b = place // B, place % B
    column = tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)
    i, j = (column // J).to(tl.int64), (column % J).to(tl.int64)
    row = tl.arange(0, HALF).to(tl.int64)
    inside = column < IJ
    in_low = (row < half)[:, None] & inside[None, :]
    in_high = (row + half < n)[:, None] & inside[None, :]

    source = x + (a * xa + b * xb + i * xi + j * xj)[None, :] + (row * xn)[:, None]
    first = tl.load(source, mask=in_low, other=0.0).to(tl.float32)
    second = tl.load(source + half * xn, mask=in_high, other=0.0).to(tl.float32)
    mended_first, mended_second = _mended(first, limit), _mended(second, limit)
    # first != first tells NaN, which is no number either before or after
    wrong = tl.sum(((mended_first != first) & in_low).to(tl.int32)) + tl.sum(((mended_second != second) & in_high).to(tl.int32))
    if wrong > 0:
        tl.atomic_add(repaired, wrong)

    least = tl.minimum(tl.min(tl.where(in_low, mended_first, limit), 0), tl.min(tl.where(in_high, mended_second, limit), 0))
    most = tl.maximum(tl.max(tl.where(in_low, mended_first, -limit), 0), tl.max(tl.where(in_high, mended_second, -limit), 0))
    floor = _floor(least)
    size = _ceil((most - floor) * fifteenth + tiny)
    inverse = tl.div_rn(tl.full([COLUMNS], 1.0, tl.float32), size)
    tl.store(low + a * la + b * lb + i * li + j * lj, floor.to(tl.bfloat16), mask=inside)
    tl.store(step + a * sa + b * sb + i * si + j * sj, size.to(tl.bfloat16), mask=inside)

    low_code = tl.where(in_low, (mended_first - floor[None, :]) * inverse[None, :] + 0.5, 0.0).to(tl.int32)
    high_code = tl.where(in_high, (mended_second - floor[None, :]) * inverse[None, :] + 0.5, 0.0).to(tl.int32)
    target = codes + (a * ca + b * cb + i * ci + j * cj)[None, :] + (row * cn)[:, None]
    tl.store(target, (low_code | (high_code << 4)).to(tl.uint8), mask=in_low)


def pack(x: Tensor, codes: Tensor, step: Tensor, low: Tensor, repaired: Tensor) -> None:
    """See the package. Sums are not fused, so that the codes are the plain twin's."""
    outer, B, n, heads, J = x.shape
    half = codes.shape[2]
    columns = heads * J
    grid = (outer * B, triton.cdiv(columns, COLUMNS))
    strides = (*x.stride(), *codes.stride(), *step.stride(), *low.stride())
    _pack[grid](
        x, codes, step, low, repaired, B, columns, J, n, half, *strides, LIMIT, TINY, 1 / 15,
        HALF=triton.next_power_of_2(half), COLUMNS=COLUMNS, enable_fp_fusion=False,
    )  # fmt: skip
