"""The networks of one variant, loaded from files that were added or filled with random numbers for a trial."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import torch
from torch import Tensor

from worldpager.engine.models.matrix_game2.clip import ClipConfig, ClipVision
from worldpager.engine.models.matrix_game2.config import PUBLISHED, ActionConfig, DitConfig
from worldpager.engine.models.matrix_game2.network import CLIP_WIDTH, MatrixGameDit
from worldpager.engine.models.matrix_game2.tiny_decoder import WIDTHS, TinyDecoder
from worldpager.engine.models.wan.checkpoint import Module, load_module, open_tensors, random_module
from worldpager.engine.models.wan.vae import REACH, VaeConfig, WanVae

FULL, SMALL = (44, 80), (8, 12)
"""Latent pixels of a picture, high and wide."""
SMALL_VAE = VaeConfig(width=4)
SMALL_TINY = (16, 8, 8, 8)
PICTURE_TOKENS = 257


@dataclass(frozen=True, slots=True)
class Design:
    """Sizes of all networks of a variant; ``height``, ``width`` in latent pixels."""

    network: DitConfig
    height: int
    width: int
    vae: VaeConfig
    tiny: tuple[int, ...]
    clip: ClipConfig = field(default_factory=ClipConfig)
    start_frames: int = REACH + 1
    """Latent frames of the start picture that are encoded; the last one stands for all later ones."""

    @classmethod
    def of(cls, config: DitConfig) -> Design:
        """The published sizes around ``config``."""
        return cls(config, *FULL, VaeConfig(), WIDTHS)

    @classmethod
    def small(cls, variant: str) -> Design:
        """A trial on a processor: the same parts with the same windows, everything narrow."""
        action = PUBLISHED[variant].action
        narrow = ActionConfig((0, 1), 2, action.keys, 16, action.mouse)
        network = replace(PUBLISHED[variant], width=128, ffn=256, heads=2, blocks=3, action=narrow)
        return cls(network, *SMALL, SMALL_VAE, SMALL_TINY, start_frames=4)


@dataclass(frozen=True, slots=True)
class Types:
    """Number types on a device: of the network and of encoder and decoders."""

    network: torch.dtype
    picture: torch.dtype

    @classmethod
    def on(cls, device: torch.device) -> Types:
        """bfloat16 and half floats on a GPU, as published; float32 on a processor."""
        return cls(torch.bfloat16, torch.float16) if device.type == "cuda" else cls(torch.float32, torch.float32)


@dataclass(slots=True)
class Parts:
    """What plays: the network, the VAE, the small decoder if it was chosen, and what makes context tokens of a start picture."""

    design: Design
    network: MatrixGameDit
    vae: WanVae
    tiny: TinyDecoder | None
    clip_tokens: Callable[[Tensor], Tensor]


def empty_parts(design: Design, tiny: bool) -> tuple[MatrixGameDit, WanVae, TinyDecoder | None]:
    """The networks without memory behind them (meta device), for sizes and loading."""
    with torch.device("meta"):
        return MatrixGameDit(design.network), WanVae(design.vae), TinyDecoder(design.tiny) if tiny else None


def load_parts(config: DitConfig, files: Mapping[str, Path], tiny: bool, device: torch.device) -> Parts:
    """From ``files``: network, vae, clip and, for ``tiny``, tiny_decoder, all safetensors. Raises `WeightsError`, with nothing loaded."""
    design, types = Design.of(config), Types.on(device)

    def load(build: Callable[[], Module], part: str, prefix: str, kind: torch.dtype) -> Module:
        return load_module(build, open_tensors(files[part]).without(prefix), device, lambda name: kind)

    def clip_tokens(picture: Tensor) -> Tensor:
        """The tower is needed once a world: it comes and goes."""
        tower = load(lambda: ClipVision(design.clip), "clip", "visual.", types.picture)
        return tower(picture.to(device)).float()

    network = load(lambda: MatrixGameDit(config), "network", "model.", types.network)
    small = load(lambda: TinyDecoder(design.tiny), "tiny_decoder", "", types.picture) if tiny else None
    return Parts(design, network, load(lambda: WanVae(design.vae), "vae", "", types.picture), small, clip_tokens)


def random_parts(design: Design, tiny: bool, device: torch.device, seed: int = 0) -> Parts:
    """Every network filled with random numbers of a sane size: it computes what the real one computes, and shows nothing."""
    types = Types.on(device)

    def made(build: Callable[[], Module], kind: torch.dtype) -> Module:
        return random_module(build, device, lambda name: kind, seed)

    def clip_tokens(picture: Tensor) -> Tensor:
        code = int(picture.double().sum().item() * 1000) & 0xFFFF
        return torch.randn(PICTURE_TOKENS, CLIP_WIDTH, generator=torch.Generator().manual_seed(code)).to(device)

    small = made(lambda: TinyDecoder(design.tiny), types.picture) if tiny else None
    network, vae = made(lambda: MatrixGameDit(design.network), types.network), made(lambda: WanVae(design.vae), types.picture)
    return Parts(design, network, vae, small, clip_tokens)
