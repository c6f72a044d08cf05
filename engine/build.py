"""Puts a street together. The only place that names concrete classes."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

import torch

from worldpager.engine.config import GiB, MemoryConfig, PlayConfig
from worldpager.engine.errors import InputError
from worldpager.engine.generator import WorldGenerator
from worldpager.engine.memory.store import BlockStore
from worldpager.engine.models.registry import find_model, load_model
from worldpager.engine.retrieval.none import NoRetrieval
from worldpager.engine.retrieval.policy import RetrievalPolicy
from worldpager.engine.retrieval.pose_overlap import PoseOverlap
from worldpager.engine.retrieval.recency import Recency
from worldpager.engine.types import FieldOfView

Progress = Callable[[str, float], None]
"""Hears (what is going on, share done from 0 to 1)."""

SCRATCH_BUDGET = 2 * GiB


def default_config(model: str = "tiny") -> PlayConfig:
    """What ``worldpager play`` uses when nothing is said: a host budget that a few minutes outgrow, and a scratch disk tier.

    Raises `InputError` for an unknown model.
    """
    memory = MemoryConfig(host_budget=find_model(model).host_budget, disk_dir=scratch_folder(), disk_budget=SCRATCH_BUDGET)
    return PlayConfig(model=model, memory=memory)


def scratch_folder() -> Path:
    """Where a scratch arena goes when no folder is named: the system's folder for large temporary files."""
    large = Path("/var/tmp")
    return large if large.is_dir() else Path(tempfile.gettempdir())


def pick_device(name: str) -> torch.device:
    """``auto`` (a GPU if there is one), ``cpu`` or ``cuda``. Raises `InputError` for another, or when there is no GPU."""
    if name not in ("auto", "cpu", "cuda"):
        raise InputError(f"There is no device {name!r}.", "Choose auto, cpu or cuda.")
    has_gpu = torch.cuda.is_available()
    if name == "cuda" and not has_gpu:
        raise InputError("This machine has no GPU that torch can use.", "Leave --device out, or see `worldpager doctor`.")
    return torch.device("cuda" if has_gpu and name != "cpu" else "cpu")


def make_policies(view: FieldOfView) -> dict[str, RetrievalPolicy]:
    """One of each retrieval policy, by name."""
    return {"pose-overlap": PoseOverlap(view), "recency": Recency(), "none": NoRetrieval()}


def build_generator(config: PlayConfig, *, progress: Progress | None = None) -> WorldGenerator:
    """A street ready to run. ``progress`` is called on this thread.

    Raises `WorldPagerError` naming what can't be had; nothing stays open then.
    """
    tell: Progress = progress or (lambda stage, share: None)
    tell("Looking at the machine", 0.0)
    device = pick_device(config.device)
    tell(f"Loading the model {config.model}", 0.1)
    model = load_model(config.model, config.model_options, device)
    try:
        tell("Making room for the memory", 0.8)
        store = BlockStore(config.memory, model.spec.kv, model.spec.rotary, model.device)
        try:
            generator = WorldGenerator(model, store, make_policies(model.spec.view), config)
        except BaseException:
            store.close()
            raise
    except BaseException:
        model.close()
        raise
    tell("Ready", 1.0)
    return generator
