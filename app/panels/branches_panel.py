"""The world's branches as a tree with pictures, and its bookmarks: look, go there, rename, delete."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QIcon, QImage, QPixmap
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QLabel, QLineEdit, QPushButton, QScrollArea, QVBoxLayout, QWidget

from worldpager.app.panels.panel import Panel
from worldpager.app.words import tr
from worldpager.engine.session.branch import Branch
from worldpager.engine.session.session import SessionView

STILLS = 4
"""Pictures of a branch, evenly spread over what is its own."""
STILL = (84, 56)
INDENT, DEEPEST = 22, 5
COLUMNS = 5
LIST_HEIGHT = 330


class BranchesPanel(Panel):
    """Branches and bookmarks of ``view``. Signals say what a person chose; the panel is made anew when something has changed."""

    go = Signal(int)
    """Stand at this chunk."""
    recall = Signal(int)
    """Put the camera at the place of this chunk."""
    rename_branch = Signal(int, str)
    delete_branch = Signal(int)
    forget_bookmark = Signal(str)
    keep_asked = Signal()
    design_width = 900

    def __init__(self, parent: QWidget, view: SessionView, picture: Callable[[int], bytes | None], size: str) -> None:
        super().__init__(parent)
        self._view, self._picture = view, picture
        self.add_label(tr("Branches and bookmarks"), "title")
        scratch = tr("A scratch world: it goes when you leave it.")
        self.add_label(tr("Kept in {folder}, {size}.", folder=view.folder, size=size) if view.folder else scratch, "soft")
        self.add_label(tr("Branches").upper(), "section")
        self._add_branches()
        self.add_label(tr("Bookmarks").upper(), "section")
        self._add_bookmarks()
        done = self.button(tr("Back to play"), primary=True)
        done.clicked.connect(self.close_panel)
        self._done = done
        buttons = [done]
        if view.folder is None:
            keep = self.button(tr("Keep this world"))
            keep.clicked.connect(self.keep_asked)
            buttons.insert(0, keep)
        self.add_buttons(*buttons)

    def first_focus(self) -> QWidget:
        """The way back to play."""
        return self._done

    # Branches

    def _add_branches(self) -> None:
        rows = QWidget(self.frame)
        column = QVBoxLayout(rows)
        column.setContentsMargins(0, 0, self.px(8), 0)
        column.setSpacing(self.px(8))
        for branch, depth in tree_order(self._view):
            column.addWidget(self._branch_row(branch, depth))
        area = QScrollArea(self.frame)
        area.setObjectName("plain")
        area.setWidgetResizable(True)
        area.setFrameShape(QScrollArea.Shape.NoFrame)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        area.setStyleSheet("QScrollArea { background: transparent; } QScrollArea > QWidget > QWidget { background: transparent; }")
        area.setWidget(rows)
        area.setFixedHeight(min(self.px(LIST_HEIGHT), rows.sizeHint().height()))
        self.body.addWidget(area)

    def _branch_row(self, branch: Branch, depth: int) -> QWidget:
        view, here = self._view, branch.id == self._view.branch
        own = [chunk.id for chunk in view.chunks.values() if chunk.branch == branch.id]
        row = QWidget(self.frame)
        line = QHBoxLayout(row)
        line.setContentsMargins(self.px(INDENT * min(depth, DEEPEST)), 0, 0, 0)
        line.setSpacing(self.px(8))
        words = QVBoxLayout()
        name = QLineEdit(branch.name, row)
        name.setAccessibleName(tr("Name of branch {name}", name=branch.name))
        name.setFixedWidth(self.px(150))
        name.setStyleSheet(f"font-size: {self.px(13)}px; padding: {self.px(4)}px {self.px(8)}px;")
        name.editingFinished.connect(lambda: self._rename(branch, name.text()))
        words.addWidget(name)
        facts = tr("{count} chunks", count=len(own)) + (tr(", you are here") if here else "")
        label = QLabel(facts, row)
        label.setObjectName("soft")
        words.addWidget(label)
        line.addLayout(words)
        for chunk in spread(own, STILLS):
            line.addWidget(self._still(chunk, tr("Go to chunk {number}", number=view.chunks[chunk].number + 1), self.go))
        line.addStretch()
        tip = view.tips.get(branch.id)
        if not here and tip is not None:
            switch, delete = self.button(tr("Go there")), self.button(tr("Delete"))
            switch.clicked.connect(lambda: self.go.emit(tip))
            delete.clicked.connect(lambda: self._delete(branch, delete))
            line.addWidget(switch)
            line.addWidget(delete)
        return row

    def _rename(self, branch: Branch, name: str) -> None:
        if name.strip() and name.strip() != branch.name:
            self.rename_branch.emit(branch.id, name.strip())

    def _delete(self, branch: Branch, button: QPushButton) -> None:
        """The first press asks, the second one does it."""
        if button.property("sure"):
            self.delete_branch.emit(branch.id)
        else:
            button.setProperty("sure", True)
            button.setText(tr("For good?"))

    # Bookmarks

    def _add_bookmarks(self) -> None:
        if not self._view.bookmarks:
            self.add_label(tr("None yet. Ctrl+B marks the place where you stand."), "soft")
            return
        grid = QGridLayout()
        grid.setSpacing(self.px(10))
        for place, mark in enumerate(self._view.bookmarks):
            cell = QVBoxLayout()
            cell.addWidget(self._still(mark.chunk, tr("Stand at {name} again", name=mark.name), self.recall, large=True))
            words = QHBoxLayout()
            words.addWidget(QLabel(mark.name, self.frame))
            words.addStretch()
            forget = QPushButton("×", self.frame)
            forget.setObjectName("choice")
            forget.setAccessibleName(tr("Remove bookmark {name}", name=mark.name))
            forget.clicked.connect(lambda _=False, name=mark.name: self.forget_bookmark.emit(name))
            words.addWidget(forget)
            cell.addLayout(words)
            grid.addLayout(cell, place // COLUMNS, place % COLUMNS)
        grid.setColumnStretch(COLUMNS, 1)
        self.body.addLayout(grid)

    def _still(self, chunk: int, words: str, signal: object, *, large: bool = False) -> QPushButton:
        """A picture that can be pressed."""
        button = QPushButton(self.frame)
        factor = 1.6 if large else 1.0
        size = QSize(self.px(STILL[0] * factor), self.px(STILL[1] * factor))
        jpeg = self._picture(chunk)
        if jpeg:
            how = Qt.AspectRatioMode.KeepAspectRatioByExpanding
            image = QImage.fromData(jpeg).scaled(size, how, Qt.TransformationMode.SmoothTransformation)
            button.setIcon(QIcon(QPixmap.fromImage(image)))
        button.setIconSize(size)
        button.setFixedSize(size + QSize(self.px(6), self.px(6)))
        button.setStyleSheet("padding: 0px;")
        button.setToolTip(words)
        button.setAccessibleName(words)
        button.clicked.connect(lambda: signal.emit(chunk))  # type: ignore[attr-defined]
        return button


def tree_order(view: SessionView) -> list[tuple[Branch, int]]:
    """Branches, each below the one that it forks from, with how deep it stands in the tree."""
    owner = {branch.id: None if branch.fork is None else view.chunks[branch.fork].branch for branch in view.branches}
    known = {branch.id for branch in view.branches}

    def below(parent: int | None, depth: int) -> list[tuple[Branch, int]]:
        rows: list[tuple[Branch, int]] = []
        for branch in view.branches:
            above = owner[branch.id] if owner[branch.id] in known else None
            if above == parent:
                rows += [(branch, depth), *below(branch.id, depth + 1)]
        return rows

    return below(None, 0)


def spread(chunks: list[int], count: int) -> list[int]:
    """At most ``count`` of ``chunks``, evenly spread, first and last among them."""
    if len(chunks) <= count:
        return chunks
    return [chunks[round(i * (len(chunks) - 1) / (count - 1))] for i in range(count)]
