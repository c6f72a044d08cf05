"""The parts of the model from the folders and files that a user has, or from a random generator when that is asked for."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from worldpager.engine.errors import InputError
from worldpager.engine.models.lingbot_world.config import PUBLISHED
from worldpager.engine.models.lingbot_world.network import LingBotDit, exact
from worldpager.engine.models.lingbot_world.options import LingBotOptions
from worldpager.engine.models.wan.checkpoint import load_module, open_tensors, random_module
from worldpager.engine.models.wan.prompts import prompt_vectors
from worldpager.engine.models.wan.start_picture import load_picture
from worldpager.engine.models.wan.vae import VaeConfig, WanVae

SMALL_VAE = VaeConfig(width=4)


@dataclass(frozen=True, slots=True)
class Parts:
    """All that play needs. ``prompt`` [L, text width]; ``picture`` uint8 [3, h, w] or None: one is drawn for each world."""

    network: LingBotDit
    vae: WanVae
    prompt: Tensor
    picture: Tensor | None


def load_parts(options: LingBotOptions, device: torch.device) -> Parts:
    """Load what ``options`` name onto ``device``: bfloat16 network and float16 VAE on a GPU, float32 elsewhere.

    Raises `InputError` or `WeightsError` naming what is missing; the cheap parts are looked at first.
    """
    large, video = (torch.bfloat16, torch.float16) if device.type == "cuda" else (torch.float32, torch.float32)
    picture = load_picture(options.image) if options.image else None
    prompt = prompt_vectors(options.prompt, options.text_encoder, options.dit.text_width)

    def build() -> LingBotDit:
        return LingBotDit(options.dit)

    def kind(name: str) -> torch.dtype:
        return torch.float32 if exact(name) else large

    if options.random:
        small = options.dit.width < PUBLISHED["1.3b"].dit.width
        network, vae = random_module(build, device, kind), random_vae(SMALL_VAE if small else VaeConfig(), device, video)
        return Parts(network, vae, prompt, picture)
    if options.weights is None or options.vae is None:
        missing = "weights=FOLDER" if options.weights is None else "vae=FILE"
        what = f"{PUBLISHED[options.variant].title} needs weights that are not part of the program."
        raise InputError(what, f"Add them with `worldpager models add FOLDER`, or give --option {missing}.")
    vae_file = open_tensors(options.vae)
    network = load_module(build, open_tensors(options.weights), device, kind)
    return Parts(network, load_module(WanVae, vae_file, device, lambda name: video), prompt, picture)


def random_vae(config: VaeConfig, device: torch.device, kind: torch.dtype) -> WanVae:
    """A VAE that knows nothing."""
    return random_module(lambda: WanVae(config), device, lambda name: kind)
