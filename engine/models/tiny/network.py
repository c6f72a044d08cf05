"""The tiny world model's network: a chunk-wise causal flow transformer in pixel space that predicts the clean picture.

Geometry enters through rotations. Of a head's 32 channel pairs the first `TIME_PAIRS` turn with the frame's place in its chunk (and by the
slot's offset when a block is placed), the next with the camera's position, the next with the token's ray direction in the world, the rest
not at all. Queries and keys are turned, and values too with the inverse on the attention's output, so that a copied patch arrives expressed
in the reader's frame. Rotations are absolute on each side and relative in effect: keys and values are computed once and kept.

Shapes: B sequences, F frames a chunk, N tokens a chunk, H heads of 64 channels, width = 64 H.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F

HEAD = 64
PAIRS = HEAD // 2
TIME_PAIRS, PLACE_PAIRS, AZIMUTH_PAIRS, HEIGHT_PAIRS = 3, 14, 8, 4
TIME_FREQUENCIES = (0.9, 0.3, 0.1)
PLANES = 5
POSE_FEATURES = 12


@dataclass(frozen=True, slots=True)
class TinyConfig:
    """Constants of the network; stored in ``config.json`` beside the weights."""

    width: int = 448
    hidden: int = 1568
    layers: int = 6
    frames: int = 4
    pair: int = 2
    """Frames that share a token; heads then take turns in looking from each of them."""
    patch: int = 10
    image_width: int = 120
    image_height: int = 80

    @property
    def heads(self) -> int:
        """Attention heads of 64 channels."""
        return self.width // HEAD

    @property
    def columns(self) -> int:
        """Tokens across."""
        return self.image_width // self.patch

    @property
    def rows(self) -> int:
        """Tokens down."""
        return self.image_height // self.patch

    @property
    def tokens(self) -> int:
        """Tokens of a chunk."""
        return self.rows * self.columns * self.frames // self.pair


def normed(x: Tensor) -> Tensor:
    """RMS norm without weights."""
    return F.rms_norm(x, (x.shape[-1],))


def turned(x: Tensor, rotation: Tensor) -> Tensor:
    """Rotate channel pairs (even, odd) of ``x`` [..., H, 64] by ``rotation`` [..., H, 32, 2] = (cos, sin)."""
    if x.dtype == torch.float32 and not x.is_cuda:
        pairs = torch.view_as_complex(x.unflatten(-1, (PAIRS, 2))) * torch.view_as_complex(rotation)
        return torch.view_as_real(pairs).flatten(-2)
    a, b = x.unflatten(-1, (PAIRS, 2)).unbind(-1)
    cos, sin = rotation.to(x.dtype).unbind(-1)
    return torch.stack([a * cos - b * sin, a * sin + b * cos], -1).flatten(-2)


def inverse(rotation: Tensor) -> Tensor:
    """The opposite turn."""
    return rotation * rotation.new_tensor([1.0, -1.0])


class Geometry(nn.Module):
    """Rotations of tokens from camera poses. All in float32: angles reach hundreds of radians."""

    def __init__(self, config: TinyConfig) -> None:
        super().__init__()
        self.config = config
        draw = torch.Generator().manual_seed(20261201)
        heads = config.heads

        def spread(count: int, low: float, high: float) -> Tensor:
            """Log-spaced over heads and pairs together, shuffled so that each head spans the range."""
            steps = torch.linspace(0, 1, heads * count)
            return (low * (high / low) ** steps).reshape(count, heads).T.contiguous()

        direction = F.normalize(torch.randn(heads, PLACE_PAIRS, 3, generator=draw) * torch.tensor([1.0, 1.0, 0.5]), dim=-1)
        wavelength = spread(PLACE_PAIRS, 0.5, 30.0)
        focal = 0.5 * config.image_width / math.tan(math.radians(84.0) / 2)
        u = (torch.arange(config.columns) + 0.5) * config.patch - config.image_width / 2
        v = (torch.arange(config.rows) + 0.5) * config.patch - config.image_height / 2
        left, up = torch.meshgrid(-u / focal, -v / focal, indexing="xy")
        rays = F.normalize(torch.stack([torch.ones_like(left), left, up], -1).reshape(-1, 3), dim=-1)
        self.place: Tensor
        self.azimuth: Tensor
        self.height: Tensor
        self.rays: Tensor
        self.register_buffer("place", direction * (2 * math.pi / wavelength)[..., None])
        self.register_buffer("azimuth", spread(AZIMUTH_PAIRS, 1.0, 130.0).round())
        self.register_buffer("height", spread(HEIGHT_PAIRS, 1.0, 60.0))
        self.register_buffer("rays", rays, persistent=False)

    def rotations(self, poses: Tensor) -> tuple[Tensor, Tensor]:
        """For keys/queries and for values: each [B, N, H, 32, 2] of ``poses`` [B, F, 5]."""
        c = self.config
        batch, groups, patches = len(poses), c.frames // c.pair, c.rows * c.columns
        poses = poses.float()
        yaw, pitch = poses[..., 3:4], poses[..., 4:5]
        x = self.rays[:, 0] * pitch.cos() - self.rays[:, 2] * pitch.sin()
        z = self.rays[:, 0] * pitch.sin() + self.rays[:, 2] * pitch.cos()
        azimuth = torch.atan2(self.rays[:, 1].expand_as(x), x) + yaw                              # [B, F, patches]
        elevation = torch.asin(z.clamp(-1, 1))
        # Head h looks from frame h mod pair of its token's frames.
        frame = torch.arange(groups, device=poses.device)[:, None] * c.pair + torch.arange(c.heads, device=poses.device) % c.pair
        azimuth, elevation = (a[:, frame].permute(0, 1, 3, 2) for a in (azimuth, elevation))      # [B, G, patches, H]
        spot = (poses[:, frame][..., None, :3] * self.place).sum(-1)                              # [B, G, H, 14]
        spot = spot[:, :, None].expand(-1, -1, patches, -1, -1)
        time = poses.new_tensor(TIME_FREQUENCIES) * (frame[..., None] % c.frames).to(poses.dtype)        # [G, H, 3]
        time = time[None, :, None].expand(batch, -1, patches, -1, -1)
        rest = spot.new_zeros(*spot.shape[:-1], PAIRS - TIME_PAIRS - PLACE_PAIRS - AZIMUTH_PAIRS - HEIGHT_PAIRS)
        angle = torch.cat([time, spot, azimuth[..., None] * self.azimuth, elevation[..., None] * self.height, rest], -1).flatten(1, 2)
        rotation = torch.stack([angle.cos(), angle.sin()], -1)
        still = torch.cat([rotation.new_tensor([1.0, 0.0]).expand(*rotation.shape[:-2], TIME_PAIRS, 2), rotation[..., TIME_PAIRS:, :]], -2)
        return rotation, still


def pose_features(poses: Tensor, before: Tensor) -> Tensor:
    """Per-frame features [B, F, 12] of ``poses`` [B, F, 5]: motion since the last frame in the camera's own frame, pitch, heading."""
    last = torch.cat([before[:, None], poses[:, :-1]], 1)
    delta = poses - last
    yaw, pitch = poses[..., 3], poses[..., 4]
    ahead = delta[..., 0] * yaw.cos() + delta[..., 1] * yaw.sin()
    left = delta[..., 1] * yaw.cos() - delta[..., 0] * yaw.sin()
    turn = torch.atan2(delta[..., 3].sin(), delta[..., 3].cos())
    heading = [f(k * yaw) for k in (1, 2, 3) for f in (torch.sin, torch.cos)]
    return torch.stack([ahead * 8, left * 8, delta[..., 2] * 8, turn * 8, delta[..., 4] * 8, pitch * 3, *heading], -1)


