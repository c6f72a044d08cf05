"""One row of the settings page for each kind of field: choices, switches, numbers, folders."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QButtonGroup, QCheckBox, QGridLayout, QHBoxLayout, QLabel, QPushButton, QSlider, QVBoxLayout, QWidget

from worldpager.app.panels.folder_row import FolderRow
from worldpager.app.panels.panel import Panel
from worldpager.app.preferences import Preferences
from worldpager.app.settings import ABOUT, About, Counts
from worldpager.app.words import later, tr

COUNTS_WORDS = {Counts.LIVE: later("at once"), Counts.WORLD: later("from the next world on"), Counts.START: later("from the next start on")}
MANY_CHOICES = 5


class SettingRow(QWidget):
    """Label, control, and below them when a change counts or what overrides the field. Writes through ``preferences``."""

    def __init__(self, panel: Panel, preferences: Preferences, name: str) -> None:
        super().__init__()
        self._panel, self._preferences, self.name = panel, preferences, name
        self._about: About = ABOUT[name]
        self._value = getattr(preferences.values, name)
        self._origin = preferences.origin(name)
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(panel.px(16))
        grid.setVerticalSpacing(panel.px(3))
        grid.setColumnMinimumWidth(0, panel.px(250))
        grid.setColumnStretch(1, 1)
        self.control = self._make_control()
        self.control.setEnabled(not self._origin)
        if isinstance(self.control, QCheckBox):
            grid.addWidget(self.control, 0, 0, 1, 2)
        else:
            label = QLabel(tr(self._about.words))
            label.setWordWrap(True)
            grid.addWidget(label, 0, 0, Qt.AlignmentFlag.AlignVCenter)
            grid.addWidget(self.control, 0, 1)
        note = QLabel(self._note())
        note.setObjectName("note")
        note.setWordWrap(True)
        grid.addWidget(note, 1, 0 if isinstance(self.control, QCheckBox) else 1, 1, 1 if not isinstance(self.control, QCheckBox) else 2)

    def _note(self) -> str:
        counts = tr("set by {origin} for this run", origin=self._origin) if self._origin else tr(COUNTS_WORDS[self._about.counts])
        return " · ".join(part for part in (counts, tr(self._about.more) if self._about.more else "") if part)

    def _set(self, value: Any) -> None:
        self._preferences.set(self.name, value)

    def _make_control(self) -> QWidget:
        if self._about.choices is not None:
            return self._choices()
        if self._about.folder:
            return FolderRow(self._panel, self.name, self._value, self._set)
        if isinstance(self._value, bool):
            return self._switch()
        return self._number()

    def _switch(self) -> QWidget:
        box = QCheckBox(tr(self._about.words))
        box.setChecked(self._value)
        box.toggled.connect(self._set)
        return box

    def _choices(self) -> QWidget:
        assert self._about.choices is not None
        holder = QWidget()
        rows = QVBoxLayout(holder)
        rows.setContentsMargins(0, 0, 0, 0)
        rows.setSpacing(self._panel.px(6))
        group = QButtonGroup(holder)
        for index, (value, words) in enumerate(self._about.choices.items()):
            if index % MANY_CHOICES == 0:
                row = QHBoxLayout()
                row.setSpacing(self._panel.px(6))
                rows.addLayout(row)
            button = QPushButton(tr(words))
            button.setObjectName("choice")
            button.setCheckable(True)
            button.setChecked(value == self._value)
            button.setAccessibleName(f"{tr(self._about.words)}: {tr(words)}")
            button.clicked.connect(lambda _, value=value: self._set(value))
            group.addButton(button)
            row.insertWidget(row.count(), button)
            if index % MANY_CHOICES == MANY_CHOICES - 1 or index == len(self._about.choices) - 1:
                row.addStretch()
        return holder

    def _number(self) -> QWidget:
        about, holder = self._about, QWidget()
        row = QHBoxLayout(holder)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(self._panel.px(12))
        slider, figure = QSlider(Qt.Orientation.Horizontal), QLabel()
        slider.setAccessibleName(tr(about.words))
        slider.setRange(round(about.least / about.step), round(about.most / about.step))
        figure.setMinimumWidth(self._panel.px(70))

        def show(value: float) -> None:
            digits = 0 if about.step >= 1 else 1 if about.step >= 0.1 else 2
            text = f"{value:.{digits}f} {about.unit}".strip()
            figure.setText(text)
            slider.setAccessibleDescription(text)

        def take(steps: int) -> None:
            value = min(about.most, max(about.least, round(steps * about.step, 6)))
            show(value)
            self._set(value)

        slider.setValue(round(self._value / about.step))
        slider.valueChanged.connect(take)
        show(self._value)
        row.addWidget(slider, 1)
        row.addWidget(figure)
        return holder
