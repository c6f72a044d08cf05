"""What a configuration takes on the device, part by part, known before anything is loaded."""

from __future__ import annotations

import torch
from torch import nn

from worldpager.engine.errors import InputError
from worldpager.engine.models.base import KVShape
from worldpager.engine.models.matrix_game2.config import HEAD_CHANNELS, DitConfig
from worldpager.engine.models.matrix_game2.context import CHUNK, Window

GB = 1e9
PICTURE_TOKENS = 257
VAE_STREAM_VALUES = 532_674_560 / (44 * 80)
"""Values that the large decoder keeps of the past, for each latent pixel at the published widths."""
DECODE_VALUES = 8 * 96 * 64 * 4
"""Values at work while it decodes a latent frame, for each latent pixel: eight tensors as large as its last stage's. An estimate."""
ACTIVATIONS = 24
"""Tensors of the tokens' size at work in a block, in values of the network's width. An estimate."""
MARGIN = 1.05


def parameter_bytes(module: nn.Module, itemsize: int) -> int:
    """Bytes of a module's parameters, which may lie on the meta device."""
    return itemsize * sum(parameter.numel() for parameter in module.parameters())


def context_bytes(config: DitConfig, window: Window, places: int, itemsize: int) -> dict[str, int]:
    """Visual windows, memory view, action windows and picture context."""
    token = config.blocks * config.width * itemsize
    action = len(config.action.blocks) * config.window * config.action.heads * HEAD_CHANNELS * 2 * itemsize
    return {
        "visual window": (2 * window.frames + CHUNK + window.sink) * places * token,
        "memory view": 2 * window.retrieved * CHUNK * places * token,
        "action windows": action * (1 + (places if config.action.mouse else 0)),
        "picture context": 2 * PICTURE_TOKENS * token,
        "a chunk on its way to the memory": 2 * CHUNK * places * token,
    }


def work_bytes(config: DitConfig, height: int, width: int, large_decoder: bool, itemsize: int, vae_width: int) -> dict[str, int]:
    """What computing takes beside what is kept. Estimates."""
    tokens = CHUNK * height * width // 4
    parts = {"network at work": tokens * (ACTIVATIONS * config.width + 2 * config.ffn) * itemsize}
    if large_decoder:
        share = height * width * vae_width / 96
        parts["decoder's past"] = int(VAE_STREAM_VALUES * share) * itemsize
        parts["decoder at work"] = int(DECODE_VALUES * share) * itemsize
    return parts


def staging_bytes(kv: KVShape, slots: int) -> int:
    """Staging slots of int4 blocks and one encoded on its way out, in groups of 64: four and a half bits a number."""
    return (slots + 1) * kv.values * 9 // 16


def told(parts: dict[str, int]) -> str:
    """The parts as a person reads them."""
    return ", ".join(f"{name} {size / GB:.2f}" for name, size in parts.items() if size >= 0.005 * GB)


def check_room(name: str, parts: dict[str, int], device: torch.device) -> None:
    """Raise `InputError` when ``parts`` don't fit what ``device`` has free now."""
    need, free = int(sum(parts.values()) * MARGIN), free_bytes(device)
    if free is not None and need > free:
        what = f"{name} needs {need / GB:.1f} GB on {device}, of which {free / GB:.1f} GB are free ({told(parts)})."
        raise InputError(what, "Close other programs on it, or take less: decoder=tiny, retrieved=1, fewer --device-slots.")


def free_bytes(device: torch.device) -> int | None:
    """Bytes free on ``device``; None where it can't be told."""
    if device.type == "cuda":
        return int(torch.cuda.mem_get_info(device)[0]) + torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)
    try:
        import psutil
    except ImportError:
        return None
    return int(psutil.virtual_memory().available)
