"""The overlay's presets, and where each card lies."""

from __future__ import annotations

from collections import deque
from dataclasses import replace

from PySide6.QtWidgets import QWidget

from worldpager.app import theme
from worldpager.app.overlay.card import SPARK_POINTS, Card, HudState
from worldpager.app.overlay.chunk_timeline import ChunkTimeline
from worldpager.app.overlay.memory_card import DiskCard, MemoryCard, StallCard
from worldpager.app.overlay.pose_map import PoseMap
from worldpager.app.overlay.status_card import SmallCard, StatusCard

PRESETS = ("none", "small", "full")
MARGIN = 14.0
GAP = 10.0
SMALL_MAP = (176.0, 176.0)
CARD_SECONDS = 0.2
"""Age at which a card is drawn anew, and distance of the sparklines' samples."""


class Hud:
    """All cards over ``parent``. Fed by `step`; laid out anew by `layout` when the window's size changes."""

    def __init__(self, parent: QWidget, preset: str) -> None:
        self._parent = parent
        self._small = SmallCard(parent)
        self._status, self._memory, self._stalls = StatusCard(parent), MemoryCard(parent), StallCard(parent)
        self._map, self._disk, self._timeline = PoseMap(parent), DiskCard(parent), ChunkTimeline(parent)
        self._reads: deque[float] = deque(maxlen=SPARK_POINTS)
        self._writes: deque[float] = deque(maxlen=SPARK_POINTS)
        self._drawn: dict[Card, float] = {}
        self._sampled = 0.0
        self._wanted = False
        self.preset = preset

    @property
    def cards(self) -> dict[str, Card]:
        """All cards by name."""
        return {
            "small": self._small, "status": self._status, "memory": self._memory, "stalls": self._stalls, "map": self._map,
            "disk": self._disk, "timeline": self._timeline,
        }  # fmt: skip

    def set_visible(self, wanted: bool) -> None:
        """Show the preset's cards, or none at all."""
        self._wanted = wanted
        self.layout()

    def use(self, preset: str) -> None:
        """Take another preset."""
        self.preset = preset
        self.layout()

    def show_state(self, state: HudState) -> None:
        """Draw all visible cards anew, at once."""
        state = replace(state, read_rates=tuple(self._reads), write_rates=tuple(self._writes))
        for card in self.cards.values():
            card.show_state(state)

    def step(self, state: HudState, now: float) -> None:
        """Draw the one card that has waited longest, if it is older than `CARD_SECONDS`: drawing never holds a frame up for long."""
        if now - self._sampled >= CARD_SECONDS:
            self._sampled = now
            self._reads.append(state.snapshot.disk_read_rate)
            self._writes.append(state.snapshot.disk_write_rate)
        visible = [card for card in self.cards.values() if card.isVisible()]
        if not visible:
            return
        card = min(visible, key=lambda card: self._drawn.get(card, 0.0))
        if now - self._drawn.get(card, 0.0) >= CARD_SECONDS:
            self._drawn[card] = now
            card.show_state(replace(state, read_rates=tuple(self._reads), write_rates=tuple(self._writes)))

    def layout(self) -> None:
        """Show the cards of the preset in their places."""
        scale = theme.scale_for(self._parent.width(), self._parent.height())
        width, height = self._parent.width() / scale, self._parent.height() / scale
        shown: dict[Card, tuple[float, float, tuple[float, float] | None]] = {}
        if self._wanted and self.preset == "small":
            shown = {self._small: (MARGIN, MARGIN, None), self._map: (width - MARGIN - SMALL_MAP[0], MARGIN, SMALL_MAP)}
        elif self._wanted and self.preset == "full":
            shown = self._full(width, height)
        for card in self.cards.values():
            if card in shown:
                x, y, size = shown[card]
                card.setVisible(True)
                card.place(x, y, scale, size)
            else:
                card.setVisible(False)

    def _full(self, width: float, height: float) -> dict[Card, tuple[float, float, tuple[float, float] | None]]:
        """Two columns beside the picture's middle, the timeline below. In a low window, cards that don't fit stay away."""
        strip = ChunkTimeline.design_size[1]
        bottom = height - MARGIN - strip
        places: dict[Card, tuple[float, float, tuple[float, float] | None]] = {}
        right = width - MARGIN - PoseMap.design_size[0]
        for x, cards in ((MARGIN, (self._status, self._memory, self._stalls)), (right, (self._map, self._disk))):
            y = MARGIN
            for card in cards:
                size = type(card).design_size
                if y + size[1] + GAP <= bottom:
                    places[card] = (x, y, size)
                    y += size[1] + GAP
        places[self._timeline] = (MARGIN, bottom, (width - 2 * MARGIN, strip))
        return places
