"""Settings of the engine: few, typed, next to their defaults. Budgets left at None are derived from the machine."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

MiB = 1 << 20
GiB = 1 << 30


@dataclass(frozen=True, slots=True)
class CodecConfig:
    """How a block is encoded: ``bits`` 2, 3, 4, 8 or 16 (bf16 as it is); keys per channel in groups of tokens, values per token in
    groups of channels.

    For comparisons: ``symmetric`` codes about zero, and only every ``head_stride``-th head stored.
    """

    bits: int = 4
    key_group: int = 64
    value_group: int = 64
    symmetric: bool = False
    head_stride: int = 1


@dataclass(frozen=True, slots=True)
class MemoryConfig:
    """Budgets of the tiers.

    ``host_budget`` and ``disk_budget`` in bytes (None: from the machine), ``device_slots`` staging slots of encoded blocks.
    ``disk_dir`` None means no disk tier. A scratch arena is unlinked as soon as it is open; with ``keep`` the folder is a kept world's,
    whose blocks outlast the program.
    """

    codec: CodecConfig = field(default_factory=CodecConfig)
    device_slots: int = 16
    host_budget: int | None = None
    disk_dir: Path | None = None
    disk_budget: int | None = None
    keep: bool = False
    disk_policy: str | None = None
    """When the disk tier is full: ``drop-least-useful`` or ``stop-keeping``; None: the former for scratch, the latter for kept worlds."""
    watermark: int = 3
    """Blocks: write-back starts when fewer clean or free host slots are left."""
    read_threads: int = 2
    read_limit: float | None = None
    """Bytes per second, for emulating a slow drive; None = as fast as it goes."""
    write_limit: float | None = None


@dataclass(frozen=True, slots=True)
class PlayConfig:
    """One run of the world street."""

    model: str = "tiny"
    seed: int = 7
    device: str = "auto"
    """``auto``, ``cpu`` or ``cuda``."""
    memory: MemoryConfig = field(default_factory=MemoryConfig)
    policy: str = "pose-overlap"
    """Retrieval policy: ``pose-overlap``, ``recency`` or ``none`` (memory off)."""
    prime: bool = True
    rest_when_idle: bool = True
    futures: int = 8
    """Hypotheses of the next pose that the prefetcher asks for."""
    world: Path | None = None
    """Folder of a kept world: the one that lies there is opened, else the new one is kept there. None: a scratch world."""
    replay: Path | None = None
    """Folder of a kept world whose action log is played again; the world itself stays as it is."""
    model_options: dict[str, str] = field(default_factory=dict)
    """Settings of the model itself, as ``name=value`` text (``passes=3``, ``step-ms=40`` of the stand-in, ...)."""
