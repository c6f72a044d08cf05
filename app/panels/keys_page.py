"""The page of keys: what each control and action listens to, and how to change it. A key that is taken says by whom."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QGuiApplication, QKeyEvent
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from worldpager.app.actions import Section, all_actions
from worldpager.app.input.bindings import CONTROL_WORDS, MODIFIERS, Bindings, is_control, key_text, sequence_of, words_of
from worldpager.app.input.places import place_of
from worldpager.app.words import later, tr

SECTIONS: dict[str, str] = {
    "move": later("MOVE"), Section.PLAY: later("PLAY"), Section.KEEP: later("KEEP"), Section.VIEW: later("VIEW"),
    Section.WINDOW: later("WINDOW"),
}  # fmt: skip
FIXED = frozenset(("release",))
"""Actions that keep their key: without Esc nothing would let the mouse go."""


class KeysPage(QWidget):
    """Two columns of names and key caps. ``changed()`` is called after each change of ``bindings``; ``px`` scales design pixels."""

    def __init__(self, bindings: Bindings, changed: Callable[[], None], px: Callable[[float], int]) -> None:
        super().__init__()
        self._bindings, self._changed, self._px = bindings, changed, px
        self.buttons: dict[str, QPushButton] = {}
        self._waiting: str | None = None
        self._asked: tuple[str, str] | None = None
        column = QVBoxLayout(self)
        column.setContentsMargins(0, px(4), px(10), px(4))
        column.setSpacing(px(10))
        self.message = QLabel(tr("Press a button, then the key you want. Backspace takes the keys away. The mouse looks as well."))
        self.message.setObjectName("note")
        self.message.setWordWrap(True)
        column.addWidget(self.message)
        columns = QHBoxLayout()
        columns.setSpacing(px(28))
        column.addLayout(columns)
        for sections in (("move", Section.WINDOW), (Section.PLAY, Section.KEEP, Section.VIEW)):
            side = QVBoxLayout()
            side.setSpacing(px(6))
            for section in sections:
                self._add_section(side, section)
            side.addStretch()
            columns.addLayout(side, 1)
        restore = QPushButton(tr("All keys to defaults"))
        restore.setObjectName("choice")
        restore.clicked.connect(self._restore)
        column.addWidget(restore, 0, Qt.AlignmentFlag.AlignLeft)

    def _add_section(self, side: QVBoxLayout, section: str) -> None:
        title = QLabel(tr(SECTIONS[section]))
        title.setObjectName("section")
        side.addSpacing(self._px(4))
        side.addWidget(title)
        grid = QGridLayout()
        grid.setHorizontalSpacing(self._px(10))
        grid.setVerticalSpacing(self._px(4))
        grid.setColumnStretch(0, 1)
        names = list(CONTROL_WORDS) if section == "move" else [each.name for each in all_actions().values() if each.section == section]
        for row, name in enumerate(names):
            label, button = QLabel(tr(words_of(name))), QPushButton()
            label.setWordWrap(True)
            button.setObjectName("cap")
            button.setEnabled(name not in FIXED)
            button.clicked.connect(lambda _=False, name=name: self._listen(name))
            button.installEventFilter(self)
            self.buttons[name] = button
            grid.addWidget(label, row, 0)
            grid.addWidget(button, row, 1, Qt.AlignmentFlag.AlignRight)
            self._write(name)
        side.addLayout(grid)

    def _write(self, name: str) -> None:
        keys = "   ".join(key_text(name, key) for key in self._bindings.keys_of(name))
        button = self.buttons[name]
        button.setText(keys or tr("no key"))
        button.setAccessibleName(f"{tr(words_of(name))}: {keys or tr('no key')}")

    def _listen(self, name: str) -> None:
        self.stop()
        self._waiting = name
        self.buttons[name].setText(tr("press a key …"))
        self.message.setText(tr("Press the key for “{what}”. Esc leaves it as it is.", what=tr(words_of(name))))

    def stop(self) -> None:
        """Wait for no key any more."""
        name, self._waiting, self._asked = self._waiting, None, None
        if name is not None:
            self._write(name)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """While a key is awaited every press belongs to the page, Tab and Enter too."""
        if self._waiting is None or event.type() not in (QEvent.Type.KeyPress, QEvent.Type.ShortcutOverride, QEvent.Type.FocusOut):
            return super().eventFilter(watched, event)
        if event.type() == QEvent.Type.FocusOut:
            self.stop()
            return False
        if event.type() == QEvent.Type.KeyPress and isinstance(event, QKeyEvent) and not event.isAutoRepeat():
            self._heard(self._waiting, event)
        event.accept()
        return True

    def _heard(self, name: str, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.stop()
            self.message.setText("")
            return
        if event.key() == Qt.Key.Key_Backspace and not event.modifiers():
            for old in self._bindings.keys_of(name):
                self._bindings.unbind(name, old)
            self._settled(name, tr("“{what}” has no key now.", what=tr(words_of(name))))
            return
        key = self._key_of(name, event)
        if key is None:
            if not is_control(name) and event.key() in MODIFIERS:
                return  # the rest of the combination follows
            self.message.setText(tr("That key can't be used. Press another one."))
            return
        holder = self._bindings.holder(name, key)
        if holder in FIXED or (holder is not None and self._asked != (name, key)):
            self._ask(name, key, holder)
            return
        taken = self._bindings.bind(name, key)
        if taken is not None:
            self._write(taken)
        self._settled(name, "")

    def _key_of(self, name: str, event: QKeyEvent) -> str | None:
        if is_control(name):
            return place_of(event.nativeScanCode(), event.key(), QGuiApplication.platformName())
        return sequence_of(event.key(), event.modifiers())

    def _ask(self, name: str, key: str, holder: str | None) -> None:
        assert holder is not None
        shown, what = key_text(name, key), tr(words_of(holder))
        if holder in FIXED:
            self.message.setText(tr("{key} always means “{what}”. Press another key.", key=shown, what=what))
            return
        self._asked = (name, key)
        words = tr("⚠ {key} already means “{what}”. Press it again to take it from there, or another key.", key=shown, what=what)
        self.message.setText(words)

    def _settled(self, name: str, message: str) -> None:
        self._waiting = self._asked = None
        self._write(name)
        self.message.setText(message)
        self._changed()

    def _restore(self) -> None:
        self.stop()
        self._bindings.restore()
        for name in self.buttons:
            self._write(name)
        self._changed()
