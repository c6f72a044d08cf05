"""The world from above: where the camera has been, which tier remembers it, what is brought back now, where it may go next."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import QPainter, QPainterPath, QPen, QPolygonF, QRadialGradient

from worldpager.app import theme
from worldpager.app.overlay.card import PAD, Card, HudState, Strokes
from worldpager.app.words import tr
from worldpager.engine.telemetry.snapshot import TIER_DEVICE, TIER_DISK, TIER_HOST, Snapshot
from worldpager.engine.types import Pose

EASE = 0.35
"""Share of the way that the map's zoom goes towards its aim in one drawing."""
LEAST_RADIUS, MOST_RADIUS = 6.0, 400.0
"""Cells from the camera to the map's edge."""
TICKED = 160
"""Newest chunks whose direction is shown; of all of them it would be a thicket."""
REACH = 12.0
"""Design pixels within which a click means a mark."""
CELL, TICK_STEP = 3.0, math.pi / 12
"""Marks of one tier less than so many pixels apart are drawn as one, and so are ticks less than so many radians apart."""


@dataclass(frozen=True, slots=True)
class Plan:
    """From cells to design pixels: camera at ``centre``, x to the right, y up."""

    centre: QPointF
    x: float
    y: float
    pixels: float

    def at(self, x: float, y: float) -> QPointF:
        """Where the point (x, y) in cells lies."""
        return QPointF(self.centre.x() + (x - self.x) * self.pixels, self.centre.y() - (y - self.y) * self.pixels)

    def places(self, points: NDArray[np.float32]) -> NDArray[np.float64]:
        """Where points [n, >=2] lie, [n, 2]."""
        scale, origin = np.array((self.pixels, -self.pixels)), np.array((self.x, self.y))
        places: NDArray[np.float64] = (points[:, :2] - origin) * scale + np.array((self.centre.x(), self.centre.y()))
        return places


class PoseMap(Card):
    """The map; with a legend when it is large enough."""

    design_size = (268, 296)

    def __init__(self, *arguments: object) -> None:
        super().__init__(*arguments)  # type: ignore[arg-type]  # the parent, as in Card
        self._radius = LEAST_RADIUS
        self._plan: Plan | None = None

    def block_at(self, point: QPointF, snapshot: Snapshot) -> int | None:
        """The remembered chunk's block whose mark lies under ``point`` of this card, in its own pixels."""
        return None if self._plan is None else nearest_block(self._plan, snapshot, point / self._scale)

    def draw(self, strokes: Strokes, state: HudState, width: float, height: float) -> None:
        """Ground, path, view, futures, memory, camera; legend."""
        snapshot = state.snapshot
        legend = height > width
        area = QRectF(0, 0, width, width if legend else height)
        aim = wanted_radius(snapshot)
        self._radius = aim if theme.Wishes.still or abs(aim - self._radius) > 3 * aim else self._radius + EASE * (aim - self._radius)
        plan = Plan(area.center(), snapshot.pose.x, snapshot.pose.y, (area.width() / 2 - 6) / self._radius)
        self._plan = plan
        painter = strokes.painter
        painter.save()
        painter.setClipRect(area.adjusted(3, 3, -3, -3))  # a rounded clip would make each stroke dearer
        _draw_grid(strokes, plan, area)
        _draw_view(strokes, plan, snapshot)
        _draw_path(strokes, plan, snapshot)
        _draw_futures(strokes, plan, snapshot.futures or ((snapshot.predicted,) if snapshot.predicted else ()), snapshot.pose)
        _draw_marks(strokes, plan, snapshot, area)
        _draw_retrieved(strokes, plan, snapshot)
        _draw_camera(strokes, plan, snapshot.pose)
        painter.restore()
        strokes.label(PAD, 22, tr("map"))
        if legend:
            _draw_legend(strokes, area.bottom(), width)


def nearest_block(plan: Plan, snapshot: Snapshot, point: QPointF) -> int | None:
    """The block whose mark lies nearest to ``point`` (design pixels), if one is within reach; of several there, the newest."""
    places = plan.places(snapshot.block_map.xy_yaw)
    if not len(places):
        return None
    away = np.hypot(*(places - np.array((point.x(), point.y()))).T)
    near = np.flatnonzero(away <= float(away.min()) + 1.0)
    return int(snapshot.block_map.ids[near[-1]]) if float(away.min()) <= REACH else None


