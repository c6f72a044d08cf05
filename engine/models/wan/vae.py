"""The Wan 2.1 VAE: 4 video frames and 8x8 pixels to one latent pixel, except for a video's first frame, which has a latent frame alone.

Encoding and decoding go through a video in pieces and keep in a `Stream` what their convolutions need of the past, so that a session of any
length decodes chunk by chunk exactly as it would in one go. Key names are those of the published file (`Wan2.1_VAE.pth`).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import cast

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from worldpager.engine.models.wan.vae_parts import CausalConv, ChannelNorm, Downsample, FrameAttention, ResidualBlock, Stream, Upsample

LATENT_MEAN = (
    -0.7571, -0.7089, -0.9113, 0.1075, -0.1745, 0.9653, -0.1517, 1.5508,
    0.4134, -0.0715, 0.5517, -0.3632, -0.1922, -0.9497, 0.2503, -0.2921,
)  # fmt: skip
LATENT_STD = (
    2.8184, 1.4541, 2.3275, 2.6558, 1.2196, 1.7708, 2.6052, 2.0743,
    3.2687, 2.1526, 2.8652, 1.5579, 1.6382, 1.1253, 2.8251, 1.9160,
)  # fmt: skip
SPACE, TIME = 8, 4
"""Pixels and video frames to a latent pixel."""
REACH = 29
"""Latent frames that an image can influence; of an image followed by grey, latent frame 29 and all later ones are equal."""


FORMS = ("plain", "last", "folded")
"""Ways to compute: numbers in plain order; channels last; channels last with three frames folded into the channels."""
WARM_UP = 3


@dataclass(frozen=True, slots=True)
class VaeConfig:
    """Sizes; the published file has the defaults."""

    width: int = 96
    latent: int = 16
    widths: tuple[int, ...] = (1, 2, 4, 4)
    """Width of each stage, in units of ``width``."""
    residuals: int = 2
    halve_time: tuple[bool, ...] = (False, True, True)
    """Whether the step after each stage but the last halves the frames too (the decoder goes the other way round)."""


class Encoder(nn.Module):
    """Video to twice the latent channels: mean and log variance of the posterior."""

    def __init__(self, c: VaeConfig) -> None:
        super().__init__()
        widths = [c.width * n for n in (1, *c.widths)]
        self.conv1 = CausalConv(3, widths[0])
        stages: list[nn.Module] = []
        for i, (width, out) in enumerate(pairwise(widths)):
            stages += [ResidualBlock(width if n == 0 else out, out) for n in range(c.residuals)]
            if i < len(c.halve_time):
                stages.append(Downsample(out, c.halve_time[i]))
        self.downsamples = nn.ModuleList(stages)
        self.middle = _middle(widths[-1])
        self.head = nn.ModuleDict({"0": ChannelNorm(widths[-1]), "2": CausalConv(widths[-1], 2 * c.latent)})

    def forward(self, x: Tensor, stream: Stream) -> Tensor:
        """[1, 2 * latent, f, h/8, w/8] of ``x`` [1, 3, F, h, w]; F is 1 + 4n for a video's beginning, 4n later."""
        x = self.conv1(x, stream)
        for part in (*self.downsamples, *self.middle):
            x = part(x, stream)
        return self.head["2"](F.silu(self.head["0"](x)), stream)


class Decoder(nn.Module):
    """Latent to video."""

    def __init__(self, c: VaeConfig) -> None:
        super().__init__()
        widths = [c.width * n for n in (c.widths[-1], *reversed(c.widths))]
        double_time = c.halve_time[::-1]
        self.conv1 = CausalConv(c.latent, widths[0])
        self.middle = _middle(widths[0])
        stages: list[nn.Module] = []
        for i, (width, out) in enumerate(pairwise(widths)):
            width = width // 2 if i else width
            stages += [ResidualBlock(width if n == 0 else out, out) for n in range(c.residuals + 1)]
            if i < len(double_time):
                stages.append(Upsample(out, double_time[i]))
        self.upsamples = nn.ModuleList(stages)
        self.head = nn.ModuleDict({"0": ChannelNorm(widths[-1]), "2": CausalConv(widths[-1], 3)})

    def forward(self, x: Tensor, stream: Stream) -> Tensor:
        """[1, 3, F, 8h, 8w] of ``x`` [1, latent, f, h, w]; the video's first latent frame gives one frame, every other four."""
        x = self.conv1(x, stream)
        for part in (*self.middle, *self.upsamples):
            x = part(x, stream)
        return self.head["2"](F.silu(self.head["0"](x)), stream)


def _middle(width: int) -> nn.ModuleList:
    return nn.ModuleList([ResidualBlock(width, width), FrameAttention(width), ResidualBlock(width, width)])


