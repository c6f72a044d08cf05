"""The tiny model's weights and configuration from their two files, checked before anything is computed with them."""

from __future__ import annotations

import json
from dataclasses import asdict, fields
from importlib.resources import files
from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file

from worldpager.engine.errors import WeightsError
from worldpager.engine.models.tiny import render
from worldpager.engine.models.tiny.network import HEAD, TinyConfig, TinyNetwork

INSTALL_AGAIN = "Install WorldPager again, or name another file with --model-option weights=FILE."
LARGEST = 1 << 14
"""No number of a configuration is larger."""


def shipped_weights() -> Path:
    """The weights that come with the program; ``model.json`` with the configuration lies beside them."""
    return Path(str(files("worldpager.assets.models.tiny"))) / "model.safetensors"


def load_network(weights: Path) -> TinyNetwork:
    """The network of ``weights`` (safetensors, configuration beside it under the same name with .json) in float32 on the CPU.

    Raises `WeightsError` when a file is absent, damaged, or of another model.
    """
    network = TinyNetwork(read_config(weights.with_suffix(".json")))
    if not weights.is_file():
        raise WeightsError(f"The weights {weights} are not there.", INSTALL_AGAIN)
    try:
        tensors = load_file(str(weights))
    except (SafetensorError, OSError) as error:
        raise WeightsError(f"The weights {weights} can't be read: {error}.", INSTALL_AGAIN) from error
    wanted = network.state_dict()
    if wrong := sorted(wanted.keys() ^ tensors.keys()):
        raise WeightsError(f"The weights {weights} are of another model: {wrong[0]} is on one side only.", INSTALL_AGAIN)
    for name, tensor in tensors.items():
        if tensor.shape != wanted[name].shape:
            what = f"The weights {weights} are of another shape: {name} is {list(tensor.shape)}, not {list(wanted[name].shape)}."
            raise WeightsError(what, INSTALL_AGAIN)
        if not tensor.isfinite().all():
            raise WeightsError(f"The weights {weights} are damaged: {name} holds numbers that are not finite.", INSTALL_AGAIN)
    network.load_state_dict({name: tensor.float() for name, tensor in tensors.items()})
    return network.requires_grad_(False).eval()


def read_config(path: Path) -> TinyConfig:
    """The configuration in ``path``. Raises `WeightsError` when it is absent, no configuration, or one that can't work."""
    try:
        values = json.loads(path.read_text())
    except FileNotFoundError as error:
        raise WeightsError(f"The configuration {path} is not there.", INSTALL_AGAIN) from error
    except (OSError, ValueError) as error:
        raise WeightsError(f"The configuration {path} can't be read: {error}.", INSTALL_AGAIN) from error
    names = {field.name for field in fields(TinyConfig)}
    if not isinstance(values, dict) or values.keys() - names:
        raise WeightsError(f"The configuration {path} is of another model.", INSTALL_AGAIN)
    config = TinyConfig(**values)
    for name, value in asdict(config).items():
        if type(value) is not int or not 0 < value <= LARGEST:
            raise WeightsError(f"The configuration {path} has {name} = {value!r}, which is no size.", INSTALL_AGAIN)
    rests = (config.width % HEAD, config.frames % config.pair, render.WIDTH % config.patch, render.HEIGHT % config.patch)
    if any(rests) or (config.image_width, config.image_height) != (render.WIDTH, render.HEIGHT):
        raise WeightsError(f"The configuration {path} has sizes that don't go together.", INSTALL_AGAIN)
    return config


def in_type(network: TinyNetwork, dtype: torch.dtype) -> TinyNetwork:
    """The network, in place, to compute in ``dtype`` except for poses, levels and rotations, which stay float32."""
    for part in (network.patches, network.layers, network.head):
        part.to(dtype)
    return network
