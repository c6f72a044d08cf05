"""Quantise and pack (WorldPager III.A; groups as in KIVI). Layout: see `worldpager.kernels`."""

from __future__ import annotations

from torch import Tensor

from worldpager.kernels.dispatch import twin_for
from worldpager.kernels.int4_pack import reference
from worldpager.kernels.int4_pack.reference import LIMIT

__all__ = ["LIMIT", "pack"]


def pack(x: Tensor, codes: Tensor, step: Tensor, low: Tensor, repaired: Tensor) -> None:
    """Encode ``x`` [A, B, n, I, J] (any float) into ``codes`` uint8 [A, B, ceil(n / 2), I, J], ``step``, ``low`` bfloat16 [A, B, I, J].

    Every decoded number is within half a step of its source, and a step is at most (max - low) / 15 rounded up. NaN is stored as 0 and what
    lies beyond `LIMIT` (8.5e37, infinities too) as the limit; ``repaired`` int32 [1] is raised by the count of such numbers.
    """
    if twin_for(x.device) == "triton":
        from worldpager.kernels.int4_pack import kernel

        kernel.pack(x, codes, step, low, repaired)
    else:
        reference.pack(x, codes, step, low, repaired)
