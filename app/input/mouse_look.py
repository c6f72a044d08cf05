"""Mouse look: the pointer held at a centre where the window system allows it, dragging where it doesn't.

Held: the pointer is grabbed and hidden; each tick asks where it is and puts it back. Asking the server is exact where counting motion
events is not (they are merged, and those in flight while the pointer is put back count twice).
"""

from __future__ import annotations

from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QCursor, QGuiApplication
from PySide6.QtWidgets import QWidget

HOLDING_PLATFORMS = frozenset(("xcb", "windows", "cocoa"))
"""Qt platforms that obey when a program moves the pointer."""
PATIENCE = 12
"""Ticks in a row with the pointer away from the centre although it was put there, before holding is given up for dragging."""


class MouseLook:
    """Mouse motion over ``widget`` in pixels, right and down positive, since the last `take`."""

    def __init__(self, widget: QWidget) -> None:
        self._widget = widget
        self._can_hold = self._able = QGuiApplication.platformName() in HOLDING_PLATFORMS
        self._looks = True
        self._held = False
        self._centre = QPoint()
        self._disobeyed = 0
        self._last_drag: QPointF | None = None
        self._dragged = QPointF()

    def use(self, mode: str) -> None:
        """``auto``: held where the system lets it; ``drag``: never held; ``off``: the mouse doesn't look, keys do."""
        self.let_go()
        self._can_hold, self._looks = self._able and mode == "auto", mode != "off"

    @property
    def looks(self) -> bool:
        """Whether the mouse looks at all."""
        return self._looks

    @property
    def can_hold(self) -> bool:
        """Whether a click holds the pointer; else the mouse looks while its button is down."""
        return self._can_hold

    @property
    def held(self) -> bool:
        """Whether the pointer is held now."""
        return self._held

    @property
    def dragging(self) -> bool:
        """Whether the mouse button is down and looks."""
        return self._last_drag is not None

    def press(self, position: QPointF) -> bool:
        """The left button went down at ``position``. True when the pointer is held from now on."""
        if self._held or not self._looks:
            return False
        if not self._can_hold:
            self._last_drag = position
            self._widget.setCursor(Qt.CursorShape.ClosedHandCursor)
            return False
        self._held = True
        self._disobeyed = 0
        self._widget.grabMouse(QCursor(Qt.CursorShape.BlankCursor))
        self._centre = self._widget.mapToGlobal(self._widget.rect().center())
        QCursor.setPos(self._centre)
        return True

    def move(self, position: QPointF) -> None:
        """The pointer moved to ``position`` of the widget; counts while dragging."""
        if self._last_drag is not None:
            self._dragged += position - self._last_drag
            self._last_drag = position

    def release_button(self) -> None:
        """The left button went up: a drag ends."""
        if self._last_drag is not None:
            self._last_drag = None
            self._widget.unsetCursor()

    def let_go(self) -> bool:
        """Give the pointer back. True when it was held."""
        self.release_button()
        self._dragged = QPointF()
        was, self._held = self._held, False
        if was:
            self._widget.releaseMouse()
        return was

    def take(self) -> tuple[float, float]:
        """Pixels moved since the last take: (right, down)."""
        if not self._held:
            moved, self._dragged = self._dragged, QPointF()
            return moved.x(), moved.y()
        moved_to = QCursor.pos()
        delta = moved_to - self._centre
        if delta.isNull():
            self._disobeyed = 0
            return 0.0, 0.0
        QCursor.setPos(self._centre)
        if self._stuck(moved_to):
            return 0.0, 0.0
        return float(delta.x()), float(delta.y())

    def _stuck(self, position: QPoint) -> bool:
        """Notice a window system that leaves the pointer where it is: the same offset over and over. Then dragging looks instead."""
        self._disobeyed = self._disobeyed + 1 if QCursor.pos() == position else 0
        if self._disobeyed < PATIENCE:
            return False
        self.let_go()
        self._can_hold = self._able = False
        return True