def wanted_radius(snapshot: Snapshot) -> float:
    """Cells to show around the camera: what it sees, what is brought back, and most of where it has been."""
    here = np.array((snapshot.pose.x, snapshot.pose.y), np.float32)
    places = snapshot.block_map.xy_yaw[:, :2]
    far = np.hypot(*(places - here).T) if len(places) else np.zeros(1, np.float32)
    retrieved = np.isin(snapshot.block_map.ids, snapshot.working_set)
    needed = [0.8 * snapshot.view.sight, 1.15 * float(np.quantile(far, 0.85))]
    if retrieved.any():
        needed.append(1.15 * float(far[retrieved].max()))
    return min(MOST_RADIUS, max(LEAST_RADIUS, *needed))


def _draw_grid(strokes: Strokes, plan: Plan, area: QRectF) -> None:
    """Lines every so many cells, a rounder number the farther the map reaches."""
    step = next(size for size in (1, 2, 5, 10, 20, 50, 100, 200) if size * plan.pixels >= 22 or size == 200)
    lines = []
    for axis, low, high in ((0, area.left(), area.right()), (1, area.top(), area.bottom())):
        here = plan.x if axis == 0 else plan.y
        reach = (high - low) / 2 / plan.pixels
        for line in range(math.floor((here - reach) / step), math.ceil((here + reach) / step) + 1):
            point = plan.at(line * step, line * step)
            x, y = point.x(), point.y()
            lines.append(QLineF(x, area.top(), x, area.bottom()) if axis == 0 else QLineF(area.left(), y, area.right(), y))
    strokes.painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
    strokes.painter.setPen(QPen(theme.with_alpha(theme.INK, 15), 1))
    strokes.painter.drawLines(lines)
    strokes.painter.setRenderHint(QPainter.RenderHint.Antialiasing)


def _draw_view(strokes: Strokes, plan: Plan, snapshot: Snapshot) -> None:
    """The wedge that the camera sees, fading with distance."""
    centre = plan.at(snapshot.pose.x, snapshot.pose.y)
    reach = snapshot.view.sight * plan.pixels
    box = QRectF(centre.x() - reach, centre.y() - reach, 2 * reach, 2 * reach)
    start = math.degrees(snapshot.pose.yaw - snapshot.view.horizontal / 2)
    wedge = QPainterPath(centre)
    wedge.arcTo(box, start, math.degrees(snapshot.view.horizontal))
    wedge.closeSubpath()
    light = QRadialGradient(centre, reach)
    light.setColorAt(0, theme.with_alpha(theme.INK, 80))
    light.setColorAt(1, theme.with_alpha(theme.INK, 8))
    strokes.painter.setPen(QPen(theme.with_alpha(theme.INK, 50), 1))
    strokes.painter.setBrush(light)
    strokes.painter.drawPath(wedge)


def _draw_path(strokes: Strokes, plan: Plan, snapshot: Snapshot) -> None:
    """Where the camera went, through all remembered chunks to here."""
    places = plan.places(snapshot.block_map.xy_yaw)
    moved = np.diff(np.floor(places / CELL), axis=0, prepend=np.inf).any(axis=1)
    points = [QPointF(x, y) for x, y in places[moved].tolist()]
    points.append(plan.at(snapshot.pose.x, snapshot.pose.y))
    pen = QPen(theme.with_alpha(theme.INK, 80), 1.0)
    strokes.painter.setPen(pen)
    strokes.painter.drawPolyline(QPolygonF(points))


def _draw_futures(strokes: Strokes, plan: Plan, futures: Sequence[Sequence[Pose]], pose: Pose) -> None:
    """Where the camera may be next: the likelier, the stronger; each ends in a small arrow of its direction."""
    for rank, future in reversed(list(enumerate(futures))):
        if not future:
            continue
        colour = theme.with_alpha(theme.AHEAD, max(70, 255 - 70 * rank))
        last = future[-1]
        end = plan.at(last.x, last.y)
        strokes.line(plan.at(pose.x, pose.y), end, colour, 1.6, (2, 2))
        reach = 11.0
        tip = QPointF(end.x() + reach * math.cos(last.yaw), end.y() - reach * math.sin(last.yaw))
        strokes.line(end, tip, colour, 1.8)
        strokes.painter.setBrush(colour)
        strokes.painter.setPen(Qt.PenStyle.NoPen)
        strokes.painter.drawEllipse(tip, 2.2, 2.2)


