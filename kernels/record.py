"""The bytes of a packed block: what both the kernels and their plain twins read and write.

A record holds one layer after another, so that layers can move by themselves. A layer's sections, each at a multiple of 64 bytes: the count
of numbers that were mended; then for keys and for values the codes, a plane of third bits (3-bit codes only), the steps and the minima.

Keys are grouped along the tokens of one channel (the last group may be short), values along the channels of one token and head. A number of
a group is ``low + code * step``, step and low in bfloat16. Symmetric groups keep no low: it is -2^(bits - 1) steps.

A group of n codes is split into ``fields * halves`` runs of ``e = ceil(n / (fields * halves))`` codes; code number (f * halves + h) * e + i
lies in byte h * e + i at bit f * 8 / fields, so every field unpacks to a contiguous run. 4 bits: 2 fields; 2 bits: 4; 8 bits: 1. A 3-bit
code has its two lower bits there (4 fields, 2 halves) and its third in byte i of a plane of its own, at bit f * halves + h.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import torch
from torch import Tensor

ALIGN = 64
"""Sections begin at multiples of a cache line."""
PAGE = 4096
"""Records are whole pages, so that direct I/O can move them. So are layers, where that adds less than a hundredth."""
WIDTHS = (2, 3, 4, 8)
"""Bits of a code."""


class Group(NamedTuple):
    """How the codes of one group are packed."""

    fields: int
    halves: int
    e: int

    @property
    def rows(self) -> int:
        """Bytes of the main plane."""
        return self.halves * self.e


class Part(NamedTuple):
    """Where the pieces of keys or values begin in a layer, in bytes. ``third`` and ``low`` are unused in layouts without them."""

    codes: int
    third: int
    step: int
    low: int


class Pieces(NamedTuple):
    """One run of equally long groups of a record, all layers: codes and third bits uint8, steps and minima bfloat16."""

    codes: Tensor
    third: Tensor | None
    step: Tensor
    low: Tensor | None


class Run(NamedTuple):
    """``groups`` groups of ``size`` tokens from token ``first``; ``number`` of the first group."""

    number: int
    first: int
    groups: int
    size: int


@dataclass(frozen=True)
class PackedLayout:
    """Layout of blocks of [layers, tokens, heads, head_dim] keys and values. ``value_group`` divides ``head_dim``."""

    layers: int
    tokens: int
    heads: int
    head_dim: int
    bits: int
    key_group: int
    value_group: int
    symmetric: bool = False

    def group(self, n: int) -> Group:
        """The packing of a group of ``n`` numbers."""
        fields, halves = (4, 2) if self.bits == 3 else (8 // self.bits, 1)
        return Group(fields, halves, -(-n // (fields * halves)))

    @property
    def channels(self) -> int:
        """Channels of a token."""
        return self.heads * self.head_dim

    @property
    def value_groups(self) -> int:
        """Groups of a head of one token's values."""
        return self.head_dim // self.value_group

    @cached_property
    def runs(self) -> tuple[Run, ...]:
        """Key groups: the whole ones, then the short rest."""
        whole, rest = divmod(self.tokens, self.key_group)
        runs = (Run(0, 0, whole, self.key_group), Run(whole, whole * self.key_group, 1, rest))
        return tuple(run for run in runs if run.groups * run.size)

    @cached_property
    def _parts(self) -> tuple[Part, Part, int]:
        """Keys, values, and the end of a layer."""
        groups = [self.group(run.size) for run in self.runs for _ in range(run.groups)]
        rows, thirds, steps = sum(g.rows for g in groups), sum(g.e for g in groups), len(groups)
        keys, end = self._part(ALIGN, rows * self.channels, thirds * self.channels, steps * self.channels)
        one, all_groups = self.group(self.value_group), self.tokens * self.heads * self.value_groups
        values, end = self._part(end, all_groups * one.rows, all_groups * one.e, all_groups)
        return keys, values, end

    def _part(self, start: int, codes: int, third: int, steps: int) -> tuple[Part, int]:
        sizes = (codes, third if self.bits == 3 else 0, 2 * steps, 0 if self.symmetric else 2 * steps)
        places = []
        for size in sizes:
            places.append(start)
            start = _up(start + size, ALIGN)
        return Part(*places), start

    @property
    def keys(self) -> Part:
        """Where a layer's keys lie."""
        return self._parts[0]

    @property
    def values(self) -> Part:
        """Where a layer's values lie."""
        return self._parts[1]

    @cached_property
    def layer_bytes(self) -> int:
        """From one layer to the next."""
        end = self._parts[2]
        return _up(end, PAGE) if _up(end, PAGE) < end * 1.01 else end

    @property
    def record_bytes(self) -> int:
        """Bytes of a record, whole pages."""
        return _up(self.layers * self.layer_bytes, PAGE)

    def mended(self, record: Tensor) -> Tensor:
        """int32 [layers]: numbers that weren't finite."""
        return self._section(record, 0, (1,), torch.int32)[:, 0]

    def key_pieces(self, record: Tensor, run: Run) -> Pieces:
        """Codes [layers, groups, rows, heads, head_dim]; steps, minima [layers, groups, heads, head_dim]."""
        whole, mine, tail = self.group(self.key_group), self.group(run.size), (self.heads, self.head_dim)
        ahead = run.number * self.channels
        return self._pieces(
            record, self.keys, ahead * whole.rows, ahead * whole.e, ahead,
            (run.groups, mine.rows, *tail), (run.groups, mine.e, *tail), (run.groups, *tail),
        )  # fmt: skip

    def value_pieces(self, record: Tensor) -> Pieces:
        """Codes [layers, tokens, rows, heads, groups]; steps, minima [layers, tokens, heads, groups]."""
        one, each = self.group(self.value_group), (self.tokens, self.heads, self.value_groups)
        codes, third, step, low = self._pieces(record, self.values, 0, 0, 0, (*each, one.rows), (*each, one.e), each)
        return Pieces(codes.permute(0, 1, 4, 2, 3), None if third is None else third.permute(0, 1, 4, 2, 3), step, low)

    def _pieces(
        self, record: Tensor, part: Part, rows: int, thirds: int, steps: int,
        codes: tuple[int, ...], third: tuple[int, ...], each: tuple[int, ...],
    ) -> Pieces:  # fmt: skip
        return Pieces(
            self._section(record, part.codes + rows, codes, torch.uint8),
            self._section(record, part.third + thirds, third, torch.uint8) if self.bits == 3 else None,
            self._section(record, part.step + 2 * steps, each, torch.bfloat16),
            None if self.symmetric else self._section(record, part.low + 2 * steps, each, torch.bfloat16),
        )

    def _section(self, record: Tensor, start: int, shape: tuple[int, ...], dtype: torch.dtype) -> Tensor:
        layers = record[: self.layers * self.layer_bytes].view(self.layers, self.layer_bytes)
        return layers[:, start : start + math.prod(shape) * dtype.itemsize].view(dtype).view(self.layers, *shape)


def grouped_keys(x: Tensor, run: Run) -> Tensor:
    """The tokens of ``run`` of ``x`` [layers, tokens, heads, head_dim] as [layers, groups, size, heads, head_dim]."""
    grouped: Tensor = x[:, run.first : run.first + run.groups * run.size].unflatten(1, (run.groups, run.size))
    return grouped


def grouped_values(x: Tensor, size: int) -> Tensor:
    """[layers, tokens, heads, head_dim] as [layers, tokens, size, heads, groups of a head]."""
    grouped: Tensor = x.unflatten(-1, (-1, size)).permute(0, 1, 4, 2, 3)
    return grouped


def _up(count: int, unit: int) -> int:
    return -(-count // unit) * unit
