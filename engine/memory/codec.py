"""How a block becomes bytes and comes back: one flat record of fixed size per block.

int4: keys per channel in groups of tokens (the last may be short), values per token in groups of channels, asymmetric, step and minimum of
a group in bfloat16, which has float32's range: no group is too large to code. bf16: the numbers as they are. Stored keys carry no position;
decoding turns them once to their place. Numbers that aren't finite are mended and counted in the record (`worldpager.kernels.int4_pack`).
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Protocol

import torch
import xxhash
from torch import Tensor

from worldpager.engine.config import CodecConfig
from worldpager.engine.errors import InputError
from worldpager.engine.memory.layout import RecordLayout, Section
from worldpager.engine.models.base import BlockKV, KVShape, RotarySpec
from worldpager.kernels.int4_pack import pack
from worldpager.kernels.int4_unpack_rotate import rotate, rotation, unpack

FORMAT = 1
"""Raised with every change of a record's meaning."""


class Codec(Protocol):
    """Turns blocks of one shape into records and back."""

    @property
    def record_bytes(self) -> int:
        """Bytes of a record, whole pages."""
        ...

    def encode(self, block: BlockKV, record: Tensor) -> None:
        """Write ``block`` into ``record``, flat uint8 on the block's device."""
        ...

    def decode(self, record: Tensor, keys: Tensor, values: Tensor, offset: float) -> None:
        """Write a block into ``keys``, ``values`` [layers, tokens, heads, head_dim], any strides and float type.

        The keys are turned to ``offset`` frames later than stored.
        """
        ...

    def repaired(self, record: Tensor) -> int:
        """Numbers of a block that weren't finite and were replaced."""
        ...


def make_codec(config: CodecConfig, kv: KVShape, rotary: RotarySpec) -> Codec:
    """The codec of ``config``. Raises `InputError` for a mode that doesn't exist or groups that can't be."""
    if config.key_group < 1 or config.value_group < 1:
        raise InputError("A codec's groups have at least one number.", "Choose 64 as key_group and value_group.")
    if rotary.start < 0 or rotary.start + 2 * len(rotary.frequencies) > kv.head_dim:
        pairs = len(rotary.frequencies)
        raise InputError(f"{pairs} rotated pairs don't fit a head of {kv.head_dim} channels.", "Correct the model's RotarySpec.")
    if config.bits == 4:
        return Int4Codec(config, kv, rotary)
    if config.bits == 16:
        return RawCodec(kv, rotary)
    raise InputError(f"The codec has no {config.bits}-bit mode.", "Choose 4 or 16 bits.")


def fingerprint(config: CodecConfig, kv: KVShape, rotary: RotarySpec) -> int:
    """64 bits that two memories share only if they read each other's records."""
    shape = (FORMAT, config.bits, config.key_group, config.value_group, kv.layers, kv.tokens, kv.heads, kv.head_dim, rotary.start)
    return xxhash.xxh3_64_intdigest(struct.pack(f"<9q{len(rotary.frequencies)}d", *shape, *rotary.frequencies))


class RawCodec:
    """bfloat16 as it is."""

    def __init__(self, kv: KVShape, rotary: RotarySpec) -> None:
        self._turn = _Turn(rotary)
        layout = RecordLayout()
        shape = (kv.layers, kv.tokens, kv.heads, kv.head_dim)
        self._keys, self._values = layout.add(shape, torch.bfloat16), layout.add(shape, torch.bfloat16)
        self.record_bytes = layout.bytes

    def encode(self, block: BlockKV, record: Tensor) -> None:
        """See `Codec`."""
        self._keys.of(record).copy_(block.keys)
        self._values.of(record).copy_(block.values)

    def decode(self, record: Tensor, keys: Tensor, values: Tensor, offset: float) -> None:
        """See `Codec`."""
        stored, turn = self._keys.of(record), self._turn.by(offset, record.device)
        if turn is not None:
            stored = stored.float()
            rotate(stored, turn, self._turn.start)
        keys.copy_(stored)
        values.copy_(self._values.of(record))

    def repaired(self, record: Tensor) -> int:
        """None ever: raw numbers stay as they are."""
        return 0


