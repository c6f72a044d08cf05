"""Which key means which control or command, read from a TOML file.

Held controls are bound to places on the keyboard, so that WASD lie under the same fingers on any layout. Qt tells the place by a scan code
whose numbers are X11's on X11 and Wayland; elsewhere, and for keys without one, the key's meaning stands in.
"""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from importlib import resources
from typing import TypeVar

from PySide6.QtCore import QKeyCombination, Qt
from PySide6.QtGui import QKeyEvent, QKeySequence

from worldpager.app.actions import all_actions
from worldpager.app.input.places import PLACES, X11_CODES
from worldpager.engine.errors import InputError
from worldpager.engine.types import Button

Meaning = TypeVar("Meaning", Button, str)


@dataclass(frozen=True, slots=True)
class Keymap:
    """Bindings: scan codes and Qt keys to buttons, key combinations to commands."""

    by_code: Mapping[int, Button]
    by_key: Mapping[int, Button]
    commands: Mapping[int, str]

    def button(self, event: QKeyEvent, platform: str) -> tuple[int, Button] | None:
        """(number that names the physical key, its button) if the key is a held control."""
        code = event.nativeScanCode()
        if platform in X11_CODES and code:
            button = self.by_code.get(code)
            return None if button is None else (code, button)
        button = self.by_key.get(event.key())
        return None if button is None else (-event.key(), button)

    def command(self, event: QKeyEvent) -> str | None:
        """Name of the action that this key press asks for. Shift, which runs, is no obstacle."""
        modifiers = event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        plain = modifiers & ~Qt.KeyboardModifier.ShiftModifier
        return self.commands.get(event.key() | modifiers.value, self.commands.get(event.key() | plain.value))


def read_keymap(text: str, actions: Mapping[str, Collection[str]]) -> Keymap:
    """A key map from TOML. ``actions``: every action's name and its own keys, which count unless the text names others.

    Raises `InputError` for unknown names and for a key that means two things.
    """
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"The key map is no valid TOML: {error}.", "Correct the file, or take the default one.") from error
    chosen = table.get("commands", {})
    for name in chosen:
        _check_action(name, actions)
    return make_keymap(table.get("held", {}), {**actions, **chosen})


def make_keymap(held: Mapping[str, Iterable[str]], actions: Mapping[str, Iterable[str]]) -> Keymap:
    """A key map from places by control and shortcuts by action. Raises `InputError` as `read_keymap` does."""
    by_code: dict[int, Button] = {}
    by_key: dict[int, Button] = {}
    for name, places in held.items():
        button = _button(name)
        for place in places:
            code, key = _place(place)
            _bind(by_code, code, button, place)
            if not place.startswith("Numpad"):
                by_key.setdefault(int(key), button)
    commands: dict[int, str] = {}
    for name, sequences in actions.items():
        for sequence in sequences:
            _bind(commands, _combination(sequence), name, sequence)
    _refuse_overlap(by_key, commands)
    return Keymap(by_code, by_key, commands)


def default_keymap() -> Keymap:
    """The key map that ships with the program."""
    text = (resources.files("worldpager.assets") / "keymaps" / "default.toml").read_text()
    return read_keymap(text, {name: action.keys for name, action in all_actions().items()})


def _button(name: str) -> Button:
    if name.upper() not in Button.__members__:
        raise InputError(f"The key map has no control {name!r}.", f"Controls are {', '.join(b.lower() for b in Button.__members__)}.")
    return Button[name.upper()]


def _place(name: str) -> tuple[int, Qt.Key]:
    if name not in PLACES:
        raise InputError(f"The key map knows no key place {name!r}.", f"Places are {', '.join(PLACES)}.")
    return PLACES[name]


def _check_action(name: str, actions: Collection[str]) -> None:
    if name not in actions:
        raise InputError(f"The key map has no command {name!r}.", f"Commands are {', '.join(actions)}.")


def _combination(text: str) -> int:
    sequence = QKeySequence(text)
    first = QKeyCombination(sequence[0]) if sequence.count() == 1 else None  # type: ignore[index]
    if first is None or first.key() == Qt.Key.Key_unknown:
        raise InputError(f"The key map knows no key {text!r}.", "Write keys as in menus: F9, Ctrl+Q, Space.")
    return first.toCombined()


def _bind(table: dict[int, Meaning], key: int, meaning: Meaning, name: str) -> None:
    if table.setdefault(key, meaning) != meaning:
        raise InputError(f"The key map gives {name} two meanings.", "Leave one of them out.")


def _refuse_overlap(held: Iterable[int], commands: Iterable[int]) -> None:
    for key in set(held) & set(commands):
        raise InputError(f"The key map makes {QKeySequence(key).toString()} both a control and a command.", "Leave one of them out.")
