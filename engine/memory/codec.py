"""How a block becomes bytes and comes back: one flat record of fixed size per block.

2, 3, 4 or 8 bits: keys per channel in groups of tokens (the last may be short), values per token in groups of channels, step and minimum of
a group in bfloat16, which has float32's range: no group is too large to code. 16: the numbers as they are, in bfloat16. Stored keys carry
no position; decoding turns them once to their place. Numbers that aren't finite are mended and counted in the record
(`worldpager.kernels.pack`).

For the paper's comparisons: symmetric codes, and storing every n-th head only; heads that aren't stored come back as zeros.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

import torch
import xxhash
from torch import Tensor

from worldpager.engine.config import CodecConfig
from worldpager.engine.errors import InputError
from worldpager.engine.memory.layout import RecordLayout
from worldpager.engine.models.base import BlockKV, KVShape, RotarySpec
from worldpager.kernels.pack import pack
from worldpager.kernels.record import WIDTHS, PackedLayout
from worldpager.kernels.unpack_rotate import rotate, rotation, unpack

FORMAT = 2
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

    def place(self, records: Sequence[Tensor], keys: Tensor, values: Tensor, offsets: Sequence[float] | None) -> None:
        """Write blocks into the first places of ``keys``, ``values`` [layers, places, tokens, heads, head_dim], any strides and float type.

        The keys of block j are turned to ``offsets[j]`` frames later than stored; None gives them as stored. On a GPU all go in one launch.
        """
        ...

    def repaired(self, record: Tensor) -> int:
        """Numbers of a block that weren't finite and were replaced."""
        ...


def decode(codec: Codec, record: Tensor, keys: Tensor, values: Tensor, offset: float | None) -> None:
    """Write one block into ``keys``, ``values`` [layers, tokens, heads, head_dim]."""
    codec.place([record], keys[:, None], values[:, None], None if offset is None else [offset])


def make_codec(config: CodecConfig, kv: KVShape, rotary: RotarySpec) -> Codec:
    """The codec of ``config``. Raises `InputError` for a mode that doesn't exist or groups that can't be."""
    if config.key_group < 1 or config.value_group < 1:
        raise InputError("A codec's groups have at least one number.", "Choose 64 as key_group and value_group.")
    if not 1 <= config.head_stride <= kv.heads:
        raise InputError(f"One head in {config.head_stride} can't be stored of {kv.heads}.", f"Choose 1 to {kv.heads} as head_stride.")
    if rotary.start < 0 or rotary.start + 2 * len(rotary.frequencies) > kv.head_dim:
        pairs = len(rotary.frequencies)
        raise InputError(f"{pairs} rotated pairs don't fit a head of {kv.head_dim} channels.", "Correct the model's RotarySpec.")
    if kv.head_dim % 2 or rotary.start % 2:
        what = f"Channels turn in pairs; a head of {kv.head_dim} has none from channel {rotary.start} on."
        raise InputError(what, "Correct the model's KVShape and RotarySpec: both are even.")
    if rotary.spans < 1 or kv.tokens % rotary.spans:
        raise InputError(f"{kv.tokens} tokens of a block aren't {rotary.spans} equal spans.", "Correct the model's RotarySpec.")
    if config.head_stride > 1:
        return SomeHeadsCodec(config, kv, rotary)
    if config.bits in WIDTHS:
        return PackedCodec(config, kv, rotary)
    if config.bits == 16:
        return RawCodec(kv, rotary)
    raise InputError(f"The codec has no {config.bits}-bit mode.", f"Choose {', '.join(map(str, WIDTHS))} or 16 bits.")


def fingerprint(config: CodecConfig, kv: KVShape, rotary: RotarySpec) -> int:
    """64 bits that two memories share only if they read each other's records."""
    coding = (FORMAT, config.bits, config.key_group, config.value_group, config.symmetric, config.head_stride)
    numbers = (*coding, kv.layers, kv.tokens, kv.heads, kv.head_dim, rotary.start, rotary.spans)
    return xxhash.xxh3_64_intdigest(struct.pack(f"<12q{len(rotary.frequencies)}d", *numbers, *rotary.frequencies))


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

    def place(self, records: Sequence[Tensor], keys: Tensor, values: Tensor, offsets: Sequence[float] | None) -> None:
        """See `Codec`."""
        turn = self._turn.by(offsets, keys.device)
        for slot, record in enumerate(records):
            values[:, slot].copy_(self._values.of(record))
            for stored, placed in zip(self._keys.of(record), keys[:, slot], strict=True):
                if turn is not None:
                    stored = stored.float()
                    rotate(stored, turn[slot], self._turn.start)
                placed.copy_(stored)

    def repaired(self, record: Tensor) -> int:
        """None ever: raw numbers stay as they are."""
        return 0


