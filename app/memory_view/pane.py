"""A pane of the memory view: a card that also knows the story."""

from __future__ import annotations

from PySide6.QtCore import QRectF, Qt
from PySide6.QtWidgets import QWidget

from worldpager.app import theme
from worldpager.app.memory_view.story import MemoryStory
from worldpager.app.overlay.card import RADIUS, Card, Strokes


class Pane(Card):
    """Draws ``story``. Opaque, so that the window repaints nothing below it."""

    def __init__(self, parent: QWidget, story: MemoryStory) -> None:
        super().__init__(parent)
        self.story = story
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)

    def draw_ground(self, strokes: Strokes, width: float, height: float) -> None:
        """A ground a little lighter than the view's."""
        strokes.fill(QRectF(0, 0, width, height), theme.NIGHT)
        strokes.fill(QRectF(0.5, 0.5, width - 1, height - 1), GROUND, RADIUS)


GROUND = theme.with_alpha(theme.INK, 12)
