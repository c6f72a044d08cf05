"""Worlds that last, in the window: keep this one, go back in time, other branches, bookmarks, a click on the map."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, QPointF, Qt, QTimer
from PySide6.QtGui import QKeyEvent, QMouseEvent

from worldpager.app import theme
from worldpager.app.actions import Section, WindowAction, register, register_part
from worldpager.app.folders import worlds_folder
from worldpager.app.overlay.card import bytes_text
from worldpager.app.overlay.pose_map import PoseMap
from worldpager.app.panels.branches_panel import BranchesPanel
from worldpager.app.panels.timeline_strip import TimelineStrip
from worldpager.app.panels.worlds_panel import KeepPanel
from worldpager.app.words import later, tr
from worldpager.engine.mailbox import DeleteBranch, ForgetBookmark, GoTo, Keep, Pause, PublishedChunk, Recall, RenameBranch, SetBookmark
from worldpager.engine.session.catalogue import bytes_of
from worldpager.engine.session.session import Session, SessionView

if TYPE_CHECKING:
    from worldpager.app.main_window import MainWindow

REWIND_MS, FASTER_AFTER, FASTEST = 90, 12, 6
"""Time between two steps of a held key; after so many steps each goes one chunk farther, up to the last number."""
ANEW_MS = 250
"""After a change in the panel: when it shows what has become of it."""


class Worlds(QObject):
    """The window's part for the past of its world. Reads the session, sends commands, owns the strip."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        self.strip = TimelineStrip(window, self._picture)
        self.strip.chosen.connect(self._go)
        self._steps = 0
        self._was_paused = False
        self._timer = QTimer(self, interval=REWIND_MS)
        self._timer.timeout.connect(self._step_back)
        window.chunk_arrived.connect(self._arrived)
        window.began_playing.connect(lambda snapshot: self.close_strip())
        window.closing.connect(self._timer.stop)
        window.installEventFilter(self)

    @property
    def session(self) -> Session | None:
        """What is being played, if anything is."""
        session = self._window.bridge.session
        return session if isinstance(session, Session) else None

    # Back in time

    def rewind(self) -> None:
        """The key is down: step back as long as it is held."""
        if self._open_strip():
            self._steps = 0
            self._step_back()
            self._timer.start()

    def timeline(self) -> None:
        """Open the strip to be dragged, or close it."""
        if self.strip.isVisible():
            self.close_strip()
        else:
            self._open_strip()

    def _open_strip(self) -> bool:
        if self.strip.isVisible():
            return True
        session, window = self.session, self._window
        view = session.view() if session else None
        if view is None or view.head is None or window.snapshot is None or window.snapshot.opening:
            return False
        self._was_paused = window.paused
        if not window.paused:
            window.bridge.send(Pause(True))
        marks = {mark.chunk: mark.name for mark in view.bookmarks}
        forks = frozenset(branch.fork for branch in view.branches if branch.fork is not None)
        window.mouse.let_go()
        self.strip.show_line(line_of(view), view.head, marks, forks)
        return True

    def close_strip(self) -> None:
        """Play may go on."""
        self._timer.stop()
        if self.strip.isVisible():
            self.strip.hide()
            if not self._was_paused:
                self._window.bridge.send(Pause(False))

    def _step_back(self) -> None:
        self._steps += 1
        chunk = self.strip.step(-min(FASTEST, 1 + self._steps // FASTER_AFTER))
        if chunk is not None:
            self._go(chunk)
        elif self._timer.isActive():
            self._timer.stop()
            self._window.notices.say(tr("this is the beginning of the world"))

    def _go(self, chunk: int) -> None:
        self._window.bridge.send(GoTo(chunk))

    def _picture(self, chunk: int) -> bytes | None:
        session = self.session
        return session.picture(chunk) if session else None

    def _arrived(self, chunk: PublishedChunk) -> None:
        """Something was generated: the strip has done its work."""
        if self.strip.isVisible() and not chunk.snapshot.paused and not chunk.snapshot.idle:
            self.close_strip()
        session = self.session
        kept = session.folder if session else None
        if kept is not None and self._window.config.world != kept:
            self._window.config = replace(self._window.config, world=kept)
        self._window.notices.state("kept", tr("kept as {name}", name=kept.name) if kept and self.strip.isVisible() else "", theme.HOST)

    # Branches and bookmarks

    def branches(self) -> None:
        """Open the panel."""
        session, window = self.session, self._window
        if session is None or session.view().head is None:
            return
        self.close_strip()
        view = session.view()
        panel = BranchesPanel(window, view, self._picture, bytes_text(bytes_of(view.folder)) if view.folder else "")
        panel.go.connect(lambda chunk: self._leave_panel(GoTo(chunk)))
        panel.recall.connect(lambda chunk: self._leave_panel(Recall(chunk)))
        panel.rename_branch.connect(lambda branch, name: window.bridge.send(RenameBranch(branch, name)))
        panel.delete_branch.connect(lambda branch: self._change(DeleteBranch(branch)))
        panel.forget_bookmark.connect(lambda name: self._change(ForgetBookmark(name)))
        panel.keep_asked.connect(self.keep)
        window.open_panel(panel)

    def _leave_panel(self, command: GoTo | Recall) -> None:
        self._window.close_panel()
        self._window.bridge.send(command)

    def _change(self, command: DeleteBranch | ForgetBookmark) -> None:
        self._window.bridge.send(command)
        QTimer.singleShot(ANEW_MS, self, self._show_anew)

    def _show_anew(self) -> None:
        if isinstance(self._window.panel, BranchesPanel):
            self.branches()

    def bookmark(self) -> None:
        """Mark the place where play stands."""
        session = self.session
        view = session.view() if session else None
        if view is None or view.head is None:
            return
        names = {mark.name for mark in view.bookmarks}
        number = next(n for n in range(1, len(names) + 2) if tr("place {number}", number=n) not in names)
        name = tr("place {number}", number=number)
        self._window.bridge.send(SetBookmark(name, view.head))
        self._window.notices.say(tr("bookmark: {name}  ·  B shows all", name=name), theme.HOST)

    def recall_at(self, point: QPointF) -> bool:
        """Recall the place that lies under ``point`` of the window on the map. False when none does."""
        card, session, snapshot = self._window.hud.cards["map"], self.session, self._window.snapshot
        if not isinstance(card, PoseMap) or not card.isVisible() or session is None or snapshot is None:
            return False
        if not card.geometry().contains(point.toPoint()):
            return False
        block = card.block_at(point - QPointF(card.pos()), snapshot)
        chunk = None if block is None else session.chunk_of(block)
        if chunk is not None:
            self._window.bridge.send(Recall(chunk))
            self._window.notices.say(tr("recalled: chunk {number}", number=chunk + 1), theme.DEVICE)
        return True

    # Keeping

    def keep(self) -> None:
        """Ask for a name and keep this world."""
        session, window = self.session, self._window
        if session is None or window.snapshot is None:
            return
        if session.folder is not None:
            size = bytes_text(bytes_of(session.folder))
            window.notices.say(tr("kept already: {folder}, {size}", folder=session.folder, size=size), theme.HOST)
            return
        panel = KeepPanel(window, worlds_folder(window.settings), tr("world {seed}", seed=window.snapshot.seed))
        panel.chosen.connect(self._keep_in)
        window.open_panel(panel)

    def _keep_in(self, folder: Path) -> None:
        if self._window.bridge.send(Keep(folder)):
            self._window.notices.say(tr("this world is kept: {folder}", folder=folder), theme.HOST)

    # Keys and mouse

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """A key let go ends the rewinding; Esc closes the strip; a click on the map recalls a place."""
        kind = event.type()
        let_go = kind == QEvent.Type.KeyRelease and isinstance(event, QKeyEvent) and not event.isAutoRepeat()
        if let_go or kind in (QEvent.Type.FocusOut, QEvent.Type.WindowDeactivate):
            self._timer.stop()
        elif kind == QEvent.Type.Resize and self.strip.isVisible():
            self.strip.lay_out()
        elif kind == QEvent.Type.KeyPress and isinstance(event, QKeyEvent) and self.strip.isVisible():
            return self._key_over_strip(event)
        elif kind == QEvent.Type.MouseButtonPress and isinstance(event, QMouseEvent):
            left = event.button() == Qt.MouseButton.LeftButton
            return left and not self._window.mouse.held and self._window.panel is None and self.recall_at(event.position())
        return False

    def _key_over_strip(self, event: QKeyEvent) -> bool:
        """Arrows step, Esc closes; any other held control goes on playing from here."""
        if event.key() in (Qt.Key.Key_Left, Qt.Key.Key_Right):
            chunk = self.strip.step(-1 if event.key() == Qt.Key.Key_Left else 1)
            if chunk is not None:
                self._go(chunk)
            return True
        if event.key() == Qt.Key.Key_Escape:
            self.close_strip()
            return True
        if event.text() and event.text().lower() in "wasd":
            self.close_strip()
        return False


def line_of(view: SessionView) -> tuple[int, ...]:
    """The history that the strip shows: through the head on to the tip of its branch, if the head lies on that way."""
    assert view.head is not None
    tip = view.tips.get(view.chunks[view.head].branch)
    line: list[int] = []
    at = tip
    while at is not None:
        line.append(at)
        at = view.chunks[at].parent
    return tuple(reversed(line)) if view.head in line else view.path


def part(window: MainWindow) -> Worlds:
    """The window's part."""
    found = window.parts["worlds"]
    assert isinstance(found, Worlds)
    return found


register_part("worlds", Worlds)
for _action in (
    WindowAction("keep_world", later("keep this world"), ("K",), Section.KEEP, lambda window: part(window).keep(), playing=True),
    WindowAction("rewind", later("back in time (hold)"), ("Backspace",), Section.PLAY, lambda window: part(window).rewind(), playing=True),
    WindowAction("timeline", later("timeline"), ("T",), Section.PLAY, lambda window: part(window).timeline(), playing=True),
    WindowAction("branches", later("branches and bookmarks"), ("B",), Section.PLAY, lambda window: part(window).branches(), playing=True),
    WindowAction("bookmark", later("mark this place"), ("Ctrl+B",), Section.PLAY, lambda window: part(window).bookmark(), playing=True),
):
    register(_action)
