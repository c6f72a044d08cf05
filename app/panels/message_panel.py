"""A failure in words: what is wrong with which thing, and what to do."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QWidget

from worldpager.app.panels.panel import Panel
from worldpager.engine.errors import WorldPagerError

TITLES = {
    "input": "That can't be used",
    "weights": "The model can't be loaded",
    "tier": "The memory can't be made",
    "model": "The world has stopped",
    "recorder": "The recording failed",
    "shader": "The picture can't be drawn",
}


class MessagePanel(Panel):
    """Names the failure; offers to try again, to copy the words, to quit. ``fatal``: there is nothing to go back to."""

    again = Signal()
    quit = Signal()
    design_width = 560

    def __init__(self, parent: QWidget, error: WorldPagerError, details: str = "", *, fatal: bool = True) -> None:
        super().__init__(parent)
        self.closable = not fatal
        self._text = "\n".join(part for part in (error.what, error.hint, details) if part)
        self.add_label(TITLES.get(error.code, "Something went wrong"), "title")
        self.add_label(error.what)
        if error.hint:
            self.add_label(error.hint, "soft")
        copy, leave = self.button("Copy"), self.button("Quit" if fatal else "Close")
        copy.clicked.connect(self._copy)
        leave.clicked.connect(self.quit.emit if fatal else self.close_panel)
        self._first = leave
        if fatal:
            again = self.button("Try again", primary=True)
            again.clicked.connect(self.again)
            self._first = again
            self.add_buttons(copy, leave, again)
        else:
            self.add_buttons(copy, leave)

    def first_focus(self) -> QWidget:
        """The way on."""
        return self._first

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(self._text)
