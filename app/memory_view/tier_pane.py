"""One tier as a map of blocks: every cell a slot, filled, moved and drained as the tier is."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QColor, QImage
from PySide6.QtWidgets import QWidget

from worldpager.app import theme
from worldpager.app.memory_view.cells import ARRIVED, FREE, HELD, IN_USE, ONLY_COPY, SECOND_COPY, STALE
from worldpager.app.memory_view.pane import Pane
from worldpager.app.memory_view.story import MemoryStory
from worldpager.app.overlay.card import PAD, HudState, Strokes, bytes_text
from worldpager.app.words import later, tr
from worldpager.engine.telemetry.snapshot import TIER_NAMES, TierUse

Pixels = NDArray[np.uint32]

HEAD = 34.0
"""Height of the line above the cells."""
LARGEST, SMALLEST = 26, 4
"""Design pixels of a cell's side with its gap."""
LEGENDS: tuple[tuple[tuple[int, str], ...], ...] = (
    ((IN_USE, later("in use")), (HELD, later("ready"))),
    ((ONLY_COPY, later("not yet on disk")), (HELD, later("on disk, too"))),
    ((HELD, later("only here")), (SECOND_COPY, later("copy above"))),
)


class TierPane(Pane):
    """Tier number ``place`` of the snapshot."""

    def __init__(self, parent: QWidget, story: MemoryStory, place: int) -> None:
        super().__init__(parent, story)
        self._place = place
        self._grid = Grid(1, 1, 1, 1)

    def draw(self, strokes: Strokes, state: HudState, width: float, height: float) -> None:
        """Name and figures, then the cells."""
        name = TIER_NAMES[self._place]
        tier = next((tier for tier in state.snapshot.tiers if tier.name == name), TierUse(name, 0, 0, 0))
        self._draw_head(strokes, tier, state, width)
        kinds = self.story.cells.kinds[self._place]
        if not tier.capacity:
            strokes.text(PAD, HEAD + 20, tr("there is no such tier here"), colour=theme.FAINT)
            return
        area = QRectF(PAD, HEAD, width - 2 * PAD, height - HEAD - 10)
        ratio = self.devicePixelRatioF() * self._scale
        self._grid = Grid.fitting(len(kinds), area.width(), area.height())
        image = cell_image(kinds, self._grid, max(1, round(self._grid.pitch * ratio)), theme.TIERS[self._place])
        strokes.painter.drawImage(
            QRectF(area.left(), area.top(), self._grid.columns * self._grid.pitch, self._grid.rows * self._grid.pitch), image
        )

    def cell_place(self, cell: int) -> QPointF:
        """The middle of ``cell`` in this pane's design pixels."""
        row, column = divmod(cell // self._grid.slots, self._grid.columns)
        return QPointF(PAD + (column + 0.5) * self._grid.pitch, HEAD + (min(row, self._grid.rows - 1) + 0.5) * self._grid.pitch)

    def _draw_head(self, strokes: Strokes, tier: TierUse, state: HudState, width: float) -> None:
        strokes.mark(PAD + 5, 17, self._place, 4.8)
        x = strokes.text(PAD + 18, 22, tr(tier.name), strokes.type.value)
        x = strokes.text(x + 10, 22, tr("{used} of {all} blocks", used=tier.used, all=tier.capacity), colour=theme.SOFT)
        if tier.capacity:
            x = strokes.text(x + 10, 22, bytes_text(tier.used_bytes), colour=theme.FAINT)
        if self._place == 2:
            rates = tr("read {read}/s   written {written}/s", read=bytes_text(state.snapshot.disk_read_rate),
                written=bytes_text(state.snapshot.disk_write_rate))  # fmt: skip
            x = strokes.text(x + 18, 22, rates, colour=theme.SOFT)
        at = width - PAD
        for kind, words in reversed(LEGENDS[self._place]):
            at = strokes.text_left_of(at, 22, tr(words), theme.font(11), theme.FAINT) - 14
            sample = cell_image(np.array([kind], np.uint8), Grid(1, 1, 12, 1), round(12 * self._scale), theme.TIERS[self._place])
            strokes.painter.drawImage(QRectF(at, 11, 12, 12), sample)
            at -= 12


class Grid:
    """Cells in rows: ``pitch`` design pixels apart; ``slots`` of the tier in each cell, more than one where there are too many."""

    def __init__(self, columns: int, rows: int, pitch: float, slots: int) -> None:
        self.columns, self.rows, self.pitch, self.slots = columns, rows, pitch, slots

    @classmethod
    def fitting(cls, slots: int, width: float, height: float) -> Grid:
        """The largest cells with which ``slots`` fit into ``width`` x ``height``."""
        pitch = max(SMALLEST, min(LARGEST, math.floor(math.sqrt(width * height / max(1, slots)))))
        while pitch > SMALLEST and math.floor(width / pitch) * math.floor(height / pitch) < slots:
            pitch -= 1
        columns, rows = max(1, math.floor(width / pitch)), max(1, math.floor(height / pitch))
        each = max(1, math.ceil(slots / (columns * rows)))
        return cls(columns, max(1, min(rows, math.ceil(math.ceil(slots / each) / columns))), pitch, each)


def cell_image(kinds: NDArray[np.uint8], grid: Grid, pixels: int, colour: QColor) -> QImage:
    """The cells as an image, each ``pixels`` wide with its gap. Where a cell stands for several slots, the most telling kind is shown."""
    cells = np.zeros(grid.rows * grid.columns * grid.slots, np.uint8)
    shown = kinds[: len(cells)]
    cells[: len(shown)] = shown
    cells = cells.reshape(-1, grid.slots).max(axis=1)
    outside = np.arange(len(cells)) * grid.slots >= len(kinds)
    painted = patterns(pixels, colour.rgba())[np.where(outside, len(KINDS), cells)]
    canvas = (
        painted.reshape(grid.rows, grid.columns, pixels, pixels).transpose(0, 2, 1, 3).reshape(grid.rows * pixels, grid.columns * pixels)
    )
    canvas = np.ascontiguousarray(canvas)
    return QImage(canvas.tobytes(), canvas.shape[1], canvas.shape[0], 4 * canvas.shape[1], QImage.Format.Format_ARGB32)


KINDS = (FREE, HELD, ONLY_COPY, SECOND_COPY, IN_USE, STALE, ARRIVED)


@lru_cache(64)
def patterns(pixels: int, rgba: int) -> Pixels:
    """What a cell of each kind looks like, [kinds and one for nothing, pixels, pixels]: shapes tell them apart, not colours alone."""
    made = np.zeros((len(KINDS) + 1, pixels, pixels), np.uint32)
    gap = max(1, round(pixels / 9)) if pixels > 2 else 0
    side = pixels - gap
    edge = max(1, round(side / 9))
    colour = rgba & 0xFFFFFF
    whole, inner = (slice(0, side), slice(0, side)), (slice(edge, side - edge), slice(edge, side - edge))
    made[FREE][whole] = 0x12FFFFFF
    made[HELD][whole] = 0xD8000000 | colour
    made[ONLY_COPY][whole] = 0xFF000000 | colour
    made[ONLY_COPY][inner] = 0x40000000 | colour
    made[SECOND_COPY][whole] = 0x48000000 | colour
    for kind, ring in ((IN_USE, 0xFFFFFFFF), (STALE, 0xFF000000 | theme.STALE.rgba() & 0xFFFFFF)):
        made[kind][whole] = ring
        made[kind][inner] = 0xFF000000 | colour
    if side > 6:  # a stale one has its middle open, too
        third = side // 3
        made[STALE][third : side - third, third : side - third] = 0xFF000000 | theme.STALE.rgba() & 0xFFFFFF
    made[ARRIVED][whole] = 0xFF000000 | _towards_white(colour, 0.55)
    return made


def _towards_white(colour: int, share: float) -> int:
    parts = [(colour >> shift) & 255 for shift in (16, 8, 0)]
    red, green, blue = (round(part + (255 - part) * share) for part in parts)
    return red << 16 | green << 8 | blue
