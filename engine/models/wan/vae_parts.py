"""The pieces of the Wan 2.1 VAE: causal convolutions that remember, norms, residual blocks, one attention, and resampling.

Written from the description of the published file. Names of submodules follow the published keys (`residual.2`, `resample.1`, ...).
Tensors are [batch, channel, frame, height, width].
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional as F

Stream = dict[nn.Module, Tensor]
"""What each causal convolution keeps of the frames it has seen; empty at the beginning of a video."""


LAST = torch.channels_last_3d


def ordered(x: Tensor, like: Tensor) -> Tensor:
    """``x`` in the order of ``like``'s numbers in memory: channels last or plain."""
    return x.contiguous(memory_format=LAST) if like.is_contiguous(memory_format=LAST) else x.contiguous()


def padding_frames(like: Tensor, count: int) -> Tensor:
    """``count`` zero frames of the size and order of ``like``."""
    return ordered(like.new_zeros(*like.shape[:2], count, *like.shape[3:]), like)


def _needed(stream: Stream | None) -> Stream:
    if stream is None:
        raise ValueError("a convolution over time needs its stream")
    return stream


class CausalConv(nn.Conv3d):
    """A 3D convolution that looks back only: what lies before the first frame is zero, what lies before this call comes from the stream.

    ``folded``: computed as a 2D convolution over three frames side by side in the channels. The same sum; on some devices much faster.
    """

    folded = False

    def __init__(self, width: int, out: int, kernel: int | tuple[int, int, int] = 3) -> None:
        size = (kernel, kernel, kernel) if isinstance(kernel, int) else kernel
        super().__init__(width, out, size, padding=(0, size[1] // 2, size[2] // 2))
        self.reach = size[0] - 1

    def forward(self, x: Tensor, stream: Stream | None = None) -> Tensor:
        """As many frames as ``x`` has. The last ``reach`` frames stay in the stream."""
        if self.reach:
            stream = _needed(stream)
            before = stream[self] if self in stream else padding_frames(x, self.reach)
            x = torch.cat([before, x], dim=2)
            stream[self] = x[:, :, -self.reach :].clone()
        return self._folded(x) if self.folded else super().forward(x)

    def _folded(self, x: Tensor) -> Tensor:
        frames = x.transpose(1, 2).flatten(0, 1)
        count = len(frames) - self.reach  # of a batch of one
        side_by_side = torch.cat([frames[tap : tap + count] for tap in range(self.reach + 1)], dim=1)
        weight = self.weight.transpose(1, 2).flatten(1, 2).contiguous(memory_format=torch.channels_last)
        return F.conv2d(side_by_side, weight, self.bias, padding=self.padding[1:]).unsqueeze(0).transpose(1, 2)


class HalvingTimeConv(nn.Conv3d):
    """Half the frames: the very first frame passes as it is, then each two become one, seen together with the one before them."""

    def __init__(self, width: int) -> None:
        super().__init__(width, width, (3, 1, 1), stride=(2, 1, 1))

    def forward(self, x: Tensor, stream: Stream | None = None) -> Tensor:
        """1 + 2n frames become 1 + n at the beginning of a video, later 2n become n."""
        stream = _needed(stream)
        first = self not in stream
        known = x if first else torch.cat([stream[self], x], dim=2)
        stream[self] = known[:, :, -1:].clone()
        halved = super().forward(known) if known.shape[2] >= 3 else x[:, :, :0]
        return torch.cat([x[:, :, :1], halved], dim=2) if first else halved


class DoublingTimeConv(CausalConv):
    """Twice the frames, except for the first of the video: it passes as it is, and the convolution never sees it."""

    def __init__(self, width: int) -> None:
        super().__init__(width, 2 * width, (3, 1, 1))

    def forward(self, x: Tensor, stream: Stream | None = None) -> Tensor:
        """1 + n frames become 1 + 2n at the beginning of a video, later n become 2n."""
        stream = _needed(stream)
        skipped = 0 if self in stream else 1
        first, rest = x[:, :, :skipped], x[:, :, skipped:]
        if skipped:
            stream[self] = padding_frames(x, self.reach)
        if not rest.shape[2]:
            return first
        even, odd = super().forward(rest, stream).chunk(2, dim=1)
        doubled = ordered(torch.stack([even, odd], dim=3).flatten(2, 3), x)
        return torch.cat([first, doubled], dim=2) if skipped else doubled


class ChannelNorm(nn.Module):
    """Unit length over the channels, times sqrt(channels) and a gain."""

    def __init__(self, width: int, dims: int = 3) -> None:
        super().__init__()
        self.gamma = nn.Parameter(torch.ones(width, *[1] * dims))

    def forward(self, x: Tensor) -> Tensor:
        """Same shape; channels are dimension 1."""
        return F.normalize(x, dim=1) * (self.gamma * len(self.gamma) ** 0.5)


class ResidualBlock(nn.Module):
    """Twice norm, SiLU, convolution; a 1x1x1 convolution carries the input along where the width changes."""

    def __init__(self, width: int, out: int) -> None:
        super().__init__()
        parts = {"0": ChannelNorm(width), "2": CausalConv(width, out), "3": ChannelNorm(out), "6": CausalConv(out, out)}
        self.residual = nn.ModuleDict(parts)
        self.shortcut = CausalConv(width, out, 1) if width != out else nn.Identity()

    def forward(self, x: Tensor, stream: Stream) -> Tensor:
        """Width ``out``, all else as in ``x``."""
        y = self.residual["2"](F.silu(self.residual["0"](x)), stream)
        y = self.residual["6"](F.silu(self.residual["3"](y)), stream)
        return self.shortcut(x) + y


class FrameAttention(nn.Module):
    """Self attention with one head among the pixels of each frame."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm = ChannelNorm(width, dims=2)
        self.to_qkv = nn.Conv2d(width, 3 * width, 1)
        self.proj = nn.Conv2d(width, width, 1)

    def forward(self, x: Tensor, stream: Stream) -> Tensor:
        """Same shape; keeps nothing in the stream."""
        frames = x.transpose(1, 2).flatten(0, 1)
        qkv = self.to_qkv(self.norm(frames)).flatten(2).transpose(1, 2)
        q, k, v = qkv.contiguous().unsqueeze(1).chunk(3, dim=-1)
        seen = F.scaled_dot_product_attention(q, k, v).squeeze(1).transpose(1, 2).reshape(frames.shape)
        return x + ordered(self.proj(seen).unflatten(0, (x.shape[0], x.shape[2])).transpose(1, 2), x)


def _each_frame(layer: Callable[[Tensor], Tensor], x: Tensor) -> Tensor:
    """A 2D layer on every frame."""
    return layer(x.transpose(1, 2).flatten(0, 1)).unflatten(0, (x.shape[0], x.shape[2])).transpose(1, 2)


class Downsample(nn.Module):
    """Half the height and width, and half the frames where ``time`` says so."""

    def __init__(self, width: int, time: bool) -> None:
        super().__init__()
        self.resample = nn.ModuleDict({"1": nn.Conv2d(width, width, 3, stride=2)})
        self.time_conv = HalvingTimeConv(width) if time else None

    def forward(self, x: Tensor, stream: Stream) -> Tensor:
        """Space first, then time."""
        x = _each_frame(self.resample["1"], F.pad(x, (0, 1, 0, 1)))
        return x if self.time_conv is None else self.time_conv(x, stream)


class Upsample(nn.Module):
    """Twice the height and width at half the channels, and twice the frames where ``time`` says so."""

    def __init__(self, width: int, time: bool) -> None:
        super().__init__()
        self.resample = nn.ModuleDict({"1": nn.Conv2d(width, width // 2, 3, padding=1)})
        self.time_conv = DoublingTimeConv(width) if time else None

    def forward(self, x: Tensor, stream: Stream) -> Tensor:
        """Time first, then space."""
        x = x if self.time_conv is None else self.time_conv(x, stream)
        return _each_frame(lambda frames: self.resample["1"](F.interpolate(frames, scale_factor=2.0, mode="nearest")), x)
