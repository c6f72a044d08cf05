"""The published folder of Matrix-Game 2.0: which files make a variant, and what is wrong when some don't."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from worldpager.engine.errors import WeightsError
from worldpager.engine.models.matrix_game2.adapter import NAMES, needed
from worldpager.engine.models.matrix_game2.clip import ClipVision
from worldpager.engine.models.matrix_game2.config import VARIANT_OF_KEYS, DitConfig, read_config
from worldpager.engine.models.matrix_game2.network import MatrixGameDit
from worldpager.engine.models.matrix_game2.options import MatrixGameOptions
from worldpager.engine.models.matrix_game2.parts import Design
from worldpager.engine.models.matrix_game2.tiny_decoder import TinyDecoder
from worldpager.engine.models.offers import Candidate, Hosted
from worldpager.engine.models.safe_files import check, convert
from worldpager.engine.models.wan.vae import WanVae

HUB = "Skywork/Matrix-Game-2.0"
FOLDERS = {"universal": "base_distilled_model", "gta": "gta_distilled_model", "templerun": "templerun_distilled_model"}
CONFIGS = ("config.json", "base_config.json")
SHARED = {
    "vae": ("Wan2.1_VAE.safetensors", "Wan2.1_VAE.pth"),
    "clip": (
        "models_clip_open-clip-xlm-roberta-large-vit-huge-14.safetensors", "models_clip_open-clip-xlm-roberta-large-vit-huge-14.pth",
    ),
    "tiny_decoder": ("taew2_1.safetensors", "taew2_1.pth"),
}  # fmt: skip
"""Files that all variants use, the converted name first; the last part is a choice, not a need."""
PREFIX = {"network": "model.", "vae": "", "clip": "visual.", "tiny_decoder": ""}
FOUNDATION_MODULES = 30
"""Blocks with an action module in the foundation model; the distilled ones have half as many."""
FOUNDATION = "it is the foundation model, which makes pure noise when it is streamed: add one of the three distilled ones"


def hosted() -> list[Hosted]:
    """What `worldpager models fetch` downloads for each model."""
    shared = ("Wan2.1_VAE.pth", SHARED["clip"][1])
    return [Hosted(NAMES[name], HUB, (f"{place}/*.safetensors", f"{place}/config.json", *shared)) for name, place in FOLDERS.items()]


def candidates(folder: Path, converted: Path) -> list[Candidate]:
    """Every variant that ``folder`` or a folder in it seems to hold, with all that is wrong. ``converted`` takes converted pickles."""
    return [_candidate(place, folder, converted) for place in _places(folder)]


def _places(folder: Path) -> Iterator[Path]:
    """Folders that hold a configuration with action modules, or weights alone."""
    for place in (folder, *sorted(path for path in folder.iterdir() if path.is_dir())):
        config = _config_in(place)
        named = place.name in FOLDERS.values()
        if named or (config is not None and "action_config" in _json(config)):
            yield place


def _config_in(place: Path) -> Path | None:
    return next((place / name for name in CONFIGS if (place / name).is_file()), None)


def _json(path: Path) -> Mapping[str, Any]:
    try:
        found = json.loads(path.read_text())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _candidate(place: Path, folder: Path, converted: Path) -> Candidate:
    files: dict[str, tuple[Path, str]] = {}
    problems: list[str] = []
    path = _config_in(place)
    try:
        if path is not None and len(_json(path).get("action_config", {}).get("blocks", ())) >= FOUNDATION_MODULES:
            return Candidate(place.name, {}, {}, [f"{place}: {FOUNDATION}"])
        config = read_config(path or place / CONFIGS[0])
    except WeightsError as error:
        return Candidate(place.name, {}, {}, [error.what])
    try:
        files["network"] = _network(place, config), ""
    except WeightsError as error:
        problems.append(error.what)
    design = Design.of(config)
    builds: dict[str, Callable[[], nn.Module]] = {
        "vae": lambda: WanVae(design.vae), "clip": lambda: ClipVision(design.clip), "tiny_decoder": lambda: TinyDecoder(design.tiny),
    }  # fmt: skip
    for part, names in SHARED.items():
        try:
            found = _shared(part, builds[part], (place, folder, place.parent), converted)
            if found is not None:
                files[part] = found
            elif part != "tiny_decoder":
                problems.append(f"{' or '.join(names)} is missing in {folder}")
        except WeightsError as error:
            problems.append(error.what)
    values = dict(_json(path)) if path else {}
    return Candidate(NAMES[VARIANT_OF_KEYS[config.action.keys]], values, files, problems, _need(config))


def _network(place: Path, config: DitConfig) -> Path:
    found = sorted(place.glob("*.safetensors"))
    known = [path for path in found if path.name not in {name for names in SHARED.values() for name in names}]
    if len(known) != 1:
        what = f"{place} holds {len(known)} safetensors files" if known else f"{place} holds no safetensors file: the weights are missing"
        raise WeightsError(f"{what}.", "Leave the one of this variant there.")
    check(known[0], _wanted(lambda: MatrixGameDit(config)), PREFIX["network"])
    return known[0]


def _shared(part: str, build: Callable[[], nn.Module], places: tuple[Path, ...], converted: Path) -> tuple[Path, str] | None:
    """(safetensors path, path it was converted from) of a shared part, converted if need be; None where no file is."""
    path = next((place / name for name in SHARED[part] for place in places if (place / name).is_file()), None)
    if path is None:
        return None
    source = ""
    if path.suffix == ".pth":
        source, pickled = str(path.resolve()), path
        path = converted / f"{pickled.stem}-{pickled.stat().st_size}.safetensors"
        if not path.is_file():
            prefix = PREFIX[part]
            convert(pickled, path, lambda name: name.startswith(prefix))
    check(path, _wanted(build), PREFIX[part])
    return path, source


def _wanted(build: Callable[[], nn.Module]) -> Mapping[str, Tensor]:
    with torch.device("meta"):
        state: Mapping[str, Tensor] = build().state_dict()
    return state


def _need(config: DitConfig) -> dict[str, int]:
    """What play takes on a GPU with the usual settings, part by part."""
    return needed(Design.of(config), MatrixGameOptions(), torch.device("cuda"))


