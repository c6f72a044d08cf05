"""Records as plain memory: page-aligned bytes, and where the pieces of an unpacked block lie. Packed ones: `worldpager.kernels.record`."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from worldpager.kernels.record import ALIGN
from worldpager.kernels.record import PAGE as PAGE


def aligned_bytes(count: int) -> Tensor:
    """``count`` fresh bytes of host memory that begin at a page."""
    raw = torch.empty(count + PAGE, dtype=torch.uint8)
    start = -raw.data_ptr() % PAGE
    return raw[start : start + count]


def view_of(record: Tensor) -> memoryview:
    """The bytes of a flat uint8 tensor in host memory, not copied."""
    return memoryview(record.numpy().data)


@dataclass(frozen=True, slots=True)
class Section:
    """A piece of a record: ``shape`` numbers of ``dtype`` from byte ``start``."""

    start: int
    shape: tuple[int, ...]
    dtype: torch.dtype

    @property
    def end(self) -> int:
        """First byte after it."""
        return self.start + math.prod(self.shape) * self.dtype.itemsize

    def of(self, record: Tensor) -> Tensor:
        """The section of ``record`` (flat uint8), on the same bytes."""
        return record[self.start : self.end].view(self.dtype).view(self.shape)


class RecordLayout:
    """Lays sections one after another."""

    def __init__(self) -> None:
        self._end = 0

    def add(self, shape: tuple[int, ...], dtype: torch.dtype) -> Section:
        """The next section."""
        section = Section(-(-self._end // ALIGN) * ALIGN, shape, dtype)
        self._end = section.end
        return section

    @property
    def bytes(self) -> int:
        """Size of a record, whole pages."""
        return -(-self._end // PAGE) * PAGE
