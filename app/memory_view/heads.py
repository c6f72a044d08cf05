"""The view's two head lines: which world at which rates, and which mode of the comparison is on."""

from __future__ import annotations

from PySide6.QtCore import QRectF
from PySide6.QtGui import QFont

from worldpager.app import theme
from worldpager.app.memory_view.modes import MODES, mode_of
from worldpager.app.memory_view.pane import Pane
from worldpager.app.overlay.card import HudState, Strokes
from worldpager.app.words import tr


class TitlePane(Pane):
    """World and chunk; generated rate, delay, hits, stalls."""

    def draw_ground(self, strokes: Strokes, width: float, height: float) -> None:
        """The view's own ground."""
        strokes.fill(QRectF(0, 0, width, height), theme.NIGHT)

    def draw(self, strokes: Strokes, state: HudState, width: float, height: float) -> None:
        """Words to the left, figures to the right."""
        snapshot, memory = state.snapshot, state.snapshot.memory
        strokes.text(0, 17, f"{snapshot.model}  ·  " + tr("world {seed}", seed=snapshot.seed), strokes.type.value)
        strokes.text(0, 35, tr("chunk {n}", n=snapshot.chunk), colour=theme.SOFT)
        delay = "–" if state.key_to_picture is None else f"{state.key_to_picture * 1000:.0f} ms"
        still = snapshot.idle or snapshot.paused
        figures = (
            (str(memory.stalls_over_half_ms), tr("stalls"), theme.ALARM if memory.stalls_over_half_ms else theme.INK),
            (f"{memory.prefetch_hit_rate:.0%}" if memory.blocks_wanted else "–", tr("in time"), theme.INK),
            (delay, tr("key to picture"), theme.INK),
            ("–" if still else f"{snapshot.generated_fps:.1f}", tr("frames a second"), theme.INK),
        )
        x, face = width, theme.font(20, QFont.Weight.DemiBold)
        for figure, words, colour in figures:
            room = max(theme.text_width(face, figure), theme.text_width(strokes.type.body, words))
            strokes.text_left_of(x, 19, figure, face, colour)
            strokes.text_left_of(x, 36, words, colour=theme.SOFT)
            x -= room + 22


class ModesPane(Pane):
    """The three modes; the one that is on stands out."""

    def draw_ground(self, strokes: Strokes, width: float, height: float) -> None:
        """The view's own ground."""
        strokes.fill(QRectF(0, 0, width, height), theme.NIGHT)

    def draw(self, strokes: Strokes, state: HudState, width: float, height: float) -> None:
        """Three fields side by side, each with its key."""
        active = mode_of(state.snapshot.policy)
        gap = 8.0
        each = (width - 2 * gap) / 3
        for place, mode in enumerate(MODES):
            area = QRectF(place * (each + gap), 0, each, height)
            on = place == active
            strokes.fill(area, theme.with_alpha(mode.colour, 90) if on else theme.with_alpha(theme.INK, 12), 9)
            if on:
                strokes.fill(QRectF(area.left() + 10, area.bottom() - 4, area.width() - 20, 3), mode.colour, 1.5)
            strokes.text(area.left() + 12, 18, f"{place + 1}   {tr(mode.name)}", strokes.type.value, theme.INK if on else theme.SOFT)
            strokes.text_within(area.left() + 12, 34, each - 20, tr(mode.words), theme.font(11), theme.SOFT if on else theme.FAINT)
