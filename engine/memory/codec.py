"""How a block becomes bytes and comes back: one flat record of fixed size per block.

int4: keys per channel in groups of tokens, values per token in groups of channels, asymmetric, a float16 step and minimum a group. The last
key group may be short. bf16: the numbers as they are. Sections follow one another at multiples of `ALIGN`; the record is rounded up to
`PAGE` so that direct I/O can move it whole.
"""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass, field

import torch
from torch import Tensor

from worldpager.engine.config import CodecConfig
from worldpager.engine.errors import InputError
from worldpager.engine.models.base import BlockKV, KVShape, RotarySpec
from worldpager.kernels.int4_pack import pack
from worldpager.kernels.int4_unpack_rotate import rotate, unpack

ALIGN, PAGE = 64, 4096
PLAIN_LEAST, PLAIN_MOST = 0.01, 32768.0
"""Largest numbers of a block that float16 steps and minima serve as they are; other blocks are scaled by a power of two."""


@dataclass(frozen=True, slots=True)
class Section:
    """A typed piece of a record."""

    start: int
    shape: tuple[int, ...]
    dtype: torch.dtype

    def of(self, record: Tensor) -> Tensor:
        """The section's bytes of ``record`` (flat uint8) as a tensor over them."""
        count = 1
        for n in self.shape:
            count *= n
        return record[self.start:self.start + count * self.dtype.itemsize].view(self.dtype).view(self.shape)

    @property
    def end(self) -> int:
        """First byte after it."""
        count = self.dtype.itemsize
        for n in self.shape:
            count *= n
        return self.start + count


