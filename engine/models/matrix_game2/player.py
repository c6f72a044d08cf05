"""One world of Matrix-Game 2.0 at play: start picture, action rows, chunks in latent space, frames.

A session is unbounded: the condition is encoded once (the encoder's reach is finite), the action rows keep their last twelve, positions are
reckoned for any frame.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import torch
from torch import Tensor

from worldpager.engine.models.base import BlockKV
from worldpager.engine.models.matrix_game2.action_module import ROWS_PER_FRAME, rows_of
from worldpager.engine.models.matrix_game2.conditioning import condition
from worldpager.engine.models.matrix_game2.config import ACTION_ROWS
from worldpager.engine.models.matrix_game2.context import CHUNK, Window
from worldpager.engine.models.matrix_game2.controls import Rows
from worldpager.engine.models.matrix_game2.need import free_bytes
from worldpager.engine.models.matrix_game2.parts import Parts
from worldpager.engine.models.matrix_game2.rollout import Rollout, Runner, run_plainly
from worldpager.engine.models.matrix_game2.tiny_decoder import TinyStream
from worldpager.engine.models.wan.flow import FlowStep
from worldpager.engine.models.wan.vae import start_latents
from worldpager.engine.models.wan.vae_parts import Stream
from worldpager.engine.types import Frames

MIX = 1_000_003
AMPLE = 40e9
"""Bytes free on the device from where on the large decoder takes a chunk's latent frames together: faster, and more memory at work."""


class ActionRows:
    """The rows that the next chunk listens to: the last twelve before it, ``kept``, and its own."""

    def __init__(self) -> None:
        self.kept: Tensor | None = None
        self._start = 0

    def add(self, rows: Tensor) -> None:
        """The rows [n, values] of the next chunk."""
        self.kept = rows if self.kept is None else torch.cat([self.kept, rows])

    def heard(self, frame: int) -> Tensor:
        """What the chunk at latent ``frame`` listens to, [3, 12, values]; rows that no later chunk needs are let go."""
        assert self.kept is not None
        found = rows_of(self.kept, frame, CHUNK, self._start)
        keep = self.kept[-ACTION_ROWS:]
        self._start, self.kept = self._start + len(self.kept) - len(keep), keep
        return found

    def stand(self, frame: int, rows: Tensor) -> None:
        """The chunk before latent ``frame`` had ``rows``; of what came before, its first row stands in."""
        missing = min(ACTION_ROWS, ROWS_PER_FRAME * (frame - 1)) - len(rows)
        self.kept = torch.cat([rows[:1].expand(max(0, missing), -1), rows])[-ACTION_ROWS:]
        self._start = ROWS_PER_FRAME * (frame - 1) - len(self.kept)

    def take(self, kept: Tensor) -> None:
        """Put ``kept`` back. Raises `ValueError` when it has another shape."""
        if self.kept is None or kept.shape != self.kept.shape:
            raise ValueError(f"action rows are {list(kept.shape)}")
        self.kept = kept


