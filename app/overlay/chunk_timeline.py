"""The world's memory as a strip of time: one column a chunk, a lane for each tier, arcs to what is brought back now."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QImage, QPainterPath, QPen

from worldpager.app import theme
from worldpager.app.overlay.card import PAD, Card, HudState, Strokes
from worldpager.app.words import tr
from worldpager.engine.telemetry.snapshot import Snapshot

LANE = 8.0
LANE_GAP = 4.0
LANES_TOP = 40.0
LEAST_CHUNKS = 96
"""Chunks that the strip is wide at least, so that its beginning doesn't look bloated."""


class ChunkTimeline(Card):
    """The strip along the lower edge."""

    design_size = (1252, 86)

    def draw(self, strokes: Strokes, state: HudState, width: float, height: float) -> None:
        """Lanes, spill point, arcs."""
        snapshot = state.snapshot
        area = QRectF(PAD + 52, LANES_TOP, width - 2 * PAD - 52, 3 * (LANE + LANE_GAP))
        span = max(LEAST_CHUNKS, snapshot.chunk, min(snapshot.spill_chunk or 0, 2 * LEAST_CHUNKS))
        strokes.label(PAD, 24, tr("timeline"))
        _draw_lanes(strokes, snapshot, area, span)
        _draw_spill(strokes, snapshot, area, span)
        _draw_arcs(strokes, snapshot, area, span)


def columns(snapshot: Snapshot, span: int) -> NDArray[np.float64]:
    """Place of each remembered block on the strip, 0 to 1. Blocks are numbered on over worlds; the newest is the present chunk."""
    ids = snapshot.block_map.ids
    if not len(ids):
        return np.zeros(0)
    first = int(ids[-1]) - snapshot.chunk + 1
    return np.clip((ids - first) / span, 0.0, 1.0)


def _draw_lanes(strokes: Strokes, snapshot: Snapshot, area: QRectF, span: int) -> None:
    """A dash for each chunk in the lane of its tier."""
    for lane, name in enumerate(("device", "host", "disk")):
        y = area.top() + lane * (LANE + LANE_GAP)
        strokes.text(PAD, y + LANE, tr(name), theme.font(11), theme.SOFT)
        strokes.fill(QRectF(area.left(), y, area.width(), LANE), theme.with_alpha(theme.INK, 13), 2)
    strip = lane_pixels(snapshot, span)
    image = QImage(strip.tobytes(), strip.shape[1], 3, 4 * strip.shape[1], QImage.Format.Format_ARGB32)
    for lane in range(3):
        y = area.top() + lane * (LANE + LANE_GAP)
        strokes.painter.drawImage(QRectF(area.left(), y, area.width(), LANE), image, QRectF(0, lane, image.width(), 1))


def lane_pixels(snapshot: Snapshot, span: int) -> NDArray[np.uint32]:
    """The lanes as pixels [3, columns] of colour, transparent where nothing lies: a dash a chunk, with a gap while there is room for
    one.
    """
    fine = max(1, min(4, 2400 // span))
    pixels = np.zeros((3, min(2400, fine * span) + fine), np.uint32)
    tiers = snapshot.block_map.tier
    held = tiers < 3
    at = (columns(snapshot, span)[held] * (pixels.shape[1] - fine)).astype(np.int64)
    colours = np.array([theme.TIERS[tier].rgba() for tier in range(3)], np.uint32)
    for step in range(max(1, fine - 1)):
        pixels[tiers[held], at + step] = colours[tiers[held]]
    return pixels


def _draw_spill(strokes: Strokes, snapshot: Snapshot, area: QRectF, span: int) -> None:
    """A dashed line where the host tier overflows."""
    spill = snapshot.spill_chunk
    if spill is None or spill > span:
        return
    x = area.left() + spill / span * area.width()
    strokes.line(QPointF(x, area.top() - 6), QPointF(x, area.bottom() + 2), theme.DISK, 1.2, (3, 2))
    text = tr("spill at {chunk}", chunk=spill)
    if x + 6 + theme.text_width(strokes.type.body, text) < area.right():
        strokes.text(x + 6, area.top() - 4, text, colour=theme.DISK)
    else:
        strokes.text_left_of(x - 6, area.top() - 4, text, colour=theme.DISK)


def _draw_arcs(strokes: Strokes, snapshot: Snapshot, area: QRectF, span: int) -> None:
    """From now back to the chunks in the working set."""
    now = area.left() + min(1.0, snapshot.chunk / span) * area.width()
    strokes.line(QPointF(now, area.top() - 6), QPointF(now, area.bottom() + 2), theme.INK, 1.5)
    used = np.isin(snapshot.block_map.ids, snapshot.working_set)
    colour = theme.STALE if snapshot.stale else theme.INK
    painter = strokes.painter
    for place in columns(snapshot, span)[used].tolist():
        x = area.left() + place * area.width() + 1
        arc = QPainterPath(QPointF(now, area.top() - 2))
        rise = min(30.0, 8 + abs(now - x) * 0.1)
        arc.cubicTo(QPointF(now, area.top() - rise), QPointF(x, area.top() - rise), QPointF(x, area.top() - 2))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(theme.with_alpha(colour, 200), 1.3, Qt.PenStyle.DashLine if snapshot.stale else Qt.PenStyle.SolidLine))
        painter.drawPath(arc)
        strokes.fill(QRectF(x - 1.5, area.top() - 3, 3, 3), colour, 1.5)
