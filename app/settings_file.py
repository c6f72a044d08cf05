"""The file of settings: JSON, sparse, with a version. Nothing in it can stop the program.

Every field falls back by itself: a wrong value costs that value alone. A file that can't be read is kept aside, never overwritten. Older
files are brought up to date; of a newer program's file a copy is kept, what is understood is used, and what isn't is written back.
"""

from __future__ import annotations

import json
import logging
import os
import shutil
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import platformdirs

from worldpager.app.settings import ABOUT, Settings, defaults

log = logging.getLogger(__name__)

FILE_NAME = "window.json"
VERSION = 2
ENVIRONMENT = "WORLDPAGER_"

Table = dict[str, Any]


@dataclass(slots=True)
class StoredSettings:
    """``values`` as the file has them; ``foreign`` fields of another version; ``complaints`` in words for the person."""

    values: Settings = field(default_factory=Settings)
    foreign: Table = field(default_factory=dict)
    complaints: list[str] = field(default_factory=list)


def settings_path() -> Path:
    """Where the preferences lie; ``WORLDPAGER_CONFIG_DIR`` moves the folder."""
    folder = os.environ.get("WORLDPAGER_CONFIG_DIR")
    return (Path(folder) if folder else platformdirs.user_config_path("worldpager")) / FILE_NAME


def load_settings(path: Path) -> StoredSettings:
    """Settings from ``path``, defaults where it says nothing usable. Never raises."""
    stored = StoredSettings()
    try:
        table = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(table, dict):
            raise ValueError("not a JSON object")
    except FileNotFoundError:
        return stored
    except (OSError, ValueError, RecursionError) as error:
        kept = _keep_aside(path)
        where = f", the file is kept as {kept.name}" if kept else ""
        stored.complaints.append(f"{path} can't be read ({error}); defaults are used{where}")
        log.warning("%s", stored.complaints[-1])
        return stored
    _take(_migrated(table, path), stored)
    return stored


def save_settings(values: Settings, path: Path, foreign: Mapping[str, Any] | None = None) -> bool:
    """Write what differs from the defaults, whole or not at all. False, and a line in the log, when it can't be written."""
    own = defaults()
    changed = {name: getattr(values, name) for name in own if getattr(values, name) != own[name]}
    table = {**(foreign or {}), "version": VERSION, **changed}
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile("w", dir=path.parent, prefix=".window.", delete=False, encoding="utf-8") as file:
            try:
                json.dump(table, file, indent=2, ensure_ascii=False)
                file.write("\n")
                file.flush()
                os.fsync(file.fileno())
            except BaseException:
                Path(file.name).unlink()
                raise
        Path(file.name).replace(path)
    except OSError as error:
        log.warning("settings %s can't be written: %s", path, error)
        return False
    return True


def environment_overrides(environment: Mapping[str, str]) -> tuple[Table, dict[str, str]]:
    """(values, names of the variables) of the fields that the environment sets; a value that can't be used is named in the log."""
    values: Table = {}
    origins: dict[str, str] = {}
    own = defaults()
    for name, about in ABOUT.items():
        variable = ENVIRONMENT + name.upper()
        if variable not in environment or isinstance(own[name], dict):
            continue
        value = about.checked(environment[variable], own[name])
        if value is None:
            log.warning("%s=%r can't be used", variable, environment[variable])
        else:
            values[name], origins[name] = value, variable
    return values, origins


def _take(table: Table, stored: StoredSettings) -> None:
    """Fields of ``table`` into ``stored``, each by itself."""
    own = defaults()
    for name, value in table.items():
        if name == "version":
            continue
        if name not in own:
            stored.foreign[name] = value
            continue
        checked = ABOUT[name].checked(value, own[name])
        if checked is None:
            stored.complaints.append(f"the setting {name} = {value!r} can't be used; its default counts")
            log.warning("%s", stored.complaints[-1])
        else:
            setattr(stored.values, name, checked)


def _migrated(table: Table, path: Path) -> Table:
    """``table`` as this version writes it."""
    version = table.get("version", 1)
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        return table
    if version > VERSION:
        _keep_copy(path, f"{path.name}.version-{version}")
        log.warning("settings %s are of a newer program (version %d); what is understood is used", path, version)
        return table
    if version < VERSION:
        _keep_copy(path, f"{path.name}.version-{version}")
    for step in range(version, VERSION):
        table = MIGRATIONS[step](table)
    return table


def _from_1(table: Table) -> Table:
    """Version 2 tells the mouse from the stick."""
    names = {"sensitivity": "mouse_sensitivity", "invert": "mouse_invert"}
    return {names.get(name, name): value for name, value in table.items()}


MIGRATIONS: dict[int, Callable[[Table], Table]] = {1: _from_1}
"""From a version to the next."""


def _keep_aside(path: Path) -> Path | None:
    """Rename a file that can't be read, so that nothing a person wrote is lost. An earlier one keeps its name."""
    kept, count = path.with_name(f"{path.name}.unreadable"), 1
    while kept.exists():
        count += 1
        kept = path.with_name(f"{path.name}.unreadable-{count}")
    try:
        return path.replace(kept)
    except OSError as error:
        log.warning("%s can't be renamed: %s", path, error)
        return None


def _keep_copy(path: Path, name: str) -> None:
    try:
        shutil.copyfile(path, path.with_name(name))
    except OSError as error:
        log.warning("%s can't be copied: %s", path, error)
