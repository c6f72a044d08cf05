"""A translucent card over the picture, and the strokes that cards are drawn with.

Cards draw in the design's pixels (those of a 1280 x 720 window) and are enlarged with the window. Drawing happens a few times a second into
a pixmap; painting the window only copies it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPainterPath, QPaintEvent, QPen, QPixmap, QPolygonF
from PySide6.QtWidgets import QWidget

from worldpager.app import theme
from worldpager.engine.telemetry.snapshot import TIER_DEVICE, TIER_DISK, TIER_HOST, Snapshot

PAD = 14.0
"""Space between a card's edge and its content."""
RADIUS = 10.0


@dataclass(frozen=True, slots=True)
class HudState:
    """What cards show: the engine's snapshot and what only the window knows. Rates per second, delay in seconds."""

    snapshot: Snapshot
    presented_fps: float = 0.0
    screen_fps: float = 0.0
    recorded_fps: float | None = None
    key_to_picture: float | None = None
    read_rates: Sequence[float] = field(default_factory=tuple)
    write_rates: Sequence[float] = field(default_factory=tuple)


class Card(QWidget):
    """A card of ``design_size`` (width, height). Subclasses draw in `draw`."""

    design_size: tuple[float, float] = (268, 100)

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self._scale = 1.0
        self._state: HudState | None = None
        self._pixmap = QPixmap()
        self._ground = QPixmap()
        self.hide()

    def place(self, x: float, y: float, scale: float, size: tuple[float, float] | None = None) -> None:
        """Put the card at design position ``x``, ``y``, enlarged by ``scale``."""
        if size is not None:
            self.design_size = size
        self._scale = scale
        width, height = self.design_size
        self.setGeometry(round(x * scale), round(y * scale), round(width * scale), round(height * scale))
        self._ground = QPixmap()
        self.redraw()

    def show_state(self, state: HudState) -> None:
        """Draw ``state``."""
        self._state = state
        if self.isVisible():
            self.redraw()

    def redraw(self) -> None:
        """Draw into the pixmap again."""
        if self._state is None:
            return
        if self._ground.isNull():
            self._ground = self._draw_ground()
        self._pixmap = QPixmap(self._ground)
        painter = self._painter(self._pixmap)
        width, height = self.design_size
        self.draw(Strokes(painter), self._state, width, height)
        painter.end()
        self.update()

    def _draw_ground(self) -> QPixmap:
        """What never changes at this size: the card itself and `draw_ground`. Drawing it costs more than most contents."""
        ratio = self.devicePixelRatioF()
        ground = QPixmap(round(self.width() * ratio), round(self.height() * ratio))
        ground.setDevicePixelRatio(ratio)
        ground.fill(Qt.GlobalColor.transparent)
        painter = self._painter(ground)
        width, height = self.design_size
        strokes = Strokes(painter)
        strokes.panel(QRectF(0, 0, width, height))
        self.draw_ground(strokes, width, height)
        painter.end()
        return ground

    def _painter(self, pixmap: QPixmap) -> QPainter:
        painter = QPainter(pixmap)
        painter.setRenderHints(QPainter.RenderHint.Antialiasing | QPainter.RenderHint.TextAntialiasing)
        painter.scale(self._scale, self._scale)
        return painter

    def draw_ground(self, strokes: Strokes, width: float, height: float) -> None:
        """Draw what never changes: titles, frames."""

    def draw(self, strokes: Strokes, state: HudState, width: float, height: float) -> None:
        """Draw the content."""
        raise NotImplementedError

    def paintEvent(self, event: QPaintEvent) -> None:
        """Copy the pixmap."""
        if self._pixmap.isNull():
            return
        painter = QPainter(self)
        painter.drawPixmap(0, 0, self._pixmap)
        painter.end()


