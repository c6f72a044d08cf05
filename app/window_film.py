"""The window as a picture for a film: everything that is seen, panels included."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QImage, QPainter
from PySide6.QtWidgets import QWidget

from worldpager.engine.types import Frames

MOST_LINES = 1080
"""Lines of a film of the window; a larger window is drawn smaller."""


def film_size_of(window: QWidget) -> tuple[int, int]:
    """Width and height in pixels of a film of ``window`` as it is now."""
    size = window.size() * window.devicePixelRatioF()
    share = min(1.0, MOST_LINES / max(1, size.height()))
    return round(size.width() * share) // 2 * 2, round(size.height() * share) // 2 * 2


def frame_of(window: QWidget, width: int, height: int) -> Frames:
    """The window as one frame [1, height, width, 3]; on black where it has another shape by now."""
    image = QImage(width, height, QImage.Format.Format_RGB888)
    share = min(width / max(1, window.width()), height / max(1, window.height()))
    left, top = (width - window.width() * share) / 2, (height - window.height() * share) / 2
    if left >= 1 or top >= 1:
        image.fill(Qt.GlobalColor.black)
    painter = QPainter(image)
    painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
    painter.translate(left, top)
    painter.scale(share, share)
    window.render(painter, QPoint())
    painter.end()
    rows = np.frombuffer(image.constBits(), np.uint8).reshape(height, image.bytesPerLine())
    frame: Frames = rows[:, : 3 * width].reshape(1, height, width, 3).copy()  # the image's own memory goes with it
    return frame
