"""Asks for another world: its seed, or a surprise."""

from __future__ import annotations

import random

from PySide6.QtCore import QRegularExpression, Qt, Signal
from PySide6.QtGui import QKeyEvent, QRegularExpressionValidator
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QLineEdit, QPushButton, QVBoxLayout, QWidget

from worldpager.app import theme

LARGEST_SEED = 2**31 - 1
STYLE = """
QFrame#panel {{ background: rgba(10, 14, 22, 240); border: 1px solid rgba(255, 255, 255, 30); border-radius: {r18}px; }}
QLabel {{ color: #F3F6FB; font-size: {p13}px; }}
QLabel#title {{ font-size: {p20}px; font-weight: 600; }}
QLabel#quiet {{ color: rgba(214, 222, 236, 190); }}
QLineEdit {{ color: #F3F6FB; background: rgba(255, 255, 255, 20); border: 1px solid rgba(255, 255, 255, 50);
    border-radius: {r8}px; padding: {p8}px {p10}px; font-size: {p16}px; selection-background-color: #0072B2; }}
QLineEdit:focus {{ border: 1px solid #56B4E9; }}
QPushButton {{ color: #F3F6FB; background: rgba(255, 255, 255, 24); border: 1px solid transparent; border-radius: {r8}px;
    padding: {p8}px {p16}px; font-size: {p13}px; }}
QPushButton:hover {{ background: rgba(255, 255, 255, 42); }}
QPushButton:focus {{ border: 1px solid #56B4E9; }}
QPushButton#go {{ background: #0072B2; font-weight: 600; }}
QPushButton#go:hover {{ background: #0A84C8; }}
QPushButton#go:disabled {{ background: rgba(255, 255, 255, 14); color: rgba(255, 255, 255, 90); }}
"""


class NewWorldPanel(QFrame):
    """A card over the picture. Enter takes the seed, Esc goes back."""

    chosen = Signal(int)
    """The seed to play."""
    closed = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("panel")
        self.seed = QLineEdit()
        self.seed.setValidator(QRegularExpressionValidator(QRegularExpression(r"\d{0,9}"), self))
        self.surprise = QPushButton("Surprise me")
        self.go = QPushButton("Go there")
        self.go.setObjectName("go")
        self._columns = QVBoxLayout(self)
        title, words = QLabel("Another world"), QLabel("Every number is a world of its own. The same number always begins the same.")
        title.setObjectName("title")
        words.setObjectName("quiet")
        words.setWordWrap(True)
        buttons = QHBoxLayout()
        buttons.addWidget(self.surprise)
        buttons.addStretch()
        buttons.addWidget(self.go)
        for part in (title, words, self.seed):
            self._columns.addWidget(part)
        self._columns.addLayout(buttons)
        self.seed.textChanged.connect(lambda text: self.go.setEnabled(bool(text)))
        self.seed.returnPressed.connect(self._take)
        self.go.clicked.connect(self._take)
        self.surprise.clicked.connect(self._surprise)
        self.hide()

    def ask(self, seed: int, scale: float) -> None:
        """Show the card, ``seed`` in it, drawn ``scale`` times as large as designed."""
        sizes = {f"{kind}{n}": max(1, round(n * scale)) for kind in "pr" for n in (8, 10, 13, 16, 18, 20)}
        self.setStyleSheet(STYLE.format(**sizes))
        self.setFont(theme.font(13 * scale))
        margin = round(28 * scale)
        self._columns.setContentsMargins(margin, margin, margin, margin)
        self._columns.setSpacing(round(14 * scale))
        self.seed.setText(str(seed))
        self.seed.selectAll()
        self.setFixedSize(round(400 * scale), round(224 * scale))
        self.centre()
        self.show()
        self.raise_()
        self.seed.setFocus()

    def centre(self) -> None:
        """Into the middle of the window."""
        area = self.parentWidget().rect()
        self.move((area.width() - self.width()) // 2, (area.height() - self.height()) // 2)

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        """Esc goes back; nothing falls through to the game."""
        if event.key() == Qt.Key.Key_Escape:
            self._close()
        event.accept()

    def _surprise(self) -> None:
        self.seed.setText(str(random.randrange(1, 10_000)))
        self._take()

    def _take(self) -> None:
        if self.seed.text():
            seed = min(int(self.seed.text()), LARGEST_SEED)
            self._close()
            self.chosen.emit(seed)

    def _close(self) -> None:
        self.hide()
        self.closed.emit()
