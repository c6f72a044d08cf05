"""Unpack blocks into a view and turn their keys on the way, each number written once (WorldPager III.E).

The bytes: `worldpager.kernels.record`.

One launch takes any number of blocks, keys and values together: three chunks of a world, or hundreds of 32-token blocks of a text gathered
from their slots into a packed view.
"""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor

from worldpager.kernels.dispatch import twin_for
from worldpager.kernels.record import PackedLayout
from worldpager.kernels.unpack_rotate import reference
from worldpager.kernels.unpack_rotate.reference import rotate, rotation

__all__ = ["rotate", "rotation", "unpack"]


def unpack(
    layout: PackedLayout,
    records: Sequence[Tensor],
    keys: Tensor,
    values: Tensor,
    places: Sequence[int] | None = None,
    turn: Tensor | None = None,
    start: int = 0,
) -> None:
    """Decode ``records`` (flat uint8) into ``keys``, ``values`` [layers, places, tokens, heads, head_dim], any strides and float type.

    Record j goes to place ``places[j]`` (j itself when None). With ``turn`` [records, spans, 2, pairs] (see `rotation`) channel pairs
    (start + 2 i, start + 2 i + 1) of its keys are turned in float32 before rounding; a span is an equal share of the block's tokens, in
    order: one for a whole chunk, or one a frame, or one a token.
    """
    places = range(len(records)) if places is None else places
    spans, turned = (1, len(records)) if turn is None else turn.shape[:2][::-1]
    if layout.tokens % spans or turned != len(records):
        raise ValueError(f"{len(records)} blocks of {layout.tokens} tokens don't turn by {spans} spans of {turned}")
    if len(records) != len(places) or not all(0 <= place < keys.shape[1] for place in places):
        raise ValueError(f"{len(records)} records don't fit places {list(places)} of {keys.shape[1]}")
    if twin_for(keys.device) == "triton" and records:
        from worldpager.kernels.unpack_rotate import kernel

        kernel.unpack(layout, records, keys, values, places, turn, start)
    else:
        reference.unpack(layout, records, keys, values, places, turn, start)
