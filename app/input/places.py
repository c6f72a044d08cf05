"""Places on the keyboard, by the names of the web's KeyboardEvent.code: X11's scan code, and the key that lies there on a US layout."""

from __future__ import annotations

from PySide6.QtCore import Qt

_Key = Qt.Key


def _row(first: int, names: str, prefix: str = "Key") -> dict[str, tuple[int, Qt.Key]]:
    """Keys of one row, whose scan codes follow each other."""
    return {f"{prefix}{name}": (first + index, getattr(_Key, f"Key_{name}")) for index, name in enumerate(names)}


PLACES: dict[str, tuple[int, Qt.Key]] = {
    **_row(10, "1234567890", "Digit"), **_row(24, "QWERTYUIOP"), **_row(38, "ASDFGHJKL"), **_row(52, "ZXCVBNM"),
    **{f"F{number}": (66 + number, getattr(_Key, f"Key_F{number}")) for number in range(1, 11)},
    "F11": (95, _Key.Key_F11), "F12": (96, _Key.Key_F12),
    "Minus": (20, _Key.Key_Minus), "Equal": (21, _Key.Key_Equal), "Tab": (23, _Key.Key_Tab), "Space": (65, _Key.Key_Space),
    "BracketLeft": (34, _Key.Key_BracketLeft), "BracketRight": (35, _Key.Key_BracketRight), "Enter": (36, _Key.Key_Return),
    "Semicolon": (47, _Key.Key_Semicolon), "Quote": (48, _Key.Key_Apostrophe), "Backquote": (49, _Key.Key_QuoteLeft),
    "Backslash": (51, _Key.Key_Backslash), "Comma": (59, _Key.Key_Comma), "Period": (60, _Key.Key_Period), "Slash": (61, _Key.Key_Slash),
    "ShiftLeft": (50, _Key.Key_Shift), "ShiftRight": (62, _Key.Key_Shift),
    "ControlLeft": (37, _Key.Key_Control), "ControlRight": (105, _Key.Key_Control),
    "AltLeft": (64, _Key.Key_Alt), "AltRight": (108, _Key.Key_AltGr), "Backspace": (22, _Key.Key_Backspace),
    "ArrowUp": (111, _Key.Key_Up), "ArrowLeft": (113, _Key.Key_Left), "ArrowRight": (114, _Key.Key_Right),
    "ArrowDown": (116, _Key.Key_Down), "PageUp": (112, _Key.Key_PageUp), "PageDown": (117, _Key.Key_PageDown),
    "Home": (110, _Key.Key_Home), "End": (115, _Key.Key_End), "Insert": (118, _Key.Key_Insert), "Delete": (119, _Key.Key_Delete),
    "Numpad7": (79, _Key.Key_7), "Numpad8": (80, _Key.Key_8), "Numpad9": (81, _Key.Key_9), "NumpadSubtract": (82, _Key.Key_Minus),
    "Numpad4": (83, _Key.Key_4), "Numpad5": (84, _Key.Key_5), "Numpad6": (85, _Key.Key_6), "NumpadAdd": (86, _Key.Key_Plus),
    "Numpad1": (87, _Key.Key_1), "Numpad2": (88, _Key.Key_2), "Numpad3": (89, _Key.Key_3), "Numpad0": (90, _Key.Key_0),
}  # fmt: skip

X11_CODES = frozenset(("xcb", "wayland", "wayland-egl"))
"""Qt platforms whose scan codes are X11's."""

_BY_CODE = {code: name for name, (code, _) in PLACES.items()}
_BY_KEY = {key: name for name, (_, key) in reversed(PLACES.items()) if not name.startswith("Numpad")}
_NAMES = {
    "ArrowUp": "↑", "ArrowLeft": "←", "ArrowRight": "→", "ArrowDown": "↓", "ShiftLeft": "Shift", "ShiftRight": "Shift ⇢",
    "ControlLeft": "Ctrl", "ControlRight": "Ctrl ⇢", "AltLeft": "Alt", "AltRight": "AltGr", "PageUp": "PgUp", "PageDown": "PgDn",
    "Minus": "-", "Equal": "=", "BracketLeft": "[", "BracketRight": "]", "Semicolon": ";", "Quote": "'", "Backquote": "`",
    "Backslash": "\\", "Comma": ",", "Period": ".", "Slash": "/",
}  # fmt: skip


def place_of(scan_code: int, key: int, platform: str) -> str | None:
    """Name of the place of a key that was pressed; None where it has none."""
    if platform in X11_CODES and scan_code:
        return _BY_CODE.get(scan_code)
    return next((name for known, name in _BY_KEY.items() if int(known) == key), None)


def place_text(name: str) -> str:
    """What stands on the key at a place of a US keyboard."""
    if name in _NAMES:
        return _NAMES[name]
    return name.removeprefix("Key").removeprefix("Digit").replace("Numpad", "Num ")
