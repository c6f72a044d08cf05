"""The parts of the model from the files that were added, or from a random generator when that is asked for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

from worldpager.engine.errors import WeightsError
from worldpager.engine.models.library import Library
from worldpager.engine.models.lingbot_world.config import NAMES
from worldpager.engine.models.lingbot_world.need import LESS, check_room
from worldpager.engine.models.lingbot_world.network import LingBotDit, exact
from worldpager.engine.models.lingbot_world.options import LingBotOptions
from worldpager.engine.models.wan.checkpoint import load_module, open_files, open_tensors, random_module
from worldpager.engine.models.wan.prompts import Encoder, prompt_vectors
from worldpager.engine.models.wan.start_picture import load_picture
from worldpager.engine.models.wan.vae import WanVae


@dataclass(frozen=True, slots=True)
class Parts:
    """All that play needs. ``prompt`` [L, text width]; ``picture`` uint8 [3, h, w] or None: one is drawn for each world."""

    network: LingBotDit
    vae: WanVae
    prompt: Tensor
    picture: Tensor | None
    encoder: Encoder | None = None


def load_parts(options: LingBotOptions, device: torch.device) -> Parts:
    """Load what ``options`` ask for onto ``device``: bfloat16 network and float16 VAE on a GPU, float32 elsewhere.

    Raises `InputError` or `WeightsError` naming what is missing, before the large parts are read; nothing stays loaded then.
    """
    picture = load_picture(options.image) if options.image else None
    files = {} if options.random else _files(NAMES[options.variant])
    encoder = _encoder(files)
    prompt = prompt_vectors(options.prompt, encoder, options.dit.text_width)
    check_room(options, device)
    try:
        return Parts(*_networks(options, files, device), prompt, picture, encoder)
    except torch.OutOfMemoryError as error:
        failure = WeightsError(f"{NAMES[options.variant]} doesn't fit on {device}.", LESS)
        del error
    torch.cuda.empty_cache()
    raise failure


def _files(model: str) -> Mapping[str, Path]:
    """The files of ``model`` by part."""
    added = Library().find(model)
    if added is None:
        hint = "Add the published files with `worldpager models add FOLDER`, or try the machine with --random-weights."
        raise WeightsError(f"The weights of {model} are not there.", hint)
    return added.paths()


def _encoder(files: Mapping[str, Path]) -> Encoder | None:
    """The text encoder, if it was added."""
    if "text encoder" not in files or "tokenizer" not in files:
        return None
    return Encoder(files["text encoder"], files["tokenizer"])


def _networks(options: LingBotOptions, files: Mapping[str, Path], device: torch.device) -> tuple[LingBotDit, WanVae]:
    large, video = (torch.bfloat16, torch.float16) if device.type == "cuda" else (torch.float32, torch.float32)

    def build() -> LingBotDit:
        return LingBotDit(options.dit)

    def build_vae() -> WanVae:
        return WanVae(options.vae)

    def kind(name: str) -> torch.dtype:
        return torch.float32 if exact(name) else large

    if options.random:
        return random_module(build, device, kind), random_module(build_vae, device, lambda name: video)
    shards = [path for part, path in sorted(files.items()) if part.startswith("network")]
    network = load_module(build, open_files(shards[0].parent, shards), device, kind)
    return network, load_module(build_vae, open_tensors(files["vae"]), device, lambda name: video)
