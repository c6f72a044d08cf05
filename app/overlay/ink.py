"""Drawing words and shapes in the measures of a window 720 pixels high; the painter is scaled to the real one."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QFontMetricsF, QPainter, QPen, QPolygonF

from worldpager.app import theme

RADIUS = 10.0


class Ink:
    """A painter with the few shapes that cards are made of. ``y`` of text is its baseline."""

    def __init__(self, painter: QPainter) -> None:
        self.painter = painter
        painter.setRenderHints(QPainter.RenderHint.Antialiasing | QPainter.RenderHint.TextAntialiasing)

    def panel(self, rect: QRectF, colour: QColor = theme.CARD, radius: float = RADIUS) -> None:
        """A rounded dark card."""
        self.painter.setPen(QPen(theme.CARD_EDGE, 1))
        self.painter.setBrush(colour)
        self.painter.drawRoundedRect(rect.adjusted(0.5, 0.5, -0.5, -0.5), radius, radius)

    def text(
        self, x: float, y: float, words: str, size: float = 12, colour: QColor = theme.TEXT, *, bold: bool = False, align: float = 0.0
    ) -> float:
        """Draw ``words``; ``align`` 0 begins at ``x``, 0.5 centres there, 1 ends there. Returns the width."""
        face = theme.font(size, bold=bold)
        width = QFontMetricsF(face).horizontalAdvance(words)
        self.painter.setFont(face)
        self.painter.setPen(colour)
        self.painter.drawText(QPointF(x - align * width, y), words)
        return width

    def fill(self, rect: QRectF, colour: QColor | QBrush, radius: float = 0.0) -> None:
        """A filled rounded rectangle."""
        self.painter.setPen(Qt.PenStyle.NoPen)
        self.painter.setBrush(colour)
        self.painter.drawRoundedRect(rect, radius, radius)

    def line(self, start: QPointF, end: QPointF, colour: QColor, width: float = 1.0, *, dashed: bool = False) -> None:
        """A straight line."""
        self.painter.setPen(QPen(colour, width, Qt.PenStyle.DashLine if dashed else Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap))
        self.painter.drawLine(start, end)

    def polyline(self, points: Sequence[QPointF], colour: QColor, width: float = 1.5) -> None:
        """Joined lines."""
        self.painter.setPen(QPen(colour, width, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap, Qt.PenJoinStyle.RoundJoin))
        self.painter.setBrush(Qt.BrushStyle.NoBrush)
        self.painter.drawPolyline(QPolygonF(points))

    def polygon(self, points: Sequence[QPointF], colour: QColor, edge: QColor | None = None, width: float = 1.0) -> None:
        """A filled polygon."""
        self.painter.setPen(Qt.PenStyle.NoPen if edge is None else QPen(edge, width))
        self.painter.setBrush(colour)
        self.painter.drawPolygon(QPolygonF(points))

    def tier_mark(self, tier: int, centre: QPointF, radius: float, colour: QColor | None = None) -> None:
        """The shape of a tier: device a disc, host a square, disk a diamond."""
        self.painter.setPen(Qt.PenStyle.NoPen)
        self.painter.setBrush(colour or theme.TIER_COLOURS[tier])
        if tier == 0:
            self.painter.drawEllipse(centre, radius, radius)
        elif tier == 1:
            side = 0.86 * radius
            self.painter.drawRect(QRectF(centre.x() - side, centre.y() - side, 2 * side, 2 * side))
        else:
            reach = 1.2 * radius
            x, y = centre.x(), centre.y()
            corners = [QPointF(x, y - reach), QPointF(x + reach, y), QPointF(x, y + reach), QPointF(x - reach, y)]
            self.painter.drawPolygon(QPolygonF(corners))

    def keycap(self, x: float, y: float, label: str) -> float:
        """A key with its label, its text on baseline ``y``. Returns the width."""
        width = max(22.0, text_width(label, 11, bold=True) + 12)
        self.painter.setPen(QPen(QColor(255, 255, 255, 70), 1))
        self.painter.setBrush(QColor(255, 255, 255, 24))
        self.painter.drawRoundedRect(QRectF(x, y - 15, width, 21), 5, 5)
        self.text(x + width / 2, y - 0.5, label, 11, bold=True, align=0.5)
        return width


def text_width(words: str, size: float, *, bold: bool = False) -> float:
    """Width of ``words``."""
    return QFontMetricsF(theme.font(size, bold=bold)).horizontalAdvance(words)


def wrapped(words: str, size: float, width: float) -> list[str]:
    """``words`` in lines no wider than ``width``."""
    lines: list[str] = []
    metrics, line = QFontMetricsF(theme.font(size)), ""
    for word in words.split():
        longer = f"{line} {word}".strip()
        if line and metrics.horizontalAdvance(longer) > width:
            lines.append(line)
            line = word
        else:
            line = longer
    return [*lines, line] if line else lines
