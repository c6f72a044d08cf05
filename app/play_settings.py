"""The settings of worlds and memory, as the engine's configuration has them. What the command line says comes first."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from worldpager.app.settings import Settings
from worldpager.engine.build import default_config
from worldpager.engine.config import PlayConfig
from worldpager.engine.errors import InputError
from worldpager.engine.options import size

log = logging.getLogger(__name__)

FLAGS = {"model": "model", "host_budget": "host_budget", "disk": "disk_folder", "disk_budget": "disk_budget"}
"""Option of the command line: the setting that it overrides."""


def overrides_of_line(config: PlayConfig, flags: Mapping[str, str]) -> dict[str, tuple[Any, str]]:
    """Settings that the command line sets, with their flags. Budgets stay out: the line's own size is in the configuration."""
    values: dict[str, Any] = {"model": config.model, "disk": str(config.memory.disk_dir.resolve()) if config.memory.disk_dir else None}
    return {FLAGS[name]: (values[name], flags[name]) for name in flags.keys() & FLAGS.keys() if values.get(name) is not None}


def configured(config: PlayConfig, settings: Settings, flags: Mapping[str, str]) -> PlayConfig:
    """``config`` of the command line with the settings where the line says nothing. Raises `InputError` for a model that is not known."""
    own = default_config(config.model)
    memory = config.memory
    changed: dict[str, Any] = {}
    if "host_budget" not in flags:
        changed["host_budget"] = own.memory.host_budget if settings.host_budget == "auto" else size(settings.host_budget)
    if memory.disk_dir is not None:
        if "disk" not in flags:
            changed["disk_dir"] = Path(settings.disk_folder) if settings.disk_folder else own.memory.disk_dir
        if "disk_budget" not in flags:
            changed["disk_budget"] = own.memory.disk_budget if settings.disk_budget == "auto" else size(settings.disk_budget)
    return replace(config, memory=replace(memory, **changed))


def for_model(config: PlayConfig, name: str, settings: Settings, flags: Mapping[str, str]) -> PlayConfig:
    """``config`` for another model: options of the one before don't fit it."""
    options = config.model_options if config.model == name else {}
    return configured(replace(config, model=name, model_options=options), settings, flags)


def starting_config(config: PlayConfig, settings: Settings, flags: Mapping[str, str]) -> PlayConfig:
    """What to begin with: the model of last time, unless the line names one or it is gone."""
    if "model" not in flags and settings.model != config.model:
        try:
            return for_model(config, settings.model, settings, flags)
        except InputError as error:
            log.warning("the model of last time can't be used: %s", error)
    return configured(config, settings, flags)
