"""The memory view as a part of the window: the key that opens it, the modes, the export, the demo that never ends."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, QRect, Qt, QTimer
from PySide6.QtGui import QImage

from worldpager.app import theme
from worldpager.app.actions import Section, WindowAction, register, register_part
from worldpager.app.captures import new_path
from worldpager.app.folders import pictures_folder
from worldpager.app.memory_view.export import as_csv, as_json, write_whole
from worldpager.app.memory_view.modes import MODES
from worldpager.app.memory_view.story import MemoryStory
from worldpager.app.memory_view.tour import Tour
from worldpager.app.memory_view.view import MemoryView
from worldpager.app.notices import CHIP_HEIGHT, Chip
from worldpager.app.overlay.card import HudState
from worldpager.app.words import later, tr
from worldpager.engine.errors import WorldPagerError
from worldpager.engine.mailbox import PublishedChunk, RestWhenIdle, UsePolicy

if TYPE_CHECKING:
    from worldpager.app.main_window import MainWindow

log = logging.getLogger(__name__)

NAME = "memory_view"
QUIET_SECONDS = 45.0
"""A demo that a person has touched goes on when nothing was touched for so long."""
AGAIN_MS = 6000
"""A demo whose street has failed begins anew after this."""
STUCK_SECONDS = 60.0
"""No new chunk for so long: the demo's street is taken for dead."""
TOUCHES = frozenset((QEvent.Type.KeyPress, QEvent.Type.MouseButtonPress))


