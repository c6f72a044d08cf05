"""The start picture: from a file or the bundled ones to what the network is conditioned on."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

import torch
from torch import Tensor
from torch.nn import functional as F

from worldpager.engine.models.matrix_game2.rollout import MASK_CHANNELS


def bundled() -> list[Path]:
    """The start pictures that ship with the program, in the order of world numbers."""
    return sorted(Path(str(files("worldpager.assets"))).joinpath("seeds").glob("*.jpg"))


def fitted(picture: Tensor, height: int, width: int) -> Tensor:
    """Float [1, 3, height, width] in [-1, 1] of ``picture`` uint8 [3, h, w]: cut from its middle to that shape and resized."""
    h, w = picture.shape[-2:]
    if h * width > w * height:
        inner_h, inner_w = max(1, round(w * height / width)), w
    else:
        inner_h, inner_w = h, max(1, round(h * width / height))
    top, left = (h - inner_h) // 2, (w - inner_w) // 2
    cut = picture[None, :, top : top + inner_h, left : left + inner_w].float() / 255
    return F.interpolate(cut, (height, width), mode="bilinear", align_corners=False, antialias=True) * 2 - 1


def condition(latents: Tensor, first: int) -> Tensor:
    """[20, f, h, w] for ``latents`` [16, f, h, w] of the start picture from latent frame ``first`` on: the mask marks frame 0 alone."""
    mask = torch.zeros_like(latents[:MASK_CHANNELS])
    if first == 0:
        mask[:, 0] = 1
    return torch.cat([mask, latents])
