"""The start page: go on, open a new world, a kept one, a recording; what the machine gives; settings. Covers the whole window."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from PySide6.QtCore import QRegularExpression, Qt, QTimer, Signal
from PySide6.QtGui import (
    QDragEnterEvent,
    QDropEvent,
    QGuiApplication,
    QImage,
    QKeyEvent,
    QKeySequence,
    QPainter,
    QPaintEvent,
    QPixmap,
    QRegularExpressionValidator,
    QResizeEvent,
    QShortcut,
)
from PySide6.QtWidgets import (
    QButtonGroup,
    QFileDialog,
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from worldpager.app import theme
from worldpager.app.panels.loading_page import GROUND_SIZE, night_ground
from worldpager.app.panels.new_world_panel import MOST, SURPRISES
from worldpager.app.panels.panel import Panel
from worldpager.app.panels.start_cards import WorldCard
from worldpager.app.pasted_picture import pasted_picture
from worldpager.app.previews import TURNS, Previews
from worldpager.app.words import tr

SCENES = (7, 12, 21, 42)
"""Worlds that the page offers at first."""
ABSENT = "○ "
"""Before the name of a model that can't be played yet; its words say why."""
MODELS_A_ROW = 4
PICTURES = "*.png *.jpg *.jpeg *.webp *.bmp"
TURN_MS = 140
LEFT_WIDTH = 300


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """``words``: what it is, need and have; ``ready``: it can be played now; ``takes_picture``: a world may begin with one's own."""

    name: str
    words: str
    ready: bool
    takes_picture: bool = False


@dataclass(frozen=True, slots=True)
class KeptThing:
    """A kept world or a recording: ``key`` names it to the window, the rest is shown."""

    key: str
    title: str
    line: str
    picture: QImage | None = None


@dataclass(frozen=True, slots=True)
class StartContent:
    """What the page shows. ``goes_on``: a world is open behind it; ``machine``: lines about what it gives."""

    models: Sequence[ModelChoice]
    model: str
    worlds: Sequence[KeptThing]
    recordings: Sequence[KeptThing]
    machine: Sequence[str]
    goes_on: str = ""


