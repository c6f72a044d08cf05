"""A world model without weights: deterministic, as slow and as large as wanted, for tests, experiments and machines without the real one.

Its picture shows what it was given, so that a wrong pose or a wrong memory can be seen: sky with a stripe of another colour every 30
degrees of yaw, a ground of squares fixed to the world, and a patch below whose colour is a checksum of the memory view. Its keys and
values depend on the checksum too, so that an error in memory spreads to later chunks as it would in a real model.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields

import numpy as np
import torch
import xxhash
from numpy.typing import NDArray
from torch import Tensor

from worldpager.engine.errors import InputError
from worldpager.engine.models.base import BlockKV, ChunkOutput, KVShape, MemoryView, ModelSpec, PastChunk, RotarySpec
from worldpager.engine.types import FieldOfView, Frames, Motion, Pose

HORIZONTAL = math.radians(84)
STRIPE = math.radians(30)
"""Yaw covered by one stripe of the sky."""
PATCH = 0.2
"""Share of the width and height that the memory's patch takes, at the lower left."""
LOOK_AROUND = 10
"""Opening chunks that turn once around; two more walk ahead and back."""
MOTION = Motion(walk=0.12, run=0.16, turn=0.08, look=0.04, pitch_limit=0.45, eye_height=0.55, turn_limit=0.4)


@dataclass(frozen=True, slots=True)
class StandInOptions:
    """Settings by their option names with ``-`` for ``_``. KV of a chunk: 2 x layers x tokens x heads x head-dim numbers.

    ``wall`` is the half side in cells of the square room that it reports clearance in; 0 = open country.
    """

    step_ms: float = 0.0
    frames: int = 4
    width: int = 160
    height: int = 96
    rate: float = 16.0
    layers: int = 2
    tokens: int = 64
    heads: int = 2
    head_dim: int = 32
    retrieved: int = 2
    window: int = 2
    wall: float = 0.0

    @classmethod
    def read(cls, options: Mapping[str, str]) -> StandInOptions:
        """From ``name=value`` texts. Raises `InputError` for unknown names and values out of range."""
        kinds = {field.name.replace("_", "-"): type(field.default) for field in fields(cls)}
        values: dict[str, float] = {}
        for name, text in options.items():
            if name not in kinds:
                raise InputError(f"The stand-in model has no option {name!r}.", f"Its options are {', '.join(kinds)}.")
            values[name.replace("-", "_")] = _number(name, text, kinds[name], least=0 if name in MAY_BE_ZERO else 1)
        return cls(**values)  # type: ignore[arg-type]


MAY_BE_ZERO = ("step-ms", "retrieved", "window", "wall")


def _number(name: str, text: str, kind: type, least: int) -> float:
    try:
        value = kind(text)
    except ValueError:
        value = math.nan
    if not least <= value < math.inf:
        need = "a whole number" if kind is int else "a number"
        raise InputError(f"The stand-in model's option {name}={text} is not {need} from {least} up.", f"Write, say, {name}={least + 4}.")
    return float(value) if kind is float else int(value)


