"""Plain twin of unpack + rotate, and the rotation by itself for keys that aren't packed.

Into a float64 view with a float64 table it reckons in float64: the judge of the other twin.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from worldpager.kernels.record import PackedLayout, Pieces, grouped_keys, grouped_values


def rotation(frequencies: Sequence[float], positions: Tensor, device: torch.device, dtype: torch.dtype = torch.float32) -> Tensor | None:
    """Cosines and sines [blocks, spans, 2, pairs] of ``positions`` [blocks, spans] times ``frequencies`` radians; None when nothing turns.

    Reckoned in float64 whatever ``dtype`` is. Doesn't wait for a GPU.
    """
    if not frequencies or not positions.any():
        return None
    angle = positions.double()[..., None] * torch.tensor(frequencies, dtype=torch.float64)
    table = torch.stack([angle.cos(), angle.sin()], -2).to(dtype)
    return table.pin_memory().to(device, non_blocking=True) if device.type == "cuda" else table.to(device)


def rotate(keys: Tensor, turn: Tensor, start: int) -> None:
    """Turn channel pairs (start + 2 i, start + 2 i + 1) of ``keys`` [tokens, heads, head_dim] in place by ``turn`` [spans, 2, pairs].

    Each span is an equal share of the tokens, in order.
    """
    spans, _, pairs = turn.shape
    runs = keys[..., start : start + 2 * pairs].unflatten(-1, (pairs, 2)).unflatten(0, (spans, -1))
    a, b = runs.unbind(-1)
    cos, sin = turn[:, None, None].unbind(-2)
    turned = a * cos - b * sin
    b.copy_(a * sin + b * cos)
    a.copy_(turned)


def unpack(
    layout: PackedLayout, records: Sequence[Tensor], keys: Tensor, values: Tensor, places: Sequence[int], turn: Tensor | None, start: int
) -> None:
    """See the package. Layer by layer, so that what it makes on the way stays in the cache."""
    for number, (record, place) in enumerate(zip(records, places, strict=True)):
        _unpack_keys(layout, record, keys[:, place], None if turn is None else turn[number], start)
        pieces, view = layout.value_pieces(record), grouped_values(values[:, place], layout.value_group)
        for layer in range(layout.layers):
            numbers = _numbers_for(view[layer])
            _unpack_groups(layout, pieces, layer, numbers)
            if numbers is not view[layer] and numbers.data_ptr() != view[layer].data_ptr():
                view[layer].copy_(numbers)


def _unpack_keys(layout: PackedLayout, record: Tensor, view: Tensor, turn: Tensor | None, start: int) -> None:
    runs = [(run, layout.key_pieces(record, run)) for run in layout.runs]
    for layer in range(layout.layers):
        target = view[layer]
        numbers = _numbers_for(target)
        for run, pieces in runs:
            _unpack_groups(layout, pieces, layer, grouped_keys(numbers[None], run)[0])
        if turn is not None:
            rotate(numbers, turn, start)
        if numbers is not target:
            target.copy_(numbers)


def _numbers_for(target: Tensor) -> Tensor:
    """Where to reckon: in place for types as fine as float32."""
    return target if target.dtype in (torch.float32, torch.float64) else torch.empty_like(target, dtype=torch.float32)


def _unpack_groups(layout: PackedLayout, pieces: Pieces, layer: int, numbers: Tensor) -> None:
    """Decode one layer's groups of a run into ``numbers`` [outer, n, I, J]."""
    codes, step = pieces.codes[layer], pieces.step[layer].to(numbers.dtype)
    third = None if pieces.third is None else pieces.third[layer]
    n, rows, fields = numbers.shape[1], codes.shape[1], layout.group(1).fields
    width = 8 // fields
    for field in range(fields):
        run = numbers[:, field * rows : (field + 1) * rows]
        code = codes[:, : run.shape[1]]
        if field:
            code = code >> field * width
        run.copy_(code & (1 << width) - 1 if field < fields - 1 else code)
    if third is not None:
        e = third.shape[1]
        for bit in range(min(8, -(-n // e))):
            run = numbers[:, bit * e : (bit + 1) * e]
            run += ((third[:, : run.shape[1]] >> bit) & 1) * 4
    low = step * -float(1 << layout.bits - 1) if pieces.low is None else pieces.low[layer].to(numbers.dtype)
    numbers.mul_(step[:, None]).add_(low[:, None])
