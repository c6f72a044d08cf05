"""Blocks on their way: squares that fly from cell to cell over the tiers' maps."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, Qt, QTimer
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from worldpager.app import theme

FLIGHT_SECONDS = 0.55
FLOW_MS = 40
MOST_FLIGHTS = 48


@dataclass(frozen=True, slots=True)
class Flight:
    """From ``start`` to ``end``, widget pixels, begun at ``when``."""

    start: QPointF
    end: QPointF
    colour: QColor
    when: float


class FlowLayer(QWidget):
    """Above the tiers' maps. Its timer runs only while something flies. ``clock`` in seconds."""

    def __init__(self, parent: QWidget, clock: Callable[[], float]) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self._clock = clock
        self._flights: deque[Flight] = deque(maxlen=MOST_FLIGHTS)
        self._side = 6.0
        self._timer = QTimer(self, interval=FLOW_MS)
        self._timer.timeout.connect(self._step)

    def __len__(self) -> int:
        return len(self._flights)

    def fly(self, start: QPointF, end: QPointF, tier: int, side: float) -> None:
        """Send a square of ``side`` pixels in the colour of ``tier`` on its way."""
        self._side = side
        self._flights.append(Flight(start, end, theme.TIERS[tier], self._clock()))
        if not self._timer.isActive():
            self._timer.start()

    def clear(self) -> None:
        """Nothing flies any more."""
        self._flights.clear()
        self._timer.stop()
        self.update()

    def _step(self) -> None:
        now = self._clock()
        self.update(self._dirty().toAlignedRect())
        while self._flights and now - self._flights[0].when > FLIGHT_SECONDS:
            self._flights.popleft()
        if not self._flights:
            self._timer.stop()

    def _dirty(self) -> QRectF:
        """The part of the layer where something flies."""
        dirty = QRectF()
        for flight in self._flights:
            dirty |= (
                QRectF(flight.start, flight.end).normalized().adjusted(-2 * self._side, -2 * self._side, 2 * self._side, 2 * self._side)
            )
        return dirty

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw each square where it is by now, with a short tail."""
        painter = QPainter(self)
        painter.setPen(Qt.PenStyle.NoPen)
        now = self._clock()
        for flight in self._flights:
            for lag, alpha in ((0.10, 50), (0.05, 110), (0.0, 255)):
                share = (now - flight.when) / FLIGHT_SECONDS - lag
                if 0.0 <= share <= 1.0:
                    eased = share * share * (3 - 2 * share)
                    at = flight.start + (flight.end - flight.start) * eased
                    side = self._side * (1.25 - 0.25 * eased)
                    painter.fillRect(QRectF(at.x() - side / 2, at.y() - side / 2, side, side), theme.with_alpha(flight.colour, alpha))
        painter.end()