class MemoryViewPart(QObject):
    """Keeps the story up to date and shows it when asked."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        self.story = MemoryStory()
        self.view = MemoryView(window, self.story, self._state, window.now)
        self.view.lower()  # the picture lies above it, everything else above both
        self.caption = Chip(window)
        self.tour: Tour | None = None
        self.restarts = 0
        self._demo = False
        self._touched: float | None = None
        self._last_news = 0.0
        self._again = QTimer(self, singleShot=True, interval=AGAIN_MS)
        self._again.timeout.connect(self._begin_again)
        window.chunk_arrived.connect(self._take)
        window.ticked.connect(self._tick)
        window.bridge.failed.connect(self._failed)
        window.closing.connect(self._again.stop)
        window.preferences.changed.connect(self._take_setting)
        window.installEventFilter(self)

    @property
    def is_open(self) -> bool:
        """Whether the view is shown."""
        return self.view.isVisible()

    def toggle(self) -> None:
        """Open or close the view."""
        if self.is_open:
            self._close()
        else:
            self._open()

    def use_mode(self, place: int) -> None:
        """Switch to mode ``place`` of the comparison, live."""
        mode = MODES[place]
        if self._window.bridge.send(UsePolicy(mode.policy)):
            self._window.notices.say(f"{tr(mode.name)}: {tr(mode.words)}", mode.colour)

    def export(self) -> None:
        """Write the data as CSV and JSON and the window as PNG, side by side."""
        snapshot = self.story.snapshot
        if snapshot is None:
            return
        path = new_path(pictures_folder(self._window.settings), snapshot, "csv", tr("memory"))
        self._window.notices.toast.say("")
        picture: QImage = self._window.grab().toImage()
        try:
            write_whole(path, as_csv(self.story))
            write_whole(path.with_suffix(".json"), as_json(self.story))
            if not picture.save(str(path.with_suffix(".png"))):
                raise WorldPagerError(
                    tr("The picture {path} can't be written.", path=path.with_suffix(".png")), tr("See whether the disk is full.")
                )
        except WorldPagerError as error:
            self._window.show_failure(error, fatal=False)
        else:
            self._window.notices.say(tr("saved: {path} (.csv, .json, .png)", path=path.with_suffix("")), theme.HOST)

    # The demo

    def begin_demo(self) -> None:
        """Show the view and walk the tour for ever; a person may take over, the tour goes on when they leave."""
        self.tour = None
        self._demo = True
        self._last_news = self._window.now()
        self._window.setCursor(Qt.CursorShape.BlankCursor)
        if not self.is_open:
            self._open()

    def _tick(self, now: float) -> None:
        """Every few milliseconds: the tour's next step, if it is due."""
        if not self._demo or not self._window.playing:
            return
        if self._touched is not None:
            if now - self._touched < QUIET_SECONDS:
                return
            self._resume()
        spec, chunk = self._window.bridge.spec, self._window.bridge.newest()
        if spec is None:
            return
        if self.tour is None:
            self.tour = Tour(self._window.config.seed, spec.frames_per_chunk / spec.rate)
            self._window.bridge.send(RestWhenIdle(False))
        action, commands = self.tour.next(chunk)
        if action is not None:
            self._window.bridge.put(action)
        for command in commands:
            self._window.bridge.send(command)
        self._caption(tr(self.tour.words) if self.tour.words else "")
        if now - self._last_news > STUCK_SECONDS and not self._again.isActive():
            log.warning("the demo has seen no chunk for %.0f s and begins anew", now - self._last_news)
            self._again.start()

    def _caption(self, words: str) -> None:
        """Say what goes on at the lower edge of the picture."""
        self.caption.say(words if self.is_open else "")
        if self.caption.text:
            area, scale = self._picture_area(), theme.scale_for(self._window.width(), self._window.height())
            left = area.center().x() / scale - self.caption.design_width / 2
            self.caption.place(left, area.bottom() / scale - CHIP_HEIGHT - 12, scale)

    def _resume(self) -> None:
        """Nobody touches it any more: the tour goes on with its next act."""
        self._touched = None
        self._window.setCursor(Qt.CursorShape.BlankCursor)
        self._window.close_panel()
        if self._window.paused:
            self._window.run_action("pause")
        if not self.is_open:
            self._open()
        if self.tour is not None:
            self._window.bridge.send(RestWhenIdle(False))
            for command in self.tour.begin_act(self._window.bridge.newest()):
                self._window.bridge.send(command)

    def _failed(self, error: object) -> None:
        if self._demo:
            log.warning("the demo begins anew after a failure: %s", error)
            self._again.start()

    def _begin_again(self) -> None:
        self.restarts += 1
        self.tour = None
        self._last_news = self._window.now()
        self._window.close_panel()
        self._window.begin()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Follow the window's size; note that somebody plays."""
        if event.type() == QEvent.Type.Resize:
            self.view.setGeometry(self._window.rect())
        elif self._demo and event.type() in TOUCHES and self._window.playing:
            if self._touched is None:
                self._caption("")
                self._window.unsetCursor()
                self._window.bridge.send(RestWhenIdle(self._window.config.rest_when_idle))
            self._touched = self._window.now()
        return False

    # The view

    def _open(self) -> None:
        window = self._window
        self.view.motion = not window.settings.reduced_motion
        self.view.setGeometry(window.rect())
        window.picture_area = self._picture_area
        window.viewport.set_fit("whole")
        window.hud.use("none")
        window.notices.area = self._picture_area
        self.view.open()
        window.lay_out()

    def _take_setting(self, name: str) -> None:
        """What would change the picture or lay cards over the view waits until it closes."""
        if self.is_open and name in ("overlay", "fit"):
            self._window.hud.use("none")
            self._window.viewport.set_fit("whole")
        self.view.motion = not self._window.settings.reduced_motion

    def _close(self) -> None:
        window = self._window
        self.view.close_view()
        self._caption("")
        window.picture_area = window.rect
        window.viewport.set_fit(window.settings.fit)
        window.hud.use(window.settings.overlay)
        window.notices.area = window.rect
        window.lay_out()
        window.refresh_hud(at_once=True)

    def _picture_area(self) -> QRect:
        return self.view.picture_area(self._window.width(), self._window.height())

    def _state(self) -> HudState | None:
        return self._window.hud_state()

    def _take(self, chunk: PublishedChunk) -> None:
        if self.story.take(chunk):
            self._last_news = self._window.now()


def part(window: MainWindow) -> MemoryViewPart:
    """The part of ``window``."""
    found = window.parts[NAME]
    assert isinstance(found, MemoryViewPart)
    return found


def _use(place: int) -> WindowAction:
    mode = MODES[place]
    return WindowAction(
        f"mode_{place + 1}", mode.name, (str(place + 1),), Section.VIEW, lambda window: part(window).use_mode(place), playing=True
    )


register_part(NAME, MemoryViewPart)
register(WindowAction("memory_view", later("the memory, large"), ("F2",), Section.VIEW, lambda window: part(window).toggle(), playing=True))
for _place in range(len(MODES)):
    register(_use(_place))
register(
    WindowAction(
        "export_memory", later("save the memory's data"), ("Ctrl+E",), Section.KEEP, lambda window: part(window).export(), playing=True
    )
)
