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
        self._stamp = 0.0

    def use_keymap(self, keymap: Keymap) -> None:
        """Obey ``keymap`` from now on; what is held is let go."""
        self.release_all()
        self._keymap = keymap

    @property
    def buttons(self) -> Button:
        """Controls held now."""
        held = Button.NONE
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

    def release_all(self) -> None:
        """Let go of all keys and of the mouse."""
        self._mouse.let_go()
        if self._keys.clear():
            self._stamp = self._clock()

    def poll(self) -> Action | None:
        """What is to be put into the mailbox now; None when it holds the same already."""
        now = self._clock()
        if self._keys.settle(now):
            self._stamp = now
        right, down = self._mouse.take()
        buttons = self.buttons
        if buttons == self._sent and not right and not down:
            return None
        self._sent = buttons
        stamp = now if right or down else self._stamp
        look = down if self._feel.invert else -down
        return Action(buttons, -right * self._feel.sensitivity, look * self._feel.sensitivity, stamp)