class Strokes:
    """A painter with the theme's habits. All positions in design pixels; text at its baseline."""

    voices: theme.Type | None = None

    def __init__(self, painter: QPainter) -> None:
        if Strokes.voices is None:
            Strokes.voices = theme.Type.voices()
        self.type = Strokes.voices
        self.painter = painter

    def panel(self, area: QRectF, radius: float = RADIUS) -> None:
        """The card's ground."""
        self.painter.setPen(QPen(theme.CARD_EDGE, 1))
        self.painter.setBrush(theme.CARD)
        self.painter.drawRoundedRect(area.adjusted(0.5, 0.5, -0.5, -0.5), radius, radius)

    def text(self, x: float, y: float, text: str, face: QFont | None = None, colour: QColor = theme.INK) -> float:
        """Text from ``x`` on; returns where it ends."""
        face = face or self.type.body
        self.painter.setFont(face)
        self.painter.setPen(colour)
        self.painter.drawText(QPointF(x, y), text)
        return x + theme.text_width(face, text)

    def text_left_of(self, x: float, y: float, text: str, face: QFont | None = None, colour: QColor = theme.INK) -> float:
        """Text that ends at ``x``; returns where it begins."""
        start = x - theme.text_width(face or self.type.body, text)
        self.text(start, y, text, face, colour)
        return start

    def text_within(self, x: float, y: float, width: float, text: str, face: QFont | None = None, colour: QColor = theme.INK) -> None:
        """Text from ``x`` on, cut with an ellipsis at ``width``."""
        metrics = QFontMetricsF(face or self.type.body)
        self.text(x, y, metrics.elidedText(text, Qt.TextElideMode.ElideRight, width), face, colour)

    def label(self, x: float, y: float, text: str, colour: QColor = theme.FAINT) -> float:
        """A small spaced capital label."""
        return self.text(x, y, text.upper(), self.type.label, colour)

    def bar(self, area: QRectF, share: float, colour: QColor) -> QRectF:
        """A trough filled to ``share``; returns the filled part."""
        self.fill(area, theme.TROUGH, area.height() / 2)
        filled = QRectF(area)
        filled.setWidth(max(0.0, min(1.0, share)) * area.width())
        if filled.width() > 0:
            self.painter.save()
            self.painter.setClipPath(rounded(area, area.height() / 2))
            self.painter.fillRect(filled, colour)
            self.painter.restore()
        return filled

    def hatch(self, area: QRectF, colour: QColor) -> None:
        """Slanted lines over ``area``."""
        self.painter.save()
        self.painter.setClipRect(area)
        self.painter.setPen(QPen(colour, 1.2))
        x = area.left() - area.height()
        while x < area.right():
            self.painter.drawLine(QPointF(x, area.bottom()), QPointF(x + area.height(), area.top()))
            x += 4
        self.painter.restore()

    def fill(self, area: QRectF, colour: QColor, radius: float = 0.0) -> None:
        """A filled rectangle."""
        if not radius:
            self.painter.fillRect(area, colour)
            return
        self.painter.setPen(Qt.PenStyle.NoPen)
        self.painter.setBrush(colour)
        self.painter.drawRoundedRect(area, radius, radius)

    def line(self, start: QPointF, end: QPointF, colour: QColor, width: float = 1.0, dashes: Sequence[float] = ()) -> None:
        """A straight line; one along an axis is filled, which costs a tenth of stroking it."""
        if not dashes and (start.x() == end.x() or start.y() == end.y()):
            half = width / 2
            box = QRectF(start, end).normalized()
            across = start.x() == end.x()
            self.painter.fillRect(box.adjusted(-half, 0, half, 0) if across else box.adjusted(0, -half, 0, half), colour)
            return
        pen = QPen(colour, width)
        pen.setCapStyle(Qt.PenCapStyle.FlatCap if dashes else Qt.PenCapStyle.RoundCap)
        if dashes:
            pen.setDashPattern(list(dashes))
        self.painter.setPen(pen)
        self.painter.drawLine(start, end)

    def sparkline(self, area: QRectF, values: Sequence[float], top: float, colour: QColor) -> None:
        """Values from left to right, newest at the right edge; ``top`` is the value at the upper edge."""
        self.line(area.bottomLeft(), area.bottomRight(), theme.LINE)
        if len(values) < 2:
            return
        step = area.width() / (SPARK_POINTS - 1)
        points = [
            QPointF(area.right() - (len(values) - 1 - i) * step, area.bottom() - min(1.0, value / top if top > 0 else 0.0) * area.height())
            for i, value in enumerate(values)
        ]
        under = QPainterPath(QPointF(points[0].x(), area.bottom()))
        for point in points:
            under.lineTo(point)
        under.lineTo(points[-1].x(), area.bottom())
        self.painter.setPen(Qt.PenStyle.NoPen)
        self.painter.setBrush(theme.with_alpha(colour, 60))
        self.painter.drawPath(under)
        self.painter.setPen(QPen(colour, 1.5))
        self.painter.drawPolyline(points)

    def mark(self, x: float, y: float, tier: int, radius: float, colour: QColor | None = None) -> None:
        """The shape of a tier: device square, host circle, disk diamond; anything else a cross."""
        painter = self.painter
        colour = colour or theme.TIERS[min(tier, len(theme.TIERS) - 1)]
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(colour)
        if tier == TIER_DEVICE:
            side = radius * 1.7
            painter.drawRect(QRectF(x - side / 2, y - side / 2, side, side))
        elif tier == TIER_HOST:
            painter.drawEllipse(QPointF(x, y), radius, radius)
        elif tier == TIER_DISK:
            far = radius * 1.25
            painter.drawPolygon(QPolygonF([QPointF(x, y - far), QPointF(x + far, y), QPointF(x, y + far), QPointF(x - far, y)]))
        else:
            self.line(QPointF(x - radius, y - radius), QPointF(x + radius, y + radius), colour, 1.2)
            self.line(QPointF(x - radius, y + radius), QPointF(x + radius, y - radius), colour, 1.2)

    def marks(self, places: NDArray[np.float64], tier: int, radius: float) -> None:
        """The shape of one tier at many places [n, 2]: drawn in one call, a tenth of the price."""
        painter, colour = self.painter, theme.TIERS[min(tier, len(theme.TIERS) - 1)]
        if tier == TIER_DEVICE:
            half = radius * 0.85
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(colour)
            painter.drawRects([QRectF(x - half, y - half, 2 * half, 2 * half) for x, y in places.tolist()])
        elif tier == TIER_HOST:
            painter.setPen(QPen(colour, 2 * radius, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap))
            painter.drawPoints([QPointF(x, y) for x, y in places.tolist()])
        elif tier == TIER_DISK:  # squares on a turned sheet
            turned = places @ np.array(((1.0, -1.0), (1.0, 1.0))) / math.sqrt(2)
            painter.save()
            painter.rotate(45)
            painter.setPen(QPen(colour, 1.25 * math.sqrt(2) * radius, Qt.PenStyle.SolidLine, Qt.PenCapStyle.SquareCap))
            painter.drawPoints([QPointF(x, y) for x, y in turned.tolist()])
            painter.restore()
        else:
            painter.setPen(QPen(colour, 1.2))
            arms = np.array(((-radius, -radius, radius, radius), (-radius, radius, radius, -radius)))
            lines = (np.hstack((places, places))[:, None] + arms).reshape(-1, 4)
            painter.drawLines([QLineF(*line) for line in lines.tolist()])


SPARK_POINTS = 60
"""Samples that a sparkline is wide."""


def rounded(area: QRectF, radius: float) -> QPainterPath:
    """A rounded rectangle as a path."""
    path = QPainterPath()
    path.addRoundedRect(area, radius, radius)
    return path


def bytes_text(count: float) -> str:
    """Bytes for a person: three figures and a binary unit."""
    for unit in ("B", "KiB", "MiB", "GiB"):
        if count < 1000 or unit == "GiB":
            break
        count /= 1024
    digits = 0 if unit == "B" or count >= 100 else 1
    return f"{count:.{digits}f} {unit}"
