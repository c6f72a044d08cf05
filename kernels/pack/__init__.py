"""Quantise and pack blocks (WorldPager III.A; groups as in KIVI). Bytes: `worldpager.kernels.record`."""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor

from worldpager.kernels.dispatch import twin_for
from worldpager.kernels.pack import reference
from worldpager.kernels.pack.reference import LIMIT
from worldpager.kernels.record import PackedLayout

__all__ = ["LIMIT", "pack"]

LARGEST = 1024
"""Longest group that the kernel takes whole; longer ones go the plain way, on a GPU too."""


def pack(layout: PackedLayout, keys: Tensor, values: Tensor, records: Sequence[Tensor]) -> None:
    """Encode ``keys``, ``values`` [layers, records, tokens, heads, head_dim] (any float, any strides) into ``records`` (flat uint8).

    Every decoded number is within half a step of its source. A step is at most (max - low) / (2^bits - 1) rounded up; symmetric,
    max |x| / (2^(bits - 1) - 1). NaN is stored as 0 and what lies beyond `LIMIT` (8.5e37, infinities too) as the limit, counted in the
    record.
    """
    if twin_for(keys.device) == "triton" and max(layout.key_group, layout.value_group) <= LARGEST:
        from worldpager.kernels.pack import kernel

        kernel.pack(layout, keys, values, records)
    else:
        reference.pack(layout, keys, values, records)
