"""Gamepads through SDL (the optional pygame-ce): what the first pad's sticks, triggers and buttons say, asked once a tick.

Without the library or a pad nothing happens. SDL's own window system stays out of the way: Qt has the screen.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from types import ModuleType
from typing import Any, Protocol

from worldpager.engine.types import Button

log = logging.getLogger(__name__)

FULL = 32767.0
STICK_HELD = 0.5
"""Deflection from where on a stick counts as a held control."""
TRIGGER_HELD = 0.3
LOOK_SECONDS = 1.0
"""Seconds between two looks for a pad that was plugged in."""
SDL = {"SDL_VIDEODRIVER": "dummy", "SDL_JOYSTICK_ALLOW_BACKGROUND_EVENTS": "1", "PYGAME_HIDE_SUPPORT_PROMPT": "1"}
BUTTONS = {
    "a": "A", "b": "B", "x": "X", "y": "Y", "back": "BACK", "start": "START", "left_shoulder": "LEFTSHOULDER",
    "right_shoulder": "RIGHTSHOULDER", "left_stick": "LEFTSTICK", "right_stick": "RIGHTSTICK",
    "up": "DPAD_UP", "down": "DPAD_DOWN", "left": "DPAD_LEFT", "right": "DPAD_RIGHT",
}  # fmt: skip
"""Our name of a button: SDL's."""


@dataclass(frozen=True, slots=True)
class PadState:
    """Sticks from -1 to 1, right and down positive; triggers from 0 to 1; names of the buttons that are down."""

    left: tuple[float, float] = (0.0, 0.0)
    right: tuple[float, float] = (0.0, 0.0)
    triggers: tuple[float, float] = (0.0, 0.0)
    buttons: frozenset[str] = frozenset()


class Pad(Protocol):
    """Where states come from."""

    @property
    def name(self) -> str:
        """What the pad calls itself; empty without one."""
        ...

    def read(self, now: float) -> PadState | None:
        """The state at ``now`` in seconds; None without a pad."""
        ...

    def close(self) -> None:
        """Give the pad back."""
        ...


class SdlPad:
    """The first pad that SDL knows. Pads may come and go."""

    def __init__(self) -> None:
        """Raises ImportError without the library."""
        before = {name: os.environ.get(name) for name in SDL}
        os.environ.update(SDL)
        try:
            self._pygame: ModuleType = import_module("pygame")
            self._controller: Any = import_module("pygame._sdl2.controller")
            self._pygame.display.init()
            self._controller.init()
        finally:
            for name, value in before.items():
                if value is None:
                    os.environ.pop(name, None)
                else:
                    os.environ[name] = value
        self._pad: Any = None
        self._looked = float("-inf")

    @property
    def name(self) -> str:
        """See `Pad`."""
        return str(self._pad.name) if self._pad is not None else ""

    def read(self, now: float) -> PadState | None:
        """See `Pad`."""
        self._pygame.event.pump()
        self._pygame.event.clear()
        if self._pad is not None and not self._pad.attached():
            log.info("gamepad gone")
            self._pad = None
        if self._pad is None and now - self._looked >= LOOK_SECONDS:
            self._looked = now
            self._pad = self._first()
        return self._state() if self._pad is not None else None

    def _first(self) -> Any:
        for index in range(self._controller.get_count()):
            if self._controller.is_controller(index):
                pad = self._controller.Controller(index)
                log.info("gamepad: %s", pad.name)
                return pad
        return None

    def _state(self) -> PadState:
        game, pad = self._pygame, self._pad

        def axis(name: str) -> float:
            return float(max(-1.0, min(1.0, pad.get_axis(getattr(game, f"CONTROLLER_AXIS_{name}")) / FULL)))

        down = frozenset(ours for ours, theirs in BUTTONS.items() if pad.get_button(getattr(game, f"CONTROLLER_BUTTON_{theirs}")))
        triggers = (max(0.0, axis("TRIGGERLEFT")), max(0.0, axis("TRIGGERRIGHT")))
        return PadState((axis("LEFTX"), axis("LEFTY")), (axis("RIGHTX"), axis("RIGHTY")), triggers, down)

    def close(self) -> None:
        """See `Pad`."""
        self._pad = None
        self._controller.quit()
        self._pygame.display.quit()


def open_pad() -> Pad | None:
    """SDL's pads; None where the library is absent or can't start."""
    try:
        return SdlPad()
    except ImportError:
        log.info("no gamepads: pygame-ce is not installed (pip install 'worldpager[gamepad]')")
    except Exception as error:
        log.warning("no gamepads: %s", error)
    return None


def past_dead_zone(x: float, y: float, dead: float) -> tuple[float, float]:
    """A stick's deflection without its dead middle, rising from 0 at the zone's edge; never longer than 1."""
    length = (x * x + y * y) ** 0.5
    if length <= dead:
        return 0.0, 0.0
    factor = min(1.0, (length - dead) / max(1e-6, 1.0 - dead)) / length
    return x * factor, y * factor


def held_buttons(state: PadState, dead: float) -> Button:
    """Controls that the left stick, the cross, the shoulders and the right trigger hold."""
    x, y = past_dead_zone(*state.left, dead)
    down = state.buttons
    held = Button.NONE
    for on, button in (
        (y < -STICK_HELD or "up" in down, Button.FORWARD), (y > STICK_HELD or "down" in down, Button.BACK),
        (x < -STICK_HELD or "left" in down, Button.LEFT), (x > STICK_HELD or "right" in down, Button.RIGHT),
        ("left_shoulder" in down, Button.TURN_LEFT), ("right_shoulder" in down, Button.TURN_RIGHT),
        (state.triggers[1] > TRIGGER_HELD or "left_stick" in down, Button.RUN),
    ):  # fmt: skip
        if on:
            held |= button
    return held


class PadEdges:
    """Buttons that went down since the last look."""

    def __init__(self) -> None:
        self._before: frozenset[str] = frozenset()

    def pressed(self, state: PadState, extra: Callable[[PadState], frozenset[str]] = lambda state: frozenset()) -> frozenset[str]:
        """Names that are down now and were not."""
        now = state.buttons | extra(state)
        fresh, self._before = now - self._before, now
        return fresh
