"""Which key is which control.

Walking keys go by their place on the keyboard, so that they lie under the same fingers in any layout; commands go by their letter.
"""

from __future__ import annotations

import sys

from PySide6.QtCore import Qt

from worldpager.engine.types import Button

Key = Qt.Key

WALK_BY_PLACE = {25: Button.FORWARD, 38: Button.LEFT, 39: Button.BACK, 40: Button.RIGHT}
"""X11 and Wayland key codes of the places that a US keyboard marks W, A, S, D."""
BY_KEY = {
    Key.Key_W: Button.FORWARD, Key.Key_A: Button.LEFT, Key.Key_S: Button.BACK, Key.Key_D: Button.RIGHT,
    Key.Key_Left: Button.TURN_LEFT, Key.Key_Right: Button.TURN_RIGHT, Key.Key_Up: Button.LOOK_UP, Key.Key_Down: Button.LOOK_DOWN,
    Key.Key_Shift: Button.RUN,
}  # fmt: skip

COMMANDS = {
    Key.Key_Space: "pause", Key.Key_P: "pause", Key.Key_R: "reset", Key.Key_N: "new world", Key.Key_H: "overlays",
    Key.Key_M: "memory", Key.Key_F1: "help", Key.Key_F9: "record", Key.Key_F11: "full screen", Key.Key_F12: "screenshot",
    Key.Key_Escape: "escape", Key.Key_Return: "accept", Key.Key_Enter: "accept",
}  # fmt: skip

HELP = (
    (("W", "A", "S", "D"), "walk"),
    (("Mouse",), "look (click the picture)"),
    (("←", "→", "↑", "↓"), "turn and look"),
    (("Shift",), "run"),
    (("Space",), "pause"),
    (("R",), "begin this world anew"),
    (("N",), "another world"),
    (("M",), "memory on or off"),
    (("H",), "overlays: none, small, full"),
    (("F9",), "record a film"),
    (("F12",), "screenshot"),
    (("F11",), "full screen"),
    (("Esc",), "let go of the mouse"),
    (("Ctrl", "Q"), "quit"),
)
"""Keys and what they do, for the help card."""
HINT = ((("W", "A", "S", "D"), "walk"), (("Mouse",), "look: click first"), (("Shift",), "run"), (("N",), "new world"), (("F1",), "all keys"))


def button_of(scan_code: int, key: int) -> Button:
    """The control on this key; `Button.NONE` when there is none. ``scan_code`` 0 means that the system gives no places."""
    if scan_code and sys.platform.startswith("linux"):
        if scan_code in WALK_BY_PLACE:
            return WALK_BY_PLACE[scan_code]
        if key in (Key.Key_W, Key.Key_A, Key.Key_S, Key.Key_D):
            return Button.NONE
    try:
        return BY_KEY.get(Key(key), Button.NONE)
    except ValueError:
        return Button.NONE


def command_of(scan_code: int, key: int) -> str | None:
    """The command on this key, unless a control lies there."""
    if button_of(scan_code, key):
        return None
    try:
        return COMMANDS.get(Key(key))
    except ValueError:
        return None
