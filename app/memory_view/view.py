"""The view itself: lays the panes out around the picture and has them drawn one after another, a few times a second."""

from __future__ import annotations

import time
from collections.abc import Callable

from PySide6.QtCore import QPointF, QRect, QRectF, Qt, QTimer
from PySide6.QtGui import QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QWidget

from worldpager.app import theme
from worldpager.app.memory_view.chunks_pane import ChunksPane
from worldpager.app.memory_view.compare_pane import ComparePane
from worldpager.app.memory_view.flow import FlowLayer
from worldpager.app.memory_view.heads import ModesPane, TitlePane
from worldpager.app.memory_view.story import MemoryStory
from worldpager.app.memory_view.tier_pane import TierPane
from worldpager.app.overlay.card import Card, HudState
from worldpager.app.overlay.pose_map import PoseMap

TURN_MS = 20
"""A pane is drawn at each turn; all of them take eight turns, so each is drawn six times a second."""
EDGE, GAP = 20.0, 12.0
HEAD = 42.0
PICTURE = (570.0, 380.0)
MAP = 242.0
COMPARE = 368.0
TIER_HEIGHTS = (82.0, 118.0)
"""Of device and host; the disk takes what is left."""


class MemoryView(QWidget):
    """Covers its parent but for the picture. ``state`` gives what to draw, None while there is nothing."""

    def __init__(
        self, parent: QWidget, story: MemoryStory, state: Callable[[], HudState | None], clock: Callable[[], float] = time.monotonic
    ) -> None:
        super().__init__(parent)
        self.story, self._state_now = story, state
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.motion = True
        self._scale = 1.0
        self.title, self.modes = TitlePane(self, story), ModesPane(self, story)
        self.tiers = tuple(TierPane(self, story, place) for place in range(3))
        self.map, self.chunks, self.compare = PoseMap(self), ChunksPane(self, story), ComparePane(self, story)
        self.flow = FlowLayer(self, clock)
        self._turn = 0
        self._flown = -1
        self._timer = QTimer(self, interval=TURN_MS)
        self._timer.timeout.connect(self.turn)
        self.hide()

    @property
    def panes(self) -> tuple[Card, ...]:
        """All panes in the order of drawing."""
        return (self.title, self.modes, *self.tiers, self.chunks, self.map, self.compare)

    def picture_area(self, width: int, height: int) -> QRect:
        """Where the picture lies in a window of ``width`` x ``height`` pixels."""
        scale, left, top = _fit(width, height)
        return QRectF((left + EDGE) * scale, (top + EDGE + HEAD + GAP) * scale, PICTURE[0] * scale, PICTURE[1] * scale).toRect()

    def open(self) -> None:
        """Show everything and begin to draw."""
        for pane in self.panes:
            pane.show()
        self.show()
        self.lay_out()
        self.redraw()
        self._timer.start()

    def close_view(self) -> None:
        """Hide and stop drawing."""
        self._timer.stop()
        self.flow.clear()
        self.hide()

    def redraw(self) -> None:
        """Draw all panes at once."""
        state = self._state_now()
        if state is not None:
            for pane in self.panes:
                pane.show_state(state)

    def turn(self) -> None:
        """Draw the pane whose turn it is; start the flights of what has moved."""
        state = self._state_now()
        if state is None:
            return
        panes = self.panes
        self._turn = (self._turn + 1) % len(panes)
        panes[self._turn].show_state(state)
        self._start_flights()

    def lay_out(self) -> None:
        """Put the panes in their places for the present size."""
        scale, left, top = _fit(self.width(), self.height())
        self._scale = scale
        wide, high = self.width() / scale - 2 * left, self.height() / scale - 2 * top
        x, y = left + EDGE, top + EDGE
        right_x = x + PICTURE[0] + GAP + 4
        right_wide = left + wide - EDGE - right_x
        self.title.place(x, y, scale, (PICTURE[0], HEAD))
        self.modes.place(right_x, y, scale, (right_wide, HEAD))
        y += HEAD + GAP
        tier_y, bottom = y, y + PICTURE[1]
        for pane, wanted in zip(self.tiers, (*TIER_HEIGHTS, 0.0), strict=True):
            tall = wanted or bottom - tier_y
            pane.place(right_x, tier_y, scale, (right_wide, tall))
            tier_y += tall + GAP
        row_y = bottom + GAP
        row_high = top + high - EDGE - row_y
        side = min(MAP, row_high)
        self.map.place(x, row_y, scale, (side, side))
        compare_x = left + wide - EDGE - COMPARE
        self.chunks.place(x + side + GAP, row_y, scale, (compare_x - GAP - x - side - GAP, row_high))
        self.compare.place(compare_x, row_y, scale, (COMPARE, row_high))
        self.flow.setGeometry(self.rect())
        self.flow.raise_()
        self.update()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Lay out anew."""
        self.lay_out()

    def paintEvent(self, event: QPaintEvent) -> None:
        """The night around the panes."""
        painter = QPainter(self)
        painter.fillRect(event.rect(), theme.NIGHT)
        painter.end()

    def _start_flights(self) -> None:
        if self._flown == self.story.version:
            return
        self._flown = self.story.version
        if not self.motion or (self.story.snapshot is not None and self.story.snapshot.opening):
            return
        for move in self.story.cells.moves:
            end = self._at(move.tier, move.cell)
            start = self._from_picture() if move.origin is None else self._at(*move.origin)
            self.flow.fly(start, end, move.tier, 9 * self._scale)

    def _at(self, tier: int, cell: int) -> QPointF:
        pane = self.tiers[tier]
        return QPointF(pane.pos()) + pane.cell_place(cell) * self._scale

    def _from_picture(self) -> QPointF:
        """New blocks come out of the picture."""
        area = self.picture_area(self.width(), self.height())
        return QPointF(area.right() - 10 * self._scale, area.center().y())


def _fit(width: int, height: int) -> tuple[float, float, float]:
    """(scale, left, top): the design's 16:9 centred in a window of any shape; wider windows get wider panes."""
    scale = theme.scale_for(width, height)
    return scale, 0.0, max(0.0, (height / scale - theme.DESIGN_HEIGHT) / 2)
