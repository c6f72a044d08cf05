"""What is held now, lit the moment it is pressed; what the model was given for the chunk on the screen; how far the next chunk is.

An outline that is lit is held here and now; a filled cap went into the newest chunk. The dial shows where the camera looked in that chunk
and, dashed, where it will look once the model has caught up with the mouse.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QFont, QPainter, QPainterPath, QPaintEvent, QPen
from PySide6.QtWidgets import QWidget

from worldpager.app import theme
from worldpager.app.overlay.card import Strokes
from worldpager.app.words import tr
from worldpager.engine.types import Action, Button

SIZE = (300.0, 92.0)
CAP = 24.0
CAPS: tuple[tuple[Button, str, float, float], ...] = (
    (Button.FORWARD, "W", 42, 10), (Button.LEFT, "A", 14, 38), (Button.BACK, "S", 42, 38), (Button.RIGHT, "D", 70, 38),
    (Button.LOOK_UP, "↑", 140, 10), (Button.TURN_LEFT, "←", 112, 38), (Button.LOOK_DOWN, "↓", 140, 38), (Button.TURN_RIGHT, "→", 168, 38),
)  # fmt: skip
"""Control, its sign, and its place; the signs are directions, whatever key is bound."""
DIAL = QPointF(246, 38)
DIAL_RADIUS = 24.0
PROGRESS_STEPS = 32


@dataclass(frozen=True, slots=True)
class InputState:
    """``held`` now, ``received`` by the newest chunk, ``pending`` degrees (left, up) not yet received, ``progress`` of the next chunk."""

    held: Button = Button.NONE
    received: Action = field(default_factory=Action)
    pending: tuple[float, float] = (0.0, 0.0)
    progress: float = 0.0
    view: float = math.radians(84)
    """Horizontal field of view in radians."""

    @property
    def visible(self) -> tuple[object, ...]:
        """What a painting depends on."""
        turn, look = self.pending
        return self.held, self.received.buttons, round(turn), round(look), round(self.progress * PROGRESS_STEPS), self.view


class InputCard(QWidget):
    """Drawn anew at once whenever `show_input` brings something that can be seen."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.setAccessibleName(tr("what the model receives"))
        self._scale, self.state = 1.0, InputState()
        self.hide()

    def place(self, x: float, y: float, scale: float) -> None:
        """Left upper corner in design pixels."""
        self._scale = scale
        self.setGeometry(round(x * scale), round(y * scale), round(SIZE[0] * scale), round(SIZE[1] * scale))

    def show_input(self, state: InputState) -> None:
        """Show ``state``."""
        if state.visible != self.state.visible:
            self.update()
        self.state = state

    def paintEvent(self, event: QPaintEvent) -> None:
        """Caps, dial, progress."""
        painter = QPainter(self)
        painter.setRenderHints(QPainter.RenderHint.Antialiasing | QPainter.RenderHint.TextAntialiasing)
        painter.scale(self._scale, self._scale)
        strokes = Strokes(painter)
        strokes.panel(QRectF(0, 0, *SIZE))
        for button, sign, x, y in CAPS:
            self._cap(strokes, QRectF(x, y, CAP, CAP), sign, button)
        self._cap(strokes, QRectF(14, 66, 80, 16), tr("run"), Button.RUN)
        self._dial(strokes)
        strokes.bar(QRectF(112, 74, 174, 4), self.state.progress, theme.DEVICE)
        painter.end()

    def _cap(self, strokes: Strokes, area: QRectF, sign: str, button: Button) -> None:
        held, received = bool(self.state.held & button), bool(self.state.received.buttons & button)
        painter = strokes.painter
        painter.setPen(QPen(theme.STALE if held else theme.CARD_EDGE, 2.0 if held else 1.0))
        painter.setBrush(theme.DEVICE if received else theme.TROUGH)
        painter.drawRoundedRect(area.adjusted(1, 1, -1, -1), 5, 5)
        face = theme.font(11, QFont.Weight.DemiBold)
        width = theme.text_width(face, sign)
        strokes.text(area.center().x() - width / 2, area.center().y() + 4, sign, face, theme.NIGHT if received else theme.INK)

    def _dial(self, strokes: Strokes) -> None:
        painter, state = strokes.painter, self.state
        painter.setPen(QPen(theme.CARD_EDGE, 1))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawEllipse(DIAL, DIAL_RADIUS, DIAL_RADIUS)
        painter.setPen(QPen(theme.SOFT, 1))
        painter.setBrush(theme.with_alpha(theme.INK, 70))
        painter.drawPath(_wedge(0.0, state.view))
        if abs(state.pending[0]) >= 1:
            pen = QPen(theme.AHEAD, 1.6)
            pen.setDashPattern([3, 2])
            painter.setPen(pen)
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawPath(_wedge(math.radians(state.pending[0]), state.view))


def _wedge(turn: float, view: float) -> QPainterPath:
    """What a camera sees that is turned left by ``turn`` radians from straight up."""
    path = QPainterPath(DIAL)
    box = QRectF(DIAL.x() - DIAL_RADIUS, DIAL.y() - DIAL_RADIUS, 2 * DIAL_RADIUS, 2 * DIAL_RADIUS)
    path.arcTo(box, 90 + math.degrees(turn - view / 2), math.degrees(view))
    path.closeSubpath()
    return path
