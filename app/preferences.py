"""The settings in use: what the file says, what the command line and the environment say over it, and who is told of a change."""

from __future__ import annotations

import copy
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, Signal

from worldpager.app.settings import ABOUT, Settings, defaults
from worldpager.app.settings_file import environment_overrides, load_settings, save_settings


class Preferences(QObject):
    """``values`` are the ones in force. Every change by `set` is written at once; an overridden field keeps its place in the file."""

    changed = Signal(str)
    """Name of a field whose value in force is another now."""

    def __init__(self, path: Path, given: Mapping[str, tuple[Any, str]] | None = None, environment: Mapping[str, str] = os.environ) -> None:
        """``given``: values of the command line with the flag they came by."""
        super().__init__()
        self.path = path
        stored = load_settings(path)
        self._stored, self._foreign, self.complaints = stored.values, stored.foreign, stored.complaints
        self.values: Settings = copy.deepcopy(stored.values)
        values, self._origins = environment_overrides(environment)
        for name, (value, flag) in (given or {}).items():
            values[name], self._origins[name] = value, flag
        for name, value in values.items():
            setattr(self.values, name, value)
        self.saved = True
        """Whether the last change could be written."""

    def origin(self, name: str) -> str:
        """The flag or the variable that sets ``name`` for this run; empty when the file or the default does."""
        return self._origins.get(name, "")

    def set(self, name: str, value: Any) -> None:
        """Change ``name``, tell, and write. ValueError for a value that can't stand there."""
        checked = ABOUT[name].checked(value, defaults()[name])
        if checked is None:
            raise ValueError(f"{name} can't be {value!r}")
        before = getattr(self.values, name)
        setattr(self.values, name, checked)
        if name not in self._origins:
            setattr(self._stored, name, copy.deepcopy(checked))
            self.saved = save_settings(self._stored, self.path, self._foreign)
        if checked != before:
            self.changed.emit(name)

    def reset(self) -> None:
        """Every field that nothing overrides takes its default; written at once."""
        own = defaults()
        names = [name for name in own if name not in self._origins and getattr(self.values, name) != own[name]]
        self._stored = Settings()
        for name in names:
            setattr(self.values, name, own[name])
        self.saved = save_settings(self._stored, self.path, self._foreign)
        for name in names:
            self.changed.emit(name)
