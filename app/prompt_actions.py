"""Another prompt while playing, for models that hear one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QLineEdit, QWidget

from worldpager.app import theme
from worldpager.app.actions import Section, WindowAction, register
from worldpager.app.panels.panel import Panel
from worldpager.app.words import later, tr
from worldpager.engine.mailbox import Prompt

if TYPE_CHECKING:
    from worldpager.app.main_window import MainWindow

LONGEST = 2000
"""Letters."""


class PromptPanel(Panel):
    """A text, from now on."""

    chosen = Signal(str)
    design_width = 560

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.add_label(tr("Prompt"), "title")
        self.add_label(tr("What is made from now on follows this text. A text that is new to this machine is encoded first."), "soft")
        self.text = QLineEdit(self.frame)
        self.text.setAccessibleName(tr("prompt"))
        self.text.setMaxLength(LONGEST)
        self.text.returnPressed.connect(self._choose)
        self.body.addWidget(self.text)
        button = self.button(tr("Play on"), primary=True)
        button.clicked.connect(self._choose)
        self.add_buttons(button)

    def first_focus(self) -> QWidget:
        """The text."""
        return self.text

    def _choose(self) -> None:
        text = self.text.text()
        self.close_panel()
        self.chosen.emit(text)


def ask_prompt(window: MainWindow) -> None:
    """Ask for the text."""
    panel = PromptPanel(window)
    panel.chosen.connect(lambda text: hear(window, text))
    window.open_panel(panel)


def hear(window: MainWindow, text: str) -> None:
    """Play on under ``text``; what can't be is said by the street."""
    if window.bridge.send(Prompt(text)):
        window.notices.say(tr("a new prompt"), theme.DEVICE)


register(WindowAction("prompt", later("another prompt"), ("Ctrl+T",), Section.PLAY, ask_prompt, playing=True))
