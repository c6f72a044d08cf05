"""The tiny model at play: one world, one chunk at a time, over context buffers that stay in place.

Keys and values of a layer lie as [heads, slots * tokens, 64]: retrieved slots first, then sink, window and the current chunk, so that what
attention reads is one stretch with retrieved slots or without. `rollout.roll` computes the same for many worlds, plainly.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor
from torch.nn import functional as F

from worldpager.engine.models.base import BlockKV, MemoryView
from worldpager.engine.models.tiny.cpu_layer import LayerBuffers, Turns
from worldpager.engine.models.tiny.network import HEAD, TIME_FREQUENCIES, TIME_PAIRS, Layer, TinyConfig, TinyNetwork, pose_features
from worldpager.engine.models.tiny.rollout import LAST_LEVEL, MEMORY_OFFSET, SCHEDULES, SINK_OFFSET, noise, noised


def turn_in_time(keys: Tensor, offset: float) -> None:
    """Turn ``keys`` [..., 64] in place by ``offset`` frames in their time pairs."""
    angle = offset * torch.tensor(TIME_FREQUENCIES, device=keys.device)
    cos, sin = angle.cos(), angle.sin()
    pairs = keys[..., : 2 * TIME_PAIRS].unflatten(-1, (TIME_PAIRS, 2))
    a, b = pairs.float().unbind(-1)
    pairs.copy_(torch.stack([a * cos - b * sin, a * sin + b * cos], -1))


class Context:
    """Placed keys and values of everything that a chunk may look at, [layers, heads, slots * tokens, 64] each.

    The window is a ring: the newest chunk takes the oldest one's slot, and the others' keys are turned on by a chunk.
    """

    def __init__(self, config: TinyConfig, window: int, retrieved: int, dtype: torch.dtype, device: torch.device) -> None:
        self.tokens, self.frames, self.window, self.retrieved = config.tokens, config.frames, window, retrieved
        shape = (config.layers, config.heads, (retrieved + 1 + window + 1) * config.tokens, HEAD)
        self.keys, self.values = torch.zeros(shape, dtype=dtype, device=device), torch.zeros(shape, dtype=dtype, device=device)
        self.view = MemoryView(self._memory(self.keys), self._memory(self.values))
        self._newest = 0

    def slot(self, index: int) -> slice:
        """Tokens of slot ``index``: retrieved ones, then sink, window, current."""
        return slice(index * self.tokens, (index + 1) * self.tokens)

    @property
    def sink(self) -> int:
        """The sink's slot."""
        return self.retrieved

    @property
    def current(self) -> int:
        """The slot of the chunk in the making."""
        return self.retrieved + 1 + self.window

    def _memory(self, buffer: Tensor) -> Tensor:
        """The retrieved slots as [layers, k, tokens, heads, 64]."""
        return buffer[:, :, : self.retrieved * self.tokens].unflatten(2, (self.retrieved, self.tokens)).permute(0, 2, 3, 1, 4)

    def place(self, slot: int, source: int, offset: float, layers: slice = slice(None)) -> None:
        """Copy slot ``source`` to ``slot``, its keys turned by ``offset`` frames."""
        to, at = self.slot(slot), self.slot(source)
        self.keys[layers, :, to] = self.keys[layers, :, at]
        self.values[layers, :, to] = self.values[layers, :, at]
        turn_in_time(self.keys[layers, :, to], offset)

    def fill_alone(self, layer: int) -> None:
        """Fill every slot of ``layer`` with copies of the current one: a world's first chunk has nothing else."""
        for slot, offset in enumerate(self.offsets()):
            self.place(slot, self.current, offset, slice(layer, layer + 1))

    def offsets(self) -> list[float]:
        """Placement in frames of all slots before the current one, with the newest chunk in the window's first."""
        return [*[MEMORY_OFFSET] * self.retrieved, SINK_OFFSET, *(-float(self.frames) * (i + 1) for i in range(self.window))]

    def fill_missing(self, used: int) -> None:
        """Retrieved slots from ``used`` on become copies of the sink, as in training."""
        for slot in range(used, self.retrieved):
            self.place(slot, self.sink, MEMORY_OFFSET - SINK_OFFSET)

    def advance(self, first: bool) -> None:
        """The current chunk, complete, enters the window; the ``first`` one becomes the sink and fills the window."""
        if first:
            for slot, offset in enumerate(self.offsets()[self.retrieved :], self.retrieved):
                self.place(slot, self.current, offset)
            self._newest = 0
        elif self.window:
            for i in range(self.window):
                turn_in_time(self.keys[:, :, self.slot(self.sink + 1 + i)], -float(self.frames))
            self._newest = (self._newest - 1) % self.window
            self.place(self.sink + 1 + self._newest, self.current, -float(self.frames))

    def put_back(self, sink: BlockKV, newest: Sequence[BlockKV]) -> None:
        """Fill sink and window from unplaced chunks, the newest first; the oldest fills what is left."""
        filled = [sink, *(newest[min(i, len(newest) - 1)] for i in range(self.window))]
        for slot, (kv, offset) in enumerate(zip(filled, self.offsets()[self.retrieved :], strict=True), self.sink):
            at = self.slot(slot)
            self.keys[:, :, at], self.values[:, :, at] = kv.keys.transpose(1, 2), kv.values.transpose(1, 2)
            turn_in_time(self.keys[:, :, at], offset)
        self._newest = 0

    @property
    def kept(self) -> slice:
        """Tokens of sink and window."""
        return slice(self.sink * self.tokens, self.current * self.tokens)

    def state(self) -> dict[str, Tensor]:
        """Copies of sink and window, the newest chunk's slot with them."""
        kept = {"keys": self.keys[:, :, self.kept].clone(), "values": self.values[:, :, self.kept].clone()}
        return {**kept, "newest": torch.tensor([self._newest])}

    def take_state(self, state: Mapping[str, Tensor]) -> None:
        """Put back what `state` gave. Raises ValueError when it isn't of this context."""
        own = self.state()
        for name, tensor in own.items():
            given = state.get(name)
            if given is None or given.shape != tensor.shape or given.dtype != tensor.dtype:
                raise ValueError(f"{name} is not of this model")
        if not 0 <= int(state["newest"]) < max(1, self.window):
            raise ValueError("newest is no slot of the window")
        self.keys[:, :, self.kept], self.values[:, :, self.kept] = state["keys"], state["values"]
        self._newest = int(state["newest"])

    def own(self) -> BlockKV:
        """A copy of the current chunk's KV, unplaced: [layers, tokens, heads, 64]."""
        keys, values = (buffer[:, :, self.slot(self.current)].transpose(1, 2) for buffer in (self.keys, self.values))
        return BlockKV(keys.clone(memory_format=torch.contiguous_format), values.clone(memory_format=torch.contiguous_format))


