"""A failure in words: what is wrong with which thing, and what to do."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from worldpager.app.panels.panel import Panel
from worldpager.app.words import later, tr
from worldpager.engine.errors import WorldPagerError

TITLES = {
    "input": later("That can't be used"),
    "weights": later("The model can't be loaded"),
    "tier": later("The memory can't be made"),
    "memory": later("There is not enough memory"),
    "model": later("The world has stopped"),
    "recorder": later("The recording failed"),
    "shader": later("The picture can't be drawn"),
}


class MessagePanel(Panel):
    """Names the failure; offers to try again, to copy a report, the start page, to quit. ``fatal``: there is nothing to go back to."""

    again = Signal()
    report_asked = Signal()
    start_asked = Signal()
    quit = Signal()
    design_width = 640

    def __init__(self, parent: QWidget, error: WorldPagerError, name: str = "", *, fatal: bool = True) -> None:
        super().__init__(parent)
        self.closable = not fatal
        self.add_label(tr(TITLES.get(error.code, later("Something went wrong"))), "title")
        self.add_label(error.what)
        if error.hint:
            self.add_label(error.hint, "soft")
        if name:
            self.add_label(tr("This failure is called {name} in the log and in the report.", name=name), "note")
        copy, leave = self.button(tr("Copy report")), self.button(tr("Quit") if fatal else tr("Close"))
        copy.clicked.connect(self.report_asked)
        leave.clicked.connect(self.quit.emit if fatal else self.close_panel)
        self._first = leave
        if fatal:
            start, again = self.button(tr("Start page")), self.button(tr("Try again"), primary=True)
            start.clicked.connect(self.start_asked)
            again.clicked.connect(self.again)
            self._first = again
            self.add_buttons(copy, leave, start, again)
        else:
            self.add_buttons(copy, leave)

    def first_focus(self) -> QWidget:
        """The way on."""
        return self._first
