"""The picture that a world starts from: one of the user's, or one drawn for the world's number."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import torch
from PIL import Image, ImageOps, UnidentifiedImageError
from torch import Tensor
from torch.nn import functional as F

from worldpager.engine.errors import InputError
from worldpager.engine.models.tiny import opening
from worldpager.engine.models.tiny.render import Scene, trace, turn

LARGEST = 64_000_000
"""Pixels that a picture may have."""
KINDS = ("PNG", "JPEG", "WEBP", "BMP")
STEP = 16
"""Frames are multiples of this: 8 pixels to a latent pixel, 2 latent pixels to a token."""


def load_picture(path: Path) -> Tensor:
    """Uint8 [3, h, w] of the picture in ``path``, upright. Raises `InputError` for what is no picture or too large."""
    try:
        with Image.open(path, formats=KINDS) as opened:
            if opened.width * opened.height > LARGEST:
                raise InputError(f"The picture {path} has more than {LARGEST // 1_000_000} million pixels.", "Make it smaller.")
            picture = ImageOps.exif_transpose(opened).convert("RGB")
    except (UnidentifiedImageError, OSError, ValueError, SyntaxError, Image.DecompressionBombError) as error:
        raise InputError(f"The picture {path} can't be read: {error}.", f"Give one of the kinds {', '.join(KINDS)}.") from error
    return torch.from_numpy(np.array(picture)).permute(2, 0, 1)


def frame_size(picture: tuple[int, int], area: int) -> tuple[int, int]:
    """(width, height) of frames of about ``area`` pixels in the shape of a ``picture`` of (width, height) pixels."""
    width, height = picture

    def side(ratio: float) -> int:
        latent = int(math.sqrt(area * ratio) / 8)
        return max(STEP, 8 * (latent - latent % 2))

    return side(width / height), side(height / width)


def fitted(picture: Tensor, width: int, height: int) -> Tensor:
    """Float32 [1, 3, height, width] in [-1, 1] of ``picture`` uint8 [3, h, w]: stretched by cubic curves, nothing cut off."""
    x = picture[None].float() / 127.5 - 1
    return F.interpolate(x, (height, width), mode="bicubic", align_corners=False)


def drawn_picture(seed: int, width: int, height: int, horizontal: float) -> Tensor:
    """Uint8 [3, height, width]: what stands before the camera in the drawn world ``seed``, ``horizontal`` radians wide."""
    world = opening.played_world(seed)
    x, y, yaw = world.start
    focal = width / 2 / math.tan(horizontal / 2)
    across, down = torch.arange(width) + 0.5 - width / 2, torch.arange(height) + 0.5 - height / 2
    rays = torch.stack(
        [torch.ones(height, width), -across.expand(height, -1) / focal, -down[:, None].expand(-1, width) / focal], dim=-1
    ).flatten(0, 1)
    rays = turn(rays / rays.norm(dim=-1, keepdim=True), torch.tensor([yaw]), torch.zeros(1))[0]
    eye = torch.tensor([x, y, opening.EYE]).expand_as(rays)
    colours, _ = trace(Scene.of([world]), torch.zeros(len(rays), dtype=torch.long), eye, rays)
    return (colours * 255).round().to(torch.uint8).view(height, width, 3).permute(2, 0, 1)
