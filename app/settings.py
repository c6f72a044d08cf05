"""What the window remembers of a person's wishes: a small JSON file in the user's configuration folder.

Every field falls back by itself: a wrong value costs that value alone. A file that can't be read at all is kept aside, never overwritten.
Only what differs from the defaults is written.
"""

from __future__ import annotations

import json
import logging
import os
import tempfile
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import platformdirs

log = logging.getLogger(__name__)

FILE_NAME = "window.json"
VERSION = 1
CHOICES: dict[str, tuple[str, ...]] = {
    "viewport": ("auto", "opengl", "software"),
    "overlay": ("none", "small", "full"),
    "fit": ("fill", "whole"),
}
SENSITIVITY_RANGE = (0.02, 0.5)


@dataclass(slots=True)
class Settings:
    """The window's preferences. ``sensitivity`` in degrees a pixel; ``fit``: the picture fills the window, or is shown whole."""

    viewport: str = "auto"
    overlay: str = "small"
    fit: str = "fill"
    sensitivity: float = 0.12
    invert: bool = False
    keys_known: bool = False
    """The first-run hint has been followed or closed."""


def settings_path() -> Path:
    """Where the preferences lie; ``WORLDPAGER_CONFIG_DIR`` moves the folder."""
    folder = os.environ.get("WORLDPAGER_CONFIG_DIR")
    return (Path(folder) if folder else platformdirs.user_config_path("worldpager")) / FILE_NAME


def load_settings(path: Path) -> Settings:
    """Preferences from ``path``, defaults where it says nothing usable. Never raises."""
    settings = Settings()
    try:
        table = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(table, dict):
            raise ValueError("not a JSON object")
    except FileNotFoundError:
        return settings
    except (OSError, ValueError) as error:
        log.warning("settings %s can't be read (%s); defaults are used", path, error)
        _keep_aside(path)
        return settings
    for field in fields(Settings):
        if field.name in table:
            value = _checked(field.name, table[field.name])
            if value is None:
                log.warning("settings %s: %s=%r can't be used; its default is", path, field.name, table[field.name])
            else:
                setattr(settings, field.name, value)
    return settings


def save_settings(settings: Settings, path: Path) -> bool:
    """Write what differs from the defaults, as a whole or not at all. False, and a line in the log, when it can't be written."""
    defaults = asdict(Settings())
    table = {"version": VERSION} | {name: value for name, value in asdict(settings).items() if value != defaults[name]}
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile("w", dir=path.parent, prefix=".window.", delete=False, encoding="utf-8") as file:
            json.dump(table, file, indent=2)
            file.write("\n")
        Path(file.name).replace(path)
    except OSError as error:
        log.warning("settings %s can't be written: %s", path, error)
        return False
    return True


def _checked(name: str, value: Any) -> str | float | bool | None:
    """``value`` if it can stand for field ``name``, else None."""
    if name in CHOICES:
        return value if isinstance(value, str) and value in CHOICES[name] else None
    if name == "sensitivity":
        least, most = SENSITIVITY_RANGE
        return float(value) if isinstance(value, int | float) and not isinstance(value, bool) and least <= value <= most else None
    return value if isinstance(value, bool) else None


def _keep_aside(path: Path) -> None:
    """Rename a file that can't be read, so that nothing a person wrote is lost."""
    try:
        path.replace(path.with_name(f"{path.name}.unreadable"))
    except OSError as error:
        log.warning("%s can't be renamed: %s", path, error)