@dataclass(frozen=True, slots=True)
class _Groups:
    """Codes, step and low of equally long groups, in memory order."""

    codes: Section
    step: Section
    low: Section

    @classmethod
    def add(cls, layout: RecordLayout, codes: tuple[int, ...], each: tuple[int, ...]) -> _Groups:
        return cls(layout.add(codes, torch.uint8), layout.add(each, torch.bfloat16), layout.add(each, torch.bfloat16))


@dataclass(frozen=True, slots=True)
class _KeyRun:
    """Tokens [first, first + groups * size) in groups of ``size``."""

    first: int
    groups: int
    size: int
    parts: _Groups

    def grouped(self, x: Tensor) -> Tensor:
        """These tokens of ``x`` [layers, tokens, heads, head_dim] as [layers, groups, size, heads, head_dim]."""
        grouped: Tensor = x[:, self.first : self.first + self.groups * self.size].unflatten(1, (self.groups, self.size))
        return grouped


class Int4Codec:
    """Four bits a number. A value group is the largest divisor of the head's channels that isn't above ``config.value_group``."""

    def __init__(self, config: CodecConfig, kv: KVShape, rotary: RotarySpec) -> None:
        self._turn = _Turn(rotary)
        layout = RecordLayout()
        self._repaired = layout.add((1,), torch.int32)
        self._runs = [_key_run(layout, kv, *run) for run in _runs(kv.tokens, config.key_group)]
        self._group = max(n for n in range(1, config.value_group + 1) if kv.head_dim % n == 0)
        each = (kv.layers, kv.tokens, kv.heads, kv.head_dim // self._group)
        self._values = _Groups.add(layout, (*each, (self._group + 1) // 2), each)
        self.record_bytes = layout.bytes

    def encode(self, block: BlockKV, record: Tensor) -> None:
        """See `Codec`."""
        repaired = self._repaired.of(record).zero_()
        for run in self._runs:
            pack(run.grouped(block.keys), run.parts.codes.of(record), run.parts.step.of(record), run.parts.low.of(record), repaired)
        codes, step, low = self._value_parts(record)
        pack(self._grouped_values(block.values), codes, step, low, repaired)

    def decode(self, record: Tensor, keys: Tensor, values: Tensor, offset: float) -> None:
        """See `Codec`."""
        turn = self._turn.by(offset, record.device)
        for run in self._runs:
            parts = run.parts
            unpack(parts.codes.of(record), parts.step.of(record), parts.low.of(record), run.grouped(keys), turn, self._turn.start)
        unpack(*self._value_parts(record), self._grouped_values(values))

    def repaired(self, record: Tensor) -> int:
        """See `Codec`."""
        return int(self._repaired.of(record))

    def _grouped_values(self, x: Tensor) -> Tensor:
        """[layers, tokens, heads, head_dim] as [layers, tokens, group, heads, groups of a head]."""
        grouped: Tensor = x.unflatten(-1, (-1, self._group)).permute(0, 1, 4, 2, 3)
        return grouped

    def _value_parts(self, record: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        parts = self._values
        return parts.codes.of(record).permute(0, 1, 4, 2, 3), parts.step.of(record), parts.low.of(record)


def _runs(tokens: int, size: int) -> list[tuple[int, int, int]]:
    """(first token, groups, tokens of a group): whole groups, then the short rest."""
    whole, rest = divmod(tokens, size)
    runs = [(0, whole, size), (whole * size, 1, rest)]
    return [(first, groups, n) for first, groups, n in runs if groups * n]


def _key_run(layout: RecordLayout, kv: KVShape, first: int, groups: int, size: int) -> _KeyRun:
    outer, inner = (kv.layers, groups), (kv.heads, kv.head_dim)
    return _KeyRun(first, groups, size, _Groups.add(layout, (*outer, (size + 1) // 2, *inner), (*outer, *inner)))


class _Turn:
    """The rotation table of the newest offset."""

    def __init__(self, rotary: RotarySpec) -> None:
        self.start = rotary.start
        self._frequencies = rotary.frequencies
        self._made: tuple[float, torch.device, Tensor | None] | None = None

    def by(self, offset: float, device: torch.device) -> Tensor | None:
        if self._made is None or self._made[:2] != (offset, device):
            self._made = (offset, device, rotation(self._frequencies, offset, device))
        return self._made[2]
