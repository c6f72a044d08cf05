"""What a world model must answer, whatever it is made of.

The generator is written against these protocols alone. The model owns its weights, its sink and its local window; the retrieved
blocks reach it through a `MemoryView` that the model itself allocates, so that decoding a block writes straight into the place
that attention reads.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

from worldpager.engine.positions.placement import Placement
from worldpager.engine.types import FieldOfView, Frames, Pose
from worldpager.engine.types import Motion as Motion


@dataclass(frozen=True, slots=True)
class KVShape:
    """Shape of one block's keys or values: [layers, tokens, heads, head_dim]."""

    layers: int
    tokens: int
    heads: int
    head_dim: int

    @property
    def channels(self) -> int:
        """Channels of one token, all heads side by side."""
        return self.heads * self.head_dim

    @property
    def values(self) -> int:
        """Numbers in one block, keys and values together."""
        return 2 * self.layers * self.tokens * self.channels

    @property
    def bf16_bytes(self) -> int:
        """Bytes of one block before the codec."""
        return 2 * self.values


@dataclass(frozen=True, slots=True)
class RotarySpec:
    """Which channels of a head turn with time, and how fast.

    Channels [start, start + 2 * len(frequencies)) of every head form interleaved pairs (even, odd); pair i turns by
    ``offset * frequencies[i]`` radians when a block is placed ``offset`` frames later than stored. Empty = keys never turn.

    A block's tokens are in ``spans`` equal runs, in order; run s turns by ``offset + s``. 1: what lies between a block's tokens is in the
    stored keys. As many as tokens: stored keys carry no position at all, as a language model's do.
    """

    start: int = 0
    frequencies: tuple[float, ...] = ()
    spans: int = 1


@dataclass(frozen=True, slots=True)
class ModelSpec:
    """Everything the street needs to know about a model before its first chunk."""

    name: str
    frames_per_chunk: int
    width: int
    height: int
    rate: float
    """Frames per second at which the world runs at its natural speed; presentation is capped to it."""
    kv: KVShape
    rotary: RotarySpec
    retrieved: int
    """k: blocks that the memory view holds."""
    window: int
    """Newest chunks that the model keeps itself; retrieval leaves them out."""
    memory_offset: float
    """Placement of retrieved blocks: the offset in frames by which their keys are turned (see `RotarySpec`)."""
    view: FieldOfView
    native_horizon: int | None = None
    """Chunks after which birth positions leave the trained range; None = no positional horizon."""
    placement: Placement | None = None
    """Placement by birth and present chunk, in place of the one ``memory_offset``."""
    controls: tuple[tuple[tuple[str, ...], str], ...] = ()
    """What held controls do here where it isn't walking and looking: (names of controls, what they do), for a person."""
    keeps_sink: bool = True
    """Whether the model holds a world's first chunk itself for ever; retrieval leaves it out then."""


@dataclass(frozen=True, slots=True)
class BlockKV:
    """Keys and values of one chunk as the model hands them over: each [layers, tokens, heads, head_dim], any float type."""

    keys: Tensor
    values: Tensor


@dataclass(frozen=True, slots=True)
class MemoryView:
    """Where retrieved blocks are placed for attention: keys and values, each [layers, k, tokens, heads, head_dim].

    May be strided: the tensors are windows into the model's own context buffers. Slot j holds the j-th block of the working set.
    """

    keys: Tensor
    values: Tensor

    @property
    def capacity(self) -> int:
        """Blocks that fit (k)."""
        return int(self.keys.shape[1])


@dataclass(frozen=True, slots=True)
class ChunkOutput:
    """What one chunk of generation yields.

    ``clearance`` is the free distance ahead of the camera in cells after the last frame (inf when the model doesn't know).
    """

    frames: Frames
    poses: tuple[Pose, ...]
    kv: BlockKV
    clearance: float = float("inf")


@dataclass(frozen=True, slots=True)
class PastChunk:
    """A chunk that was made before: its keys and values as they came back from memory, and the poses of its frames."""

    kv: BlockKV
    poses: tuple[Pose, ...]


class Resumable(Protocol):
    """What a world model may offer beside `WorldModel`, so that play can go on from any chunk: back, on another branch, tomorrow."""

    def restore(self, seed: int, number: int, sink: PastChunk, newest: Sequence[PastChunk]) -> None:
        """Stand where chunk ``number`` of world ``seed`` has just been made (the first has number 0).

        ``newest`` are the chunks of the window, the newest first, at least that one; fewer than the window has slots where the world is
        younger or memory has lost some: the oldest then stands in for those missing.
        """
        ...

    def window_state(self) -> dict[str, Tensor]:
        """Copies of the sink and the window as they are, to the bit."""
        ...

    def take_window_state(self, state: Mapping[str, Tensor]) -> None:
        """Put back what `window_state` gave, after `restore` to the same chunk. Raises `ValueError` when it isn't of this model."""
        ...


class WorldModel(Protocol):
    """A chunk-wise autoregressive world model. All calls come from the generator thread."""

    @property
    def spec(self) -> ModelSpec:
        """Constants of this model with its present settings."""
        ...

    @property
    def motion(self) -> Motion:
        """The control-to-pose rule of this model."""
        ...

    @property
    def device(self) -> torch.device:
        """Where keys, values and the memory view live."""
        ...

    @property
    def memory_view(self) -> MemoryView:
        """The view that the next `step` reads. The tensors stay the same objects for the model's life."""
        ...

    def begin(self, seed: int, prime: bool) -> Iterator[ChunkOutput]:
        """Reset and yield the opening chunks of world ``seed``, the player's start view last.

        With ``prime`` the opening is a rendered look-around and a short walk; without it a single chunk.
        Clears sink and window; each yielded chunk has entered them.
        """
        ...

    def step(self, poses: Sequence[Pose], retrieved: int) -> ChunkOutput:
        """Generate one chunk at ``poses`` (one per frame) with the first ``retrieved`` slots of the memory view in use.

        Appends the chunk to the local window. The returned KV is the caller's: it is not changed by later steps.
        """
        ...

    def close(self) -> None:
        """Free what the model holds; nothing may be called after it."""
        ...
