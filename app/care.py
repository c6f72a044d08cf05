"""What looks after a run: loading that can be broken off, a world that seems stuck, the report of a failure, runs that died before."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer
from PySide6.QtGui import QGuiApplication

from worldpager.app import theme
from worldpager.app.actions import Section, WindowAction, register, register_part
from worldpager.app.crash_watch import CrashWatch
from worldpager.app.panels.message_panel import MessagePanel
from worldpager.app.report import make_report, new_id
from worldpager.app.words import later, tr
from worldpager.engine.errors import WorldPagerError
from worldpager.engine.mailbox import PublishedChunk

if TYPE_CHECKING:
    from worldpager.app.main_window import MainWindow

log = logging.getLogger(__name__)

LOOK_MS = 500
END_MS = 40
PATIENCE_SECONDS, PATIENCE_CHUNKS = 8.0, 20.0
"""A chunk that takes longer than both (the second in usual chunk times) seems stuck."""
USUAL = 0.2
"""Weight of the newest chunk in the usual time."""


class Watchdog:
    """Tells how long a chunk is overdue. Times in seconds by any clock; pure arithmetic."""

    def __init__(self) -> None:
        self._since: float | None = None
        self._usual: float | None = None

    def chunk(self, now: float) -> None:
        """A new chunk has come."""
        if self._since is not None:
            took = now - self._since
            self._usual = took if self._usual is None else self._usual + USUAL * (took - self._usual)
        self._since = now

    def rest(self) -> None:
        """No chunk is awaited."""
        self._since = None

    def overdue(self, now: float) -> float | None:
        """Seconds since the last chunk, if that is far too long; else None."""
        if self._since is None:
            return None
        waited = now - self._since
        return waited if waited > max(PATIENCE_SECONDS, PATIENCE_CHUNKS * (self._usual or 0.0)) else None


class Care(QObject):
    """One for each window."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        self._dog = Watchdog()
        self._index = -1
        self._barked = False
        self._crashes: CrashWatch | None = None
        self._failed: tuple[str, WorldPagerError] | None = None
        self._timer = QTimer(self, interval=LOOK_MS)
        self._timer.timeout.connect(self._look)
        self._timer.start()
        self._ending = QTimer(self, interval=END_MS)
        self._ending.timeout.connect(self._ended)
        window.chunk_arrived.connect(self._take)
        window.loading.cancelled.connect(self.cancel_loading)
        window.closing.connect(self._timer.stop)
        window.closing.connect(self._ending.stop)

    def watch(self, crashes: CrashWatch) -> None:
        """Say it when the last run died, and offer a report; let ``crashes`` write down the stacks of a world that seems stuck."""
        self._crashes = crashes
        if crashes.found:
            last = crashes.found[-1]
            self._failed = (new_id("crash"), WorldPagerError(f"The run of {last.began} did not end by itself.", last.stacks))
            shown = self._window.action_table["report"].keys[0]
            self._window.notices.say(tr("the last run ended unexpectedly: {key} copies a report", key=shown), theme.ALARM)

    # Failures

    def name(self, error: WorldPagerError) -> str:
        """A name for a failure that has just happened, into the log too."""
        name = new_id(error.code)
        log.error("%s: %s", name, error)
        self._failed = (name, error)
        return name

    def show(self, error: WorldPagerError, *, fatal: bool) -> None:
        """Say what went wrong. After a fatal failure there is no street any more."""
        window = self._window
        window.inputs.release_all()
        if fatal:
            window.exit_code = 1
            window.playing = False
            window.captures.end_film()
            window.loading.hide()
        panel = MessagePanel(window, error, self.name(error), fatal=fatal)
        panel.report_asked.connect(self.copy_report)
        panel.start_asked.connect(lambda: window.run_action("start"))
        panel.again.connect(window.begin)
        panel.quit.connect(window.leave)
        window.open_panel(panel)

    def report(self) -> str:
        """The report of the last failure, or of now."""
        window = self._window
        name, error = self._failed or (new_id("report"), None)
        screen = window.screen()
        facts = {
            "viewport": window.viewport.kind, "opengl": window.viewport.driver, "platform": QGuiApplication.platformName(),
            "screen": f"{screen.size().width()}x{screen.size().height()} at {screen.refreshRate():.0f} Hz",
            "screens": str(len(QGuiApplication.screens())), "pixel ratio": f"{screen.devicePixelRatio():g}",
        }  # fmt: skip
        return make_report(name, error, window.snapshot, facts, window.log_path)

    def copy_report(self) -> None:
        """The report into the clipboard."""
        QGuiApplication.clipboard().setText(self.report())
        self._window.notices.say(tr("the report is in the clipboard; nothing has been sent"), theme.HOST)

    # Loading

    def cancel_loading(self) -> None:
        """Break the loading off; the start page follows once its thread has ended."""
        self._window.bridge.cancel()
        self._window.loading.show_progress(tr("Ending"), 1.0)
        self._ending.start()

    def _ended(self) -> None:
        window = self._window
        if window.bridge.running:
            return
        self._ending.stop()
        window.bridge.stop()
        window.loading.hide()
        window.run_action("start")

    # A world that seems stuck

    def _take(self, chunk: PublishedChunk) -> None:
        if chunk.snapshot.idle or chunk.snapshot.paused:
            self._dog.rest()
        elif chunk.index != self._index:
            self._dog.chunk(self._window.now())
        self._index = chunk.index

    def _look(self) -> None:
        window = self._window
        if not window.bridge.running or window.loading.isVisible():
            self._dog.rest()
        overdue = self._dog.overdue(window.now()) if window.settings.watchdog else None
        words = tr("no picture for {seconds} s: the world seems stuck", seconds=f"{overdue:.0f}") if overdue else ""
        window.notices.state("stuck", words, theme.ALARM)
        if overdue and not self._barked:
            log.error("no chunk for %.0f s", overdue)
            if self._crashes is not None:
                self._crashes.dump()
        self._barked = overdue is not None


def care_of(window: MainWindow) -> Care:
    """The window's."""
    care = window.parts["care"]
    assert isinstance(care, Care)
    return care


register_part("care", Care)
register(WindowAction("report", later("copy a report"), ("Ctrl+Shift+C",), Section.WINDOW, lambda window: care_of(window).copy_report()))
