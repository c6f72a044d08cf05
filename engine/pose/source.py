"""Where actions come from when no person is at the keys."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from worldpager.engine.errors import InputError
from worldpager.engine.pose.recorded import load_recording
from worldpager.engine.pose.script import SCRIPTS, Script
from worldpager.engine.types import Action

KEYBOARD = "keyboard"


class ActionSource(Protocol):
    """Yields actions by model time."""

    def next(self, seconds: float) -> Action | None:
        """The action for the next ``seconds``; None when there is no more."""
        ...


def open_source(text: str) -> ActionSource | None:
    """What ``--input`` names: ``keyboard`` (None), ``script:NAME``, or a recording's path. Raises `InputError`."""
    if text == KEYBOARD:
        return None
    if text.startswith("script:"):
        name = text.removeprefix("script:")
        if name not in SCRIPTS:
            raise InputError(f"There is no script {name!r}.", f"Choose one of {', '.join(f'script:{known}' for known in SCRIPTS)}.")
        return Script(SCRIPTS[name])
    return load_recording(Path(text).expanduser())
