"""Walking keys lie in the same places on every layout; commands go by what the key says."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QKeyEvent

from worldpager.app.actions import all_actions
from worldpager.app.input.keymap import default_keymap, read_keymap
from worldpager.app.input.places import PLACES, place_of
from worldpager.engine.errors import InputError
from worldpager.engine.types import Button

Key, Modifier = Qt.Key, Qt.KeyboardModifier


def press(key: Qt.Key, modifiers: Qt.KeyboardModifier = Modifier.NoModifier, scan_code: int = 0) -> QKeyEvent:
    return QKeyEvent(QEvent.Type.KeyPress, key, modifiers, scan_code, 0, 0)


def test_places_count_on_x11() -> None:
    keymap = default_keymap()
    assert keymap.button(press(Key.Key_Z, scan_code=25), "xcb") == (25, Button.FORWARD)  # W's place on a French keyboard
    assert keymap.button(press(Key.Key_W, scan_code=52), "xcb") is None
    assert keymap.button(press(Key.Key_W, scan_code=17), "windows") == (-Key.Key_W, Button.FORWARD)
    assert keymap.button(press(Key.Key_Left, scan_code=113), "xcb") == (113, Button.TURN_LEFT)
    assert keymap.button(press(Key.Key_Up, scan_code=111), "wayland") == (111, Button.LOOK_UP)


def test_commands_with_and_without_shift() -> None:
    keymap = default_keymap()
    assert keymap.command(press(Key.Key_F12)) == "screenshot"
    assert keymap.command(press(Key.Key_F12, Modifier.ShiftModifier)) == "clean_screenshot"
    assert keymap.command(press(Key.Key_Space, Modifier.ShiftModifier)) == "pause"
    assert keymap.command(press(Key.Key_Q, Modifier.ControlModifier)) == "quit"
    assert keymap.command(press(Key.Key_R, Modifier.ControlModifier)) is None


def test_every_command_has_a_key() -> None:
    assert set(default_keymap().commands.values()) == set(all_actions())


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("held = [", "TOML"),
        ('[held]\nfly = ["KeyW"]', "fly"),
        ('[held]\nforward = ["KeyÜ"]', "KeyÜ"),
        ('[held]\nforward = ["KeyW"]\nback = ["KeyW"]', "KeyW"),
        ('[commands]\ndance = ["F2"]', "dance"),
        ('[commands]\npause = ["NoSuchKey"]', "NoSuchKey"),
        ('[commands]\npause = ["F2"]\nreset = ["F2"]', "F2"),
        ('[held]\nforward = ["KeyW"]\n[commands]\npause = ["W"]', "W"),
    ],
)
def test_a_wrong_key_map_is_named(text: str, named: str) -> None:
    with pytest.raises(InputError) as caught:
        read_keymap(text, {"pause": ("Space",), "reset": ("R",)})
    assert named in caught.value.what
    assert caught.value.hint


def test_every_place_has_a_code_and_a_key_of_its_own() -> None:
    codes = [code for code, _ in PLACES.values()]
    assert len(set(codes)) == len(codes)
    for name, (code, key) in PLACES.items():
        assert place_of(code, 0, "xcb") == name
        if not name.startswith("Numpad"):
            assert PLACES[place_of(0, int(key), "windows") or ""][1] == key
    assert place_of(7, 0, "xcb") is None
