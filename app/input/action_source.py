"""Keys and mouse become actions.

X11 sends the repeats of a held key as release and press with one time stamp and doesn't reliably mark them: a release counts once no such
press has followed. The mouse is held by a grab and put back to the middle each tick; asking for its place is immune to compressed events.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QCursor, QGuiApplication, QKeyEvent
from PySide6.QtWidgets import QWidget

from worldpager.app.input.keymap import button_of
from worldpager.engine.types import Action, Button

DEGREES_PER_PIXEL = 0.14
REPEAT_GAP_MS = 1
"""A press this soon after a release of the same key is a repeat."""
RELEASE_AFTER = 0.010
"""Seconds after which a release is believed."""


@dataclass(frozen=True, slots=True)
class _Release:
    stamp_ms: int
    at: float


class HeldKeys:
    """The set of held keys, by native scan code where there is one. Times in seconds of the caller's clock."""

    def __init__(self) -> None:
        self._held: dict[int, Button] = {}
        self._released: dict[int, _Release] = {}

    @property
    def buttons(self) -> Button:
        """Everything that is held."""
        held = Button.NONE
        for button in self._held.values():
            held |= button
        return held

    def press(self, place: int, button: Button, stamp_ms: int) -> bool:
        """A key went down; False when it was only a repeat."""
        release = self._released.pop(place, None)
        if release is not None and stamp_ms - release.stamp_ms > REPEAT_GAP_MS:
            del self._held[place]
        if place in self._held:
            return False
        self._held[place] = button
        return True

    def release(self, place: int, stamp_ms: int, now: float) -> None:
        """A key went up, perhaps."""
        if place in self._held:
            self._released[place] = _Release(stamp_ms, now)

    def settle(self, now: float) -> bool:
        """Believe releases that no repeat has followed; True when something was let go."""
        over = [place for place, release in self._released.items() if now - release.at >= RELEASE_AFTER]
        for place in over:
            del self._released[place], self._held[place]
        return bool(over)

    def clear(self) -> bool:
        """Let go of everything; True when something was held."""
        held = bool(self._held)
        self._held.clear()
        self._released.clear()
        return held


class ActionSource:
    """Listens to the events that ``widget`` hands on. ``clock`` in seconds, the one that stamps actions."""

    def __init__(self, widget: QWidget, clock: Callable[[], float]) -> None:
        self._widget, self._clock = widget, clock
        self._keys = HeldKeys()
        self._changed = False
        self._stamp = 0.0
        self._moved = QPoint()
        self._centre = QPoint()
        self._drag_from: QPoint | None = None
        self.captured = False
        self.can_capture = not QGuiApplication.platformName().startswith(("wayland", "offscreen"))

    @property
    def buttons(self) -> Button:
        """What is held."""
        return self._keys.buttons

    def key_event(self, event: QKeyEvent, down: bool) -> bool:
        """Take a key event; True when a control lies on the key."""
        button = button_of(event.nativeScanCode(), event.key())
        if not button:
            return False
        if event.isAutoRepeat():
            return True
        place = event.nativeScanCode() or -int(event.key())
        if not down:
            self._keys.release(place, event.timestamp(), self._clock())
        elif self._keys.press(place, button, event.timestamp()):
            self._note()
        return True

    def capture(self) -> None:
        """Hold the pointer; where that can't be, `drag` is the way."""
        if self.captured or not self.can_capture:
            return
        self._centre = self._widget.mapToGlobal(self._widget.rect().center())
        QCursor.setPos(self._centre)
        if (QCursor.pos() - self._centre).manhattanLength() > 2:
            self.can_capture = False
            return
        self._widget.grabMouse(QCursor(Qt.CursorShape.BlankCursor))
        self.captured = True

    def drag(self, place: QPoint | None) -> None:
        """The pointer is at ``place`` with a button held; None when the button was let go."""
        if place is not None and self._drag_from is not None and not self.captured:
            self._move(place - self._drag_from)
        self._drag_from = place

    def release_mouse(self) -> None:
        """Let the pointer go."""
        if self.captured:
            self._widget.releaseMouse()
        self.captured, self._drag_from = False, None

    def release_all(self) -> None:
        """Focus is lost: nothing is held any more."""
        self.release_mouse()
        if self._keys.clear():
            self._note()

    def tick(self) -> Action | None:
        """The newest action; None when nothing has changed since the last call."""
        if self._keys.settle(self._clock()):
            self._note()
        if self.captured:
            self._read_pointer()
        if not self._changed:
            return None
        turn, look = -self._moved.x() * DEGREES_PER_PIXEL, -self._moved.y() * DEGREES_PER_PIXEL
        self._changed, self._moved = False, QPoint()
        return Action(self._keys.buttons, turn, look, self._stamp)

    def _read_pointer(self) -> None:
        moved = QCursor.pos() - self._centre
        if not moved.isNull():
            QCursor.setPos(self._centre)
            self._move(moved)

    def _move(self, moved: QPoint) -> None:
        if not moved.isNull():
            self._moved += moved
            self._note()

    def _note(self) -> None:
        self._changed, self._stamp = True, self._clock()