class StandIn:
    """The stand-in world model. ``clock`` and ``sleep`` in seconds: a step lasts ``step_ms`` by them."""

    def __init__(
        self,
        options: StandInOptions,
        device: torch.device,
        *,
        clock: Callable[[], float] = time.perf_counter,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._options, self._device, self._clock, self._sleep = options, device, clock, sleep
        kv = KVShape(options.layers, options.tokens, options.heads, options.head_dim)
        vertical = 2 * math.atan(math.tan(HORIZONTAL / 2) * options.height / options.width)
        pairs = min(3, options.head_dim // 2)
        self._spec = ModelSpec(
            name="stand-in", frames_per_chunk=options.frames, width=options.width, height=options.height, rate=options.rate, kv=kv,
            rotary=RotarySpec(0, (0.5, 0.1, 0.02)[:pairs]), retrieved=options.retrieved, window=options.window, memory_offset=-16.0,
            view=FieldOfView(HORIZONTAL, vertical, sight=14.0),
        )  # fmt: skip
        shape = (options.layers, options.retrieved, options.tokens, options.heads, options.head_dim)
        self._view = MemoryView(torch.zeros(shape, device=device), torch.zeros(shape, device=device))
        self._base = torch.zeros(0)
        self._seed, self._chunk = 0, 0

    @classmethod
    def load(cls, options: Mapping[str, str], device: torch.device) -> StandIn:
        """The stand-in with ``options`` as texts. Raises `InputError`."""
        return cls(StandInOptions.read(options), device)

    @property
    def spec(self) -> ModelSpec:
        """Constants by the options."""
        return self._spec

    @property
    def motion(self) -> Motion:
        """A person's walk."""
        return MOTION

    @property
    def device(self) -> torch.device:
        """Where the KV is made."""
        return self._device

    @property
    def memory_view(self) -> MemoryView:
        """What the next step's patch shows."""
        return self._view

    def begin(self, seed: int, prime: bool) -> Iterator[ChunkOutput]:
        """Turn once around and walk a little, or a single chunk."""
        self._stand(seed, 0)
        start = Pose(0.0, 0.0, MOTION.eye_height, (seed % 360) * math.pi / 180, 0.0)
        n = self._spec.frames_per_chunk
        if prime:
            turn = 2 * math.pi / (LOOK_AROUND * n)
            for chunk in range(LOOK_AROUND):
                yield self._made([start._replace(yaw=start.yaw + turn * (chunk * n + i + 1)) for i in range(n)], 0)
            steps = [MOTION.walk * (i + 1) for i in range(n)]
            for way in (steps, steps[::-1]):
                yield self._made([start._replace(x=s * math.cos(start.yaw), y=s * math.sin(start.yaw)) for s in way], 0)
        yield self._made([start] * n, 0)

    def restore(self, seed: int, number: int, sink: PastChunk, newest: Sequence[PastChunk]) -> None:
        """See `Resumable`. The stand-in sees no window: its chunks depend on their number and the memory view alone."""
        self._stand(seed, number + 1)

    def window_state(self) -> dict[str, Tensor]:
        """There is none."""
        return {}

    def take_window_state(self, state: Mapping[str, Tensor]) -> None:
        """There is none to take."""
        if state:
            raise ValueError(f"the stand-in has no {', '.join(state)}")

    def step(self, poses: Sequence[Pose], retrieved: int) -> ChunkOutput:
        """Draw one chunk; lasts ``step_ms``."""
        until = self._clock() + self._options.step_ms / 1e3
        made = self._made(poses, retrieved)
        self._sleep(max(0.0, until - self._clock()))
        return made

    def close(self) -> None:
        """Nothing to free."""

    def _stand(self, seed: int, chunk: int) -> None:
        """The next chunk is number ``chunk`` of world ``seed``."""
        self._seed, self._chunk = seed, chunk
        self._base = torch.randn(self._spec.kv.values // 2, generator=torch.Generator().manual_seed(seed)).to(self._device)

    def _made(self, poses: Sequence[Pose], retrieved: int) -> ChunkOutput:
        code = _checksum(self._view, retrieved)
        frames = draw(poses, self._spec.width, self._spec.height, self._seed)
        patch = frames[:, -max(1, int(PATCH * self._spec.height)) :, : max(1, int(PATCH * self._spec.width))]
        patch[:] = [code >> shift & 255 for shift in (0, 8, 16)]
        kv, self._chunk = self._keys_values(code), self._chunk + 1
        return ChunkOutput(frames, tuple(poses), kv, self._clearance(poses[-1]))

    def _keys_values(self, code: int) -> BlockKV:
        """Noise of the world's seed, turned round and scaled by the chunk's number and the memory's checksum."""
        kv = self._spec.kv
        scale = 1.0 + (code & 255) / 512 if code else 1.0
        keys = self._base.roll(37 * self._chunk) * scale
        values = self._base.roll(-53 * self._chunk) * scale
        shape = (kv.layers, kv.tokens, kv.heads, kv.head_dim)
        return BlockKV(keys.reshape(shape), values.reshape(shape))

    def _clearance(self, pose: Pose) -> float:
        """Cells to the wall straight ahead."""
        half = self._options.wall
        if not half:
            return math.inf
        ways = [
            (math.copysign(half, along) - at) / along for at, along in ((pose.x, math.cos(pose.yaw)), (pose.y, math.sin(pose.yaw))) if along
        ]
        return max(0.0, min(ways))


def _checksum(view: MemoryView, retrieved: int) -> int:
    """64 bits of all bytes of the first ``retrieved`` slots; 0 when there are none."""
    if not retrieved:
        return 0
    code = xxhash.xxh64()
    for part in (view.keys, view.values):
        code.update(part[:, :retrieved].contiguous().view(torch.uint8).cpu().numpy().tobytes())
    return int(code.intdigest())


def draw(poses: Sequence[Pose], width: int, height: int, seed: int) -> Frames:
    """Frames [n, height, width, 3] of world ``seed``: striped sky over squared ground."""
    x, y, z, yaw, pitch = (column[:, None, None] for column in np.array(poses, np.float32).T)
    u = np.linspace(1, -1, width, dtype=np.float32)[None, None, :] * math.tan(HORIZONTAL / 2)
    v = np.linspace(1, -1, height, dtype=np.float32)[None, :, None] * math.tan(HORIZONTAL / 2) * height / width
    azimuth = yaw + np.arctan(u)
    rise = np.tan(np.arctan(v) + pitch)
    far = z / np.maximum(-rise, 1e-3) * np.hypot(1, u)
    shade = np.exp(-far / 9)
    squares = (np.floor(x + far * np.cos(azimuth)) + np.floor(y + far * np.sin(azimuth))) % 2
    stripes = np.floor(azimuth / STRIPE) % 12
    tone = np.random.default_rng(seed).uniform(0.6, 1.0, 3).astype(np.float32)
    ground = (0.25 + 0.35 * squares * shade + 0.15 * shade)[..., None] * tone
    glow = np.exp(-3 * np.maximum(rise, 0))
    sky = np.stack([0.25 + 0.5 * glow + 0.02 * stripes, 0.45 + 0.35 * glow + 0 * stripes, 0.95 - 0.03 * stripes + 0 * glow], -1)
    picture: NDArray[np.float32] = np.where((rise < 0)[..., None] & (far < 1e6)[..., None], ground, sky)
    return np.ascontiguousarray((picture.clip(0, 1) * 255).astype(np.uint8))
