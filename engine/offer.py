"""What there is to play, for a page to choose from: models, pictures of worlds before they are opened, and what the machine gives them."""

from __future__ import annotations

import math
import shutil
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

import numpy as np

from worldpager.engine.config import PlayConfig
from worldpager.engine.errors import WorldPagerError
from worldpager.engine.memory.budget import memory_limit, resident_bytes
from worldpager.engine.models.library import Library
from worldpager.engine.models.offers import families
from worldpager.engine.models.registry import ENTRIES, ModelEntry
from worldpager.engine.types import Frames

BUILT_IN = ("tiny", "stand-in")
"""Models that need no files of the user's."""
SHOWN_BY_TINY = "tiny"
"""The model whose worlds have pictures: its renderer draws what the model imitates."""


@dataclass(frozen=True, slots=True)
class ModelOffer:
    """A model by name; ``host_budget`` bytes of main memory that its blocks take unless told otherwise.

    ``ready``: it can be played now, else ``trouble`` may say why not. ``weights`` are the bytes of its files.
    """

    name: str
    summary: str
    host_budget: int
    ready: bool = True
    weights: int = 0
    trouble: str = ""
    takes_picture: bool = False
    """A picture of the user's can begin a world: option ``image``."""


@dataclass(frozen=True, slots=True)
class AddedModels:
    """What came of adding a folder: names of the models that can be played now, and sentences about what is wrong with others."""

    names: tuple[str, ...]
    problems: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class MachineOffer:
    """What a configuration finds here, in bytes. ``gpu`` names it and its memory; empty without one."""

    main_memory: int
    main_memory_used: int
    host_budget: int
    disk_free: int | None
    disk_budget: int
    gpu: str
    gpu_memory: int


@dataclass(frozen=True, slots=True)
class Outlook:
    """Minutes of uninterrupted play; ``until_full`` None without a disk tier's limit."""

    until_disk: float
    until_full: float


class WorldPreview(Protocol):
    """Pictures of a world that is not open."""

    def picture(self, turn: float) -> Frames:
        """One frame [height, width, 3] from the start, turned by ``turn`` radians."""
        ...


def models_on_offer() -> list[ModelOffer]:
    """Every world model that can be named, those that can be played now first."""
    library = Library()
    return sorted((_offer(library, entry) for entry in ENTRIES.values()), key=lambda offer: not offer.ready)


def _offer(library: Library, entry: ModelEntry) -> ModelOffer:
    own = ModelOffer(entry.name, entry.summary, entry.host_budget, takes_picture=entry.name not in BUILT_IN)
    if entry.name in BUILT_IN:
        return own
    try:
        added = library.find(entry.name)
        if added is None:
            return replace(own, ready=False)
        added.paths()
    except WorldPagerError as error:
        return replace(own, ready=False, trouble=str(error))
    return replace(own, weights=added.bytes)


def add_models(folder: Path, progress: Callable[[str, float], None] = lambda what, share: None) -> AddedModels:
    """Add the models that a folder of published files holds whole. Raises `WorldPagerError` where a file can't be read."""
    library = Library()
    found = [candidate for family in families() for candidate in family.candidates(folder, library.converted)]
    if not found:
        return AddedModels((), (f"{folder} holds no model that is known.",))
    for candidate in found:
        if not candidate.problems:
            library.add(candidate.model, candidate.config, candidate.files, progress)
    names = tuple(candidate.model for candidate in found if not candidate.problems)
    return AddedModels(names, tuple(f"{candidate.model}: {problem}" for candidate in found for problem in candidate.problems))


def open_preview(model: str, seed: int) -> WorldPreview | None:
    """Pictures of world ``seed`` of ``model``; None where only the model itself could make them."""
    return _TinyPreview(seed) if model == SHOWN_BY_TINY else None


def machine_offer(config: PlayConfig) -> MachineOffer:
    """What the machine gives ``config``. Looks, reserves nothing."""
    import torch

    limit, memory = memory_limit(), config.memory
    free = _free(memory.disk_dir) if memory.disk_dir else None
    gpu, gpu_memory = "", 0
    if torch.cuda.is_available():
        facts = torch.cuda.get_device_properties(0)
        gpu, gpu_memory = facts.name, facts.total_memory
    disk = min(free or 0, memory.disk_budget or free or 0)
    return MachineOffer(limit, resident_bytes(), memory.host_budget or max(0, limit - resident_bytes()), free, disk, gpu, gpu_memory)


def outlook(offer: MachineOffer, block_bytes: int, chunk_seconds: float) -> Outlook:
    """How long play fills main memory, and then the disk, with a block of ``block_bytes`` every ``chunk_seconds``."""
    host = offer.host_budget // max(1, block_bytes)
    disk = offer.disk_budget // max(1, block_bytes)
    return Outlook(host * chunk_seconds / 60, max(host, disk) * chunk_seconds / 60)


def _free(folder: Path) -> int | None:
    there = next((place for place in (folder, *folder.parents) if place.exists()), None)
    return shutil.disk_usage(there).free if there else None


class _TinyPreview:
    """A world of the tiny model, drawn by its renderer."""

    def __init__(self, seed: int) -> None:
        from worldpager.engine.models.tiny.opening import EYE, played_world
        from worldpager.engine.models.tiny.render import Scene

        world = played_world(seed)
        self._scene, self._eye, self._start = Scene.of([world]), EYE, world.start

    def picture(self, turn: float) -> Frames:
        """See `WorldPreview`."""
        import torch

        from worldpager.engine.models.tiny.render import render

        x, y, yaw = self._start
        pose = torch.tensor([[x, y, self._eye, math.remainder(yaw + turn, math.tau), 0.0]], dtype=torch.float32)
        with torch.no_grad():
            rgb, _ = render(self._scene, torch.zeros(1, dtype=torch.long), pose, samples=1)
        frame = (rgb[0].permute(1, 2, 0) * 255).round().to(torch.uint8).contiguous().numpy()
        return np.ascontiguousarray(frame)
