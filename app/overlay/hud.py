"""Lays the cards out and keeps each as a pixmap: they are drawn a few times a second, the picture every frame."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QPainter, QPixmap

from worldpager.app import theme
from worldpager.app.overlay.cards import WIDTH, Card, DiskCard, RateCard, StallCard, SummaryCard, TierCard, WorldCard
from worldpager.app.overlay.chunk_timeline import ChunkTimeline
from worldpager.app.overlay.ink import Ink
from worldpager.app.overlay.pose_map import PoseMap
from worldpager.app.overlay.readings import Readings

PRESETS = ("none", "small", "full")
PERIOD = 0.2
"""Seconds between two drawings of the cards."""
MARGIN, GAP = 2 * theme.GRID, theme.GRID


@dataclass(slots=True)
class _Placed:
    """A card, its corner in design pixels, and its picture once it is drawn."""

    card: Card
    left: float
    top: float
    pixmap: QPixmap | None = None


class Hud:
    """The overlays of one window. ``clock`` in seconds."""

    def __init__(self, readings: Readings, clock: Callable[[], float]) -> None:
        self._readings, self._clock = readings, clock
        self.preset = "small"
        self._window = (theme.DESIGN_WIDTH, theme.DESIGN_HEIGHT, 1.0)
        self._placed: list[_Placed] = []
        self._drawn = float("-inf")

    @property
    def scale(self) -> float:
        """Logical pixels for each design pixel."""
        return theme.scale_of(self._window[0], self._window[1])

    def resize(self, width: float, height: float, ratio: float) -> None:
        """The window has ``width`` by ``height`` logical pixels of ``ratio`` device pixels each."""
        if (width, height, ratio) != self._window:
            self._window = (width, height, ratio)
            self._lay_out()

    def use(self, preset: str) -> None:
        """Show another set of cards."""
        self.preset = preset
        self._lay_out()

    def next_preset(self) -> str:
        """The one after the present one, round and round."""
        return PRESETS[(PRESETS.index(self.preset) + 1) % len(PRESETS)]

    def refresh(self) -> bool:
        """Draw the cards again if it is time; True when they were drawn."""
        now = self._clock()
        snapshot = self._readings.snapshot
        if now - self._drawn < PERIOD or snapshot is None:
            return False
        self._drawn = now
        self._readings.sample()
        ratio = self._window[2]
        for placed in self._placed:
            width, height = (round(side * self.scale * ratio) for side in placed.card.size)
            if placed.pixmap is None:
                placed.pixmap = QPixmap(width, height)
                placed.pixmap.setDevicePixelRatio(ratio)
            placed.pixmap.fill(Qt.GlobalColor.transparent)
            painter = QPainter(placed.pixmap)
            painter.scale(self.scale, self.scale)
            placed.card.draw(Ink(painter), self._readings, snapshot)
            painter.end()
        return True

    def draw(self, painter: QPainter) -> None:
        """Put the pictures of the cards onto the window."""
        for placed in self._placed:
            if placed.pixmap is not None:
                painter.drawPixmap(QPointF(round(placed.left * self.scale), round(placed.top * self.scale)), placed.pixmap)

    def _lay_out(self) -> None:
        width, height = self._window[0] / self.scale, self._window[1] / self.scale
        right = width - MARGIN - WIDTH
        self._placed, self._drawn = [], float("-inf")
        if self.preset == "small":
            self._column(MARGIN, [SummaryCard()])
            small = PoseMap(19 * theme.GRID, legend=False)
            self._placed.append(_Placed(small, width - MARGIN - small.size[0], MARGIN))
        elif self.preset == "full":
            self._column(MARGIN, [TierCard(), StallCard(), DiskCard()])
            self._column(right, [WorldCard(), PoseMap(WIDTH, legend=True), RateCard()])
            timeline = ChunkTimeline(width - 2 * MARGIN)
            self._placed.append(_Placed(timeline, MARGIN, height - MARGIN - timeline.size[1]))

    def _column(self, left: float, cards: list[Card]) -> None:
        top = MARGIN
        for card in cards:
            self._placed.append(_Placed(card, left, top))
            top += card.size[1] + GAP
