"""The keys to begin with, in one row: on the loading page, and over the picture until a person has moved."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QFont, QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from worldpager.app import theme
from worldpager.app.input.bindings import Bindings, key_text
from worldpager.app.overlay.card import Strokes
from worldpager.app.words import later, tr

WALK = ("forward", "left", "back", "right")
SHOWN = {
    "pause": later("pause"), "new_world": later("another world"), "overlay": later("panels"), "start": later("start page"),
    "keys": later("all keys"),
}  # fmt: skip
GAP = 26.0
HEIGHT = 46.0


MODEL_WORDS = (
    later("walk"), later("look"), later("drive"), later("steer"), later("jump"), later("slide"), later("turn"), later("step aside"),
)  # fmt: skip
"""What controls do in the models that there are."""


Row = list[tuple[str, str]]
"""Caps with their meanings."""


Controls = Sequence[tuple[Sequence[str], str]]
"""What a model's controls do: (names of controls, what they do)."""


def key_row(bindings: Bindings, controls: Controls = ()) -> Row:
    """The row for the keys that are bound now; ``controls`` of a model that doesn't walk and look."""

    def caps(names: Sequence[str]) -> str:
        return " ".join(key_text(name, keys[0]) for name in names if (keys := bindings.keys_of(name)))

    moves = [(caps(names), tr(does)) for names, does in controls]
    walk = caps(WALK)
    acts = [(key_text(name, keys[0]), tr(words)) for name, words in SHOWN.items() if (keys := bindings.keys_of(name))]
    return [*(moves or [(walk, tr("walk")), (tr("mouse"), tr("look"))]), *acts]


class KeyHint(QWidget):
    """The row on a card of its own. ``row`` may be set anew."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self._window, self._scale = parent, 1.0
        self.row: Row = []
        self.hide()

    def place(self, y: float, scale: float) -> None:
        """Centre it with its upper edge at design position ``y``."""
        self._scale = scale
        width = row_width(self.row) + 40
        left = (self._window.width() / scale - width) / 2
        self.setGeometry(round(left * scale), round(y * scale), round(width * scale), round(HEIGHT * scale))

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw card and row."""
        painter = QPainter(self)
        painter.setRenderHints(QPainter.RenderHint.Antialiasing | QPainter.RenderHint.TextAntialiasing)
        painter.scale(self._scale, self._scale)
        strokes = Strokes(painter)
        width = self.width() / self._scale
        strokes.panel(QRectF(0, 0, width, HEIGHT))
        draw_keys(strokes, self.row, width / 2, 28)
        painter.end()


def row_width(row: Row) -> float:
    """Width of the row in design pixels."""
    return sum(cap + 8 + words for cap, words in _widths(row)) + GAP * max(0, len(row) - 1)


def _widths(row: Row) -> list[tuple[float, float]]:
    """(cap, words) of each key."""
    cap_face, face = theme.font(12, QFont.Weight.DemiBold), theme.font(12)
    return [(theme.text_width(cap_face, key) + 18, theme.text_width(face, meaning)) for key, meaning in row]


def draw_keys(strokes: Strokes, row: Row, middle: float, y: float) -> None:
    """The row of key caps with their meanings, centred at ``middle``; ``y`` is the baseline."""
    cap_face, face = theme.font(12, QFont.Weight.DemiBold), theme.font(12)
    x = middle - row_width(row) / 2
    for (key, meaning), (cap, words) in zip(row, _widths(row), strict=True):
        strokes.painter.setPen(theme.CARD_EDGE)
        strokes.painter.setBrush(theme.TROUGH)
        strokes.painter.drawRoundedRect(QRectF(x, y - 16, cap, 23), 5, 5)
        strokes.text(x + 9, y, key, cap_face)
        strokes.text(x + cap + 8, y, meaning, face, theme.SOFT)
        x += cap + 8 + words + GAP
