"""Gathers keys and mouse into actions.

Once a tick `ActionSource.poll` says what is held and how far the mouse went, or None when nothing has changed since the last time, so
that the stamp of an action is always that of a real input.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtGui import QGuiApplication, QKeyEvent

from worldpager.app.input.held_keys import HeldKeys
from worldpager.app.input.keymap import Keymap
from worldpager.app.input.mouse_look import MouseLook
from worldpager.engine.types import Action, Button


@dataclass(slots=True)
class LookFeel:
    """``sensitivity`` in degrees a pixel; ``invert`` turns the mouse's up and down round."""

    sensitivity: float = 0.12
    invert: bool = False


class ActionSource:
    """Held controls of one window. ``clock`` is monotonic, in seconds: the same that measures the picture."""

    def __init__(self, keymap: Keymap, mouse: MouseLook, feel: LookFeel, clock: Callable[[], float]) -> None:
        self._keymap, self._mouse, self._feel, self._clock = keymap, mouse, feel, clock
        self._platform = QGuiApplication.platformName()
        self._keys = HeldKeys()
        self._meaning: dict[int, Button] = {}
        self._sent = Button.NONE
        self._pad = Button.NONE
        self._steered = [0.0, 0.0]
        self._stamp = 0.0

    def use_keymap(self, keymap: Keymap) -> None:
        """Obey ``keymap`` from now on; what is held is let go."""
        self.release_all()
        self._keymap = keymap

    @property
    def buttons(self) -> Button:
        """Controls held now."""
        held = self._pad
        for key in self._keys:
            held |= self._meaning[key]
        return held

    def key_down(self, event: QKeyEvent) -> bool:
        """A key went down, or repeats. True when it is a held control, which nobody else should use."""
        bound = self._keymap.button(event, self._platform)
        if bound is None:
            return False
        key, button = bound
        self._meaning[key] = button
        if self._keys.press(key, event.timestamp(), event.isAutoRepeat()):
            self._stamp = self._clock()
        return True

    def key_up(self, event: QKeyEvent) -> bool:
        """A key went up, or so it seems. True when it is a held control."""
        bound = self._keymap.button(event, self._platform)
        if bound is None:
            return False
        now = self._clock()
        self._keys.release(bound[0], event.timestamp(), now, event.isAutoRepeat())
        return True

    def steer(self, held: Button, turn: float, look: float, now: float) -> None:
        """What a gamepad holds at ``now``, and how far its stick has turned and looked since the last call, in degrees."""
        if held != self._pad or turn or look:
            self._stamp = now
        self._pad = held
        self._steered[0] += turn
        self._steered[1] += look

    def release_all(self) -> None:
        """Let go of all keys, of the mouse and of what a gamepad holds."""
        self._mouse.let_go()
        held, self._pad = self._pad, Button.NONE
        self._steered = [0.0, 0.0]
        if self._keys.clear() or held:
            self._stamp = self._clock()

    def poll(self) -> Action | None:
        """What is to be put into the mailbox now; None when it holds the same already."""
        now = self._clock()
        if self._keys.settle(now):
            self._stamp = now
        right, down = self._mouse.take()
        (turn, tilt), self._steered = self._steered, [0.0, 0.0]
        buttons = self.buttons
        if buttons == self._sent and not (right or down or turn or tilt):
            return None
        self._sent = buttons
        stamp = now if right or down else self._stamp
        look = down if self._feel.invert else -down
        return Action(buttons, turn - right * self._feel.sensitivity, tilt + look * self._feel.sensitivity, stamp)
