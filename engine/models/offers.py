"""What `worldpager models` asks of a family of models: which folders it knows, and where its files are published."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol, cast

FAMILIES = ("worldpager.engine.models.matrix_game2.published", "worldpager.engine.models.lingbot_world.published")
"""Modules with the functions of `Family`."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A model that a folder seems to hold. ``files``: for each part its path and the published path that it was converted from, or "".

    ``problems`` are sentences; with any of them the model can't be added. ``need``: bytes on the device, part by part. ``licence``: the
    terms of the weights, shown when they are added.
    """

    model: str
    config: Mapping[str, Any]
    files: Mapping[str, tuple[Path, str]]
    problems: list[str]
    need: Mapping[str, int] = field(default_factory=dict)
    licence: str = ""


@dataclass(frozen=True, slots=True)
class Hosted:
    """Where a model is published: repository on the hub, and patterns of the files that play needs."""

    model: str
    repository: str
    patterns: tuple[str, ...]


class Family(Protocol):
    """A module that knows the published layout of some models."""

    def candidates(self, folder: Path, converted: Path) -> list[Candidate]:
        """What ``folder`` seems to hold; ``converted`` is where converted pickles go."""
        ...

    def hosted(self) -> list[Hosted]:
        """What can be fetched."""
        ...


def families() -> list[Family]:
    """All of them, imported."""
    return [cast("Family", import_module(name)) for name in FAMILIES]
