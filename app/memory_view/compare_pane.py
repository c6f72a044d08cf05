"""Then and now: the place that is seen again, and how alike it looked in each mode of the comparison."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QImage, QPainter, QPen

from worldpager.app import theme
from worldpager.app.memory_view.modes import MODES, Mode, mode_of
from worldpager.app.memory_view.pane import Pane
from worldpager.app.memory_view.sights import Picture
from worldpager.app.memory_view.story import LATER, SOON, Score, Scores
from worldpager.app.overlay.card import PAD, HudState, Strokes
from worldpager.app.words import tr

PICTURES_TOP = 34.0
ROW = 31.0
LEAST, MOST = 10.0, 30.0
"""Decibels at the ends of a bar."""


class ComparePane(Pane):
    """Two small pictures, then a row a mode with two bars."""

    def draw(self, strokes: Strokes, state: HudState, width: float, height: float) -> None:
        """Pictures, captions, scores."""
        rows_top = height - 3 * ROW - 8
        self._draw_pictures(strokes, width, rows_top - PICTURES_TOP - 22)
        active = mode_of(state.snapshot.policy)
        for place, (mode, scores) in enumerate(zip(MODES, self.story.scores, strict=True)):
            _draw_row(strokes, mode, scores, rows_top + place * ROW, width, active=place == active)

    def _draw_pictures(self, strokes: Strokes, width: float, room: float) -> None:
        revisit = self.story.revisit
        strokes.label(PAD, 24, tr("the same place"))
        wide = (width - 2 * PAD - 10) / 2
        places = [QRectF(PAD, PICTURES_TOP, wide, room), QRectF(PAD + wide + 10, PICTURES_TOP, wide, room)]
        if revisit is None:
            for place in places:
                strokes.fill(place, theme.with_alpha(theme.INK, 10), 4)
            strokes.text_within(PAD + 12, PICTURES_TOP + room / 2 + 4, wide - 24, tr("not seen twice yet"), colour=theme.FAINT)
            return
        strokes.text_left_of(width - PAD, 24, tr("{db} dB alike", db=f"{revisit.decibels:.1f}"), strokes.type.value)
        for place, sight, words in ((places[0], revisit.then, tr("first")), (places[1], revisit.now, tr("now"))):
            draw_picture(strokes, place, sight.picture)
            strokes.text(place.left(), place.bottom() + 14, f"{words}  ·  {tr('chunk {n}', n=sight.chunk)}", theme.font(11), theme.SOFT)


def draw_picture(strokes: Strokes, place: QRectF, picture: Picture) -> None:
    """``picture`` filling ``place``, its edges cut where the shapes differ."""
    high, wide = picture.shape[:2]
    image = QImage(picture.tobytes(), wide, high, 3 * wide, QImage.Format.Format_RGB888)
    ratio = place.width() / place.height()
    part = QRectF(0, 0, min(wide, high * ratio), min(high, wide / ratio))
    part.moveCenter(QPointF(wide / 2, high / 2))
    strokes.painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
    strokes.painter.drawImage(place, image, part)
    strokes.painter.setPen(QPen(theme.LINE, 1))
    strokes.painter.setBrush(Qt.BrushStyle.NoBrush)
    strokes.painter.drawRect(place)


def _draw_row(strokes: Strokes, mode: Mode, scores: Scores, top: float, width: float, *, active: bool) -> None:
    """Number, name, two bars: soon and later."""
    if active:
        strokes.fill(QRectF(6, top, width - 12, ROW - 3), theme.with_alpha(mode.colour, 46), 6)
    number = str(MODES.index(mode) + 1)
    strokes.text(PAD, top + 18, number, theme.font(11), theme.INK if active else theme.FAINT)
    strokes.text(PAD + 15, top + 18, tr(mode.name), strokes.type.body, theme.INK if active else theme.SOFT)
    left = PAD + 124
    half = (width - PAD - left - 10) / 2
    for place, words in ((SOON, tr("in memory")), (LATER, tr("spilled"))):
        _draw_bar(strokes, mode, scores.likeness[place], words, QRectF(left + place * (half + 10), top + 4, half, 20))


def _draw_bar(strokes: Strokes, mode: Mode, score: Score, words: str, area: QRectF) -> None:
    face = theme.font(10)
    strokes.text(area.left(), area.top() + 9, words, face, theme.FAINT)
    if score.mean is None:
        strokes.text_left_of(area.right(), area.top() + 9, "–", face, theme.FAINT)
    else:
        strokes.text_left_of(area.right(), area.top() + 9, f"{score.mean:.1f} dB", face, theme.INK)
    share = 0.0 if score.mean is None else (score.mean - LEAST) / (MOST - LEAST)
    bar = QRectF(area.left(), area.top() + 13, area.width(), 6)
    strokes.fill(bar, theme.TROUGH)
    bar.setWidth(max(0.0, min(1.0, share)) * area.width())
    strokes.fill(bar, mode.colour)
