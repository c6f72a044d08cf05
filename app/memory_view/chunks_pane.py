"""The chunks until now: which past chunk each one looked back at, and whether what it wanted was there in time."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QImage, QPen, QPolygonF

from worldpager.app import theme
from worldpager.app.memory_view.modes import MODES, mode_of
from worldpager.app.memory_view.pane import Pane
from worldpager.app.memory_view.story import ChunkRow
from worldpager.app.overlay.card import PAD, HudState, Strokes
from worldpager.app.words import tr

LEFT = 70.0
STEP = 3
"""Design pixels a chunk."""
TOP, LANE = 40.0, 16.0
MISS_ROWS = 6
"""Blocks wanted by one chunk that the lane of hits and misses can show."""


class ChunksPane(Pane):
    """Time runs to the right; the newest chunk is at the right edge."""

    def draw(self, strokes: Strokes, state: HudState, width: float, height: float) -> None:
        """Mode band, looks back, hits and misses, stalls."""
        count = int((width - LEFT - PAD) // STEP)
        rows = list(self.story.rows)[-count:]
        right = width - PAD
        left = right - len(rows) * STEP
        looks = QRectF(LEFT, TOP, right - LEFT, height - TOP - 2 * LANE - 34)
        hits_top, stalls_top = looks.bottom() + 10, looks.bottom() + 18 + LANE
        strokes.label(PAD, 24, tr("looks back at"))
        _draw_modes(strokes, rows, left)
        strokes.fill(looks, theme.with_alpha(theme.INK, 8))
        top = max((row.chunk for row in rows), default=1)
        for label, y in ((tr("now"), looks.top() + 9), (tr("first"), looks.bottom() - 1)):
            strokes.text(PAD, y, label, theme.font(11), theme.FAINT)
        _draw_spill(strokes, state, looks, top)
        image = look_pixels(rows, int(looks.height()), top)
        strokes.painter.drawImage(QRectF(left, looks.top(), len(rows) * STEP, looks.height()), image)
        strokes.text(PAD, hits_top + 11, tr("wanted"), theme.font(11), theme.FAINT)
        strokes.painter.drawImage(QRectF(left, hits_top, len(rows) * STEP, LANE), hit_pixels(rows))
        strokes.text(PAD, stalls_top + 10, tr("stalls"), theme.font(11), theme.FAINT)
        _draw_stalls(strokes, rows, left, QRectF(LEFT, stalls_top, right - LEFT, LANE))
        _draw_legend(strokes, width)


def _draw_modes(strokes: Strokes, rows: list[ChunkRow], left: float) -> None:
    """A band in the colour of the mode that was on, with its name where there is room."""
    begin = 0
    for at in range(1, len(rows) + 1):
        if at < len(rows) and rows[at].policy == rows[begin].policy and rows[at].chunk > rows[at - 1].chunk:
            continue
        place = mode_of(rows[begin].policy)
        colour = theme.FAINT if place is None else MODES[place].colour
        area = QRectF(left + begin * STEP, TOP - 9, (at - begin) * STEP - 1, 5)
        strokes.fill(area, colour)
        begin = at


def _draw_spill(strokes: Strokes, state: HudState, looks: QRectF, top: int) -> None:
    """Below this line lies what main memory could no longer hold alone."""
    spilled = state.snapshot.memory.spilled_blocks
    if not spilled or not top:
        return
    y = looks.bottom() - min(1.0, spilled / top) * looks.height()
    strokes.line(QPointF(looks.left(), y), QPointF(looks.right(), y), theme.with_alpha(theme.DISK, 170), 1.2, (3, 3))
    strokes.text(looks.left() + 5, min(looks.bottom() - 4, y + 12), tr("below: on disk"), theme.font(10), theme.DISK)


def look_pixels(rows: list[ChunkRow], height: int, top: int) -> QImage:
    """A pixel for each block that a chunk looked back at: white when it came in time, yellow when it was a stale one instead."""
    pixels = np.zeros((max(1, height), STEP * max(1, len(rows))), np.uint32)
    white, yellow = 0xFFFFFFFF, 0xFF000000 | (theme.STALE.rgba() & 0xFFFFFF)
    for at, row in enumerate(rows):
        for past in row.retrieved:
            y = height - 1 - int(min(1.0, max(0.0, past / max(1, top))) * (height - 2))
            pixels[max(0, y - 1) : y + 1, STEP * at : STEP * at + 2] = yellow if row.stale else white
    return _image(pixels)


def hit_pixels(rows: list[ChunkRow]) -> QImage:
    """Per chunk a stack of what it wanted: green when it was there, orange and taller when it was missing."""
    lane = int(LANE)
    pixels = np.zeros((lane, STEP * max(1, len(rows))), np.uint32)
    each = max(2, lane // max(2, min(MISS_ROWS, max((row.wanted for row in rows), default=2))))
    green, orange = 0xFF000000 | theme.HOST.rgba() & 0xFFFFFF, 0xFF000000 | theme.ALARM.rgba() & 0xFFFFFF
    for at, row in enumerate(rows):
        for nth in range(min(row.wanted, lane // each)):
            top = lane - (nth + 1) * each
            cell = pixels[top : top + each - 1, STEP * at : STEP * at + STEP - 1]
            if nth < row.hits:
                cell[:] = green
            else:
                pixels[max(0, top - each + 2) : top + each - 1, STEP * at : STEP * at + STEP - 1] = (
                    orange  # taller: seen without colours, too
                )
    return _image(pixels)


def _draw_stalls(strokes: Strokes, rows: list[ChunkRow], left: float, area: QRectF) -> None:
    """A line that must stay empty; a triangle for each chunk that waited."""
    middle = area.center().y() - 1
    strokes.line(QPointF(area.left(), middle), QPointF(area.right(), middle), theme.LINE)
    stalled = [left + at * STEP for at, row in enumerate(rows) if row.stalls]
    for x in stalled:
        strokes.painter.setPen(QPen(Qt.PenStyle.NoPen))
        strokes.painter.setBrush(theme.ALARM)
        strokes.painter.drawPolygon(QPolygonF([QPointF(x - 4, middle + 4), QPointF(x + 5, middle + 4), QPointF(x + 0.5, middle - 5)]))
    if not stalled:
        strokes.text(area.left() + 6, middle + 11, tr("none: the street never waited for bytes"), theme.font(10), theme.FAINT)


def _draw_legend(strokes: Strokes, width: float) -> None:
    """What the small squares mean."""
    at, face = width - PAD, theme.font(11)
    for words, colour, tall in ((tr("missing"), theme.ALARM, 13), (tr("in time"), theme.HOST, 8), (tr("stale"), theme.STALE, 8)):
        at = strokes.text_left_of(at, 24, words, face, theme.FAINT) - 12
        strokes.fill(QRectF(at, 24 - tall, 8 if tall == 8 else 5, tall), colour)
        at -= 12


def _image(pixels: NDArray[np.uint32]) -> QImage:
    return QImage(pixels.tobytes(), pixels.shape[1], pixels.shape[0], 4 * pixels.shape[1], QImage.Format.Format_ARGB32)
