"""A panel in the middle of the window, over a dimmed picture."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QColor, QKeyEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QApplication, QFrame, QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from worldpager.app import theme

WIDTH_SHARE = 0.97
"""Share of the window that a panel may take, whatever size of text is asked for."""


class Panel(QWidget):
    """Covers its parent; ``body`` takes the content. ``closable`` panels close with Esc. Destroyed once closed."""

    closed = Signal()
    closable = True
    design_width = 460

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._under = parent
        self.scale = self.scale_in(parent)
        self.frame = QFrame(self)
        self.frame.setObjectName("panel")
        self.frame.setFixedWidth(self.px(self.design_width))
        self.body = QVBoxLayout(self.frame)
        self.body.setContentsMargins(*([self.px(28)] * 4))
        self.body.setSpacing(self.px(14))
        centre = QVBoxLayout(self)
        centre.addStretch()
        centre.addWidget(self.frame, 0, Qt.AlignmentFlag.AlignHCenter)
        centre.addStretch()
        self.setStyleSheet(theme.sheet(self.scale))
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)

    @classmethod
    def scale_in(cls, parent: QWidget) -> float:
        """Enlargement in a window of this size: never wider than it."""
        return min(theme.scale_for(parent.width(), parent.height()), WIDTH_SHARE * parent.width() / cls.design_width)

    def px(self, pixels: float) -> int:
        """Design pixels in this window's pixels."""
        return round(pixels * self.scale)

    def open(self) -> None:
        """Cover the parent and take the keyboard."""
        self.setGeometry(self._under.rect())
        self.show()
        self.raise_()
        self.fit_height()
        (self.first_focus() or self).setFocus()

    def fit_height(self) -> None:
        """Make the frame as high as its words need at its width."""
        self.body.invalidate()
        width = self.frame.width()
        high = self.body.totalHeightForWidth(width) if self.body.hasHeightForWidth() else self.body.totalSizeHint().height()
        self.frame.setFixedHeight(high)

    def close_panel(self) -> None:
        """Go away and say so."""
        self.hide()
        self.closed.emit()
        self.deleteLater()

    def first_focus(self) -> QWidget | None:
        """The control that has the keyboard at first."""
        return None

    def add_label(self, text: str, name: str = "", *, wrap: bool = True) -> QLabel:
        """A label at the end of the body; ``name`` picks its style."""
        label = QLabel(text, self.frame)
        label.setObjectName(name)
        label.setWordWrap(wrap)
        self.body.addWidget(label)
        return label

    def add_buttons(self, *buttons: QPushButton) -> None:
        """A row of buttons at the right, the primary one last."""
        row = QHBoxLayout()
        row.setSpacing(self.px(10))
        row.addStretch()
        for button in buttons:
            row.addWidget(button)
        self.body.addSpacing(self.px(6))
        self.body.addLayout(row)

    def button(self, text: str, *, primary: bool = False) -> QPushButton:
        """A button that Enter presses when it has the keyboard."""
        made = QPushButton(text, self.frame)
        made.setAutoDefault(True)
        made.setDefault(primary)
        if primary:
            made.setObjectName("primary")
        return made

    def focusNextPrevChild(self, forward: bool) -> bool:
        """Tab goes round inside the panel."""
        if super().focusNextPrevChild(forward) and self.isAncestorOf(QApplication.focusWidget() or self):
            return True
        within: list[QWidget] = []
        other = self.nextInFocusChain()
        while other is not None and other is not self:
            if self.isAncestorOf(other) and other.isVisible() and other.isEnabled() and other.focusPolicy() & Qt.FocusPolicy.TabFocus:
                within.append(other)
            other = other.nextInFocusChain()
        if within:
            reason = Qt.FocusReason.TabFocusReason if forward else Qt.FocusReason.BacktabFocusReason
            within[0 if forward else -1].setFocus(reason)
        return bool(within)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Esc closes; every other key stays here, so that typing steers nothing."""
        if event.key() == Qt.Key.Key_Escape and self.closable:
            self.close_panel()
        event.accept()

    def keyReleaseEvent(self, event: QKeyEvent) -> None:
        """Stays here."""
        event.accept()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Dim what lies below."""
        painter = QPainter(self)
        painter.fillRect(self.rect(), QColor(4, 6, 10, 150))
        painter.end()
