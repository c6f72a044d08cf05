"""LingBot-World as the street sees it: poses to a camera condition, a chunk of latents, pictures, keys and values for the memory."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext

import torch
from torch import Tensor

from worldpager.engine.errors import InputError
from worldpager.engine.models.base import ChunkOutput, KVShape, MemoryView, ModelSpec, PastChunk
from worldpager.engine.models.lingbot_world import camera
from worldpager.engine.models.lingbot_world.config import NAMES
from worldpager.engine.models.lingbot_world.load import Parts, load_parts
from worldpager.engine.models.lingbot_world.options import LingBotOptions
from worldpager.engine.models.lingbot_world.prompting import Prompting
from worldpager.engine.models.lingbot_world.rollout import Rollout
from worldpager.engine.models.wan.pruning import kept_tokens
from worldpager.engine.models.wan.rope import TRAINED_ROWS, rotary_spec
from worldpager.engine.models.wan.start_picture import drawn_picture, fitted, frame_size
from worldpager.engine.models.wan.vae import SPACE, TIME, start_latents, video_frames
from worldpager.engine.models.wan.vae_parts import Stream
from worldpager.engine.positions.placement import Placement
from worldpager.engine.types import FieldOfView, Frames, Motion, Pose

RANDOM_NOTE = "random weights: this picture is a trial of the machine, not a world"
SIGHT = 6.0
"""Units that the camera sees well; a run of 16 frames is 1.3 of them."""
MOTION = Motion(walk=0.05, run=0.08, turn=math.radians(2), look=math.radians(1.5), pitch_limit=math.radians(40), eye_height=0.5,
                turn_limit=math.radians(4))  # fmt: skip
STEP_UNIT = TIME * MOTION.run
"""A running step of one latent frame: the translation that the network hears as 1, for the whole of every world."""
PIXELS_AT_ONCE = 400_000
"""Pixels of the latent frames that the VAE takes together, times 4 video frames: what a 24 GB card has room for beside the rest."""
WIDE = (832, 464)
"""Shape of frames when no picture gives one."""




class LingBotWorld:
    """The model over its loaded parts. ``settings`` says what was chosen, for reports."""

    def __init__(self, parts: Parts, options: LingBotOptions) -> None:
        c, self._parts, self._options = options.dit, parts, options
        shape = WIDE if parts.picture is None else (parts.picture.shape[2], parts.picture.shape[1])
        self.width, self.height = frame_size(shape, options.area)
        self._latent = (self.height // SPACE, self.width // SPACE)
        self._rollout = Rollout(parts.network, *self._latent, options.retrieved, options.keep)
        self._at_once = max(1, min(8, PIXELS_AT_ONCE // (self.width * self.height)))
        gpu = self._rollout.device.type == "cuda"
        self.decode_seconds = parts.vae.use_fastest(*self._latent) if gpu else {}
        """Seconds that the decoder takes for a latent frame by the forms tried; the fastest is in use."""
        self._lens = camera.intrinsics(self.width, self.height).to(self._rollout.device)
        self._start: tuple[int | None, Tensor] | None = None
        places = self._latent[0] * self._latent[1] // 4
        across, up = (2 * math.atan(size / 2 / float(focal)) for size, focal in zip((self.width, self.height), self._lens[:2], strict=True))
        before = c.window - c.sink - c.chunk if options.recent is None else min(options.recent, c.window - c.sink - c.chunk)
        horizon = options.horizon or TRAINED_ROWS // c.chunk
        self.watch: Callable[[str], AbstractContextManager[object]] = nullcontext
        """Goes around each stage of a chunk, by name; for measurements."""
        self._prompt, self._prompting = parts.prompt, Prompting(parts.encoder, c.text_width)
        self._spec = ModelSpec(
            name=NAMES[options.variant], frames_per_chunk=TIME * c.chunk, width=self.width, height=self.height, rate=options.rate,
            kv=KVShape(c.blocks, kept_tokens(c.chunk, places, options.keep), c.heads, c.head_dim), rotary=rotary_spec(c.head_dim),
            retrieved=options.retrieved, window=max(1, before // c.chunk), memory_offset=0.0, view=FieldOfView(across, up, SIGHT),
            native_horizon=horizon, placement=Placement(c.chunk, horizon, options.before),
            keeps_sink=c.sink >= c.chunk,
        )  # fmt: skip
        self._stand(0, None, {})

    @property
    def spec(self) -> ModelSpec:
        """Constants by the options."""
        return self._spec

    @property
    def motion(self) -> Motion:
        """The published key tool's walk and turn."""
        return MOTION

    @property
    def device(self) -> torch.device:
        """Where the network lies."""
        return self._rollout.device

    @property
    def memory_view(self) -> MemoryView:
        """The retrieved part of the context itself."""
        return self._rollout.context.view

    @property
    def settings(self) -> dict[str, str]:
        """What was chosen, by option name."""
        o = self._options
        numbers = {"window": o.dit.window, "sink": o.dit.sink, "retrieved": o.retrieved, "keep": o.keep}
        kind = str(self._parts.network.kind).removeprefix("torch.")
        weights = {"weights": "random"} if o.random else {}
        return {**{name: f"{n:g}" for name, n in numbers.items()}, "dtype": kind, **weights}

    @property
    def notes(self) -> tuple[str, ...]:
        """What a player should know about this run."""
        return ((RANDOM_NOTE,) if self._options.random else ()) + self._prompting.notes

    def hear(self, prompt: str) -> None:
        """Play on under another ``prompt``, from a chunk's border on. What was made before stays as it is. Raises `InputError`."""
        self._prompting.ask(prompt)

    def _stand(self, seed: int, before: Pose | None, stream: Stream) -> None:
        """The next chunk is of world ``seed``, after a chunk whose last pose was ``before``."""
        self._seed, self._before, self._stream = seed, before, stream

    @torch.no_grad()
    def begin(self, seed: int, prime: bool) -> Iterator[ChunkOutput]:
        """The world's first chunk, seen standing still: 13 frames (of 4 latent frames) that grow out of the start picture.

        The network makes every chunk itself, so that ``prime`` has nothing to show beforehand.
        """
        self._encode_start(seed)
        self._rollout.begin(self._prompt)
        self._stand(seed, None, {})
        start = Pose(0.0, 0.0, MOTION.eye_height, 0.0, 0.0)
        yield self._made([start] * video_frames(self._options.dit.chunk, first=True), 0)

    @torch.no_grad()
    def step(self, poses: Sequence[Pose], retrieved: int) -> ChunkOutput:
        """The next chunk; the same for the same seed, number of the chunk, poses and memory."""
        return self._made(poses, retrieved if self._rollout.context.sink_full else 0)

    def _made(self, poses: Sequence[Pose], retrieved: int) -> ChunkOutput:
        rollout, options, first = self._rollout, self._options, self._rollout.frame == 0
        with self.watch("camera"):
            if (heard := self._prompting.take()) is not None:
                self._prompt = heard
                rollout.tell(heard)
            rollout.place_sink()
            step = rollout.prepare(self._camera(poses), retrieved, options.recent if retrieved else None)
            condition, noises = self._condition(rollout.frame), self._noises()
        with self.watch("denoise"):
            clean = rollout.denoise(next(noises), condition, noises.__next__, step)
        with self.watch("keys and values"):
            kv = rollout.finish(clean, condition, step)
            rollout.advance()
        with self.watch("decode"):
            frames = self._pictures(clean, first)
        self._before = poses[-1]
        return ChunkOutput(frames, tuple(poses), kv)

    def _camera(self, poses: Sequence[Pose]) -> Tensor:
        """The camera condition [384, chunk, h, w] of a chunk."""
        here = camera.camera_to_world(camera.latent_poses(poses, self._options.dit.chunk))
        before = None if self._before is None else camera.camera_to_world([self._before])[0]
        steps = camera.scaled(camera.relative_steps(here, before), STEP_UNIT)
        return camera.ray_condition(steps, self._lens, self.width, self.height)

    def _noises(self) -> Iterator[Tensor]:
        """Noise [16, chunk, h, w] for the chunk and each step after the first: the same on every device."""
        c = self._options.dit
        chunk = self._rollout.frame // c.chunk
        generator = torch.Generator().manual_seed((self._seed * 0x9E3779B1 + chunk * 0x85EBCA77) & 0x7FFFFFFFFFFFFFFF)
        while True:
            yield torch.randn(c.outputs, c.chunk, *self._latent, generator=generator).to(self.device)

    def _condition(self, frame: int) -> Tensor:
        """Mask and start picture [20, chunk, h, w] of the chunk from latent ``frame`` on."""
        assert self._start is not None
        latents = start_latents(self._start[1], frame, self._options.dit.chunk)[0].float()
        mask = torch.zeros(4, *latents.shape[1:], device=latents.device)
        mask[:, 0] = float(frame == 0)
        return torch.cat([mask, latents])

    def _encode_start(self, seed: int) -> None:
        """Encode the start picture, unless it is the one of last time."""
        given = self._parts.picture
        key = None if given is not None else seed
        if self._start is None or self._start[0] != key:
            picture = given if given is not None else drawn_picture(seed, self.width, self.height, self._spec.view.horizontal)
            image = fitted(picture, self.width, self.height).to(self.device, self._parts.vae.kind)
            self._start = key, self._parts.vae.encode_start(image, frames_at_once=self._at_once)

    def _pictures(self, clean: Tensor, first: bool) -> Frames:
        """Pictures of latents [16, chunk, h, w]. After going back the decoder's past is not known: the first latent frame stands in."""
        latents = clean[None].to(self._parts.vae.kind)
        unknown = not first and not self._stream
        if unknown:
            latents = torch.cat([latents[:, :, :1], latents], dim=2)
        video = self._parts.vae.decode(latents, self._stream, self._at_once)[0, :, 1 if unknown else 0 :]
        frames: Frames = ((video.float() + 1) * 127.5).round().to(torch.uint8).permute(1, 2, 3, 0).contiguous().cpu().numpy()
        return frames

    # Going back

    def restore(self, seed: int, number: int, sink: PastChunk, newest: Sequence[PastChunk]) -> None:
        """See `Resumable`. Needs whole chunks in memory."""
        if self._options.keep < 1:
            raise InputError("A world whose chunks are stored in part can't be gone back in.", "Play with keep=1 for that.")
        self._encode_start(seed)
        if seed != self._seed or self._before is None:
            self._rollout.begin(self._prompt)
        self._rollout.stand((number + 1) * self._options.dit.chunk, sink.kv, [past.kv for past in newest])
        self._stand(seed, newest[0].poses[-1], {})

    def window_state(self) -> dict[str, Tensor]:
        """See `Resumable`. What the decoder remembers is in it."""
        names = {module: name for name, module in self._parts.vae.named_modules()}
        stream = {f"decoder/{names[module]}": kept.clone() for module, kept in self._stream.items()}
        return {**self._rollout.context.state(), **stream}

    def take_window_state(self, state: Mapping[str, Tensor]) -> None:
        """See `Resumable`."""
        modules = dict(self._parts.vae.named_modules())
        kept = {name.removeprefix("decoder/"): value for name, value in state.items() if name.startswith("decoder/")}
        if not kept.keys() <= modules.keys():
            raise ValueError("what a decoder of another kind remembers")
        self._rollout.take_context(state)
        self._stream = {modules[name]: value.to(self.device, self._parts.vae.kind) for name, value in kept.items()}

    def close(self) -> None:
        """Let go of weights and buffers."""
        self._prompting.close()
        del self._rollout, self._parts
        self._start, self._stream = None, {}


class Variant:
    """Loads one published model by name; the registry knows these."""

    def __init__(self, variant: str) -> None:
        self.variant = variant

    def load(self, options: Mapping[str, str], device: torch.device) -> LingBotWorld:
        """The model with its ``options`` on ``device``. Raises `InputError` or `WeightsError`; nothing stays loaded then."""
        read = LingBotOptions.read(self.variant, options)
        return LingBotWorld(load_parts(read, device), read)


SMALLEST, LARGE, FIRST = Variant("1.3b"), Variant("14b"), Variant("1.0-fast")
