"""Short words over the picture: chips that say what is the case, and a toast that says what has just happened."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QPointF, QRect, QRectF, Qt, QTimer
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from worldpager.app import theme
from worldpager.app.overlay.card import Strokes

TOAST_MS = 4200
CHIP_HEIGHT = 30.0


class Chip(QWidget):
    """A pill with a few words and, if ``dot`` is set, a coloured dot before them."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self._text = ""
        self._dot: QColor | None = None
        self._scale = 1.0
        self.hide()

    @property
    def text(self) -> str:
        """The words shown; empty when hidden."""
        return self._text

    @property
    def design_width(self) -> float:
        """Width in design pixels."""
        voices = Strokes.voices or theme.Type.voices()
        return theme.text_width(voices.body, self._text) + 32 + (16 if self._dot else 0)

    def say(self, text: str, dot: QColor | None = None) -> None:
        """Show ``text``; nothing when it is empty."""
        if (text, dot) == (self._text, self._dot):
            return
        self._text, self._dot = text, dot
        self.setVisible(bool(text))
        self.update()

    def place(self, x: float, y: float, scale: float) -> None:
        """Left upper corner in design pixels."""
        self._scale = scale
        self.setGeometry(round(x * scale), round(y * scale), round(self.design_width * scale), round(CHIP_HEIGHT * scale))

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw pill, dot, words."""
        painter = QPainter(self)
        painter.setRenderHints(QPainter.RenderHint.Antialiasing | QPainter.RenderHint.TextAntialiasing)
        painter.scale(self._scale, self._scale)
        strokes = Strokes(painter)
        strokes.panel(QRectF(0, 0, self.width() / self._scale, CHIP_HEIGHT), CHIP_HEIGHT / 2)
        x = 16.0
        if self._dot is not None:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(self._dot)
            painter.drawEllipse(QPointF(x + 4, CHIP_HEIGHT / 2), 4.5, 4.5)
            x += 16
        strokes.text(x, CHIP_HEIGHT / 2 + 4.5, self._text)
        painter.end()


class Notices(QWidget):
    """The rows of chips: states at the top, a hint and the toast at the bottom. Only their layout; takes no room itself."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.hide()
        self._parent = parent
        self.states = {name: Chip(parent) for name in ("record", "memory", "pause", "opening")}
        self.hint = Chip(parent)
        self.toast = Chip(parent)
        self.told: tuple[str, ...] = ()
        """Degradations that were told of."""
        self.area: Callable[[], QRect] = parent.rect
        """The part of the window that the rows keep to."""
        self._lift = 0.0
        self._timer = QTimer(self, singleShot=True, interval=TOAST_MS)
        self._timer.timeout.connect(self._end_toast)

    def set_lift(self, pixels: float) -> None:
        """Keep the lower rows above something that is ``pixels`` design pixels high."""
        self._lift = pixels
        self.layout_chips()

    def state(self, name: str, text: str, dot: QColor | None = None) -> None:
        """Show or, with an empty text, hide the chip of a state; a name that is new gets a chip after the others."""
        if name not in self.states:
            self.states[name] = Chip(self._parent)
        self.states[name].say(text, dot)
        self.layout_chips()

    def say(self, text: str, dot: QColor | None = None) -> None:
        """Tell what has just happened."""
        self.toast.say(text, dot)
        self._timer.start()
        self.layout_chips()

    def set_hint(self, text: str) -> None:
        """Show or hide the hint at the bottom."""
        self.hint.say(text)
        self.layout_chips()

    def clear(self) -> None:
        """Hide everything."""
        for chip in (*self.states.values(), self.hint, self.toast):
            chip.say("")

    def layout_chips(self) -> None:
        """Centre the rows."""
        scale = theme.scale_for(self._parent.width(), self._parent.height())
        area = self.area()
        middle, bottom = area.center().x() / scale, area.bottom() / scale
        row = [chip for chip in self.states.values() if chip.text]
        x = middle - (sum(chip.design_width for chip in row) + 8 * (len(row) - 1)) / 2
        for chip in row:
            chip.place(x, area.top() / scale + 16, scale)
            x += chip.design_width + 8
        y = bottom - self._lift - 20 - CHIP_HEIGHT
        for chip in (self.hint, self.toast):
            if chip.text:
                chip.place(middle - chip.design_width / 2, y, scale)
                y -= CHIP_HEIGHT + 8

    def _end_toast(self) -> None:
        self.toast.say("")
        self.layout_chips()
