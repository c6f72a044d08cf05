"""Feeds the card of inputs: at every tick what is held, at every chunk what the model was given."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from worldpager.app import theme
from worldpager.app.actions import Section, WindowAction, register, register_part
from worldpager.app.overlay.input_card import SIZE, InputCard, InputState
from worldpager.app.words import later
from worldpager.engine.mailbox import PublishedChunk
from worldpager.engine.types import Action

if TYPE_CHECKING:
    from worldpager.app.main_window import MainWindow

EDGE, ROOM = 14.0, 110.0
LONGEST = 10.0
"""Seconds between two chunks from where on it was a rest."""


class InputFeedback(QObject):
    """Owns the card. ``sent`` hears every action that goes to the model."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        self.card = InputCard(window)
        self._received = Action()
        self._on_the_way: list[Action] = []
        self._chunk, self._arrived, self._period = -1, 0.0, 1.0
        window.ticked.connect(self._tick)
        window.sent.connect(self._sent)
        window.chunk_arrived.connect(self._take)

    def _sent(self, action: Action) -> None:
        self._on_the_way.append(action)

    def _take(self, chunk: PublishedChunk) -> None:
        """Inputs up to the chunk's stamp have been received."""
        if chunk.index == self._chunk:
            return
        now = self._window.now()
        if self._chunk >= 0 and now - self._arrived < LONGEST:
            self._period += 0.3 * (now - self._arrived - self._period)
        self._chunk, self._arrived = chunk.index, now
        self._received = chunk.snapshot.received
        stamp = chunk.snapshot.action_stamp
        self._on_the_way = [action for action in self._on_the_way if action.stamp > stamp] if stamp else self._on_the_way[-1:]

    def _tick(self, now: float) -> None:
        window = self._window
        shown = window.settings.show_input and window.playing and window.panel is None
        if self.card.isVisible() != shown:
            self.card.setVisible(shown)
            if shown:
                self._place()
                self.card.raise_()
        snapshot = window.snapshot
        if not shown or snapshot is None:
            return
        self._place()
        still = snapshot.idle or snapshot.paused
        progress = 0.0 if still else min(1.0, (now - self._arrived) / max(1e-3, self._period))
        pending = (sum(action.turn for action in self._on_the_way), sum(action.look for action in self._on_the_way))
        self.card.show_input(InputState(window.inputs.buttons, self._received, pending, progress, snapshot.view.horizontal))

    def _place(self) -> None:
        window = self._window
        scale = theme.scale_for(window.width(), window.height())
        width, height = window.width() / scale, window.height() / scale
        lift = ROOM if window.hud.preset == "full" else 0.0
        place = (width - SIZE[0] - EDGE, height - SIZE[1] - EDGE - lift)
        if (round(place[0] * scale), round(place[1] * scale)) != (self.card.x(), self.card.y()):
            self.card.place(*place, scale)


def toggle_input(window: MainWindow) -> None:
    """Show what the model receives, or not."""
    window.preferences.set("show_input", not window.settings.show_input)


register_part("input", InputFeedback)
register(WindowAction("show_input", later("show what the model receives"), ("F4",), Section.VIEW, toggle_input))
