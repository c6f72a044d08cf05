"""What is seen until the first picture: the name, how far loading is, and the keys to learn meanwhile."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QRectF, Qt, Signal
from PySide6.QtGui import QFont, QImage, QKeyEvent, QPainter, QPaintEvent, QPixmap, QResizeEvent
from PySide6.QtWidgets import QPushButton, QWidget

from worldpager.app import theme
from worldpager.app.engine_words import stage_words
from worldpager.app.overlay.card import Strokes
from worldpager.app.panels.key_hint import Row, draw_keys
from worldpager.app.words import tr

BAR_WIDTH = 320.0
GROUND_SIZE = (1280, 720)


class LoadingPage(QWidget):
    """Opaque; covers the window. ``cancelled``: the person no longer wants what is loading."""

    cancelled = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._window = parent
        self._stage, self._share = tr("Starting"), 0.0
        self._ground = QPixmap()
        self.row: Row = []
        """The keys to learn meanwhile."""
        self.cancel = QPushButton(tr("Cancel"), self)
        self.cancel.clicked.connect(self._cancel)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.hide()

    @property
    def stage(self) -> str:
        """What is going on, in words."""
        return self._stage

    def show_progress(self, stage: str, share: float) -> None:
        """``share`` from 0 to 1; the bar never goes back."""
        self._stage, self._share = stage_words(stage), max(self._share, share)
        self.update()

    def begin(self) -> None:
        """Cover the window, at the beginning of loading."""
        self._stage, self._share = tr("Starting"), 0.0
        self.setGeometry(self._window.rect())
        self.cancel.setText(tr("Cancel"))
        self.cancel.setEnabled(True)
        self.show()
        self.raise_()
        self.setFocus()

    def _cancel(self) -> None:
        self.cancel.setEnabled(False)
        self.cancelled.emit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """The button below the bar."""
        scale = theme.scale_for(self.width(), self.height())
        self.setStyleSheet(theme.sheet(scale))
        self.cancel.adjustSize()
        self.cancel.move((self.width() - self.cancel.width()) // 2, round(self.height() * 0.42 + 124 * scale))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Esc cancels."""
        if event.key() == Qt.Key.Key_Escape:
            self.cancel.click()
        else:
            super().keyPressEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the page."""
        painter = QPainter(self)
        if self._ground.isNull():
            self._ground = QPixmap.fromImage(night_ground(*GROUND_SIZE))
        painter.drawPixmap(self.rect(), self._ground)
        painter.setRenderHints(QPainter.RenderHint.Antialiasing | QPainter.RenderHint.TextAntialiasing)
        scale = theme.scale_for(self.width(), self.height())
        painter.scale(scale, scale)
        self._draw(Strokes(painter), self.width() / scale, self.height() / scale)
        painter.end()

    def _draw(self, strokes: Strokes, width: float, height: float) -> None:
        name, tagline = theme.font(44, QFont.Weight.DemiBold, -0.5), theme.font(15)
        middle, y = width / 2, height * 0.42
        strokes.text(middle - theme.text_width(name, "WorldPager") / 2, y, "WorldPager", name)
        words = tr("worlds that remember")
        strokes.text(middle - theme.text_width(tagline, words) / 2, y + 30, words, tagline, theme.SOFT)
        bar = QRectF(middle - BAR_WIDTH / 2, y + 74, BAR_WIDTH, 4)
        strokes.bar(bar, self._share, theme.DEVICE)
        strokes.text(middle - theme.text_width(strokes.type.body, self._stage) / 2, y + 100, self._stage, colour=theme.SOFT)
        draw_keys(strokes, self.row, middle, height - 64)


def night_ground(width: int, height: int) -> QImage:
    """A night with a glow at the horizon, dithered: the eye sees steps in the dark."""
    x = (np.arange(width, dtype=np.float32) - width / 2) / height
    y = np.arange(height, dtype=np.float32) / height - 1.2
    glow = np.exp(-4.5 * (x[None, :] ** 2 * 0.4 + y[:, None] ** 2))
    noise = np.random.default_rng(0).random((height, width), np.float32)
    ground = np.empty((height, width, 4), np.uint8)
    night, light = theme.NIGHT, theme.DEVICE
    for channel, (dark, bright) in enumerate(((night.blue(), light.blue()), (night.green(), light.green()), (night.red(), light.red()))):
        ground[..., channel] = dark + (bright - dark) * 0.34 * glow + noise
    ground[..., 3] = 255
    return QImage(ground.data, width, height, 4 * width, QImage.Format.Format_RGB32).copy()
