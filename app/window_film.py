"""The window as a picture for a film: everything that is seen, panels included."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QPoint, QSize, Qt
from PySide6.QtGui import QImage, QPainter
from PySide6.QtWidgets import QWidget

from worldpager.engine.types import Frames


def frame_of(window: QWidget, width: int, height: int) -> Frames:
    """The window as one frame [1, height, width, 3]; shrunk onto black where it has another size by now."""
    image = QImage(width, height, QImage.Format.Format_RGB888)
    ratio = window.devicePixelRatioF()
    if window.size() * ratio == QSize(width, height):
        image.setDevicePixelRatio(ratio)
        painter = QPainter(image)
        window.render(painter, QPoint())
        painter.end()
    else:
        shot = window.grab().toImage().scaled(width, height, Qt.AspectRatioMode.KeepAspectRatio, Qt.TransformationMode.SmoothTransformation)
        shot.setDevicePixelRatio(1.0)
        image.fill(Qt.GlobalColor.black)
        painter = QPainter(image)
        painter.drawImage((width - shot.width()) // 2, (height - shot.height()) // 2, shot)
        painter.end()
    rows = np.frombuffer(image.constBits(), np.uint8).reshape(height, image.bytesPerLine())
    frame: Frames = rows[:, : 3 * width].reshape(1, height, width, 3).copy()  # the image's own memory goes with it
    return frame
