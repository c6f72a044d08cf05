"""What a configuration takes on the device, part by part, known before anything is loaded."""

from __future__ import annotations

import torch

from worldpager.engine.errors import InputError
from worldpager.engine.models.base import KVShape
from worldpager.engine.models.lingbot_world.config import PUBLISHED
from worldpager.engine.models.lingbot_world.network import LingBotDit
from worldpager.engine.models.lingbot_world.options import LingBotOptions
from worldpager.engine.models.matrix_game2.need import DECODE_VALUES, GB, MARGIN, VAE_STREAM_VALUES, free_bytes, parameter_bytes, told
from worldpager.engine.models.matrix_game2.need import staging_bytes as staged
from worldpager.engine.models.wan.pruning import kept_tokens
from worldpager.engine.models.wan.vae import WanVae

USUAL_SLOTS = 16
"""Staging slots reckoned with before loading."""
ACTIVATIONS = 24
"""Tensors of the tokens' size at work in a block, in values of the network's width. An estimate."""
LESS = "Close other programs on it, or take less: area=320x512 or smaller, retrieved=0, window=14, fewer --device-slots."


def needed(options: LingBotOptions, device: torch.device) -> dict[str, int]:
    """Bytes on ``device`` for frames of a wide picture, part by part."""
    c, half = options.dit, 2 if device.type == "cuda" else 4
    with torch.device("meta"):
        network, vae = LingBotDit(c), WanVae(options.vae)
    latent = options.area // 64
    places = latent // 4
    token = c.blocks * c.width * half
    chunk, stored = c.chunk * places, kept_tokens(c.chunk, places, options.keep)
    parts = {
        "network": parameter_bytes(network, half),
        "encoder and decoder": parameter_bytes(vae, half),
        "window": 2 * c.window * places * token,
        "memory view": 2 * options.retrieved * stored * token,
        "camera": 2 * chunk * token,
        "text": 2 * c.text_length * token,
        "a chunk on its way to the memory": 3 * chunk * token,
        "network at work": chunk * (ACTIVATIONS * c.width + 2 * c.ffn) * half,
        "decoder's past": VAE_STREAM_VALUES * latent * options.vae.width // 96 * half,
        "decoder at work": DECODE_VALUES * latent * options.vae.width // 96 * half,
    }
    kv = KVShape(c.blocks, stored, c.heads, c.head_dim)
    return {name: int(size) for name, size in parts.items()} | {"staged blocks": staged(kv, USUAL_SLOTS) if device.type == "cuda" else 0}


def check_room(options: LingBotOptions, device: torch.device) -> None:
    """Raise `InputError` when ``options`` don't fit what ``device`` has free now."""
    parts, free = needed(options, device), free_bytes(device)
    need = int(sum(parts.values()) * MARGIN)
    if free is not None and need > free:
        title = PUBLISHED[options.variant].title
        raise InputError(f"{title} needs {need / GB:.1f} GB on {device}, of which {free / GB:.1f} GB are free ({told(parts)}).", LESS)
