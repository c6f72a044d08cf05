"""The model's window at the moment a kept world was closed, to the bit: so that tomorrow's first chunk is the one that would have come.

Without it (the program was killed, play stands elsewhere) the window is rebuilt from the stored blocks, which are int4.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Mapping
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

log = logging.getLogger(__name__)

WINDOW = "window.safetensors"


def save_window(folder: Path, chunk: int, state: Mapping[str, Tensor]) -> None:
    """Keep ``state``, the window after ``chunk``, as a whole or not at all. A full drive costs exactness, nothing more."""
    half = folder / f"{WINDOW}.new"
    try:
        save_file({name: tensor.contiguous().cpu() for name, tensor in state.items()}, str(half), {"chunk": str(chunk)})
        half.replace(folder / WINDOW)
    except (OSError, SafetensorError) as error:
        log.warning("the window isn't kept: %s", error)
        for path in (half, folder / WINDOW):
            with contextlib.suppress(OSError):
                path.unlink(missing_ok=True)


def load_window(folder: Path, chunk: int) -> dict[str, Tensor] | None:
    """What was kept of the window after ``chunk``; None when it is of another chunk, absent or damaged."""
    path = folder / WINDOW
    if not path.is_file():
        return None
    try:
        with safe_open(str(path), "pt") as file:
            if (file.metadata() or {}).get("chunk") != str(chunk):
                return None
            state: dict[str, Tensor] = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 - it is no dictionary
    except (OSError, SafetensorError, ValueError) as error:
        log.warning("the saved window %s can't be read: %s", path, error)
        return None
    return state if all(not tensor.is_floating_point() or bool(torch.isfinite(tensor).all()) for tensor in state.values()) else None
