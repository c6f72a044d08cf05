"""Reading weights that came from outside: safetensors by its header first, pickles through torch's safe loader once.

Nothing here runs what a file says. A pickle is turned into safetensors at its first use and never opened again.
"""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import torch
from safetensors.torch import save_file
from torch import Tensor

from worldpager.engine.errors import WeightsError

GET_AGAIN = "Download the file again and compare its size with the page it came from."
POINTER = b"version https://git-lfs"
"""What a file begins with that git left in place of the real one."""
HEADER_LIMIT = 100 << 20


@dataclass(frozen=True, slots=True)
class TensorFact:
    """Shape and type name (``F32``, ``BF16``, ...) of a stored tensor."""

    shape: tuple[int, ...]
    dtype: str


FLOATS = ("F32", "F16", "BF16")


def header(path: Path) -> dict[str, TensorFact]:
    """What tensors a safetensors file holds, without reading them. Raises `WeightsError` when it is absent, cut short or something else."""
    if not path.is_file():
        raise WeightsError(f"The weights {path} are not there.", "Give the folder that holds them.")
    size = path.stat().st_size
    with path.open("rb") as file:
        start = file.read(len(POINTER))
        if not start:
            raise WeightsError(f"The weights {path} are an empty file.", GET_AGAIN)
        if start == POINTER:
            raise WeightsError(f"{path} is a git-lfs pointer, not the weights themselves.", "Fetch the real file (git lfs pull).")
        length = int.from_bytes(start[:8], "little")
        if not 2 <= length <= min(HEADER_LIMIT, size - 8):
            raise WeightsError(f"The weights {path} are no safetensors file, or cut short.", GET_AGAIN)
        file.seek(8)
        try:
            table = json.loads(file.read(length))
            facts = {name: TensorFact(tuple(entry["shape"]), entry["dtype"]) for name, entry in table.items() if name != "__metadata__"}
            end = max((entry["data_offsets"][1] for name, entry in table.items() if name != "__metadata__"), default=0)
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise WeightsError(f"The weights {path} are no safetensors file.", GET_AGAIN) from error
    if size != 8 + length + end:
        raise WeightsError(f"The weights {path} have {size} bytes where {8 + length + end} belong: the download ended early.", GET_AGAIN)
    return facts


def check(path: Path, wanted: Mapping[str, Tensor], prefix: str = "") -> None:
    """Whether ``path`` holds the ``wanted`` tensors, with ``prefix`` before their names or without. Raises `WeightsError` if not."""
    facts = {name.removeprefix(prefix): fact for name, fact in header(path).items()}
    missing = sorted(wanted.keys() - facts.keys())
    if not facts or len(missing) == len(wanted):
        raise WeightsError(f"The weights {path} are of another model: none of {len(facts)} tensors is known.", "Give the published file.")
    if missing:
        what = f"The weights {path} are partial: {len(missing)} of {len(wanted)} tensors are missing, {missing[0]} first."
        raise WeightsError(what, "Give the published file; other conversions have other names.")
    for name, tensor in wanted.items():
        if facts[name].shape != tuple(tensor.shape):
            what = f"The weights {path} are of another size: {name} is {list(facts[name].shape)}, not {list(tensor.shape)}."
            raise WeightsError(what, "Give the file that belongs to this configuration.")
        if facts[name].dtype not in FLOATS:
            raise WeightsError(f"The weights {path} hold {name} as {facts[name].dtype}.", f"Known types are {', '.join(FLOATS)}.")


def pickled(path: Path) -> dict[str, Tensor]:
    """The tensors of a torch file, read lazily by the loader that runs nothing. Raises `WeightsError` for anything but a table of them."""
    try:
        found = torch.load(path, map_location="cpu", mmap=True, weights_only=True)
    except FileNotFoundError as error:
        raise WeightsError(f"The weights {path} are not there.") from error
    except (pickle.UnpicklingError, RuntimeError, EOFError, OSError, ValueError) as error:
        reason = "it holds more than tensors" if isinstance(error, pickle.UnpicklingError) else str(error).splitlines()[0]
        raise WeightsError(f"The weights {path} can't be read safely: {reason}.", GET_AGAIN) from error
    if not isinstance(found, dict):
        raise WeightsError(f"The weights {path} hold no table of tensors.", GET_AGAIN)
    return {str(name): value for name, value in found.items() if isinstance(value, Tensor)}


def convert(source: Path, target: Path, choose: Callable[[str], bool] = lambda name: True) -> None:
    """Write the tensors of a torch file that ``choose`` wants to ``target`` as safetensors. Raises `WeightsError`; no half file stays."""
    tensors = {name: value.contiguous() for name, value in pickled(source).items() if choose(name)}
    if not tensors:
        raise WeightsError(f"The weights {source} are of another model.", "Give the published file.")
    target.parent.mkdir(parents=True, exist_ok=True)
    unfinished = target.with_suffix(".unfinished")
    try:
        save_file(tensors, str(unfinished), metadata={"from": source.name})
        unfinished.replace(target)
    except OSError as error:
        raise WeightsError(f"{target} can't be written: {error.strerror or error}.", "Make room, or choose another data folder.") from error
    finally:
        unfinished.unlink(missing_ok=True)
