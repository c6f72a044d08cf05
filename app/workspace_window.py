"""The workspace's window: its panel, and the thread on which the model reads and answers."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QCloseEvent
from PySide6.QtWidgets import QMainWindow

from worldpager.app.panels.workspace_panel import WorkspacePanel
from worldpager.engine.errors import WorldPagerError
from worldpager.engine.workspace.snapshot import WorkspaceSnapshot, take_snapshot
from worldpager.engine.workspace.workspace import Workspace

Open = Callable[[], AbstractContextManager[Workspace]]
"""Opens the workspace, and makes it durable at the end; both on the thread."""


class WorkspaceThread(QObject):
    """Owns the workspace's one thread. Signals reach the window's thread by Qt's queue."""

    state = Signal(object)
    piece = Signal(str)
    ready = Signal()
    failed = Signal(str)

    def __init__(self, open_: Open) -> None:
        super().__init__()
        self._open = open_
        self._questions: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._run, name="workspace", daemon=True)

    def start(self) -> None:
        """Open the workspace in the background."""
        self._thread.start()

    def ask(self, question: str) -> None:
        """Answer after what was asked before."""
        self._questions.put(question)

    def end(self) -> None:
        """Break off an answer, make everything durable, end."""
        self._ending.set()
        self._questions.put(None)
        self._thread.join()

    def _run(self) -> None:
        try:
            with self._open() as workspace:
                self.state.emit(take_snapshot(workspace))
                self.ready.emit()
                while (question := self._questions.get()) is not None:
                    self._answer(workspace, question)
        except WorldPagerError as error:
            self.failed.emit(str(error))
        except Exception as error:  # the window must hear of it
            self.failed.emit(f"Unexpected fault: {type(error).__name__}: {error}")

    def _answer(self, workspace: Workspace, question: str) -> None:
        answer = workspace.ask(question)
        try:
            for piece in answer:
                self.piece.emit(piece)
                if self._ending.is_set():
                    answer.close()
                    return
            self.state.emit(take_snapshot(workspace))
        except WorldPagerError as error:
            self.failed.emit(str(error))
        self.ready.emit()


class WorkspaceWindow(QMainWindow):
    """A window over one workspace."""

    def __init__(self, open_: Open, title: str) -> None:
        super().__init__()
        self.setWindowTitle(f"WorldPager workspace · {title}")
        self.resize(1120, 760)
        self.panel = WorkspacePanel(self)
        self.panel.title.setText(title)
        self.setCentralWidget(self.panel)
        self.thread_ = WorkspaceThread(open_)
        self.thread_.state.connect(self._show)
        self.thread_.piece.connect(self.panel.add_piece)
        self.thread_.ready.connect(lambda: self.panel.set_busy(False))
        self.thread_.failed.connect(self.panel.say)
        self.panel.asked.connect(self.thread_.ask)
        self.panel.say("Loading the model and what isn't read yet …")
        self.thread_.start()

    def closeEvent(self, event: QCloseEvent) -> None:
        """Everything becomes durable first."""
        self.thread_.end()
        event.accept()

    def _show(self, shown: WorkspaceSnapshot) -> None:
        self.panel.show_state(shown)


def run(open_: Open, title: str) -> int:
    """Show the window until it is closed."""
    from worldpager.app.__main__ import make_application

    application = make_application()
    window = WorkspaceWindow(open_, title)
    window.show()
    return int(application.exec())