@dataclass
class _Plan:
    """Sections being laid out."""

    at: int = 0
    made: list[Section] = field(default_factory=list)

    def add(self, shape: tuple[int, ...], dtype: torch.dtype) -> Section:
        section = Section(self.at, shape, dtype)
        self.at = -(-section.end // ALIGN) * ALIGN
        self.made.append(section)
        return section


class Codec:
    """Encodes and decodes blocks of one shape. Not thread-safe: it keeps scratch memory."""

    def __init__(self, config: CodecConfig, kv: KVShape, rotary: RotarySpec) -> None:
        if config.bits not in (4, 16):
            raise InputError(f"The codec has no {config.bits}-bit mode.", "Choose 4 or 16 bits.")
        if config.bits == 4 and (config.value_group < 1 or kv.channels % config.value_group or config.key_group < 1):
            raise InputError(f"Value groups of {config.value_group} channels don't divide {kv.channels}.",
                             "Choose a divisor as value_group.")
        self.config, self.kv, self.rotary = config, kv, rotary
        self.repairs = 0
        """Blocks that held NaN or infinite numbers; NaN was stored as 0, infinities as the block's largest finite size."""
        plan = _Plan()
        if config.bits == 16:
            self._raw = plan.add((2, kv.layers, kv.tokens, kv.channels), torch.bfloat16)
        else:
            self._plan_int4(plan)
        self.record_bytes = -(-plan.at // PAGE) * PAGE
        self._scratch: dict[torch.device, Tensor] = {}

    def _plan_int4(self, plan: _Plan) -> None:
        kv, c = self.kv, self.config
        self._factor = plan.add((2,), torch.float32)
        self._key_runs: list[tuple[int, int, int, Section, Section, Section]] = []
        whole, rest = divmod(kv.tokens, c.key_group)
        for first, groups, size in ((0, whole, c.key_group), (whole * c.key_group, int(rest > 0), rest)):
            if groups:
                rows = kv.layers * groups
                self._key_runs.append((first, groups, size, plan.add((rows, (size + 1) // 2, kv.channels), torch.uint8),
                                       plan.add((rows, kv.channels), torch.float16), plan.add((rows, kv.channels), torch.float16)))
        rows, size = kv.layers * kv.tokens * (kv.channels // c.value_group), c.value_group
        self._value_codes = plan.add((rows, (size + 1) // 2, 1), torch.uint8)
        self._value_step, self._value_low = plan.add((rows, 1), torch.float16), plan.add((rows, 1), torch.float16)

    @property
    def fingerprint(self) -> int:
        """64 bits that two codecs share only if they read each other's records."""
        import xxhash
        kv, c = self.kv, self.config
        text = struct.pack("<8q", c.bits, c.key_group, c.value_group, kv.layers, kv.tokens, kv.heads, kv.head_dim, self.record_bytes)
        return int(xxhash.xxh3_64_intdigest(text))

    def encode(self, block: BlockKV, record: Tensor) -> None:
        """Write ``block`` into ``record`` (flat uint8, `record_bytes` long, on the block's device)."""
        shape = (self.kv.layers, self.kv.tokens, self.kv.channels)
        keys, values = block.keys.reshape(shape), block.values.reshape(shape)
        if self.config.bits == 16:
            raw = self._raw.of(record)
            raw[0].copy_(keys)
            raw[1].copy_(values)
            return
        factor = self._factor.of(record)
        (keys, factor[0]), (values, factor[1]) = self._fitted(keys), self._fitted(values)
        for first, groups, size, codes, step, low in self._key_runs:
            part = keys[:, first:first + groups * size].reshape(-1, size, shape[2])
            pack(part, codes.of(record), step.of(record), low.of(record))
        pack(values.reshape(-1, self.config.value_group, 1), *self._value_parts(record))

    def _value_parts(self, record: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        return self._value_codes.of(record), self._value_step.of(record), self._value_low.of(record)

    def _fitted(self, x: Tensor) -> tuple[Tensor, float]:
        """``x`` in float32, finite and within float16's range after division by the returned power of two."""
        x = x.float()
        size = max(-float(x.amin()), float(x.amax()))
        if not size < float("inf"):  # NaN included
            self.repairs += 1
            size = float(torch.where(torch.isfinite(x), x, 0).abs().max())
            x = torch.nan_to_num(x, nan=0.0, posinf=size, neginf=-size)
        if size == 0 or PLAIN_LEAST <= size <= PLAIN_MOST:
            return x, 1.0
        factor = 2.0 ** math.frexp(size)[1]
        return x / factor, factor

    def decode(self, record: Tensor, keys: Tensor, values: Tensor, offset: float) -> None:
        """Write a block into ``keys``, ``values``, keys turned by ``offset`` frames.

        Each is [layers, tokens, heads, head_dim], strided, of any float type.
        """
        kv = self.kv
        if self.config.bits == 16:
            raw = self._raw.of(record).view(2, kv.layers, kv.tokens, kv.heads, kv.head_dim)
            turned = raw[0].float()
            rotate(turned, self.rotary.start, self.rotary.frequencies, offset)
            keys.copy_(turned)
            values.copy_(raw[1])
            return
        factor = self._factor.of(record).tolist()
        buffer = self._buffer(record.device)
        grid = buffer.view(kv.layers, kv.tokens, kv.channels)
        for first, groups, size, codes, step, low in self._key_runs:
            whole = groups * size == kv.tokens
            part = buffer.view(-1, size, kv.channels) if whole else buffer.new_empty(kv.layers * groups, size, kv.channels)
            unpack(codes.of(record), step.of(record), low.of(record), part)
            if not whole:
                grid[:, first:first + groups * size].copy_(part.view(kv.layers, -1, kv.channels))
        self._deliver(buffer, factor[0], keys, offset)
        codes_v, step_v, low_v = self._value_parts(record)
        unpack(codes_v, step_v, low_v, buffer.view(-1, self.config.value_group, 1))
        self._deliver(buffer, factor[1], values, 0.0)

    def _deliver(self, buffer: Tensor, factor: float, out: Tensor, offset: float) -> None:
        block = buffer.view(self.kv.layers, self.kv.tokens, self.kv.heads, self.kv.head_dim)
        if factor != 1.0:
            block.mul_(factor)
        rotate(block, self.rotary.start, self.rotary.frequencies, offset)
        out.copy_(block)

    def _buffer(self, device: torch.device) -> Tensor:
        if device not in self._scratch:
            self._scratch[device] = torch.empty(self.kv.values // 2, dtype=torch.float32, device=device)
        return self._scratch[device]