def _draw_marks(strokes: Strokes, plan: Plan, snapshot: Snapshot, area: QRectF) -> None:
    """Remembered chunks: shape and colour of their tier; the newest with ticks where they look. What would hide another is left out."""
    block_map = snapshot.block_map
    size = max(2.0, min(3.4, plan.pixels * 0.22))
    places, yaw = plan.places(block_map.xy_yaw), block_map.xy_yaw[:, 2]
    edges = np.array(area.adjusted(-6, -6, 6, 6).getCoords())
    inside = ((places >= edges[:2]) & (places <= edges[2:])).all(axis=1) & (block_map.tier < len(theme.TIERS))
    cells = np.floor(places / CELL).astype(np.int64)
    looks = np.column_stack((cells, np.floor(yaw / TICK_STEP).astype(np.int64)))
    tip = places + (size + 4) * np.column_stack((np.cos(yaw), -np.sin(yaw)))
    for tier in reversed(range(len(theme.TIERS))):
        mine = np.flatnonzero(inside & (block_map.tier == tier))
        recent = mine[mine >= len(yaw) - TICKED]
        rows = recent[_firsts(looks[recent])]
        strokes.painter.setPen(QPen(theme.with_alpha(theme.TIERS[tier], 150), 1.0))
        strokes.painter.drawLines([QLineF(*line) for line in np.hstack((places[rows], tip[rows])).tolist()])
        shown = places[mine[_firsts(cells[mine])]]
        if len(shown):
            strokes.marks(shown, tier, size)


def _firsts(rows: NDArray[np.int64]) -> NDArray[np.intp]:
    """Index of one of each different row of small whole numbers [n, 2 or 3]."""
    key = np.zeros(len(rows), np.int64)
    for column in rows.T:
        key = key * 8192 + (column & 8191)
    return np.unique(key, return_index=True)[1]


def _draw_retrieved(strokes: Strokes, plan: Plan, snapshot: Snapshot) -> None:
    """Lines from the camera to the chunks that it is reminded of now; dashed when they are a stale set."""
    block_map = snapshot.block_map
    here = plan.at(snapshot.pose.x, snapshot.pose.y)
    colour = theme.STALE if snapshot.stale else theme.INK
    for row in np.flatnonzero(np.isin(block_map.ids, snapshot.working_set)).tolist():
        x, y, _ = block_map.xy_yaw[row].tolist()
        point = plan.at(x, y)
        strokes.line(here, point, theme.with_alpha(colour, 210), 1.5, (3, 2) if snapshot.stale else ())
        strokes.mark(point.x(), point.y(), int(block_map.tier[row]), 4.2)
        strokes.painter.setBrush(Qt.BrushStyle.NoBrush)
        strokes.painter.setPen(QPen(colour, 1.5))
        strokes.painter.drawEllipse(point, 7, 7)


def _draw_camera(strokes: Strokes, plan: Plan, pose: Pose) -> None:
    """An arrowhead where the camera stands."""
    here = plan.at(pose.x, pose.y)
    corners = [(9.0, 0.0), (-6.0, 5.5), (-3.5, 0.0), (-6.0, -5.5)]
    cos, sin = math.cos(pose.yaw), math.sin(pose.yaw)
    arrow = QPolygonF([QPointF(here.x() + a * cos - b * sin, here.y() - a * sin - b * cos) for a, b in corners])
    strokes.painter.setPen(QPen(theme.NIGHT, 1.5))
    strokes.painter.setBrush(theme.INK)
    strokes.painter.drawPolygon(arrow)


def _draw_legend(strokes: Strokes, top: float, width: float) -> None:
    """Shapes of the tiers, and what lines and arrows mean."""
    x, face = PAD, theme.font(11)
    for code, name in ((TIER_DEVICE, "device"), (TIER_HOST, "host"), (TIER_DISK, "disk")):
        strokes.mark(x + 3, top + 9, code, 3.6)
        x = strokes.text(x + 10, top + 13, tr(name), face, theme.SOFT) + 8
    strokes.line(QPointF(x, top + 9), QPointF(x + 10, top + 9), theme.AHEAD, 1.8, (2, 2))
    x = strokes.text(x + 14, top + 13, tr("next"), face, theme.SOFT) + 8
    strokes.line(QPointF(x, top + 9), QPointF(x + 10, top + 9), theme.INK, 1.5)
    strokes.text(x + 14, top + 13, tr("in use"), face, theme.SOFT)
