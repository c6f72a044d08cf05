"""A folder to choose: where it is, the room there, and on a press how fast its drive is."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog, QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from worldpager.app.background import Background
from worldpager.app.folders import USUAL, DriveSpeed, free_bytes, measure_drive
from worldpager.app.overlay.card import bytes_text
from worldpager.app.panels.panel import Panel
from worldpager.app.settings import ABOUT, Settings
from worldpager.app.words import tr

MEASURED = frozenset(("disk_folder", "worlds_folder"))
"""Folders whose speed matters."""


class FolderRow(QWidget):
    """The folder of setting ``name``; ``take`` hears the new one, empty for the usual one."""

    def __init__(self, panel: Panel, name: str, value: str, take: Callable[[str], None]) -> None:
        super().__init__()
        self._name, self._value, self._take = name, value, take
        self._measuring: Background | None = None
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(panel.px(5))
        self._path, self._facts = QLabel(), QLabel()
        for label in (self._path, self._facts):
            label.setWordWrap(True)
            column.addWidget(label)
        self._path.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._facts.setObjectName("note")
        row = QHBoxLayout()
        row.setSpacing(panel.px(6))
        for words, act in ((tr("Choose …"), self._choose), (tr("The usual one"), lambda: self._set("")), (tr("Measure"), self.measure)):
            if act == self.measure and name not in MEASURED:
                continue
            button = QPushButton(words)
            button.setObjectName("choice")
            button.setAccessibleName(f"{tr(ABOUT[name].words)}: {words}")
            button.clicked.connect(lambda _=False, act=act: act())
            row.addWidget(button)
        row.addStretch()
        column.addLayout(row)
        panel.closed.connect(self._cancel)
        self._show()

    @property
    def folder(self) -> Path:
        """The folder in force."""
        return Path(self._value) if self._value else USUAL[self._name](Settings())

    def _show(self, extra: str = "") -> None:
        free = free_bytes(self.folder)
        self._path.setText(str(self.folder))
        room = tr("{free} free", free=bytes_text(free)) if free is not None else ""
        self._facts.setText(", ".join(part for part in (room, extra) if part))

    def _choose(self) -> None:
        chosen = QFileDialog.getExistingDirectory(self.window(), tr(ABOUT[self._name].words), str(self.folder))
        if chosen:
            self._set(chosen)

    def _set(self, folder: str) -> None:
        self._value = folder
        self._take(folder)
        self._show()

    def measure(self) -> None:
        """Ask the drive."""
        self._cancel()
        folder = self.folder
        self._show(tr("measuring …"))
        self._measuring = Background(lambda wanted: measure_drive(folder, wanted), self)
        self._measuring.done.connect(self._measured)
        self._measuring.failed.connect(lambda error: self._show(str(error)))
        self._measuring.start()

    def _measured(self, speed: DriveSpeed | None) -> None:
        if speed is not None:
            words = tr("writes {write}/s, reads {read}/s", write=bytes_text(speed.write), read=bytes_text(speed.read))
            self._show(words if speed.direct else words + tr(" (through the system's cache)"))

    def _cancel(self) -> None:
        if self._measuring is not None:
            self._measuring.cancel()
            self._measuring = None
