"""Plain twin of unpack + rotate, and the rotation by itself for keys that aren't packed.

Into a float64 view with a float64 table it reckons in float64: the judge of the other twin.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from worldpager.kernels.record import PackedLayout, Pieces, grouped_keys, grouped_values

EXACT = (torch.float32, torch.float64)
"""Types that numbers are reckoned in."""


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
    a, b = keys[..., start : start + 2 * pairs].unflatten(-1, (pairs, 2)).unbind(-1)
    if spans == 1:
        cos, sin = turn[0]
    else:
        a, b = a.unflatten(0, (spans, -1)), b.unflatten(0, (spans, -1))
        cos, sin = turn[:, None, None].unbind(-2)
    turned = a * cos - b * sin
    b.copy_(a * sin + b * cos)
    a.copy_(turned)


def unpack(
    layout: PackedLayout, records: Sequence[Tensor], keys: Tensor, values: Tensor, places: Sequence[int], turn: Tensor | None, start: int
) -> None:
    """See the package. Layer by layer, so that what it makes on the way stays in the cache."""
    exact = keys.dtype if keys.dtype in EXACT else torch.float32
    for number, (record, place) in enumerate(zip(records, places, strict=True)):
        _unpack_keys(layout, record, keys[:, place], exact, None if turn is None else turn[number], start)
        groups = _Groups.of(layout, layout.value_pieces(record), exact)
        for layer, target in enumerate(grouped_values(values[:, place], layout.value_group)):
            groups.decode(layer, target)


def _unpack_keys(layout: PackedLayout, record: Tensor, view: Tensor, exact: torch.dtype, turn: Tensor | None, start: int) -> None:
    """Keys of a block into ``view`` [layers, tokens, heads, head_dim], by way of a layer to reckon in where ``view`` is too coarse."""
    runs = [_Groups.of(layout, layout.key_pieces(record, run), exact) for run in layout.runs]
    between = None if view.dtype == exact else torch.empty(view.shape[1:], dtype=exact, device=view.device)
    wholes = view if between is None else between.expand(layout.layers, *between.shape)
    parts = [grouped_keys(wholes, run).unbind() for run in layout.runs]
    for layer, whole in enumerate(wholes):
        for groups, part in zip(runs, parts, strict=True):
            groups.decode(layer, part[layer])
        if turn is not None:
            rotate(whole, turn, start)
        if between is not None:
            view[layer].copy_(whole)


class _Groups(NamedTuple):
    """One run of groups of a record, layer by layer: see `Pieces`. Steps and minima as numbers to reckon with, one for every group."""

    codes: tuple[Tensor, ...]
    third: tuple[Tensor, ...]
    step: tuple[Tensor, ...]
    low: tuple[Tensor, ...]
    fields: int

    @classmethod
    def of(cls, layout: PackedLayout, pieces: Pieces, exact: torch.dtype) -> _Groups:
        step = pieces.step.to(exact)[:, :, None]
        low = step * -float(1 << layout.bits - 1) if pieces.low is None else pieces.low.to(exact)[:, :, None]
        third = () if pieces.third is None else pieces.third.unbind()
        return cls(pieces.codes.unbind(), third, step.unbind(), low.unbind(), layout.group(1).fields)

    def decode(self, layer: int, target: Tensor) -> None:
        """Write the numbers of ``layer`` into ``target`` [outer, n, I, J]."""
        codes, exact = self.codes[layer], self.step[layer].dtype
        numbers = torch.empty_like(target, dtype=exact)
        n, rows, width = target.shape[1], codes.shape[1], 8 // self.fields
        for field in range(min(self.fields, -(-n // rows))):
            run = numbers[:, field * rows : (field + 1) * rows]
            code = codes[:, : run.shape[1]]
            if field:
                code = code >> field * width
            run.copy_(code & (1 << width) - 1 if field < self.fields - 1 else code)
        if self.third:
            _add_third_bits(numbers, self.third[layer])
        numbers.mul_(self.step[layer])
        if target.dtype == exact:
            torch.add(numbers, self.low[layer], out=target)
        else:
            target.copy_(numbers.add_(self.low[layer]))


def _add_third_bits(numbers: Tensor, third: Tensor) -> None:
    n, e = numbers.shape[1], third.shape[1]
    for bit in range(-(-n // e)):
        run = numbers[:, bit * e : (bit + 1) * e]
        run.add_((third[:, : run.shape[1]] >> bit) & 1, alpha=4)
