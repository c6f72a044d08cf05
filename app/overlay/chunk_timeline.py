"""All remembered chunks in a row, by tier, with those in use and the spill point; above, the time of the newest chunks."""

from __future__ import annotations

import itertools

import numpy as np
from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QColor

from worldpager.app import theme
from worldpager.app.overlay.cards import PAD
from worldpager.app.overlay.ink import Ink
from worldpager.app.overlay.readings import SAMPLES, Readings
from worldpager.engine.telemetry.snapshot import TIER_NONE, Snapshot

STRIP_TOP, STRIP_HEIGHT = 46.0, 14.0
LEAST_SPAN = 48
TIMES_WIDTH = 26 * theme.GRID


class ChunkTimeline:
    """A wide card: memory's strip on the left, chunk times on the right."""

    def __init__(self, width: float) -> None:
        self.size = (width, 9 * theme.GRID)

    def draw(self, ink: Ink, readings: Readings, snapshot: Snapshot) -> None:
        """Strip, marks, times."""
        ink.panel(QRectF(0, 0, *self.size))
        self._strip(ink, snapshot)
        self._times(ink, readings, snapshot)

    def _strip(self, ink: Ink, snapshot: Snapshot) -> None:
        blocks = snapshot.block_map
        left, width = PAD, self.size[0] - 3 * PAD - TIMES_WIDTH
        count = len(blocks.ids)
        spill = snapshot.spill_chunk
        span = max(LEAST_SPAN, count, spill + 8 if spill is not None and count < spill < 3 * count else 0)
        ink.text(left, 23, "Remembered chunks", 12, bold=True)
        ink.fill(QRectF(left, STRIP_TOP, width, STRIP_HEIGHT), theme.TROUGH, 3)
        cell = width / span
        for start, stop, tier in runs(blocks.tier):
            if tier != TIER_NONE:
                gap = 0.0 if cell < 3 else 0.5
                ink.fill(QRectF(left + start * cell, STRIP_TOP, (stop - start) * cell - gap, STRIP_HEIGHT), theme.TIER_COLOURS[tier], 1)
        if cell >= 5:
            for k in range(1, count):
                x = left + k * cell
                ink.line(QPointF(x, STRIP_TOP), QPointF(x, STRIP_TOP + STRIP_HEIGHT), QColor(10, 14, 22, 150), 1)
        self._in_use(ink, snapshot, left, cell)
        if spill is not None and spill <= span:
            x = left + spill * cell
            ink.line(QPointF(x, STRIP_TOP - 9), QPointF(x, STRIP_TOP + STRIP_HEIGHT + 4), theme.ALARM, 1.6, dashed=True)
            ink.text(min(x, left + width - 20), 34, "spill point", 10, theme.ALARM, align=0.5)

    def _in_use(self, ink: Ink, snapshot: Snapshot, left: float, cell: float) -> None:
        """A pointer at each block of the working set."""
        colour = theme.ALARM if snapshot.stale else theme.TEXT
        for row in np.flatnonzero(np.isin(snapshot.block_map.ids, np.array(snapshot.working_set, np.int64))):
            x = left + (int(row) + 0.5) * cell
            ink.polygon([QPointF(x, STRIP_TOP + 1), QPointF(x - 5, STRIP_TOP - 8), QPointF(x + 5, STRIP_TOP - 8)], colour)
            ink.line(QPointF(x, STRIP_TOP), QPointF(x, STRIP_TOP + STRIP_HEIGHT), colour, 1.6)

    def _times(self, ink: Ink, readings: Readings, snapshot: Snapshot) -> None:
        """A bar for each of the newest chunks; the dashed line is the time in which the world keeps its natural speed."""
        left, right = self.size[0] - PAD - TIMES_WIDTH, self.size[0] - PAD
        base, height = STRIP_TOP + STRIP_HEIGHT, 32.0
        frames = snapshot.frames / snapshot.chunk if snapshot.chunk else 0.0
        budget = 1e3 * frames / snapshot.rate if snapshot.rate else 0.0
        top = max([1.0, 1.25 * budget, *(min(chunk.milliseconds, 3 * budget + 1) for chunk in readings.chunks)])
        ink.text(left, 23, "Chunk time", 12, bold=True)
        ink.text(right, 23, f"{snapshot.chunk_ms:.0f} of {budget:.0f} ms", 11, theme.QUIET, align=1)
        step = TIMES_WIDTH / SAMPLES
        for i, chunk in enumerate(readings.chunks):
            x = right - (len(readings.chunks) - i) * step
            tall = height * min(1.0, chunk.milliseconds / top)
            colour = theme.ALARM if chunk.missed or chunk.stale else theme.SKY
            ink.fill(QRectF(x, base - tall, step - 0.8, tall), colour)
        y = base - height * min(1.0, budget / top)
        ink.line(QPointF(left, y), QPointF(right, y), theme.QUIET, 1, dashed=True)


def runs(tiers: np.ndarray[tuple[int, ...], np.dtype[np.uint8]]) -> list[tuple[int, int, int]]:
    """(start, stop, tier) of neighbours in the same tier."""
    if not len(tiers):
        return []
    edges = [0, *(np.flatnonzero(np.diff(tiers)) + 1).tolist(), len(tiers)]
    return [(start, stop, int(tiers[start])) for start, stop in itertools.pairwise(edges)]
