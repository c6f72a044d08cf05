"""The keys, and the few settings, on one page (F1)."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QButtonGroup, QCheckBox, QGridLayout, QHBoxLayout, QLabel, QPushButton, QSlider, QVBoxLayout, QWidget

from worldpager.app.panels.panel import Panel
from worldpager.app.settings import CHOICES, SENSITIVITY_RANGE, Settings

MOVE = (("W A S D", "walk"), ("Arrows", "turn and look"), ("Q  E", "turn"), ("Mouse", "look (click; Esc lets go)"), ("Shift", "run"))
PLAY = (
    ("Space  P", "pause"), ("R", "start this world again"), ("N", "another world"), ("M", "memory on or off"),
    ("H", "panels: none, small, full"), ("F", "fill the window or show all"),
)  # fmt: skip
KEEP = (("F12", "screenshot (Shift: picture alone)"), ("F9", "record a film"), ("F11", "full screen"), ("Ctrl+Q", "quit"))
VIEWPORT_NAMES = {"auto": "automatic", "opengl": "OpenGL", "software": "software"}


class KeysPanel(Panel):
    """Keys to the left, settings to the right. ``changed`` follows every change of ``settings``."""

    changed = Signal()
    design_width = 820

    def __init__(self, parent: QWidget, settings: Settings, viewport: str) -> None:
        super().__init__(parent)
        self._settings = settings
        self.add_label("Keys and settings", "title")
        columns = QHBoxLayout()
        columns.setSpacing(self.px(36))
        left, right = QVBoxLayout(), QVBoxLayout()
        for column in (left, right):
            column.setSpacing(self.px(9))
            columns.addLayout(column, 1)
        self._add_keys(left, "MOVE", MOVE)
        self._add_keys(left, "PLAY", PLAY)
        left.addStretch()
        self._add_keys(right, "KEEP", KEEP)
        self._add_settings(right, viewport)
        right.addStretch()
        self.body.addLayout(columns)
        self._done = self.button("Play", primary=True)
        self._done.clicked.connect(self.close_panel)
        self.add_buttons(self._done)

    def first_focus(self) -> QWidget:
        """The way back to play."""
        return self._done

    def _section(self, column: QVBoxLayout, text: str) -> None:
        label = QLabel(text, self.frame)
        label.setObjectName("section")
        column.addSpacing(self.px(4))
        column.addWidget(label)

    def _add_keys(self, column: QVBoxLayout, title: str, keys: tuple[tuple[str, str], ...]) -> None:
        self._section(column, title)
        grid = QGridLayout()
        grid.setHorizontalSpacing(self.px(14))
        grid.setVerticalSpacing(self.px(7))
        grid.setColumnMinimumWidth(0, self.px(92))
        for row, (key, meaning) in enumerate(keys):
            cap, words = QLabel(key, self.frame), QLabel(meaning, self.frame)
            cap.setObjectName("cap")
            grid.addWidget(cap, row, 0, Qt.AlignmentFlag.AlignLeft)
            grid.addWidget(words, row, 1)
        grid.setColumnStretch(1, 1)
        column.addLayout(grid)

    def _add_settings(self, column: QVBoxLayout, viewport: str) -> None:
        self._section(column, "MOUSE")
        slider = QSlider(Qt.Orientation.Horizontal, self.frame)
        slider.setAccessibleName("Mouse sensitivity")
        slider.setRange(*(round(limit * 100) for limit in SENSITIVITY_RANGE))
        slider.setValue(round(self._settings.sensitivity * 100))
        slider.valueChanged.connect(lambda value: self._set("sensitivity", value / 100))
        row = QHBoxLayout()
        row.setSpacing(self.px(12))
        row.addWidget(QLabel("sensitivity", self.frame))
        row.addWidget(slider, 1)
        column.addLayout(row)
        invert = QCheckBox("up and down the other way round", self.frame)
        invert.setChecked(self._settings.invert)
        invert.toggled.connect(lambda on: self._set("invert", on))
        column.addWidget(invert)
        self._section(column, "PICTURE")
        row = QHBoxLayout()
        row.setSpacing(self.px(6))
        choices = QButtonGroup(self)
        for kind in CHOICES["viewport"]:
            choice = QPushButton(VIEWPORT_NAMES[kind], self.frame)
            choice.setObjectName("choice")
            choice.setCheckable(True)
            choice.setChecked(kind == self._settings.viewport)
            choice.clicked.connect(lambda _, kind=kind: self._set("viewport", kind))
            choices.addButton(choice)
            row.addWidget(choice)
        row.addStretch()
        column.addLayout(row)
        note = QLabel(f"Drawn by {VIEWPORT_NAMES[viewport]} now; another choice counts from the next start.", self.frame)
        note.setObjectName("soft")
        note.setWordWrap(True)
        column.addWidget(note)

    def _set(self, name: str, value: object) -> None:
        setattr(self._settings, name, value)
        self.changed.emit()
