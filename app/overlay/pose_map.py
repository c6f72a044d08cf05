"""The world from above: where the camera went, what is remembered where and in which tier, what it sees, and what memory gives it now."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainterPath, QPen, QRadialGradient

from worldpager.app import theme
from worldpager.app.overlay.cards import PAD
from worldpager.app.overlay.ink import RADIUS, Ink
from worldpager.app.overlay.readings import Readings
from worldpager.engine.telemetry.snapshot import TIER_NAMES, TIER_NONE, Snapshot
from worldpager.engine.types import FieldOfView, Pose

SPANS = (6.0, 9.0, 13.0, 18.0, 26.0, 38.0, 54.0, 78.0, 110.0, 160.0, 240.0)
"""Cells across the map: it grows in steps, so that it doesn't swim."""
MARK = 3.2
WEDGE_CELLS = 6.0


class PoseMap:
    """A square map, north up, the camera in the middle."""

    def __init__(self, side: float, *, legend: bool) -> None:
        self._legend = legend
        self.size = (side, side + (3 * theme.GRID if legend else 0))
        self._side = side

    def draw(self, ink: Ink, readings: Readings, snapshot: Snapshot) -> None:
        """From the ground up: grid, path, blocks, futures, retrieved blocks, camera."""
        ink.panel(QRectF(0, 0, *self.size))
        span = map_span(snapshot, readings)
        place = _Place(snapshot.pose, self._side, span)
        clip = QPainterPath()
        clip.addRoundedRect(QRectF(1, 1, self._side - 2, self._side - 2), RADIUS - 1, RADIUS - 1)
        ink.painter.save()
        ink.painter.setClipPath(clip)
        self._grid(ink, place)
        ink.polyline([place.at(x, y) for x, y in readings.path], QColor(255, 255, 255, 90), 1.4)
        _wedge(ink, place, snapshot.pose, snapshot.view, theme.YELLOW)
        self._blocks(ink, place, snapshot)
        _futures(ink, place, snapshot)
        _retrieved(ink, place, snapshot)
        _camera(ink, place, snapshot.pose)
        ink.painter.restore()
        self._labels(ink, span)

    def _grid(self, ink: Ink, place: _Place) -> None:
        """Lines at whole cells, wide enough apart to be quiet."""
        step = next(step for step in (1, 2, 5, 10, 20, 50, 100) if step * place.scale >= 24)
        for k in range(math.floor(-place.reach / step) - 1, math.ceil(place.reach / step) + 2):
            x = (math.floor(place.origin[0] / step) + k) * step
            y = (math.floor(place.origin[1] / step) + k) * step
            px, py = place.at(x, y).x(), place.at(x, y).y()
            ink.line(QPointF(px, 0), QPointF(px, self._side), theme.RULE)
            ink.line(QPointF(0, py), QPointF(self._side, py), theme.RULE)

    def _blocks(self, ink: Ink, place: _Place, snapshot: Snapshot) -> None:
        blocks = snapshot.block_map
        for x, y, tier in thinned(place.all(blocks.xy_yaw[:, :2]), blocks.tier, self._side):
            ink.tier_mark(tier, QPointF(x, y), MARK)

    def _labels(self, ink: Ink, span: float) -> None:
        if not self._legend:
            return
        bar = 10 ** math.floor(math.log10(span / 3))
        bar *= max(k for k in (1, 2, 5) if k * bar <= span / 3)
        length = bar * self._side / span
        left, low = PAD, self._side - 12
        ink.line(QPointF(left, low), QPointF(left + length, low), theme.QUIET, 2)
        ink.text(left, low - 6, f"{bar:g} cells", 10, theme.QUIET)
        x = PAD
        for tier, name in enumerate(TIER_NAMES):
            ink.tier_mark(tier, QPointF(x + 4, self._side + 11), 4)
            x += 13 + ink.text(x + 13, self._side + 15, name, 10, theme.QUIET) + 12
        ink.line(QPointF(x, self._side + 11), QPointF(x + 14, self._side + 11), theme.TEXT, 1.6)
        ink.text(x + 19, self._side + 15, "in use", 10, theme.QUIET)


class _Place:
    """World to map: y up, the camera in the middle."""

    def __init__(self, pose: Pose, side: float, span: float) -> None:
        self.origin = (pose.x, pose.y)
        self.scale = side / span
        self.reach = span / 2
        self._half = side / 2

    def at(self, x: float, y: float) -> QPointF:
        """Map place of a point of the world."""
        return QPointF(self._half + (x - self.origin[0]) * self.scale, self._half - (y - self.origin[1]) * self.scale)

    def all(self, xy: NDArray[np.float32]) -> NDArray[np.float64]:
        """The same for points [n, 2]."""
        offset = (xy.astype(np.float64) - self.origin) * self.scale
        return np.stack([self._half + offset[:, 0], self._half - offset[:, 1]], axis=1)


