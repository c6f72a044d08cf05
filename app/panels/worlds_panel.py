"""Asks for the name that a scratch world is to be kept under."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QLineEdit, QWidget

from worldpager.app.panels.panel import Panel
from worldpager.app.words import tr
from worldpager.engine.errors import InputError
from worldpager.engine.session.archive import INDEX
from worldpager.engine.session.catalogue import find_world


class KeepPanel(Panel):
    """A name, and the folder that follows from it. ``chosen`` carries the folder."""

    chosen = Signal(object)
    design_width = 460

    def __init__(self, parent: QWidget, folder: Path, name: str) -> None:
        super().__init__(parent)
        self._folder = folder
        self.add_label(tr("Keep this world"), "title")
        self.add_label(tr("What you have played so far and all that follows stays, with its memory, in {folder}.", folder=folder), "soft")
        self.name = QLineEdit(free_name(folder, name), self.frame)
        self.name.setAccessibleName(tr("Name of the world"))
        self.name.setMaxLength(80)
        self.name.returnPressed.connect(self._keep)
        self.body.addWidget(self.name)
        self._complaint = self.add_label("", "soft")
        self._complaint.hide()
        cancel, keep = self.button(tr("Not now")), self.button(tr("Keep it"), primary=True)
        cancel.clicked.connect(self.close_panel)
        keep.clicked.connect(self._keep)
        self.add_buttons(cancel, keep)

    def first_focus(self) -> QWidget:
        """The name, ready to be written over."""
        self.name.selectAll()
        return self.name

    def _keep(self) -> None:
        try:
            folder = find_world(self.name.text(), self._folder)
            if (folder / INDEX).exists():
                raise InputError(tr("There is a world of this name already."), "")
        except InputError as error:
            self._complaint.setText(error.what)
            self._complaint.show()
            self.fit_height()
            return
        self.close_panel()
        self.chosen.emit(folder)


def free_name(folder: Path, name: str) -> str:
    """``name``, or with a number behind it the first that no world has."""
    tried, number = name, 2
    while (folder / tried).exists():
        tried, number = f"{name} {number}", number + 1
    return tried
