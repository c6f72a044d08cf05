"""Which notices are up, and their drawing over the cards."""

from __future__ import annotations

from collections.abc import Callable
from importlib import resources

from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QPainter
from PySide6.QtSvg import QSvgRenderer

from worldpager.app import theme
from worldpager.app.overlay import notices
from worldpager.app.overlay.hud import MARGIN, Hud
from worldpager.app.overlay.ink import Ink
from worldpager.engine.errors import WorldPagerError

ERROR_KEYS: tuple[notices.KeyRow, ...] = ((("Enter",), "try again"), (("Ctrl", "Q"), "quit"))


class Messages:
    """State of all notices. ``clock`` in seconds; ``hint`` shows the first keys until the person moves."""

    def __init__(self, clock: Callable[[], float], *, hint: bool) -> None:
        self.toast = notices.Toast(clock)
        self.hint, self.help, self.paused = hint, False, False
        self.error: WorldPagerError | None = None
        self._loading: tuple[str, float] | None = ("Starting", 0.0)
        self._dirty = True
        self._fading = False
        icon = resources.files("worldpager.assets") / "icons" / "worldpager.svg"
        self._icon = QSvgRenderer(icon.read_bytes())

    @property
    def is_loading(self) -> bool:
        """Whether the first chunk is still awaited."""
        return self._loading is not None

    def say(self, words: str, seconds: float = notices.TOAST_SECONDS) -> None:
        """A short message."""
        self.toast.say(words, seconds)
        self._dirty = True

    def load(self, stage: str, share: float) -> None:
        """The loading card, at ``share`` of 1."""
        self._loading, self._dirty = (stage, share), True

    def loaded(self) -> None:
        """The first chunk is here."""
        if self._loading is not None:
            self._loading, self._dirty = None, True

    def fail(self, error: WorldPagerError) -> None:
        """The error card."""
        self._loading, self.error, self._dirty = None, error, True

    def hint_read(self) -> None:
        """The person walks: the hint has done its work."""
        self.hint, self._dirty = False, True

    def toggle_help(self) -> None:
        """Show or hide all keys."""
        self.help = not self.help

    def changed(self) -> bool:
        """Whether something must be painted anew, a fading message included."""
        fading = 0 < self.toast.strength < 1
        changed = self._dirty or fading or self._fading
        self._dirty, self._fading = False, fading
        return changed

    def draw(self, painter: QPainter, width: float, height: float, hud: Hud, film_seconds: float | None) -> None:
        """All notices over a window of ``width`` by ``height`` logical pixels; ``film_seconds`` when a film is being made."""
        scale = hud.scale
        painter.save()
        painter.scale(scale, scale)
        width, height = width / scale, height / scale
        ink, centre = Ink(painter), QPointF(width / 2, height / 2)
        low = QPointF(width / 2, height - (120 if hud.preset == "full" else 52))
        if film_seconds is not None:
            minutes, seconds = divmod(int(film_seconds), 60)
            right = width - MARGIN - {"none": 0.0, "small": 160.0, "full": 248.0}[hud.preset]
            notices.draw_pill(ink, right, MARGIN, f"{minutes}:{seconds:02}", theme.VERMILLION)
        if self.error is not None:
            notices.draw_error(ink, centre, self.error.what, self.error.hint, ERROR_KEYS)
        elif self._loading is not None:
            notices.draw_loading(ink, centre, *self._loading, self._draw_icon)
        elif self.help:
            notices.draw_help(ink, centre)
        elif self.paused:
            notices.draw_paused(ink, centre)
        if self.toast.strength:
            self.toast.draw(ink, low)
        elif self.hint and self._loading is None and self.error is None and not self.help:
            notices.draw_hint(ink, low)
        painter.restore()

    def _draw_icon(self, painter: QPainter, box: QRectF) -> None:
        self._icon.render(painter, box)
