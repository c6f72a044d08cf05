"""Golden vectors from outside the repository: loaded where they lie beside it, else their tests are skipped with a reason."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file
from torch import Tensor

FOLDER = Path(__file__).resolve().parents[3] / "shared" / "golden"


def golden(name: str) -> dict[str, Tensor]:
    """The tensors of ``name`` (such as ``lingbot_world/rope``), half floats as float32; skips the test where the vectors are absent."""
    path = FOLDER / f"{name}.safetensors"
    if not path.is_file():
        pytest.skip("golden vectors lie outside the repository (../shared/golden)")
    return {key: value.float() if value.dtype == torch.float16 else value for key, value in load_file(str(path)).items()}


def golden_config(name: str) -> dict[str, Any]:
    """The sizes beside the vectors of ``name``."""
    path = FOLDER / f"{name}.config.json"
    if not path.is_file():
        pytest.skip("golden vectors lie outside the repository (../shared/golden)")
    config: dict[str, Any] = json.loads(path.read_text())
    return config


def difference(a: Tensor, b: Tensor) -> float:
    """The largest difference of two tensors of the same shape."""
    assert a.shape == b.shape, f"{list(a.shape)} against {list(b.shape)}"
    return float((a.double() - b.double()).abs().max())
