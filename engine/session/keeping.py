"""Making and opening kept worlds: which model and settings belong to one, and whether those at hand are they."""

from __future__ import annotations

import json
import os
import platform
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import xxhash

from worldpager.engine.config import CodecConfig, PlayConfig
from worldpager.engine.errors import InputError
from worldpager.engine.models.base import ModelSpec, WorldModel
from worldpager.engine.models.registry import find_model
from worldpager.engine.session.archive import Archive, Contents

OF_THE_WORLD = ("name", "frames_per_chunk", "width", "height", "kv", "rotary", "memory_offset", "keeps_sink")
"""Constants of a model that a world's memory depends on."""

MEASURED = ("passes", "threads")
"""What a model may measure at its start, by the names of its options."""


def facts_of(model: WorldModel, config: PlayConfig) -> dict[str, Any]:
    """What a world's index says of the model and settings that it is played with."""
    spec = model.spec
    return {
        "model": config.model, "seed": config.seed, "options": dict(config.model_options), "measured": dict(getattr(model, "settings", {})),
        "fingerprint": fingerprint(model), "codec": asdict(config.memory.codec), "frames_per_chunk": spec.frames_per_chunk,
        "rate": spec.rate, "prime": config.prime, "policy": config.policy, "futures": config.futures, "machine": machine(),
    }  # fmt: skip


def fingerprint(model: WorldModel) -> dict[str, str]:
    """Digests of what makes a model this one: its constants, and its weights where it has any."""
    return {"constants": _digest(model.spec), "weights": str(getattr(model, "fingerprint", ""))}


def _digest(spec: ModelSpec) -> str:
    """64 bits over the constants that a world's memory depends on."""
    constants = {name: value for name, value in asdict(spec).items() if name in OF_THE_WORLD}
    return xxhash.xxh3_64_hexdigest(json.dumps(constants, sort_keys=True).encode())


def config_of(about: dict[str, Any], config: PlayConfig, folder: Path) -> PlayConfig:
    """``config`` with the model, seed, options and codec of the world in ``folder``. Raises `InputError` when they are damaged."""
    try:
        codec = CodecConfig(**about["codec"])
        options = {**measured(about), **{str(name): str(value) for name, value in about["options"].items()}}
        model, seed, prime = str(about["model"]), int(about["seed"]), bool(about["prime"])
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        what = f"The index of {folder} doesn't say what the world is made of: {error}."
        raise InputError(what, "It is damaged; see `worldpager sessions`.") from error
    by_default = config.memory.host_budget == find_model(config.model).host_budget
    memory = replace(config.memory, codec=codec, host_budget=find_model(model).host_budget if by_default else config.memory.host_budget)
    return replace(config, model=model, seed=seed, model_options=options, prime=prime, memory=memory, world=folder)


def machine() -> str:
    """Names this machine, as far as what a model measured on it holds good."""
    return f"{platform.node()}, {platform.machine()}, {os.cpu_count()} cores"


def measured(about: dict[str, Any]) -> dict[str, str]:
    """What the model measured when the world was made: it counts again on the same machine, so that chunks come out the same."""
    if about.get("machine") != machine():
        return {}
    return {name: str(value) for name, value in dict(about["measured"]).items() if name in MEASURED}


def check_model(about: dict[str, Any], model: WorldModel, folder: Path) -> None:
    """Raise `InputError` unless ``model`` is the one that the world in ``folder`` was played with."""
    kept, own = about.get("fingerprint"), fingerprint(model)
    if kept == own:
        return
    part = "weights" if isinstance(kept, dict) and kept.get("constants") == own["constants"] else "settings"
    raise InputError(
        f"The world in {folder} was played with other {part} of the model {about.get('model')}; its memory means nothing to these.",
        "Install the version of the model that it was made with, or begin a new world.",
    )


def read_whole(archive: Archive) -> Contents:
    """The contents of a world that can be played. Raises `InputError` when they are damaged or empty."""
    contents = archive.read()
    if not contents.chunks:
        raise InputError(f"The world in {archive.folder} ended before its first chunk.", "Delete it, or begin anew.")
    if contents.about.get("head") not in {chunk.id for chunk in contents.chunks}:
        contents.about["head"] = contents.chunks[-1].id
    return contents
