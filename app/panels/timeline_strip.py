"""The world's past as a strip of pictures along the lower edge: drag it, and the picture goes back in time.

It shows the line of history that play stands on, from its first chunk to its tip, evenly spread. Going back changes nothing by itself; who
walks on from there begins a new branch.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QImage, QMouseEvent, QPainter, QPainterPath, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QWidget

from worldpager.app import theme
from worldpager.app.overlay.card import Strokes, rounded
from worldpager.app.words import tr

HEIGHT, MARGIN, PAD = 138.0, 14.0, 14.0
TOP, STILL = 34.0, (96.0, 64.0)
"""Where the pictures begin, and their size at most."""


class TimelineStrip(QWidget):
    """Over the window's lower edge. ``picture`` gives the JPEG of a chunk; ``chosen`` carries the chunk that was dragged to."""

    chosen = Signal(int)

    def __init__(self, parent: QWidget, picture: Callable[[int], bytes | None]) -> None:
        super().__init__(parent)
        self._window, self._picture, self._scale = parent, picture, 1.0
        self._line: tuple[int, ...] = ()
        self._place = 0
        self._marks: dict[int, str] = {}
        self._forks: frozenset[int] = frozenset()
        self._images: dict[int, QImage] = {}
        self.setAccessibleName(tr("Timeline"))
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.hide()

    @property
    def chunk(self) -> int | None:
        """The chunk under the cursor."""
        return self._line[self._place] if self._line else None

    def show_line(self, line: Sequence[int], at: int | None, marks: dict[int, str], forks: frozenset[int]) -> None:
        """Show the chunks of ``line``, the cursor at chunk ``at``; ``marks`` are named chunks, at ``forks`` other branches leave."""
        self._line, self._marks, self._forks = tuple(line), marks, forks
        self._place = self._line.index(at) if at in self._line else len(self._line) - 1
        self.lay_out()
        self.show()
        self.raise_()
        self.update()

    def step(self, chunks: int) -> int | None:
        """Move the cursor; None when it stood at the end already."""
        place = max(0, min(len(self._line) - 1, self._place + chunks))
        if place == self._place or not self._line:
            return None
        self._place = place
        self.update()
        return self._line[place]

    def lay_out(self) -> None:
        """Along the window's lower edge."""
        self._scale = theme.scale_for(self._window.width(), self._window.height())
        height, margin = round(HEIGHT * self._scale), round(MARGIN * self._scale)
        self.setGeometry(margin, self._window.height() - height - margin, self._window.width() - 2 * margin, height)

    # Mouse

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Go there."""
        self._drag(event.position().x())

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Go along."""
        if event.buttons() & Qt.MouseButton.LeftButton:
            self._drag(event.position().x())

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Stays here: the window must not take it for a look."""
        event.accept()

    def _drag(self, x: float) -> None:
        if not self._line:
            return
        left, right = PAD * self._scale, self.width() - PAD * self._scale
        place = round((x - left) / max(1.0, right - left) * (len(self._line) - 1))
        place = max(0, min(len(self._line) - 1, place))
        if place != self._place:
            self._place = place
            self.update()
            self.chosen.emit(self._line[place])

    # Painting

    def paintEvent(self, event: QPaintEvent) -> None:
        """Card, pictures, bar, cursor."""
        painter = QPainter(self)
        painter.setRenderHints(QPainter.RenderHint.Antialiasing | QPainter.RenderHint.SmoothPixmapTransform)
        painter.scale(self._scale, self._scale)
        strokes = Strokes(painter)
        width = self.width() / self._scale
        strokes.panel(QRectF(0, 0, width, HEIGHT))
        if self._line:
            self._draw_words(strokes, width)
            self._draw_stills(strokes, width)
            self._draw_bar(strokes, width)
        painter.end()

    def _draw_words(self, strokes: Strokes, width: float) -> None:
        strokes.label(PAD, 22, tr("timeline"))
        at = tr("chunk {number} of {all}", number=self._place + 1, all=len(self._line))
        name = self._marks.get(self._line[self._place])
        strokes.text(PAD + 76, 22, at + (f"  ·  {name}" if name else ""))
        strokes.text_left_of(width - PAD, 22, tr("walk on from here: a new branch begins  ·  Esc closes"), colour=theme.SOFT)

    def _draw_stills(self, strokes: Strokes, width: float) -> None:
        room = width - 2 * PAD
        count = max(1, min(len(self._line), int(room // (STILL[0] + 4))))
        step = room / count
        here = self._place / max(1, len(self._line) - 1) * (count - 1)
        for column in range(count):
            place = round(column / max(1, count - 1) * (len(self._line) - 1))
            image = self._image(self._line[place])
            area = QRectF(PAD + column * step + 2, TOP, step - 4, STILL[1])
            strokes.painter.save()
            strokes.painter.setClipPath(rounded(area, 5))
            strokes.painter.setOpacity(1.0 if abs(column - here) < 0.5 else 0.62)
            if image is not None:
                strokes.painter.drawImage(_covering(image, area), image)
            else:
                strokes.fill(area, theme.TROUGH, 5)
            strokes.painter.restore()

    def _draw_bar(self, strokes: Strokes, width: float) -> None:
        y, left, right = TOP + STILL[1] + 18, PAD, width - PAD
        last = max(1, len(self._line) - 1)
        painter = strokes.painter
        strokes.fill(QRectF(left, y - 2, right - left, 4), theme.TROUGH, 2)
        x = left + self._place / last * (right - left)
        strokes.fill(QRectF(left, y - 2, x - left, 4), theme.DEVICE, 2)
        for place, chunk in enumerate(self._line):
            mark = left + place / last * (right - left)
            if chunk in self._forks:
                strokes.line(QPointF(mark, y), QPointF(mark + 5, y - 9), theme.AHEAD, 1.8)
            if chunk in self._marks:
                painter.setPen(Qt.PenStyle.NoPen)
                painter.setBrush(theme.STALE)
                painter.drawPolygon(QPolygonF([QPointF(mark, y - 6), QPointF(mark + 5, y), QPointF(mark, y + 6), QPointF(mark - 5, y)]))
        painter.setPen(QPen(theme.NIGHT, 1.5))
        painter.setBrush(theme.INK)
        painter.drawEllipse(QPointF(x, y), 7, 7)

    def _image(self, chunk: int) -> QImage | None:
        if chunk not in self._images:
            jpeg = self._picture(chunk)
            if jpeg is None:
                return None
            self._images[chunk] = QImage.fromData(jpeg)
        return self._images[chunk]


def _covering(image: QImage, area: QRectF) -> QRectF:
    """Where ``image`` is drawn to cover ``area`` without being squeezed."""
    factor = max(area.width() / max(1, image.width()), area.height() / max(1, image.height()))
    width, height = image.width() * factor, image.height() * factor
    return QRectF(area.center().x() - width / 2, area.center().y() - height / 2, width, height)


def ring(area: QRectF, radius: float) -> QPainterPath:
    """The outline of a picture."""
    return rounded(area, radius)
