"""Frames drawn by the CPU: cheaper than OpenGL where OpenGL is a program, too."""

from __future__ import annotations

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QImage, QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from worldpager.app import theme
from worldpager.app.viewport.resample import enlarge, glow, picture_box
from worldpager.app.viewport.viewport import DrawOver
from worldpager.engine.types import Frames

MOST_TIMES_LARGER = 4


class RasterViewport(QWidget):
    """A frame is enlarged once by Catmull-Rom, about half as large as shown, and bilinearly from there at each painting."""

    def __init__(self, draw_over: DrawOver, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self._draw_over = draw_over
        self._frame: Frames | None = None
        self._image: tuple[QImage, Frames] | None = None
        self._glow: tuple[QImage, Frames] | None = None
        self.paints = 0

    @property
    def widget(self) -> QWidget:
        """Itself."""
        return self

    def show_frame(self, frame: Frames) -> None:
        """Show ``frame`` from the next painting on."""
        self._frame, self._image = frame, None
        self.update()

    def picture(self) -> QImage:
        """What it shows, overlays included."""
        return self.grab().toImage()

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802
        """Glow, picture, overlays."""
        self.paints += 1
        painter = QPainter(self)
        if self._frame is None:
            painter.fillRect(self.rect(), theme.BACKDROP)
        else:
            self._paint_frame(painter, self._frame)
        self._draw_over(painter)
        painter.end()

    def _paint_frame(self, painter: QPainter, frame: Frames) -> None:
        height, width, _ = frame.shape
        box = QRectF(*picture_box((self.width(), self.height()), (width, height)))
        if self._image is None:
            shown = box.width() * self.devicePixelRatioF() / width
            self._image = _image(enlarge(frame, max(1, min(MOST_TIMES_LARGER, round(shown / 2)))))
            self._glow = _image(glow(frame))
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        if self._glow is not None and box.size() != QRectF(self.rect()).size():
            self._paint_glow(painter, self._glow[0], box)
        painter.drawImage(box, self._image[0])

    def _paint_glow(self, painter: QPainter, image: QImage, box: QRectF) -> None:
        """Fill what the picture leaves free."""
        whole = QRectF(self.rect())
        for side in (
            QRectF(0, 0, box.left(), whole.height()),
            QRectF(box.right(), 0, whole.width() - box.right(), whole.height()),
            QRectF(box.left(), 0, box.width(), box.top()),
            QRectF(box.left(), box.bottom(), box.width(), whole.height() - box.bottom()),
        ):
            if not side.isEmpty():
                painter.setClipRect(side)
                painter.drawImage(whole, image)
        painter.setClipping(False)


def _image(pixels: Frames) -> tuple[QImage, Frames]:
    """A QImage upon ``pixels`` [height, width, 4], and the pixels, which must outlive it."""
    height, width, _ = pixels.shape
    return QImage(pixels.data, width, height, 4 * width, QImage.Format.Format_RGBX8888), pixels