def map_span(snapshot: Snapshot, readings: Readings) -> float:
    """Cells across that show nearly all that is remembered, in steps."""
    xy = snapshot.block_map.xy_yaw[:, :2]
    if not len(xy):
        return SPANS[0]
    far = np.abs(xy - (snapshot.pose.x, snapshot.pose.y)).max(axis=1)
    need = 2.15 * float(np.quantile(far, 0.95))
    return next((span for span in SPANS if span >= need), SPANS[-1])


def thinned(points: NDArray[np.float64], tiers: NDArray[np.uint8], side: float) -> Iterator[tuple[float, float, int]]:
    """Points on the map with their tiers, one for each few pixels: the fastest tier there, so that nothing hides it."""
    inside = ((points >= -4) & (points <= side + 4)).all(axis=1) & (tiers != TIER_NONE)
    points, tiers = points[inside], tiers[inside]
    order = np.argsort(tiers, kind="stable")
    cells = (points[order] // (0.9 * MARK)).astype(np.int64)
    _, first = np.unique(cells @ np.array([1 << 20, 1]), return_index=True)
    kept = order[first]
    for index in kept[np.argsort(-tiers[kept].astype(int), kind="stable")]:
        yield float(points[index, 0]), float(points[index, 1]), int(tiers[index])


def _wedge(ink: Ink, place: _Place, pose: Pose, view: FieldOfView, colour: QColor) -> None:
    """What the camera sees."""
    tip = place.at(pose.x, pose.y)
    length = min(view.sight, WEDGE_CELLS, 0.8 * place.reach) * place.scale
    box = QRectF(tip.x() - length, tip.y() - length, 2 * length, 2 * length)
    path = QPainterPath(tip)
    path.arcTo(box, math.degrees(pose.yaw - view.horizontal / 2), math.degrees(view.horizontal))
    path.closeSubpath()
    shade = QRadialGradient(tip, length)
    for at, alpha in ((0.0, 120), (1.0, 6)):
        stop = QColor(colour)
        stop.setAlpha(alpha)
        shade.setColorAt(at, stop)
    ink.painter.setPen(Qt.PenStyle.NoPen)
    ink.painter.setBrush(shade)
    ink.painter.drawPath(path)


def _futures(ink: Ink, place: _Place, snapshot: Snapshot) -> None:
    """Where the camera may be next: the likeliest future as a wedge's outline, the others as ticks."""
    for rank, future in enumerate(snapshot.futures or ((snapshot.predicted,) if snapshot.predicted else ())):
        if not future:
            continue
        pose = future[-1]
        colour = QColor(theme.PURPLE)
        colour.setAlpha(255 if rank == 0 else 130)
        tip = place.at(pose.x, pose.y)
        length = 26.0 if rank == 0 else 17.0
        half = snapshot.view.horizontal / 2 if rank == 0 else 0.0
        for side in {-half, half}:
            angle = pose.yaw + side
            end = QPointF(tip.x() + length * math.cos(angle), tip.y() - length * math.sin(angle))
            ink.line(tip, end, colour, 1.8 if rank == 0 else 1.2)


def _retrieved(ink: Ink, place: _Place, snapshot: Snapshot) -> None:
    """Lines to the blocks in use, each ringed and looking its own way."""
    blocks = snapshot.block_map
    rows = np.flatnonzero(np.isin(blocks.ids, np.array(snapshot.working_set, np.int64)))
    here = place.at(snapshot.pose.x, snapshot.pose.y)
    colour = theme.ALARM if snapshot.stale else theme.TEXT
    for row in rows:
        x, y, yaw = (float(value) for value in blocks.xy_yaw[row])
        there = place.at(x, y)
        ink.line(here, there, colour, 1.6)
        look = QPointF(there.x() + 13 * math.cos(yaw), there.y() - 13 * math.sin(yaw))
        ink.line(there, look, colour, 2)
        ink.painter.setPen(QPen(colour, 1.6))
        ink.painter.setBrush(Qt.BrushStyle.NoBrush)
        ink.painter.drawEllipse(there, 5.5, 5.5)


def _camera(ink: Ink, place: _Place, pose: Pose) -> None:
    """An arrow head in the middle."""
    tip = place.at(pose.x, pose.y)
    corners = [(9.0, 0.0), (6.5, 2.5), (2.5, math.pi), (6.5, -2.5)]
    ink.polygon(
        [QPointF(tip.x() + r * math.cos(pose.yaw + a), tip.y() - r * math.sin(pose.yaw + a)) for r, a in corners],
        theme.YELLOW, QColor(0, 0, 0, 170), 1.2,
    )  # fmt: skip
