"""All settings and keys on pages (F1). Every change counts and is written as it is made."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QButtonGroup, QFrame, QHBoxLayout, QLabel, QPushButton, QScrollArea, QStackedWidget, QVBoxLayout, QWidget

from worldpager.app.panels.panel import WIDTH_SHARE, Panel
from worldpager.app.panels.settings_rows import SettingRow
from worldpager.app.preferences import Preferences
from worldpager.app.settings import ABOUT, Page
from worldpager.app.words import later, tr

KEYS_PAGE = "keys"
TITLES: dict[str, str] = {
    KEYS_PAGE: later("Keys"), Page.PICTURE: later("Picture"), Page.CONTROLS: later("Mouse and gamepad"),
    Page.WORLD: later("World and memory"), Page.RECORDING: later("Recording"), Page.SOUND: later("Sound"), Page.COMFORT: later("Comfort"),
}  # fmt: skip
HEIGHT_SHARE = 0.62
"""Share of the window's height that a page may take."""


class SettingsPanel(Panel):
    """Pages chosen by a row of buttons. ``keys`` is the page of keys. ``reset_asked``: everything back to its default."""

    reset_asked = Signal()
    design_width = 860

    def __init__(self, parent: QWidget, preferences: Preferences, keys: QWidget, page: str = KEYS_PAGE) -> None:
        super().__init__(parent)
        self._preferences = preferences
        self.rows: dict[str, SettingRow] = {}
        self.add_label(tr("Keys and settings"), "title")
        self._stack = QStackedWidget(self.frame)
        self._tabs: dict[str, QPushButton] = {}
        self._pages: list[QWidget] = []
        self._add_tabs(keys)
        for complaint in preferences.complaints:
            self.add_label(complaint, "soft")
        self.body.addWidget(self._stack, 1)
        reset, self._done = self.button(tr("All to defaults")), self.button(tr("Done"), primary=True)
        reset.clicked.connect(self.reset_asked)
        self._done.clicked.connect(self.close_panel)
        self.add_buttons(reset, self._done)
        self.show_page(page)

    def first_focus(self) -> QWidget:
        """The tab that is open: arrows and Tab lead on from there."""
        return self._tabs[self.page]

    @property
    def page(self) -> str:
        """Name of the page that is open."""
        return list(self._tabs)[self._stack.currentIndex()]

    def show_page(self, page: str) -> None:
        """Open ``page``."""
        self._tabs[page].setChecked(True)
        self._stack.setCurrentIndex(list(self._tabs).index(page))

    def fit_height(self) -> None:
        """As high as the window allows, up to what the pages need."""
        need = max(page.sizeHint().height() for page in self._pages)
        wanted = min(need + self.px(8), round(self.height() * HEIGHT_SHARE))
        self._stack.setFixedHeight(wanted)
        super().fit_height()
        surplus = self.frame.height() - round(WIDTH_SHARE * self.height())
        if surplus > 0:
            self._stack.setFixedHeight(max(self.px(120), wanted - surplus))
            super().fit_height()

    def _add_tabs(self, keys: QWidget) -> None:
        row, group = QHBoxLayout(), QButtonGroup(self)
        row.setSpacing(self.px(6))
        for index, (page, title) in enumerate(TITLES.items()):
            tab = QPushButton(tr(title), self.frame)
            tab.setObjectName("choice")
            tab.setCheckable(True)
            tab.clicked.connect(lambda _, page=page: self.show_page(page))
            group.addButton(tab, index)
            row.addWidget(tab)
            self._tabs[page] = tab
            self._stack.addWidget(self._scrolled(keys if page == KEYS_PAGE else self._rows_of(Page(page))))
        row.addStretch()
        self.body.addLayout(row)

    def _rows_of(self, page: Page) -> QWidget:
        holder = QWidget()
        column = QVBoxLayout(holder)
        column.setContentsMargins(0, self.px(4), self.px(10), self.px(4))
        column.setSpacing(self.px(14))
        for name, about in ABOUT.items():
            if about.page == page:
                self.rows[name] = SettingRow(self, self._preferences, name)
                column.addWidget(self.rows[name])
        if page == Page.COMFORT:
            column.addWidget(self._note(tr("These settings lie in {path}.", path=self._preferences.path)))
        column.addStretch()
        return holder

    def _note(self, text: str) -> QLabel:
        note = QLabel(text)
        note.setObjectName("note")
        note.setWordWrap(True)
        return note

    def _scrolled(self, page: QWidget) -> QScrollArea:
        area = QScrollArea()
        area.setWidgetResizable(True)
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._pages.append(page)
        area.setWidget(page)
        return area