class StartPage(Panel):
    """See the module. Esc goes back to the world, if one is open."""

    design_width = 1240

    new_world = Signal(str, int)
    """(model, seed) to open."""
    picture_world = Signal(str, str)
    """(model, path of the picture) to begin with."""
    kept_world = Signal(str)
    recording = Signal(str)
    models_asked = Signal()
    settings_asked = Signal()
    keys_asked = Signal()
    leave_asked = Signal()
    pressed = Signal(QKeyEvent)
    """A key that means nothing on the page itself."""

    def __init__(self, parent: QWidget, content: StartContent, previews: Previews, *, still: bool = False) -> None:
        super().__init__(parent)
        self._content, self._previews, self._still = content, previews, still
        self.closable = bool(content.goes_on)
        self.model = content.model
        self._turn = 0
        self._ground = QPixmap.fromImage(night_ground(*GROUND_SIZE))
        self.frame.hide()
        self._scenes: list[WorldCard] = []
        self._seeds: list[int] = list(SCENES)
        self._build()
        previews.drawn.connect(self._drawn)
        previews.show(self.model, self._seeds)
        self._timer = QTimer(self, interval=TURN_MS)
        self._timer.timeout.connect(self._turn_on)
        if not still:
            self._timer.start()
        self.closed.connect(self._timer.stop)
        self.closed.connect(previews.rest)
        QShortcut(QKeySequence(QKeySequence.StandardKey.Paste), self).activated.connect(self.paste)

    def first_focus(self) -> QWidget:
        """What a person most likely wants: back to the world, or a new one."""
        return self.go_on if self.go_on.isVisibleTo(self) else self._scenes[0]

    def fit_height(self) -> None:
        """The page has the window's height."""
        self._area.setGeometry(self.rect())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Fill the window."""
        self._area.setGeometry(self.rect())

    # What it is made of

    def _build(self) -> None:
        page = QWidget()
        columns = QHBoxLayout(page)
        columns.setContentsMargins(*[self.px(40)] * 4)
        columns.setSpacing(self.px(44))
        columns.addWidget(self._left())
        columns.addLayout(self._right(), 1)
        self._area = QScrollArea(self)
        self._area.setWidgetResizable(True)
        self._area.setFrameShape(QFrame.Shape.NoFrame)
        self._area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._area.setWidget(page)

    def _left(self) -> QWidget:
        side = QWidget()
        side.setFixedWidth(self.px(LEFT_WIDTH))
        column = QVBoxLayout(side)
        column.setContentsMargins(0, self.px(8), 0, 0)
        column.setSpacing(self.px(10))
        column.addWidget(self._label("WorldPager", "hero"))
        column.addWidget(self._label(tr("worlds that remember"), "soft"))
        column.addSpacing(self.px(14))
        self.go_on = self.button(self._content.goes_on, primary=True)
        self.go_on.setVisible(bool(self._content.goes_on))
        self.go_on.clicked.connect(self.close_panel)
        column.addWidget(self.go_on)
        column.addSpacing(self.px(10))
        column.addWidget(self._label(tr("THIS MACHINE"), "section"))
        for line in self._content.machine:
            column.addWidget(self._label(line, "note"))
        column.addStretch()
        for words, signal in ((tr("Keys"), self.keys_asked), (tr("Settings"), self.settings_asked), (tr("Quit"), self.leave_asked)):
            button = self.button(words)
            button.clicked.connect(signal)
            column.addWidget(button)
        return side

    def _right(self) -> QVBoxLayout:
        column = QVBoxLayout()
        column.setSpacing(self.px(10))
        column.addWidget(self._label(tr("NEW WORLD"), "section"))
        column.addLayout(self._models())
        self._about = self._label("", "note")
        column.addWidget(self._about)
        column.addLayout(self._scene_row())
        column.addLayout(self._number_row())
        column.addSpacing(self.px(12))
        column.addWidget(self._label(tr("KEPT WORLDS"), "section"))
        column.addLayout(self._kept_row(self._content.worlds, self.kept_world.emit, tr("A world that you keep while you play waits here.")))
        column.addSpacing(self.px(12))
        column.addWidget(self._label(tr("RECENT RECORDINGS"), "section"))
        column.addLayout(self._recordings())
        column.addStretch()
        self._choose_model(self.model)
        return column

    def _models(self) -> QGridLayout:
        grid, group = QGridLayout(), QButtonGroup(self)
        grid.setSpacing(self.px(6))
        for index, choice in enumerate(self._content.models):
            button = QPushButton(("" if choice.ready else ABSENT) + choice.name)
            button.setObjectName("choice")
            button.setCheckable(True)
            button.setChecked(choice.name == self.model)
            button.setAccessibleName(f"{choice.name}: {choice.words}")
            button.clicked.connect(lambda _, name=choice.name: self._choose_model(name))
            group.addButton(button)
            grid.addWidget(button, index // MODELS_A_ROW, index % MODELS_A_ROW)
        more = QPushButton(tr("Add a model …"))
        more.setObjectName("choice")
        more.clicked.connect(self.models_asked)
        count = len(self._content.models)
        grid.addWidget(more, count // MODELS_A_ROW, count % MODELS_A_ROW)
        grid.setColumnStretch(MODELS_A_ROW, 1)
        return grid

    def _scene_row(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setSpacing(self.px(12))
        for index, seed in enumerate(self._seeds):
            card = WorldCard(self, self.scale, tr("world {seed}", seed=seed), tr("open"), partial(self._picture, index))
            card.clicked.connect(lambda _=False, index=index: self._open(self._seeds[index]))
            self._scenes.append(card)
            row.addWidget(card)
        row.addStretch()
        return row

    def _number_row(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setSpacing(self.px(10))
        self.number = QLineEdit()
        self.number.setPlaceholderText(tr("world number"))
        self.number.setAccessibleName(tr("world number"))
        self.number.setValidator(QRegularExpressionValidator(QRegularExpression(r"\d{1,10}"), self))
        self.number.setFixedWidth(self.px(180))
        self.number.returnPressed.connect(self._open_number)
        begin, others, surprise = QPushButton(tr("Open")), QPushButton(tr("Other worlds")), QPushButton(tr("Surprise me"))
        begin.clicked.connect(self._open_number)
        others.clicked.connect(self._other_scenes)
        surprise.clicked.connect(lambda: self._open(random.SystemRandom().randrange(SURPRISES)))
        self.own = QPushButton(tr("Your own picture …"))
        self.own.clicked.connect(self._ask_picture)
        for widget in (self.number, begin, others, surprise, self.own):
            row.addWidget(widget)
        row.addStretch()
        return row

    def _kept_row(self, things: Sequence[KeptThing], choose: Callable[[str], object], nothing: str) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setSpacing(self.px(12))
        for thing in things:
            card = WorldCard(self, self.scale, thing.title, thing.line, partial(getattr, thing, "picture"))
            card.clicked.connect(lambda _=False, key=thing.key: choose(key))
            row.addWidget(card)
        if not things:
            row.addWidget(self._label(nothing, "note"), 1)
        row.addStretch()
        return row

    def _recordings(self) -> QVBoxLayout:
        column = QVBoxLayout()
        column.setSpacing(self.px(4))
        for thing in self._content.recordings:
            button = QPushButton(f"{thing.title}   ·   {thing.line}")
            button.setObjectName("choice")
            button.clicked.connect(lambda _=False, key=thing.key: self.recording.emit(key))
            column.addWidget(button, 0, Qt.AlignmentFlag.AlignLeft)
        if not self._content.recordings:
            column.addWidget(self._label(tr("Films and screenshots that you make are listed here."), "note"))
        return column

    def _label(self, text: str, name: str) -> QLabel:
        label = QLabel(text)
        label.setObjectName(name)
        label.setWordWrap(True)
        return label

    # What it does

    def _choice(self) -> ModelChoice:
        return next(choice for choice in self._content.models if choice.name == self.model)

    def _choose_model(self, name: str) -> None:
        self.model = name
        choice = self._choice()
        self._about.setText(choice.words)
        self.own.setVisible(choice.takes_picture)
        self.own.setEnabled(choice.ready)
        self.setAcceptDrops(choice.takes_picture and choice.ready)
        for card in self._scenes:
            card.setEnabled(choice.ready)
            card.update()
        self._previews.show(name, self._seeds)

    def _ask_picture(self) -> None:
        path, _ = QFileDialog.getOpenFileName(self.window(), tr("A picture to begin with"), "", PICTURES)
        if path:
            self.picture_world.emit(self.model, path)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """A picture may be dropped where the model takes one."""
        if event.mimeData().hasUrls() and event.mimeData().urls()[0].isLocalFile():
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        """Begin a world with the picture that was dropped."""
        self.picture_world.emit(self.model, event.mimeData().urls()[0].toLocalFile())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """As in every panel, and the window may have a use for it."""
        self.pressed.emit(event)
        super().keyPressEvent(event)

    def paste(self) -> None:
        """Begin a world with the picture in the clipboard, where the model takes one."""
        choice = self._choice()
        if not (choice.takes_picture and choice.ready):
            return
        try:
            path = pasted_picture(QGuiApplication.clipboard().mimeData())
        except OSError as error:
            self._about.setText(tr("The picture can't be kept: {reason}.", reason=error.strerror or ""))
            return
        if path is None:
            self._about.setText(tr("There is no picture in the clipboard."))
        else:
            self.picture_world.emit(self.model, str(path))

    def _picture(self, index: int) -> QImage | None:
        return self._previews.image(self._seeds[index], self._turn + index * 5)

    def _other_scenes(self) -> None:
        self._seeds[:] = random.SystemRandom().sample(range(SURPRISES), len(self._seeds))
        for seed, card in zip(self._seeds, self._scenes, strict=True):
            card.title = tr("world {seed}", seed=seed)
            card.setAccessibleName(card.title)
            card.update()
        self._previews.show(self.model, self._seeds)

    def _open_number(self) -> None:
        text = self.number.text()
        if text and int(text) <= MOST:
            self._open(int(text))
        else:
            self._about.setText(tr("Write a whole number from 0 to {most}.", most=MOST))

    def _open(self, seed: int) -> None:
        if self._choice().ready:
            self.new_world.emit(self.model, seed)

    def _drawn(self, seed: int, turn: int) -> None:
        if seed in self._seeds and (turn == 0 or turn == TURNS - 1):
            self._scenes[self._seeds.index(seed)].update()

    def _turn_on(self) -> None:
        self._turn = (self._turn + 1) % TURNS
        if self._previews.complete(self._seeds):
            for card in self._scenes:
                card.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """The night behind the page."""
        painter = QPainter(self)
        painter.drawPixmap(self.rect(), self._ground)
        if self._content.goes_on:
            painter.fillRect(self.rect(), theme.with_alpha(theme.NIGHT, 60))
        painter.end()