class Player:
    """A network with the context of one world. ``retrieved`` and ``window`` are slots; all pictures are [1, F, 3, h, w] in [-1, 1]."""

    def __init__(self, network: TinyNetwork, window: int, retrieved: int) -> None:
        self.network, self.config = network, network.config
        self.device = network.place.device
        self.context = Context(self.config, window, retrieved, network.patches.weight.dtype, self.device)
        plain = self.context.keys.dtype == torch.float32 and self.device.type == "cpu"
        self.buffers = LayerBuffers(self.config, self.context.keys.shape[2]) if plain else None
        self.reset(0)

    def reset(self, seed: int) -> None:
        """Forget the world; the next chunk is the first of world ``seed``."""
        self.seed, self.chunk = seed, 0
        self._before: Tensor | None = None

    def stand(self, seed: int, chunk: int, before: Sequence[float]) -> None:
        """The next chunk is number ``chunk`` of world ``seed``, after a frame seen from pose ``before``."""
        self.seed, self.chunk = seed, chunk
        self._before = torch.tensor(before, dtype=torch.float32, device=self.device)[None]

    def noises(self, chunk: int) -> tuple[Tensor, Tensor]:
        """White and coarse noise of chunk number ``chunk`` of this world: the same on every device."""
        c = self.config
        generator = torch.Generator().manual_seed((self.seed * 0x9E3779B1 + chunk * 0x85EBCA77) & 0x7FFFFFFFFFFFFFFF)
        white, coarse = noise(torch.zeros(1, c.frames, 3, c.image_height, c.image_width), c.patch, generator)
        return white.to(self.device), coarse.to(self.device)

    @torch.no_grad()
    def write(self, picture: Tensor, poses: Tensor) -> Tensor:
        """Take a real ``picture`` at ``poses`` [F, 5] for the next chunk, with no retrieved slot in use. Returns the last tokens."""
        self.context.fill_missing(0)
        return self._passes(picture, poses, (LAST_LEVEL,), True, 0)[1]

    @torch.no_grad()
    def generate(self, poses: Tensor, retrieved: int, passes: int) -> tuple[Tensor, Tensor]:
        """Make the next chunk at ``poses`` [F, 5] with the first ``retrieved`` slots of the view in use: (picture, last tokens).

        Without a retrieved one the slots are left out, but for chunks so early that training had none either: there they hold the sink.
        """
        left_out = retrieved == 0 and self.chunk > self.context.window + 1
        if not left_out:
            self.context.fill_missing(retrieved)
        c = self.config
        blank = torch.zeros(1, c.frames, 3, c.image_height, c.image_width, device=self.device)
        return self._passes(blank, poses, SCHEDULES[passes], False, self.context.retrieved if left_out else 0)

    @torch.no_grad()
    def trial(self) -> None:
        """Compute one pass over whatever the context holds, to measure it; ends when it has ended. Leaves rubbish: `reset` follows."""
        self.chunk = 1
        c = self.config
        poses = torch.zeros(1, c.frames, 5, device=self.device)
        noisy, level = torch.zeros(1, c.frames, 3, c.image_height, c.image_width, device=self.device), torch.ones(1, device=self.device)
        x = self.run_layers(noisy, level, pose_features(poses, poses[:, 0]), self.network.geometry.rotations(poses), 0)
        self.network.head(x, noisy, level).sum().item()
        self.reset(self.seed)

    def _passes(self, picture: Tensor, poses: Tensor, levels: Sequence[float], given: bool, first_slot: int) -> tuple[Tensor, Tensor]:
        """The chunk's passes at ``levels``; afterwards the chunk is in the window and its KV in the current slot."""
        poses = poses[None].to(self.device)
        features = pose_features(poses, poses[:, 0] if self._before is None else self._before)
        rotation = self.network.geometry.rotations(poses)
        white, coarse = self.noises(self.chunk)
        for t in levels:
            level = poses.new_full((1,), t)
            noisy = noised(picture, level, white, coarse)
            x = self.run_layers(noisy, level, features, rotation, first_slot)
            if not given:
                picture = self.network.head(x, noisy, level).clamp(-1.05, 1.05).float()
        self.context.advance(first=self.chunk == 0)
        self._before, self.chunk = poses[:, -1], self.chunk + 1
        return picture, x

    def run_layers(self, noisy: Tensor, level: Tensor, features: Tensor, rotation: tuple[Tensor, Tensor], first_slot: int) -> Tensor:
        """Tokens [1, N, width] after all layers; leaves the chunk's keys and values in the current slot."""
        context, buffers = self.context, self.buffers
        x = self.network.embed(noisy.to(context.keys.dtype), level, features)
        here, seen = context.slot(context.current), slice(first_slot * context.tokens, None)
        turns = Turns.of(rotation) if buffers else None
        for index, layer in enumerate(self.network.layers):
            assert isinstance(layer, Layer)
            keys, values = context.keys[index], context.values[index]
            if buffers and turns:
                buffers.project(layer, x[0], turns, keys[:, here], values[:, here])
            else:
                q, k, v = layer.project(x, *rotation)
                keys[:, here], values[:, here] = k[0].transpose(0, 1), v[0].transpose(0, 1)
            if self.chunk == 0:
                context.fill_alone(index)
            if buffers and turns:
                buffers.finish(layer, x[0], turns, keys[:, seen], values[:, seen])
            else:
                out = F.scaled_dot_product_attention(q.transpose(1, 2), keys[None, :, seen], values[None, :, seen])
                x = layer.finish(x, out.transpose(1, 2), rotation[1])
        return x
