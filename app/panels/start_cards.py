"""Cards of the start page: a picture that is a button, with a line or two of words below."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QFont, QImage, QPainter, QPainterPath, QPaintEvent, QPen
from PySide6.QtWidgets import QAbstractButton, QSizePolicy, QWidget

from worldpager.app import theme

PICTURE_SIZE = (168, 112)
CAPTION_HEIGHT = 46
"""In design pixels."""


class WorldCard(QAbstractButton):
    """``picture()`` gives what to show now, None while there is nothing. ``title`` and ``line`` are its words; ``marked`` rings it."""

    def __init__(self, parent: QWidget, scale: float, title: str, line: str, picture: Callable[[], QImage | None]) -> None:
        super().__init__(parent)
        self._scale, self.title, self.line, self._picture = scale, title, line, picture
        self.marked = False
        self.setAccessibleName(title)
        self.setAccessibleDescription(line)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.setFixedSize(self.sizeHint())

    def sizeHint(self) -> QSize:
        """Picture and caption."""
        return QSize(round(PICTURE_SIZE[0] * self._scale), round((PICTURE_SIZE[1] + CAPTION_HEIGHT) * self._scale))

    def paintEvent(self, event: QPaintEvent) -> None:
        """Picture with rounded corners, ring, words."""
        painter = QPainter(self)
        painter.setRenderHints(QPainter.RenderHint.Antialiasing | QPainter.RenderHint.SmoothPixmapTransform)
        painter.scale(self._scale, self._scale)
        area = QRectF(1.5, 1.5, PICTURE_SIZE[0] - 3, PICTURE_SIZE[1] - 3)
        path = QPainterPath()
        path.addRoundedRect(area, 9, 9)
        painter.fillPath(path, theme.TROUGH)
        image = self._picture()
        if image is not None and not image.isNull():
            painter.save()
            painter.setClipPath(path)
            painter.drawImage(_covering(area, image), image)
            painter.restore()
        strong = self.hasFocus() or self.underMouse() or self.isDown()
        colour = theme.DEVICE if self.hasFocus() or self.marked else theme.SOFT if strong else theme.CARD_EDGE
        painter.setPen(QPen(colour, 3.0 if self.hasFocus() else 2.0 if strong or self.marked else 1.0))
        painter.drawPath(path)
        self._words(painter)
        painter.end()

    def _words(self, painter: QPainter) -> None:
        for text, y, face, colour in (
            (self.title, 18.0, theme.font(13, QFont.Weight.DemiBold), theme.INK), (self.line, 35.0, theme.font(11), theme.SOFT),
        ):  # fmt: skip
            painter.setFont(face)
            painter.setPen(colour)
            cut = painter.fontMetrics().elidedText(text, Qt.TextElideMode.ElideRight, PICTURE_SIZE[0] - 6)
            painter.drawText(QPointF(3, PICTURE_SIZE[1] + y - 2), cut)


def _covering(area: QRectF, image: QImage) -> QRectF:
    """Where to draw ``image`` so that it covers ``area`` with square pixels."""
    factor = max(area.width() / image.width(), area.height() / image.height())
    width, height = image.width() * factor, image.height() * factor
    return QRectF(area.center().x() - width / 2, area.center().y() - height / 2, width, height)
