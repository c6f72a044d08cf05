"""Which twin of an operation runs: the Triton kernel where the data lies on a CUDA device, the plain one elsewhere."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Literal

import torch

Twin = Literal["plain", "triton"]

_forced: Twin | None = None


@cache
def _has_triton() -> bool:
    return importlib.util.find_spec("triton") is not None


def twin_for(device: torch.device) -> Twin:
    """The twin that runs for data on ``device``."""
    if _forced is not None:
        return _forced
    return "triton" if device.type == "cuda" and _has_triton() else "plain"


@contextmanager
def forced(twin: Twin) -> Iterator[None]:
    """Run ``twin`` whatever the device, for the whole process. Triton on a CPU needs TRITON_INTERPRET=1 before its first import."""
    global _forced
    before, _forced = _forced, twin
    try:
        yield
    finally:
        _forced = before
