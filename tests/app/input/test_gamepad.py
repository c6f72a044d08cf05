"""Sticks steer in play and move the focus in panels; what is held while the window looks away doesn't count; real SDL, virtual pad."""

from __future__ import annotations

import ctypes
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from tests.app.conftest import OpenWindow
from worldpager.app.input.gamepad import PadEdges, PadState, SdlPad, held_buttons, past_dead_zone
from worldpager.app.main_window import MainWindow
from worldpager.app.pad_actions import PadPlay
from worldpager.app.panels.settings_panel import SettingsPanel
from worldpager.engine.mailbox import Pause
from worldpager.engine.types import Button


class HeldPad:
    """A pad in a state of our choice."""

    name = "made-up pad"

    def __init__(self) -> None:
        self.state: PadState | None = PadState()
        self.closed = False

    def read(self, now: float) -> PadState | None:
        return self.state

    def close(self) -> None:
        self.closed = True


def use(qtbot: QtBot, window: MainWindow) -> HeldPad:
    qtbot.waitUntil(lambda: window.isActiveWindow() or window.hasFocus())
    pad, play = HeldPad(), window.parts["gamepad"]
    assert isinstance(play, PadPlay)
    play.use(pad)
    return pad


def test_the_dead_zone_has_no_step_and_no_corner() -> None:
    assert past_dead_zone(0.1, 0.1, 0.15) == (0.0, 0.0)
    assert past_dead_zone(0.16, 0.0, 0.15)[0] == pytest.approx(0.01 / 0.85)
    x, y = past_dead_zone(1.0, 1.0, 0.15)
    assert (x * x + y * y) ** 0.5 == pytest.approx(1.0)


def test_stick_cross_and_trigger_hold_controls() -> None:
    assert held_buttons(PadState(left=(0.0, -1.0), triggers=(0.0, 1.0)), 0.15) == Button.FORWARD | Button.RUN
    assert held_buttons(PadState(buttons=frozenset(("left", "right_shoulder"))), 0.15) == Button.LEFT | Button.TURN_RIGHT
    assert held_buttons(PadState(left=(0.3, 0.3)), 0.15) == Button.NONE


def test_a_button_counts_once() -> None:
    edges = PadEdges()
    assert edges.pressed(PadState(buttons=frozenset("a"))) == {"a"}
    assert edges.pressed(PadState(buttons=frozenset("ab"))) == {"b"}
    assert edges.pressed(PadState()) == frozenset()


def test_a_held_stick_keeps_walking_and_turning(qtbot: QtBot, open_window: OpenWindow) -> None:
    window, street = open_window()
    pad = use(qtbot, window)
    pad.state = PadState(left=(0.0, -1.0), right=(1.0, 0.0))
    qtbot.waitUntil(lambda: any(action.buttons == Button.FORWARD and action.turn < 0 for action in street.actions))
    pad.state = PadState()
    qtbot.waitUntil(lambda: street.actions[-1].buttons == Button.NONE)


def test_a_pad_that_goes_lets_go(qtbot: QtBot, open_window: OpenWindow) -> None:
    window, street = open_window()
    pad = use(qtbot, window)
    pad.state = PadState(left=(0.0, -1.0))
    qtbot.waitUntil(lambda: any(action.buttons == Button.FORWARD for action in street.actions))
    pad.state = None
    qtbot.waitUntil(lambda: street.actions[-1].buttons == Button.NONE)


def test_menus_by_pad_and_a_held_start_does_not_reopen(qtbot: QtBot, open_window: OpenWindow) -> None:
    window, street = open_window()
    pad = use(qtbot, window)
    pad.state = PadState(buttons=frozenset(("back",)))
    qtbot.waitUntil(lambda: isinstance(window.panel, SettingsPanel))
    pad.state = PadState()
    qtbot.wait(30)
    panel, before = window.panel, QApplication.focusWidget()
    assert isinstance(panel, SettingsPanel)
    pad.state = PadState(buttons=frozenset(("right",)))  # along the row of pages
    qtbot.waitUntil(lambda: panel.page == "picture")
    pad.state = PadState(left=(0.0, 1.0))  # and down into the page
    qtbot.waitUntil(lambda: QApplication.focusWidget() not in (before, panel.first_focus()))
    pad.state = PadState(left=(0.0, -1.0), buttons=frozenset(("b",)))
    qtbot.waitUntil(lambda: window.panel is None)
    qtbot.wait(60)
    assert window.panel is None  # B is the key of another action in play, but it is still the same press
    assert Pause(True) not in street.commands
    assert window.hud.preset == "small"


def test_the_switch_and_closing(qtbot: QtBot, open_window: OpenWindow) -> None:
    window, street = open_window({"gamepad": False})
    pad = use(qtbot, window)
    pad.state = PadState(left=(0.0, -1.0))
    qtbot.wait(60)
    assert not street.actions
    window.close()
    assert pad.closed


def virtual_pad(module: Any) -> tuple[Any, Any]:
    """SDL's library and a joystick without a device."""
    maps = Path("/proc/self/maps").read_text()
    mapped = next(line for line in maps.splitlines() if re.search(r"libSDL2-2|libSDL2-[0-9a-f]+\.", line))
    library = ctypes.CDLL(mapped.split(maxsplit=5)[-1])
    index = library.SDL_JoystickAttachVirtual(1, 6, 15, 1)
    library.SDL_JoystickOpen.restype = ctypes.c_void_p
    return library, ctypes.c_void_p(library.SDL_JoystickOpen(index))


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="finds SDL in /proc")
def test_sdl_with_a_virtual_pad() -> None:
    """In a process of its own: SDL keeps its pads for the life of a process."""
    pytest.importorskip("pygame")
    code = "from tests.app.input.test_gamepad import read_virtual_pad; read_virtual_pad()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=50, cwd=Path(__file__).parents[3])
    assert done.returncode == 0, done.stderr
    assert "left 0.61" in done.stdout, done.stdout + done.stderr


def read_virtual_pad() -> None:
    """Prints what `SdlPad` sees of a virtual joystick."""
    pad = SdlPad()
    library, joystick = virtual_pad(pad)
    library.SDL_JoystickSetVirtualAxis(joystick, 0, ctypes.c_int16(20000))
    library.SDL_JoystickSetVirtualButton(joystick, 0, 1)
    state = pad.read(0.0) and pad.read(10.0)
    assert state is not None
    assert state.buttons == {"a"}
    sys.stdout.write(f"left {state.left[0]:.2f}\n")
    pad.close()


