"""Keys as a person may change them: which mean what, what a key would be taken from, and the key map that follows.

Controls (walk, turn, ...) have places on the keyboard, actions have what is printed on keys. Both go by their names; a choice stands in
the settings only where it differs from the default.
"""

from __future__ import annotations

import logging
import tomllib
from collections.abc import Mapping, Sequence
from importlib import resources

from PySide6.QtCore import QKeyCombination, Qt
from PySide6.QtGui import QKeySequence

from worldpager.app.actions import all_actions
from worldpager.app.input.keymap import Keymap, make_keymap
from worldpager.app.input.places import place_text
from worldpager.app.words import later
from worldpager.engine.errors import InputError

log = logging.getLogger(__name__)

Keys = dict[str, list[str]]

CONTROL_WORDS = {
    "forward": later("walk forward"), "back": later("walk back"), "left": later("walk left"), "right": later("walk right"),
    "turn_left": later("turn left"), "turn_right": later("turn right"), "look_up": later("look up"), "look_down": later("look down"),
    "run": later("run"),
}  # fmt: skip
MODIFIERS = frozenset((Qt.Key.Key_Shift, Qt.Key.Key_Control, Qt.Key.Key_Alt, Qt.Key.Key_AltGr, Qt.Key.Key_Meta))
MOST_KEYS = 3
"""Keys that one control or action may have."""


def own_keys() -> Keys:
    """Every control's and action's own keys by name, controls first."""
    text = (resources.files("worldpager.assets") / "keymaps" / "default.toml").read_text()
    held = {name: list(places) for name, places in tomllib.loads(text)["held"].items()}
    actions: Keys = {}
    taken: dict[str, str] = {}
    for name, action in all_actions().items():
        actions[name] = [key for key in action.keys if taken.setdefault(key, name) == name]
        if len(actions[name]) < len(action.keys):
            log.error("a key of %s belongs to another action: %s", name, ", ".join(action.keys))
    assert not held.keys() & actions.keys(), "a control and an action share a name"
    return held | actions


class Bindings:
    """``chosen``: what the settings hold; they take keys from those who have them by default only.

    Choices that contradict each other or name nothing are left out, and named in ``complaints``.
    """

    def __init__(self, chosen: Mapping[str, Sequence[str]]) -> None:
        self._own = own_keys()
        self._chosen: Keys = {}
        self.complaints: list[str] = []
        taken: dict[int, str] = {}
        for name, keys in chosen.items():
            try:
                codes = self._codes_of(name, keys, taken)
            except InputError as error:
                self.complaints.append(error.what)
                log.warning("keys for %s are left out: %s", name, error)
            else:
                taken |= dict.fromkeys(codes, name)
                self._chosen[name] = list(keys)
        self._yield_to(taken)

    def _codes_of(self, name: str, keys: Sequence[str], taken: Mapping[int, str]) -> set[int]:
        """Codes of a choice. Raises `InputError` where it names nothing, or a key that another choice has."""
        if name not in self._own:
            raise InputError(f"The key map has no command {name!r}.", f"Commands are {', '.join(self._own)}.")
        make_keymap(*({name: keys}, {}) if is_control(name) else ({}, {name: keys}))
        codes = {code for key in keys for code in _codes(name, key)}
        for code in codes & taken.keys():
            raise InputError(f"The key map gives a key of {name} to {taken[code]}, too.", "Leave one of them out.")
        return codes

    def _yield_to(self, taken: Mapping[int, str]) -> None:
        """Keys that a person chose are no longer anybody's by default."""
        for other, own in self._own.items():
            if other not in self._chosen:
                left = [key for key in own if not _codes(other, key) & taken.keys()]
                if left != own:
                    self._chosen[other] = left

    def _make(self, chosen: Keys) -> Keymap:
        keys = self._own | chosen
        return make_keymap(
            {name: keys[name] for name in keys if name in CONTROL_WORDS}, {name: keys[name] for name in keys if name not in CONTROL_WORDS}
        )

    @property
    def keymap(self) -> Keymap:
        """The key map in force."""
        return self._make(self._chosen)

    @property
    def chosen(self) -> Keys:
        """What the settings should hold."""
        return {name: keys for name, keys in self._chosen.items() if keys != self._own[name]}

    @property
    def names(self) -> list[str]:
        """All controls and actions."""
        return list(self._own)

    def keys_of(self, name: str) -> list[str]:
        """Names of the keys that mean ``name``."""
        return list(self._chosen.get(name, self._own[name]))

    def holder(self, name: str, key: str) -> str | None:
        """Who has ``key`` already, if it were bound to ``name``; None when it is free."""
        wanted = _codes(name, key)
        for other in self._own:
            if other != name and any(wanted & _codes(other, taken) for taken in self.keys_of(other)):
                return other
        return None

    def bind(self, name: str, key: str) -> str | None:
        """Give ``key`` to ``name``, last of its keys; the first gives way when there are too many. Returns whom it was taken from."""
        before = self.holder(name, key)
        if before is not None:
            wanted = _codes(name, key)
            self._chosen[before] = [taken for taken in self.keys_of(before) if not wanted & _codes(before, taken)]
        keys = [old for old in self.keys_of(name) if old != key]
        self._chosen[name] = [*keys, key][-MOST_KEYS:]
        return before

    def unbind(self, name: str, key: str) -> None:
        """``key`` no longer means ``name``."""
        self._chosen[name] = [old for old in self.keys_of(name) if old != key]

    def restore(self) -> None:
        """Every control and action has its own keys again."""
        self._chosen.clear()


def is_control(name: str) -> bool:
    """Whether ``name`` is held, not an action."""
    return name in CONTROL_WORDS


def words_of(name: str) -> str:
    """What ``name`` does, as the source says it."""
    return CONTROL_WORDS.get(name) or all_actions()[name].words


def key_text(name: str, key: str) -> str:
    """What to write on the cap of ``key`` of ``name``."""
    return place_text(key) if is_control(name) else QKeySequence(key).toString(QKeySequence.SequenceFormat.NativeText)


def sequence_of(key: int, modifiers: Qt.KeyboardModifier) -> str | None:
    """The shortcut that a press spells; None for a modifier alone and for keys that Qt can't tell."""
    if key in {int(modifier) for modifier in MODIFIERS} or key in (0, int(Qt.Key.Key_unknown)):
        return None
    plain = modifiers & ~Qt.KeyboardModifier.KeypadModifier
    text = QKeySequence(QKeyCombination(plain, Qt.Key(key))).toString(QKeySequence.SequenceFormat.PortableText)
    return text or None


def _codes(name: str, key: str) -> set[int]:
    """Key combinations that pressing ``key`` gives on a US keyboard; of a control also its place."""
    from worldpager.app.input.places import PLACES

    if is_control(name):
        code, meaning = PLACES[key]
        return {-code} if key.startswith("Numpad") else {-code, int(meaning)}
    return {QKeySequence(key)[0].toCombined()}  # type: ignore[index]
