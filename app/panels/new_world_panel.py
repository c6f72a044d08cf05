"""Asks for a world by its number."""

from __future__ import annotations

import random

from PySide6.QtCore import QRegularExpression, Signal
from PySide6.QtGui import QRegularExpressionValidator
from PySide6.QtWidgets import QLineEdit, QWidget

from worldpager.app.panels.panel import Panel
from worldpager.app.words import tr

MOST = (1 << 31) - 1
SURPRISES = 100_000
"""Surprises are below it, so that they can be told to somebody."""


class NewWorldPanel(Panel):
    """A seed, or a surprise."""

    chosen = Signal(int)
    design_width = 420

    def __init__(self, parent: QWidget, seed: int) -> None:
        super().__init__(parent)
        self.add_label(tr("New world"), "title")
        self.add_label(tr("Every number is a place of its own. The same number opens the same place again."), "soft")
        self.number = QLineEdit(str(seed), self.frame)
        self.number.setAccessibleName(tr("world number"))
        self.number.setMaxLength(10)
        self.number.setValidator(QRegularExpressionValidator(QRegularExpression(r"\d{1,10}"), self))
        self.number.returnPressed.connect(self._begin)
        self.body.addWidget(self.number)
        self._complaint = self.add_label("", "soft")
        self._complaint.hide()
        surprise, begin = self.button(tr("Surprise me")), self.button(tr("Begin"), primary=True)
        surprise.clicked.connect(self._surprise)
        begin.clicked.connect(self._begin)
        self.add_buttons(surprise, begin)

    def first_focus(self) -> QWidget:
        """The number, ready to be written over."""
        self.number.selectAll()
        return self.number

    def _surprise(self) -> None:
        self._choose(random.SystemRandom().randrange(SURPRISES))

    def _begin(self) -> None:
        text = self.number.text()
        if not text or int(text) > MOST:
            self._complaint.setText(tr("Write a whole number from 0 to {most}.", most=MOST))
            self._complaint.show()
            return
        self._choose(int(text))

    def _choose(self, seed: int) -> None:
        self.close_panel()
        self.chosen.emit(seed)