class Player:
    """``parts`` over the context of one world. ``steps`` are the denoising passes; ``runner`` runs each."""

    def __init__(self, parts: Parts, window: Window, steps: Sequence[FlowStep], runner: Runner = run_plainly) -> None:
        design = parts.design
        self.parts, self.steps = parts, tuple(steps)
        self.rollout = Rollout(parts.network, design.height, design.width, window, runner)
        self.device = self.rollout.device
        self._latents, self._clip = torch.zeros(0), torch.zeros(0)
        self._picture: Tensor | None = None
        self.mouse_rows, self.keyboard_rows = ActionRows(), ActionRows()
        self._stream: Stream = {}
        self._tiny_stream: TinyStream = {}
        self._seed = self.chunk = 0
        self.at_once = CHUNK if self.device.type == "cuda" and (free_bytes(self.device) or 0) > AMPLE else 1

    @torch.no_grad()
    def begin(self, seed: int, picture: Tensor) -> None:
        """World ``seed`` starts from ``picture`` [1, 3, H, W] in [-1, 1]. The same picture again is not encoded again."""
        if self._picture is None or not torch.equal(self._picture, picture):
            vae, count = self.parts.vae, self.parts.design.start_frames
            self._latents = vae.encode_start(picture.to(self.device, vae.kind), count, self.at_once).float()
            self._clip, self._picture = self.parts.clip_tokens(picture), picture
        self.rollout.begin(self._clip)
        self.mouse_rows, self.keyboard_rows = ActionRows(), ActionRows()
        self._stream, self._tiny_stream = {}, {}
        self._seed, self.chunk = seed, 0

    @torch.no_grad()
    def generate(self, rows: Rows, retrieved: int) -> Tensor:
        """The clean latent [16, 3, h, w] of the next chunk; its keys and values have entered no window yet (see `finish`)."""
        frame = self.rollout.frame
        self.keyboard_rows.add(rows.keyboard)
        mouse = None
        if rows.mouse is not None:
            self.mouse_rows.add(rows.mouse)
            mouse = self.mouse_rows.heard(frame)
        start = condition(start_latents(self._latents, frame, CHUNK)[0], frame)
        self.rollout.prepare(start, mouse, self.keyboard_rows.heard(frame), retrieved)
        draw = torch.Generator().manual_seed((self._seed * MIX + self.chunk) & 0x7FFF_FFFF_FFFF_FFFF)
        noise = self._noise(draw)
        return self.rollout.denoise(noise(), self.steps, noise)

    @torch.no_grad()
    def finish(self, clean: Tensor) -> BlockKV:
        """The pass at t = 0; returns the chunk's keys and values and goes on to the next chunk."""
        self.rollout.finish(clean)
        kept = self.rollout.take()
        self.rollout.advance()
        self.chunk += 1
        return kept

    @torch.no_grad()
    def decode(self, clean: Tensor) -> Frames:
        """Frames [F, H, W, 3] of the next chunk: nine of a world's first, twelve of every other."""
        parts = self.parts
        unknown = self.chunk > 1 and not (self._tiny_stream if parts.tiny else self._stream)
        latents = (torch.cat([clean[:, :1], clean], 1) if unknown else clean).to(parts.vae.kind)
        if parts.tiny is not None:
            video = parts.tiny.decode(latents.transpose(0, 1), self._tiny_stream) * 255
        else:
            video = (parts.vae.decode(latents[None], self._stream, self.at_once)[0].transpose(0, 1).float() + 1) * 127.5
        video = video[1 if unknown else 0 :]  # after going back the decoder's past is not known: the first latent frame stands in
        frames = video.round().clamp(0, 255).to(torch.uint8).permute(0, 2, 3, 1).contiguous().cpu().numpy()
        return np.ascontiguousarray(frames)

    def stand(self, chunk: int, rows: Rows) -> None:
        """The next chunk is number ``chunk`` of the world begun, after a chunk with ``rows``; the windows are the caller's."""
        self.chunk, self.rollout.frame = chunk, chunk * CHUNK
        self.keyboard_rows.stand(self.rollout.frame, rows.keyboard)
        if rows.mouse is not None:
            self.mouse_rows.stand(self.rollout.frame, rows.mouse)

    def decoder_state(self) -> dict[str, Tensor]:
        """What the decoder remembers, by the names of its parts."""
        names = {module: name for name, module in self.parts.vae.named_modules()}
        large = {f"decoder/{names[module]}": kept for module, kept in self._stream.items()}
        return large | {f"tiny/{name}": kept for name, kept in self._tiny_stream.items()}

    def take_decoder_state(self, state: Mapping[str, Tensor]) -> None:
        """Put back what `decoder_state` gave; that of the other decoder is let be. Raises `ValueError` for an unknown part."""
        modules = dict(self.parts.vae.named_modules())
        kept = {name.removeprefix("decoder/"): value for name, value in state.items() if name.startswith("decoder/")}
        if not kept.keys() <= modules.keys():
            raise ValueError("what a decoder of another kind remembers")
        kind = self.parts.vae.kind
        self._stream = {modules[name]: value.to(self.device, kind) for name, value in kept.items()}
        tiny = {name.removeprefix("tiny/"): value for name, value in state.items() if name.startswith("tiny/")}
        self._tiny_stream = {name: value.to(self.device, kind) for name, value in tiny.items()}

    def _noise(self, draw: torch.Generator) -> Callable[[], Tensor]:
        """Drawn on the processor, so that a world is the same on every device."""
        design, channels = self.parts.design, self.parts.network.config.outputs
        shape = (channels, CHUNK, design.height, design.width)
        return lambda: torch.randn(shape, generator=draw).to(self.device)


def chunk_rows(first: bool) -> int:
    """Action rows of a chunk: a world's first has one video frame for its first latent frame."""
    return CHUNK * ROWS_PER_FRAME - (ROWS_PER_FRAME if first else 0)