class Layer(nn.Module):
    """One transformer layer in two halves, so that callers choose what attention reads in between."""

    def __init__(self, width: int, hidden: int) -> None:
        super().__init__()
        self.qkv = nn.Linear(width, 3 * width, bias=False)
        self.out = nn.Linear(width, width, bias=False)
        self.up = nn.Linear(width, hidden, bias=False)
        self.down = nn.Linear(hidden, width, bias=False)
        self.sharpness = nn.Parameter(torch.full((width // HEAD,), 0.3))
        nn.init.zeros_(self.out.weight)
        nn.init.zeros_(self.down.weight)

    def project(self, x: Tensor, rotation: Tensor, still: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Turned query, key and value of ``x`` [..., N, width], each [..., N, H, 64]; attention then divides by sqrt(64)."""
        q, k, v = self.qkv(normed(x)).unflatten(-1, (3, -1, HEAD)).unbind(-3)
        scale = self.sharpness.exp().to(q.dtype)[:, None]
        return turned(normed(q) * scale, rotation), turned(normed(k), rotation), turned(v, still)

    def finish(self, x: Tensor, attended: Tensor, still: Tensor) -> Tensor:
        """Residual stream after attention's output ``attended`` [..., N, H, 64] and the MLP."""
        x = x + self.out(turned(attended, inverse(still)).flatten(-2))
        return x + self.down(F.relu(self.up(normed(x))).square())


class PictureHead(nn.Module):
    """Tokens to pictures: patches of feature planes, then a small convolution at half resolution that removes the seams."""

    def __init__(self, config: TinyConfig) -> None:
        super().__init__()
        self.config = config
        c = config
        self.planes = nn.Linear(c.width, c.pair * PLANES * c.patch ** 2)
        self.depth = nn.Linear(c.width, c.pair * 4)
        nn.init.zeros_(self.planes.weight)
        last = nn.Conv2d(32, 12, 3, padding=1)
        self.conv = nn.ModuleList([nn.Conv2d(4 * (PLANES + 3), 32, 3, padding=1), nn.Conv2d(32, 32, 3, padding=1), last])
        for parameter in last.parameters():
            nn.init.zeros_(parameter)

    def unpatch(self, x: Tensor, planes: int, size: int) -> Tensor:
        """[B, N, pair * planes * size^2] to [B * F, planes, rows * size, columns * size]."""
        c = self.config
        x = x.reshape(-1, c.frames // c.pair, c.rows, c.columns, c.pair, planes, size, size)
        return x.permute(0, 1, 4, 5, 2, 6, 3, 7).reshape(-1, planes, c.rows * size, c.columns * size)

    def forward(self, x: Tensor, noisy: Tensor, level: Tensor) -> Tensor:
        """Picture [B, F, 3, h, w] in [-1, 1] of tokens ``x`` [B, N, width]; the model saw ``noisy``, shaped alike, at ``level`` [B]."""
        x = self.unpatch(self.planes(normed(x)), PLANES, self.config.patch)
        seen = (noisy * (1 - level)[:, None, None, None, None]).flatten(0, 1).to(x.dtype)
        y = F.pixel_unshuffle(torch.cat([x, seen], 1), 2)
        y = F.silu(self.conv[0](y))
        y = F.silu(self.conv[1](y))
        picture = x[:, :3] + F.pixel_shuffle(self.conv[2](y), 2)
        return picture.unflatten(0, (-1, self.config.frames))

    def inverse_depth(self, x: Tensor) -> Tensor:
        """Inverse depth in 1/cells at two samples a patch side: [B, F, 2 rows, 2 columns]."""
        return self.unpatch(self.depth(normed(x)), 1, 2).squeeze(1).unflatten(0, (-1, self.config.frames))


class TinyNetwork(nn.Module):
    """Embedding, layers and head; the attention between a layer's halves belongs to the caller (training graph or player)."""

    def __init__(self, config: TinyConfig) -> None:
        super().__init__()
        self.config = c = config
        self.geometry = Geometry(c)
        self.patches = nn.Linear(c.pair * 3 * c.patch ** 2, c.width, bias=False)
        self.place = nn.Parameter(torch.randn(c.rows * c.columns, c.width) * 0.02)
        self.moment = nn.Parameter(torch.randn(c.frames // c.pair, c.width) * 0.02)
        self.level = nn.Sequential(nn.Linear(9, c.width), nn.SiLU(), nn.Linear(c.width, c.width))
        self.motion = nn.Sequential(nn.Linear(c.pair * POSE_FEATURES, c.width), nn.SiLU(), nn.Linear(c.width, c.width))
        self.layers = nn.ModuleList([Layer(c.width, c.hidden) for _ in range(c.layers)])
        self.head = PictureHead(c)

    def patchify(self, pictures: Tensor) -> Tensor:
        """[B, F, 3, h, w] to [B, N, pair * 3 * patch^2]."""
        c = self.config
        x = pictures.reshape(-1, c.frames // c.pair, c.pair, 3, c.rows, c.patch, c.columns, c.patch)
        return x.permute(0, 1, 4, 6, 2, 3, 5, 7).reshape(len(x), c.tokens, -1)

    def embed(self, noisy: Tensor, level: Tensor, features: Tensor) -> Tensor:
        """Tokens [B, N, width] of ``noisy`` [B, F, 3, h, w] at noise ``level`` [B] with pose ``features`` [B, F, 12]."""
        c = self.config
        waves = level[:, None] * math.pi * torch.tensor([0.5, 1.0, 2.0, 4.0], device=level.device)
        mood = self.level(torch.cat([level[:, None], waves.sin(), waves.cos()], -1))
        motion = self.motion(features.reshape(len(features), c.frames // c.pair, -1)) + self.moment
        grid = motion[:, :, None] + self.place + mood[:, None, None]
        return self.patches(self.patchify(noisy)) + grid.flatten(1, 2).to(noisy.dtype)