class WanVae(nn.Module):
    """Both ways. Model latents are normalised by channel, so that they have about unit spread."""

    def __init__(self, config: VaeConfig | None = None) -> None:
        super().__init__()
        self.config = c = config or VaeConfig()
        self._form = "plain"
        self.encoder, self.conv1 = Encoder(c), CausalConv(2 * c.latent, 2 * c.latent, 1)
        self.conv2, self.decoder = CausalConv(c.latent, c.latent, 1), Decoder(c)

    def use(self, form: str) -> None:
        """Compute in one of `FORMS`: the same numbers but for rounding, another speed."""
        self._form = form
        for module in self.modules():
            if isinstance(module, nn.Conv2d | nn.Conv3d):
                last = torch.channels_last if isinstance(module, nn.Conv2d) else torch.channels_last_3d
                module.weight.data = module.weight.data.contiguous(memory_format=torch.contiguous_format if form == "plain" else last)
            if isinstance(module, CausalConv):
                module.folded = form == "folded"

    @torch.no_grad()
    def use_fastest(self, height: int, width: int, clock: Callable[[], float] = time.perf_counter) -> dict[str, float]:
        """Choose the form that decodes latents of ``height`` x ``width`` fastest on this device; seconds of a latent frame by form."""
        latents = torch.zeros(1, self.config.latent, 1, height, width, device=self.conv1.weight.device, dtype=self.kind)
        seconds = {}
        for form in FORMS:
            self.use(form)
            stream: Stream = {}
            for _ in range(WARM_UP):
                self.decode(latents, stream)
            began = clock()
            float(self.decode(latents, stream).sum())  # ends when the device has ended
            seconds[form] = clock() - began
        self.use(min(seconds, key=lambda form: seconds[form]))
        return seconds

    @property
    def kind(self) -> torch.dtype:
        """Type of its numbers."""
        return self.conv1.weight.dtype

    @torch.no_grad()
    def encode(self, video: Tensor) -> Tensor:
        """Normalised latents [1, 16, f, h/8, w/8] of ``video`` [1, 3, 1 + 4n, h, w] in [-1, 1]: the posterior's mean, nothing drawn."""
        stream: Stream = {}
        pieces = [video[:, :, :1], *video[:, :, 1:].split(TIME, dim=2)] if video.shape[2] > 1 else [video]
        return torch.cat([self._normalised(self.encoder(piece, stream)) for piece in pieces], dim=2)

    @torch.no_grad()
    def encode_start(self, image: Tensor, latent_frames: int = REACH + 1, frames_at_once: int = 1) -> Tensor:
        """Latents [1, 16, latent_frames, h/8, w/8] of ``image`` [1, 3, h, w] followed by mid grey for ever.

        From `REACH` on they don't change: `start_latents` repeats the last one as often as a session needs it. ``frames_at_once`` as in
        `decode`.
        """
        stream: Stream = {}
        grey = torch.zeros_like(image).unsqueeze(2).expand(-1, -1, TIME * (latent_frames - 1), -1, -1)
        pieces = [image.unsqueeze(2), *grey.split(TIME * frames_at_once, dim=2)]
        return torch.cat([self._normalised(self.encoder(piece, stream)) for piece in pieces], dim=2)

    def _normalised(self, moments: Tensor) -> Tensor:
        mean = self.conv1(moments)[:, : self.config.latent]
        return (mean - _channels(LATENT_MEAN, mean)) / _channels(LATENT_STD, mean)

    @torch.no_grad()
    def decode(self, latents: Tensor, stream: Stream, frames_at_once: int = 1) -> Tensor:
        """The next video frames [1, 3, F, 8h, 8w] in [-1, 1] of ``latents`` [1, 16, f, h, w]; ``stream`` is empty for a video's beginning.

        ``frames_at_once`` latent frames go through together: the result is the same, more are faster and take more memory.
        """
        raw = self.conv2(latents * _channels(LATENT_STD, latents) + _channels(LATENT_MEAN, latents))
        raw = raw.contiguous(memory_format=torch.contiguous_format if self._form == "plain" else torch.channels_last_3d)
        pieces = cast("Sequence[Tensor]", raw.split(frames_at_once, dim=2))
        return torch.cat([self.decoder(piece, stream).clamp(-1, 1) for piece in pieces], dim=2)


def _channels(values: Sequence[float], like: Tensor) -> Tensor:
    """One number a channel, ready to meet ``like`` [1, channel, f, h, w]."""
    return like.new_tensor(values[: like.shape[1]]).view(1, -1, 1, 1, 1)


def start_latents(encoded: Tensor, first: int, count: int) -> Tensor:
    """Latent frames ``first`` .. ``first + count - 1`` of an image followed by grey for ever, from `WanVae.encode_start`'s ``encoded``."""
    rows = torch.arange(first, first + count, device=encoded.device).clamp(max=encoded.shape[2] - 1)
    return encoded.index_select(2, rows)


def video_frames(latent_frames: int, first: bool) -> int:
    """Video frames that ``latent_frames`` decode to: a video's first latent frame is one, every other `TIME`."""
    return TIME * latent_frames - (TIME - 1 if first else 0)
