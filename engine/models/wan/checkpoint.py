"""Published weights into modules: safetensors in one file or in shards with an index, and pickled state dicts by torch's safe loader.

Names and shapes are compared before the first number is read, so a folder of another model or with a part missing is refused at once, and
nothing stays half loaded. Every number is cast on its way, so a float32 file never lies in memory as a whole.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor, nn

from worldpager.engine.errors import WeightsError
from worldpager.engine.models.safe_files import pickled

INDEX = "*.safetensors.index.json"
GET_AGAIN = "Get the file anew from where it was published."
Module = TypeVar("Module", bound=nn.Module)
Shape = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Tensors:
    """What a checkpoint holds: shapes by name, and a way to read one. ``source`` names it in errors, ``files`` are its files."""

    source: Path
    shapes: Mapping[str, Shape]
    take: Callable[[str], Tensor]
    files: tuple[Path, ...] = ()

    def without(self, prefix: str) -> Tensors:
        """The same with ``prefix`` taken off the names that have it."""
        names = {name.removeprefix(prefix): name for name in self.shapes}
        return Tensors(self.source, {new: self.shapes[old] for new, old in names.items()}, lambda name: self.take(names[name]), self.files)


def open_tensors(path: Path) -> Tensors:
    """The tensors of ``path``: a folder with one safetensors file or shards and their index, such a file itself, or a ``.pth`` file.

    Raises `WeightsError` naming what is missing or damaged.
    """
    if path.is_dir():
        return open_files(path, _files_of(path))
    if not path.is_file():
        raise WeightsError(f"{path} is not there.", "Give the folder or file that was downloaded.")
    if path.suffix in (".pth", ".pt"):
        state = pickled(path)
        return Tensors(path, {name: tuple(value.shape) for name, value in state.items()}, state.__getitem__, (path,))
    return open_files(path, [path])


def _files_of(folder: Path) -> list[Path]:
    """The safetensors files of ``folder``, all that its index names."""
    indices = sorted(folder.glob(INDEX))
    files = sorted(folder.glob("*.safetensors"))
    if not indices and len(files) == 1:
        return files
    if len(indices) != 1:
        what = "no safetensors file" if not files and not indices else f"{len(files)} safetensors files and {len(indices)} indices"
        raise WeightsError(f"The folder {folder} holds {what}.", "It should hold one file, or shards with one index.")
    try:
        named = set(json.loads(indices[0].read_text())["weight_map"].values())
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise WeightsError(f"The index {indices[0]} can't be read: {error}.", GET_AGAIN) from error
    if any(type(name) is not str or Path(name).name != name for name in named):
        raise WeightsError(f"The index {indices[0]} names files outside its folder.", GET_AGAIN)
    missing = sorted(name for name in named if not (folder / name).is_file())
    if missing:
        raise WeightsError(f"{len(missing)} of {len(named)} parts are missing in {folder}: {', '.join(missing)}.", "Finish the download.")
    return [folder / name for name in sorted(named)]


def open_files(source: Path, files: Sequence[Path]) -> Tensors:
    """The tensors of safetensors ``files``, which together are ``source``. Raises `WeightsError` for one that can't be read."""
    place: dict[str, Path] = {}
    shapes: dict[str, Shape] = {}
    for file in files:
        try:
            with safe_open(file, "pt") as opened:
                for name in opened.keys():  # noqa: SIM118 - no mapping
                    place[name], shapes[name] = file, tuple(opened.get_slice(name).get_shape())
        except (OSError, SafetensorError) as error:
            raise WeightsError(f"The weights {file} can't be read: {error}.", GET_AGAIN) from error

    def take(name: str) -> Tensor:
        try:
            with safe_open(place[name], "pt") as opened:
                return opened.get_tensor(name)
        except (OSError, SafetensorError) as error:
            raise WeightsError(f"The weights {place[name]} can't be read: {error}.", GET_AGAIN) from error

    return Tensors(source, shapes, take, tuple(files))


def check_names(wanted: Mapping[str, Shape], tensors: Tensors) -> None:
    """Raise `WeightsError` unless ``tensors`` has every name of ``wanted`` in its shape; others are let be."""
    missing = sorted(wanted.keys() - tensors.shapes.keys())
    if missing:
        raise WeightsError(f"{tensors.source} is of another model: {len(missing)} weights are missing, {missing[0]} first.", GET_AGAIN)
    for name, shape in wanted.items():
        if tensors.shapes[name] != shape:
            what = f"{tensors.source} is of another model: {name} is {list(tensors.shapes[name])}, not {list(shape)}."
            raise WeightsError(what, "Choose the variant that these weights are of.")


def shapes_of(build: Callable[[], nn.Module]) -> dict[str, Shape]:
    """Names and shapes of what ``build`` makes, without its numbers."""
    with torch.device("meta"):
        return {name: tuple(value.shape) for name, value in build().state_dict().items()}


def load_module(build: Callable[[], Module], tensors: Tensors, device: torch.device, kind: Callable[[str], torch.dtype]) -> Module:
    """What ``build`` makes, with the numbers of ``tensors`` on ``device``, the one called ``name`` in type ``kind(name)``.

    Raises `WeightsError` when a weight is missing, of another shape, or not finite.
    """
    with torch.device("meta"):
        module = build()
    check_names({name: tuple(value.shape) for name, value in module.state_dict().items()}, tensors)
    state: dict[str, Tensor] = {}
    for name in module.state_dict():
        state[name] = tensors.take(name).to(device, kind(name), copy=True)
        if not state[name].isfinite().all():
            raise WeightsError(f"{tensors.source} is damaged: {name} holds numbers that are not finite.", GET_AGAIN)
    module.load_state_dict(state, assign=True)
    return module.requires_grad_(False).eval()


def random_module(build: Callable[[], Module], device: torch.device, kind: Callable[[str], torch.dtype], seed: int = 0) -> Module:
    """What ``build`` makes with numbers that know nothing, for measurements and trials: gains 1, matrices of spread 1 / sqrt(inputs)."""
    with torch.device("meta"):
        module = build()
    generator = torch.Generator(device).manual_seed(seed)
    state: dict[str, Tensor] = {}
    for name, value in module.state_dict().items():
        if value.dim() < 2 or name.endswith("gamma"):
            number = torch.full(value.shape, 0.0 if name.endswith("bias") else 1.0, device=device)
        else:
            number = torch.randn(value.shape, generator=generator, device=device) * value[0].numel() ** -0.5
        state[name] = number.to(kind(name))
    module.load_state_dict(state, assign=True)
    return module.requires_grad_(False).eval()
