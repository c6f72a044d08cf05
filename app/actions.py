"""What a person can ask of the window by key, menu or button: one table that feeds the key map, the page of keys and the menus.

To add an action, `register` it in a module of your own and name the module in `MODULES`; the window itself stays as it is. Something that
lives as long as the window (with timers, a state, panels) is a part: `register_part` its factory; it listens to the window's signals
``began_playing``, ``chunk_arrived`` and ``closing``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from worldpager.app.main_window import MainWindow

MODULES = (
    "worldpager.app.play_actions", "worldpager.app.capture_actions", "worldpager.app.start_actions", "worldpager.app.pad_actions",
    "worldpager.app.world_actions", "worldpager.app.input_feedback", "worldpager.app.care", "worldpager.app.memory_view.part",
    "worldpager.app.audio.part", "worldpager.app.prompt_actions",
)  # fmt: skip
"""Modules that register actions and parts when they are imported, in the order of the page of keys."""


class Section(StrEnum):
    """Where an action stands on the page of keys."""

    PLAY = "play"
    KEEP = "keep"
    VIEW = "view"
    WINDOW = "window"


@dataclass(frozen=True, slots=True)
class WindowAction:
    """One thing to ask for. ``name`` is its name in key maps, ``words`` say what it does, ``keys`` as Qt writes shortcuts.

    ``playing``: it needs a world on the screen, and is not heard before there is one.
    """

    name: str
    words: str
    keys: tuple[str, ...]
    section: Section
    run: Callable[[MainWindow], None]
    playing: bool = False


MakePart = Callable[["MainWindow"], object]

_ACTIONS: dict[str, WindowAction] = {}
_PARTS: dict[str, MakePart] = {}


def register(action: WindowAction) -> WindowAction:
    """Add ``action`` to the table. AssertionError for a name that is taken."""
    assert action.name not in _ACTIONS, f"two actions are called {action.name}"
    _ACTIONS[action.name] = action
    return action


def register_part(name: str, make: MakePart) -> None:
    """Have ``make(window)`` called when a window has been made; the window keeps the result in ``parts[name]``."""
    assert name not in _PARTS, f"two parts are called {name}"
    _PARTS[name] = make


def all_actions() -> dict[str, WindowAction]:
    """Every action by name, in the order of registration."""
    for module in MODULES:
        import_module(module)
    return _ACTIONS


def all_parts() -> dict[str, MakePart]:
    """Every part's factory by name."""
    all_actions()
    return _PARTS
