"""Unpack 4-bit groups into a view and turn channel pairs on the way, each number written once (WorldPager III.E).

Layout: see `worldpager.kernels`.
"""

from __future__ import annotations

from torch import Tensor

from worldpager.kernels.dispatch import twin_for
from worldpager.kernels.int4_unpack_rotate import reference
from worldpager.kernels.int4_unpack_rotate.reference import rotate, rotation

__all__ = ["rotate", "rotation", "unpack"]


def unpack(codes: Tensor, step: Tensor, low: Tensor, out: Tensor, turn: Tensor | None = None, start: int = 0) -> None:
    """Decode ``codes`` uint8 [A, B, ceil(n / 2), I, J] with ``step``, ``low`` [A, B, I, J] into ``out`` [A, B, n, I, J] (any float type).

    With ``turn`` (see `rotation`) channel pairs (start + 2 i, start + 2 i + 1) of axis J are turned in float32 before rounding to out.
    """
    if twin_for(out.device) == "triton":
        from worldpager.kernels.int4_unpack_rotate import kernel

        kernel.unpack(codes, step, low, out, turn, start)
    else:
        reference.unpack(codes, step, low, out, turn, start)
