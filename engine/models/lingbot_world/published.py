"""The published folders of LingBot-World: which files make a model, and what is wrong when some don't.

The 1.3B is published without VAE, text encoder and tokenizer; they come with the 14B model, or with any other that uses the same files. So
a folder is searched two levels deep, and a VAE that another model brought along counts.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import torch

from worldpager.engine.errors import WeightsError
from worldpager.engine.models.lingbot_world.config import NAMES, PUBLISHED, Published
from worldpager.engine.models.lingbot_world.need import needed
from worldpager.engine.models.lingbot_world.network import LingBotDit
from worldpager.engine.models.lingbot_world.options import LingBotOptions
from worldpager.engine.models.offers import Candidate, Hosted
from worldpager.engine.models.safe_files import convert
from worldpager.engine.models.wan.checkpoint import INDEX, check_names, open_tensors, shapes_of
from worldpager.engine.models.wan.prompts import ENCODER, TOKENIZER
from worldpager.engine.models.wan.vae import WanVae

MARK = "patch_embedding_wancamctrl.weight"
"""A tensor that only these models have."""
FIRST = "blocks.30.modulation"
"""A tensor that the 1.3B lacks."""
VAES = ("Wan2.1_VAE.safetensors", "Wan2.1_VAE.pth")
CONVERTED = "Wan2.1_VAE-*.safetensors"
FROM = f"take it from {PUBLISHED['14b'].hub} (or, for 1.0, from robbyant/lingbot-world-base-cam) and put it into the same folder"


def hosted() -> list[Hosted]:
    """What `worldpager models fetch` downloads: the networks; the shared files come with the 14B."""
    shared = (VAES[1], ENCODER, f"{Path(TOKENIZER).parent}/*")
    patterns = {"1.3b": ("*.safetensors", "*.json"), "14b": ("transformers/*", *shared), "1.0-fast": ("*.safetensors", "*.json")}
    return [Hosted(NAMES[variant], known.hub, patterns[variant]) for variant, known in PUBLISHED.items()]


def candidates(folder: Path, converted: Path) -> list[Candidate]:
    """Every model that ``folder`` or a folder in it seems to hold, with all that is wrong. ``converted`` takes the converted VAE."""
    found = []
    for place in _places(folder):
        names, problem = _tensor_names(place)
        if MARK in names:
            found.append(_candidate(place, _variant(place, names), folder, converted, problem))
    return found


def _places(folder: Path) -> Iterator[Path]:
    """``folder`` and the folders in it, two levels deep, that hold safetensors files or an index."""
    for place in (folder, *sorted(folder.glob("*/")), *sorted(folder.glob("*/*/"))):
        if any(place.glob(INDEX)) or any(place.glob("*.safetensors")):
            yield place


def _tensor_names(place: Path) -> tuple[frozenset[str], str]:
    """(names of the tensors in ``place``, what is wrong with them): where parts are missing, the index tells the names."""
    try:
        return frozenset(open_tensors(place).shapes), ""
    except WeightsError as error:
        problem = str(error)
    for index in place.glob(INDEX):
        try:
            return frozenset(json.loads(index.read_text())["weight_map"]), problem
        except (OSError, ValueError, KeyError, TypeError):
            continue
    return frozenset(), problem


def _variant(place: Path, names: frozenset[str]) -> str:
    """Which model it is. The two large ones have the same tensors: the second version lies in ``transformers`` or says v2."""
    if FIRST not in names:
        return "1.3b"
    return "14b" if place.name == "transformers" or "v2" in place.resolve().as_posix().lower() else "1.0-fast"


def _candidate(place: Path, variant: str, folder: Path, converted: Path, problem: str) -> Candidate:
    known, files = PUBLISHED[variant], {}
    problems = [problem] if problem else []
    try:
        files.update(_network(place, known))
        files["vae"] = _vae(known, (place, place.parent, folder), folder, converted)
    except WeightsError as error:
        problems += [] if str(error) == problem else [str(error)]
    for part, name in (("text encoder", ENCODER), ("tokenizer", TOKENIZER)):  # a choice: prompts may have been encoded before
        path = next((path for path in _deep(folder, name)), None)
        if path is not None:
            files[part] = path, ""
    need = needed(LingBotOptions.read(variant, {}), torch.device("cuda"))
    return Candidate(NAMES[variant], {"variant": variant}, files, problems, need, known.licence)


def _network(place: Path, known: Published) -> dict[str, tuple[Path, str]]:
    """The shards of the network, each a part. Raises `WeightsError`."""
    tensors = open_tensors(place)
    check_names(shapes_of(lambda: LingBotDit(known.dit)), tensors)
    return {f"network {i + 1}": (path, "") for i, path in enumerate(tensors.files)}


def _vae(known: Published, places: tuple[Path, ...], folder: Path, converted: Path) -> tuple[Path, str]:
    """(safetensors path, path it was converted from) of the VAE. Raises `WeightsError` when there is none."""
    near = [place / name for name in VAES for place in places if (place / name).is_file()]
    deep = [path for name in VAES for path in _deep(folder, name)]
    path = next(iter([*near, *deep, *sorted(converted.glob(CONVERTED))]), None)
    if path is None:
        raise WeightsError(f"{VAES[1]} is missing in {folder}.", f"Please {FROM}.")
    source = ""
    if path.suffix == ".pth":
        source, pickled = str(path.resolve()), path
        path = converted / f"{pickled.stem}-{pickled.stat().st_size}.safetensors"
        if not path.is_file():
            convert(pickled, path)
    check_names(shapes_of(lambda: WanVae(known.vae)), open_tensors(path))
    return path, source


def _deep(folder: Path, name: str) -> list[Path]:
    """Files called ``name`` in ``folder`` and in the folders in it."""
    return [path for pattern in (name, f"*/{name}") for path in sorted(folder.glob(pattern)) if path.is_file()]