class PackedCodec:
    """A few bits a number. A value group is the largest divisor of the head's channels that isn't above ``config.value_group``."""

    def __init__(self, config: CodecConfig, kv: KVShape, rotary: RotarySpec) -> None:
        self._turn = _Turn(rotary)
        value_group = max(n for n in range(1, config.value_group + 1) if kv.head_dim % n == 0)
        self.layout = PackedLayout(
            kv.layers, kv.tokens, kv.heads, kv.head_dim, config.bits, min(config.key_group, kv.tokens), value_group, config.symmetric
        )
        self.record_bytes = self.layout.record_bytes

    def encode(self, block: BlockKV, record: Tensor) -> None:
        """See `Codec`."""
        pack(self.layout, block.keys[:, None], block.values[:, None], [record])

    def place(self, records: Sequence[Tensor], keys: Tensor, values: Tensor, offsets: Sequence[float] | None) -> None:
        """See `Codec`."""
        unpack(self.layout, records, keys, values, None, self._turn.by(offsets, keys.device), self._turn.start)

    def repaired(self, record: Tensor) -> int:
        """See `Codec`."""
        return int(self.layout.mended(record).sum())


class SomeHeadsCodec:
    """Every ``config.head_stride``-th head, coded as the rest of ``config`` says; the other heads come back as zeros."""

    def __init__(self, config: CodecConfig, kv: KVShape, rotary: RotarySpec) -> None:
        self._heads = slice(None, None, config.head_stride)
        self._inner = make_codec(replace(config, head_stride=1), replace(kv, heads=-(-kv.heads // config.head_stride)), rotary)
        self.record_bytes = self._inner.record_bytes

    def encode(self, block: BlockKV, record: Tensor) -> None:
        """See `Codec`."""
        self._inner.encode(BlockKV(block.keys[:, :, self._heads], block.values[:, :, self._heads]), record)

    def place(self, records: Sequence[Tensor], keys: Tensor, values: Tensor, offsets: Sequence[float] | None) -> None:
        """See `Codec`."""
        for view in (keys, values):
            view[:, : len(records)] = 0
        self._inner.place(records, keys[:, :, :, self._heads], values[:, :, :, self._heads], offsets)

    def repaired(self, record: Tensor) -> int:
        """See `Codec`."""
        return self._inner.repaired(record)


def transcode(source: Codec, record: Tensor, kv: KVShape, target: Codec, out: Tensor) -> None:
    """Write the block of ``record``, encoded by ``source``, as a record of ``target`` into ``out``, both on one device.

    Its numbers are those that decoding gives: what the first codec lost stays lost.
    """
    shape = (kv.layers, 1, kv.tokens, kv.heads, kv.head_dim)
    keys, values = (torch.empty(shape, dtype=torch.float32, device=record.device) for _ in range(2))
    source.place([record], keys, values, None)
    target.encode(BlockKV(keys[:, 0], values[:, 0]), out)


class _Turn:
    """The rotation table of the newest offsets."""

    def __init__(self, rotary: RotarySpec) -> None:
        self.start = rotary.start
        self._frequencies = rotary.frequencies
        self._within = torch.arange(rotary.spans, dtype=torch.float64)
        self._made: tuple[tuple[float, ...], torch.device, Tensor | None] | None = None

    def by(self, offsets: Sequence[float] | None, device: torch.device) -> Tensor | None:
        """[blocks, spans, 2, pairs]."""
        if offsets is None:
            return None
        wanted = tuple(offsets)
        if self._made is None or self._made[:2] != (wanted, device):
            positions = torch.tensor(wanted, dtype=torch.float64)[:, None] + self._within
            self._made = (wanted, device, rotation(self._frequencies, positions, device))
        return self._made[2]
