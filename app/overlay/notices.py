"""What the program says to the person: loading, hints, help, short messages, errors. Each is a card in the middle of the window."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen

from worldpager.app import theme
from worldpager.app.input.keymap import HELP, HINT
from worldpager.app.overlay.ink import Ink, text_width, wrapped

TOAST_SECONDS, FADE_SECONDS = 2.6, 0.35
CARD_WIDTH = 460.0
KeyRow = tuple[tuple[str, ...], str]


class Toast:
    """One short message that goes by itself. ``clock`` in seconds."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self.words = ""
        self._until = 0.0

    def say(self, words: str, seconds: float = TOAST_SECONDS) -> None:
        """Show ``words`` instead of what is there."""
        self.words, self._until = words, self._clock() + seconds

    @property
    def strength(self) -> float:
        """1 while it is to be read, falling to 0 at its end."""
        return max(0.0, min(1.0, (self._until - self._clock()) / FADE_SECONDS))

    def draw(self, ink: Ink, centre: QPointF) -> None:
        """A pill."""
        if not self.strength:
            return
        width = text_width(self.words, 14) + 40
        ink.painter.setOpacity(self.strength)
        ink.panel(QRectF(centre.x() - width / 2, centre.y() - 20, width, 40), QColor(10, 14, 22, 226), 20)
        ink.text(centre.x(), centre.y() + 5, self.words, 14, align=0.5)
        ink.painter.setOpacity(1.0)


def draw_pill(ink: Ink, right: float, top: float, words: str, dot: QColor | None = None) -> float:
    """A small label with its right edge at ``right``, perhaps with a dot. Returns the width."""
    width = text_width(words, 13, bold=True) + 28 + (16 if dot else 0)
    ink.panel(QRectF(right - width, top, width, 32), radius=16)
    if dot is not None:
        ink.painter.setPen(Qt.PenStyle.NoPen)
        ink.painter.setBrush(dot)
        ink.painter.drawEllipse(QPointF(right - width + 18, top + 16), 5.5, 5.5)
    ink.text(right - 14, top + 20.5, words, 13, bold=True, align=1)
    return width


def draw_hint(ink: Ink, centre: QPointF) -> None:
    """The keys that one needs first, in one line."""
    width = 32 + sum(_row_width(row) + 24 for row in HINT)
    box = QRectF(centre.x() - width / 2, centre.y() - 26, width, 52)
    ink.panel(box, QColor(10, 14, 22, 226), 14)
    x = box.left() + 28
    for keys, meaning in HINT:
        x = _keys(ink, x, centre.y() + 4.5, keys)
        x += ink.text(x + 4, centre.y() + 4.5, meaning, 13) + 28


def draw_help(ink: Ink, centre: QPointF) -> None:
    """All keys."""
    box = _card(ink, centre, 34.0 * len(HELP) / 2 + 96, 640)
    ink.text(box.left() + 32, box.top() + 44, "Keys", 20, bold=True)
    ink.text(box.right() - 32, box.top() + 44, "F1 closes this", 12, theme.QUIET, align=1)
    half = (len(HELP) + 1) // 2
    for i, (keys, meaning) in enumerate(HELP):
        x, y = box.left() + 32 + 300 * (i // half), box.top() + 88 + 34 * (i % half)
        _keys(ink, x, y, keys)
        ink.text(x + 122, y, meaning, 13, theme.QUIET)


def draw_loading(ink: Ink, centre: QPointF, stage: str, share: float, draw_icon: Callable[[QPainter, QRectF], None]) -> None:
    """The program's sign, what is being done, and how far it is."""
    box = _card(ink, centre, 216)
    draw_icon(ink.painter, QRectF(centre.x() - 36, box.top() + 28, 72, 72))
    ink.text(centre.x(), box.top() + 132, "WorldPager", 22, bold=True, align=0.5)
    ink.text(centre.x(), box.top() + 158, stage, 13, theme.QUIET, align=0.5)
    bar = QRectF(box.left() + 80, box.top() + 178, box.width() - 160, 6)
    ink.fill(bar, theme.TROUGH, 3)
    ink.fill(QRectF(bar.left(), bar.top(), max(6.0, bar.width() * min(1.0, share)), 6), theme.SKY, 3)


def draw_error(ink: Ink, centre: QPointF, what: str, hint: str, keys: Sequence[KeyRow]) -> None:
    """What went wrong with which thing, what to do, and the keys that help."""
    whats, hints = wrapped(what, 15, CARD_WIDTH + 40), wrapped(hint, 13, CARD_WIDTH + 40)
    box = _card(ink, centre, 148 + 22 * len(whats) + 20 * len(hints), CARD_WIDTH + 104)
    ink.fill(QRectF(box.left() + 32, box.top() + 30, 20, 20), theme.VERMILLION, 10)
    ink.text(box.left() + 42, box.top() + 45.5, "!", 15, bold=True, align=0.5)
    ink.text(box.left() + 64, box.top() + 46, "The world stopped", 18, bold=True)
    y = box.top() + 84
    for line in whats:
        ink.text(box.left() + 32, y, line, 15)
        y += 22
    y += 4
    for line in hints:
        ink.text(box.left() + 32, y, line, 13, theme.QUIET)
        y += 20
    x = box.left() + 32
    for row in keys:
        end = _keys(ink, x, box.bottom() - 28, row[0])
        x = end + ink.text(end + 4, box.bottom() - 28, row[1], 13) + 28


def draw_paused(ink: Ink, centre: QPointF) -> None:
    """Two bars and a word."""
    ink.panel(QRectF(centre.x() - 64, centre.y() - 44, 128, 88), radius=16)
    for side in (-9, 3):
        ink.fill(QRectF(centre.x() + side, centre.y() - 26, 7, 26), theme.TEXT, 2)
    ink.text(centre.x(), centre.y() + 26, "Paused", 14, bold=True, align=0.5)


def _card(ink: Ink, centre: QPointF, height: float, width: float = CARD_WIDTH) -> QRectF:
    box = QRectF(centre.x() - width / 2, centre.y() - height / 2, width, height)
    ink.painter.setPen(QPen(theme.CARD_EDGE, 1))
    ink.painter.setBrush(QColor(10, 14, 22, 236))
    ink.painter.drawRoundedRect(box, 18, 18)
    return box


def _keys(ink: Ink, x: float, y: float, keys: Sequence[str]) -> float:
    """Key caps side by side; returns where the text may go on."""
    for key in keys:
        x += ink.keycap(x, y, key) + 4
    return x


def _row_width(row: KeyRow) -> float:
    return sum(max(22.0, text_width(key, 11, bold=True) + 12) + 4 for key in row[0]) + 4 + text_width(row[1], 13)
