"""The page of recordings: play, show in the folder, rename, delete, make a clip."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QSize, Qt, QUrl, Signal
from PySide6.QtGui import QDesktopServices, QImage, QPixmap
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QListWidget, QListWidgetItem, QPushButton, QWidget

from worldpager.app import theme
from worldpager.app.background import Background
from worldpager.app.film_shelf import THUMBNAIL, FilmShelf, Label, Reel
from worldpager.app.overlay.card import bytes_text
from worldpager.app.panels.film_player import FilmPlayer
from worldpager.app.panels.panel import Panel
from worldpager.app.words import tr
from worldpager.engine.errors import WorldPagerError
from worldpager.engine.recorder import export_clip

LIST_HEIGHT = 330


class FilmsPanel(Panel):
    """Lists the films of ``shelf``. ``told``: words about what was done; ``chosen``: path of the film to begin with, if any."""

    told = Signal(str)
    design_width = 780

    def __init__(self, parent: QWidget, shelf: FilmShelf, clock: Callable[[], float], chosen: Path | None = None) -> None:
        super().__init__(parent)
        self._shelf, self._clock = shelf, clock
        self._labels: dict[Path, Label] = {}
        self._waiting: deque[Reel] = deque()
        self._work: Background | None = None
        self._clip: Background | None = None
        self.player: FilmPlayer | None = None
        self._sure = False
        self.add_label(tr("Recordings"), "title")
        self.list = QListWidget(self.frame)
        self.list.setAccessibleName(tr("Recordings"))
        self.list.setIconSize(QSize(self.px(THUMBNAIL[0] / 2), self.px(THUMBNAIL[1] / 2)))
        self.list.setFixedHeight(self.px(LIST_HEIGHT))
        self.list.setStyleSheet(
            f"QListWidget {{ background: rgba(0,0,0,60); border: none; border-radius: {self.px(8)}px; outline: none; }}"
            f"QListWidget::item {{ padding: {self.px(5)}px; }}"
            f"QListWidget::item:selected {{ background: rgba(86,180,233,70); border-radius: {self.px(6)}px; color: white; }}"
        )
        self.list.currentItemChanged.connect(lambda *_: self._changed())
        self.list.itemActivated.connect(lambda _: self.play())
        self.body.addWidget(self.list)
        self._note = self.add_label("", "note")
        self.name = QLineEdit(self.frame)
        self.name.setAccessibleName(tr("new name"))
        self.name.returnPressed.connect(self._rename)
        self.name.hide()
        self.body.addWidget(self.name)
        self._buttons: dict[str, QPushButton] = {}
        row = QHBoxLayout()
        row.setSpacing(self.px(8))
        for key, words, work in (
            ("play", tr("Play"), self.play), ("open", tr("System's player"), self._open), ("reveal", tr("Show in folder"),
            self._reveal), ("rename", tr("Rename"), self._ask_name), ("clip", tr("Make a clip"), self._make_clip), ("delete", tr("Delete"),
            self._delete),
        ):  # fmt: skip
            self._buttons[key] = self.button(words, primary=key == "play")
            self._buttons[key].clicked.connect(lambda _=False, work=work: work())
            row.addWidget(self._buttons[key])
        self.body.addLayout(row)
        done = self.button(tr("Back"))
        done.clicked.connect(self.close_panel)
        self.add_buttons(done)
        self._fill(chosen)

    def first_focus(self) -> QWidget | None:
        """The list."""
        return self.list

    @property
    def current(self) -> Path | None:
        """The chosen film."""
        row = self.list.currentRow()
        return Path(self.list.item(row).data(Qt.ItemDataRole.UserRole)) if row >= 0 else None

    def close_panel(self) -> None:
        """End what is under way, then go."""
        self.let_go()
        super().close_panel()

    def let_go(self) -> None:
        """End the player and all work in the background; the window may be closing."""
        self._stop_player()
        for work in (self._work, self._clip):
            if work is not None:
                work.cancel()
        self._work = self._clip = None

    def play(self) -> None:
        """Play the chosen film here, or stop it."""
        if self.player is not None:
            self._stop_player()
            return
        path = self.current
        label = self._labels.get(path) if path else None
        if path is None or label is None or label.facts is None:
            return
        width = self.frame.width() - 2 * self.px(28)
        height = min(self.px(420), round(width * label.facts.height / label.facts.width))
        self.player = FilmPlayer(
            self.frame, path, label.facts, QSize(round(height * label.facts.width / label.facts.height), height), self._clock
        )
        self.list.hide()
        self.body.insertWidget(1, self.player, 0, Qt.AlignmentFlag.AlignHCenter)
        self.player.show()
        self.player.setFocus()
        self._buttons["play"].setText(tr("Stop"))
        self.fit_height()

    def _stop_player(self) -> None:
        if self.player is not None:
            self.player.stop()
            self.body.removeWidget(self.player)
            self.player.deleteLater()
            self.player = None
            self.list.show()
            self.list.setFocus()
            self._buttons["play"].setText(tr("Play"))
            self.fit_height()

    # The list

    def _fill(self, chosen: Path | None = None) -> None:
        self.list.clear()
        reels = self._shelf.reels()
        for reel in reels:
            item = QListWidgetItem(self._line(reel))
            item.setData(Qt.ItemDataRole.UserRole, str(reel.path))
            blank = QPixmap(self.list.iconSize())
            blank.fill(theme.TROUGH)
            item.setIcon(blank)
            self.list.addItem(item)
            if reel.path == chosen or self.list.currentRow() < 0:
                self.list.setCurrentItem(item)
        self._waiting = deque(reel for reel in reels if reel.path not in self._labels)
        for path, label in self._labels.items():
            self._show_label(path, label)
        self._read_next()
        self._changed()

    def _line(self, reel: Reel) -> str:
        return f"{reel.path.stem}\n{reel.when:%Y-%m-%d %H:%M}  ·  {bytes_text(reel.size)}"

    def _read_next(self) -> None:
        """Read one film's label after another, in the background."""
        if self._work is not None or not self._waiting:
            return
        reel = self._waiting.popleft()
        self._work = Background(lambda wanted: (reel.path, self._shelf.label(reel)), self)
        self._work.done.connect(self._labelled)
        self._work.failed.connect(lambda _: self._next_after_failure())
        self._work.start()

    def _next_after_failure(self) -> None:
        self._work = None
        self._read_next()

    def _labelled(self, found: tuple[Path, Label]) -> None:
        self._work = None
        path, label = found
        self._labels[path] = label
        self._show_label(path, label)
        self._changed()
        self._read_next()

    def _show_label(self, path: Path, label: Label) -> None:
        for row in range(self.list.count()):
            item = self.list.item(row)
            if item.data(Qt.ItemDataRole.UserRole) == str(path):
                item.setText(
                    f"{item.text().splitlines()[0]}\n{item.text().splitlines()[1]}  ·  {label.words}" if label.words else item.text()
                )
                if label.picture is not None:
                    high, wide = label.picture.shape[:2]
                    image = QImage(label.picture.tobytes(), wide, high, 3 * wide, QImage.Format.Format_RGB888)
                    item.setIcon(QPixmap.fromImage(image))

    def _changed(self) -> None:
        """What can be done with the chosen film."""
        path = self.current
        label = self._labels.get(path) if path else None
        self._sure = False
        self._buttons["delete"].setText(tr("Delete"))
        self.name.hide()
        playable = label is not None and label.facts is not None
        for key, button in self._buttons.items():
            button.setEnabled(path is not None and (playable or key not in ("play", "clip")))
        if path is None:
            self._say(tr("Nothing is recorded yet: F9 films, F8 saves the last seconds. They go to {folder}.", folder=self._shelf.folder))
        else:
            self._say("")

    def _say(self, words: str) -> None:
        self._note.setText(words)
        self._note.setVisible(bool(words))

    # What can be done

    def _open(self) -> None:
        if self.current is not None:
            QDesktopServices.openUrl(QUrl.fromLocalFile(str(self.current)))

    def _reveal(self) -> None:
        QDesktopServices.openUrl(QUrl.fromLocalFile(str(self._shelf.folder)))

    def _ask_name(self) -> None:
        if self.current is not None:
            self.name.setText(self.current.stem)
            self.name.show()
            self.name.setFocus()
            self.name.selectAll()
            self.fit_height()

    def _rename(self) -> None:
        path = self.current
        if path is None:
            return
        try:
            target = self._shelf.rename(path, self.name.text())
        except WorldPagerError as error:
            self._say(str(error))
            return
        label = self._labels.pop(path, None)
        if label is not None:
            self._labels[target] = label
        self._fill(target)
        self.list.setFocus()

    def _delete(self) -> None:
        """Asks once more by its own words; the second press deletes."""
        path = self.current
        if path is None:
            return
        if not self._sure:
            self._sure = True
            self._buttons["delete"].setText(tr("Really delete"))
            return
        self._stop_player()
        try:
            in_trash = self._shelf.delete(path)
        except WorldPagerError as error:
            self._say(str(error))
            return
        self._labels.pop(path, None)
        self._fill()
        self._say(tr("{name} lies in the trash", name=path.name) if in_trash else tr("{name} is deleted", name=path.name))

    def _make_clip(self) -> None:
        path = self.current
        if path is None or self._clip is not None:
            return
        self._say(tr("making a clip"))
        target = path.with_suffix(".webp")
        self._clip = Background(lambda wanted: export_clip(path, target), self)
        self._clip.done.connect(self._clipped)
        self._clip.failed.connect(self._clip_failed)
        self._clip.start()

    def _clipped(self, path: Path) -> None:
        self._clip = None
        self._fill(path)
        self._say(tr("clip saved: {path}", path=path.name))

    def _clip_failed(self, error: object) -> None:
        self._clip = None
        self._say(str(error))
