"""The gamepad at work: sticks and triggers steer while a world is played; in panels they move the focus, press and go back."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QAbstractButton, QApplication, QSlider, QWidget

from worldpager.app.actions import register_part
from worldpager.app.input.gamepad import Pad, PadEdges, PadState, held_buttons, open_pad, past_dead_zone
from worldpager.app.words import later, tr
from worldpager.engine.types import Button

if TYPE_CHECKING:
    from worldpager.app.main_window import MainWindow

PLAY = {"start": "start", "back": "keys", "a": "pause", "x": "screenshot", "y": "memory", "b": "overlay", "right_stick": "record"}
"""Button in play: the action it asks for."""
PLAY_WORDS = (
    (later("left stick, cross"), later("walk")), (later("right stick, shoulders"), later("turn and look")),
    (later("right trigger"), later("run")),
    (later("Start"), later("start page")), (later("A, B, X, Y"), later("pause, panels, screenshot, memory")),
)  # fmt: skip
REPEAT_FIRST, REPEAT_NEXT = 0.45, 0.14
"""Seconds that a direction is held in a menu until it counts again."""
MENU_STICK = 0.6


class PadPlay(QObject):
    """Reads the pad once a tick of the window. ``pad`` for tests; else SDL's, opened when the setting allows it."""

    def __init__(self, window: MainWindow, pad: Pad | None = None) -> None:
        super().__init__(window)
        self._window, self._pad, self._tried = window, pad, pad is not None
        self._edges = PadEdges()
        self._last = 0.0
        self._name = ""
        self._repeat = 0.0
        window.closing.connect(self._close)
        window.ticked.connect(self.tick)

    def use(self, pad: Pad | None) -> None:
        """Take another pad."""
        self._pad, self._tried = pad, True

    def tick(self, now: float) -> None:
        """Look at the pad at ``now``."""
        seconds, self._last = min(0.1, max(0.0, now - self._last)), now
        state = self._read(now)
        window = self._window
        if state is None or not (window.isActiveWindow() or window.hasFocus()):
            window.inputs.steer(Button.NONE, 0.0, 0.0, now)
            self._edges.pressed(state or PadState())  # what is held meanwhile must be let go before it counts
            return
        fresh = self._edges.pressed(state, _directions)
        if window.panel is not None:
            window.inputs.steer(Button.NONE, 0.0, 0.0, now)
            self._menu(fresh, state, now)
        else:
            self._play(fresh, state, seconds, now)

    def _read(self, now: float) -> PadState | None:
        if not self._window.settings.gamepad:
            return None
        if not self._tried:
            self._pad, self._tried = open_pad(), True
        if self._pad is None:
            return None
        state = self._pad.read(now)
        if self._pad.name != self._name:
            self._name = self._pad.name
            self._window.notices.say(tr("gamepad: {name}", name=self._name) if self._name else tr("the gamepad is gone"))
        return state

    def _play(self, fresh: frozenset[str], state: PadState, seconds: float, now: float) -> None:
        settings = self._window.settings
        x, y = past_dead_zone(*state.right, settings.stick_dead_zone)
        speed = settings.stick_speed * seconds
        look = y if settings.stick_invert else -y
        turn, tilt = -math.copysign(x * x, x) * speed, math.copysign(look * look, look) * speed
        self._window.inputs.steer(held_buttons(state, settings.stick_dead_zone), turn, tilt, now)
        for name in fresh & PLAY.keys():
            self._window.run_action(PLAY[name])

    def _menu(self, fresh: frozenset[str], state: PadState, now: float) -> None:
        held = _directions(state) | (state.buttons & {"up", "down", "left", "right"})
        if fresh & held:
            self._repeat = now + REPEAT_FIRST
        elif held and now >= self._repeat:
            fresh, self._repeat = fresh | held, now + REPEAT_NEXT
        focus = QApplication.focusWidget() or self._window.panel
        if focus is None:
            return
        sideways = isinstance(focus, QSlider) or (isinstance(focus, QAbstractButton) and focus.group() is not None)
        keys = {
            "up": Qt.Key.Key_Backtab, "down": Qt.Key.Key_Tab,
            "left": Qt.Key.Key_Left if sideways else Qt.Key.Key_Backtab, "right": Qt.Key.Key_Right if sideways else Qt.Key.Key_Tab,
            "a": Qt.Key.Key_Space, "b": Qt.Key.Key_Escape, "start": Qt.Key.Key_Escape,
        }  # fmt: skip
        for name in fresh:
            key = keys.get(name.removeprefix("stick_"))
            if key is not None:
                press(focus, key)

    def _close(self) -> None:
        if self._pad is not None:
            self._pad.close()
            self._pad = None


def _directions(state: PadState) -> frozenset[str]:
    """Directions of the left stick, as buttons of a menu."""
    x, y = state.left
    found = {"stick_left": x < -MENU_STICK, "stick_right": x > MENU_STICK, "stick_up": y < -MENU_STICK, "stick_down": y > MENU_STICK}
    return frozenset(name for name, on in found.items() if on)


def press(widget: QWidget, key: Qt.Key) -> None:
    """A key press and release, as from a keyboard."""
    modifier = Qt.KeyboardModifier.ShiftModifier if key == Qt.Key.Key_Backtab else Qt.KeyboardModifier.NoModifier
    for kind in (QEvent.Type.KeyPress, QEvent.Type.KeyRelease):
        QApplication.sendEvent(widget, QKeyEvent(kind, key, modifier))


register_part("gamepad", PadPlay)
