"""Which world models there are, by name. Nothing is imported before a model is asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, cast

from worldpager.engine.config import GiB, MiB
from worldpager.engine.errors import InputError

if TYPE_CHECKING:
    import torch

    from worldpager.engine.models.base import WorldModel


@dataclass(frozen=True, slots=True)
class ModelEntry:
    """A model by name: what it is, where its class is, and a host budget in bytes that a few minutes of play outgrow."""

    name: str
    summary: str
    module: str
    class_name: str
    host_budget: int
    disk_budget: int = 2 * GiB
    """Bytes that a scratch world may take on disk."""


MATRIX_GAME = "worldpager.engine.models.matrix_game2.adapter"
LINGBOT = "worldpager.engine.models.lingbot_world.adapter"
ENTRIES = {
    entry.name: entry
    for entry in (
        ModelEntry(
            "tiny", "the trained world model that ships with the program", "worldpager.engine.models.tiny.adapter", "TinyModel", 160 * MiB
        ),
        ModelEntry(
            "stand-in", "a drawn world without weights, for tests and trials", "worldpager.engine.models.stand_in", "StandIn", 4 * MiB
        ),
        ModelEntry("matrix-game-2", "Matrix-Game 2.0 universal, from weights of your own", MATRIX_GAME, "UNIVERSAL", 8 * GiB, 64 * GiB),
        ModelEntry("matrix-game-2-gta", "Matrix-Game 2.0 for driving, from weights of your own", MATRIX_GAME, "GTA", 8 * GiB, 64 * GiB),
        ModelEntry(
            "matrix-game-2-templerun", "Matrix-Game 2.0, a runner, from weights of your own", MATRIX_GAME, "TEMPLERUN", 8 * GiB, 64 * GiB
        ),
        ModelEntry("lingbot-world", "LingBot-World 2.0 1.3B causal-fast, from weights of your own", LINGBOT, "SMALLEST", 8 * GiB),
        ModelEntry("lingbot-world-14b", "LingBot-World 2.0 14B causal-fast, from weights of your own", LINGBOT, "LARGE", 16 * GiB),
        ModelEntry("lingbot-world-1", "LingBot-World 1.0 Fast, from weights of your own", LINGBOT, "FIRST", 16 * GiB),
    )
}


def find_model(name: str) -> ModelEntry:
    """The entry of ``name``. Raises `InputError` naming the known ones."""
    if name not in ENTRIES:
        raise InputError(f"There is no model {name!r}.", f"Known models: {', '.join(ENTRIES)}.")
    return ENTRIES[name]


def load_model(name: str, options: Mapping[str, str], device: torch.device) -> WorldModel:
    """Load model ``name`` with its ``options`` onto ``device``. Raises `InputError` or `WeightsError`; nothing stays loaded then."""
    entry = find_model(name)
    model_class = getattr(import_module(entry.module), entry.class_name)
    load = cast("Callable[[Mapping[str, str], torch.device], WorldModel]", model_class.load)
    return load(options, device)
