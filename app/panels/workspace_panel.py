"""What a language model's workspace holds and what the last question saw of it: blocks by tier, the chosen ones lit, their words."""

from __future__ import annotations

import math

from PySide6.QtCore import QPoint, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QMouseEvent, QPainter, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QLineEdit, QPlainTextEdit, QPushButton, QSizePolicy, QToolTip, QVBoxLayout, QWidget

from worldpager.app import theme
from worldpager.engine.telemetry.snapshot import TIER_NAMES
from worldpager.engine.workspace.snapshot import WorkspaceSnapshot

LEAST_CELL, MOST_CELL = 4, 18
"""Pixels of a block's square."""
BOX = "background: #141820; color: #f0f0f0; border: 1px solid #2a303b; border-radius: 6px; padding: 8px;"
SHOWN = 12
"""Picked blocks whose words are listed."""


class BlockMap(QWidget):
    """A square for every block in order of time, coloured by tier; chosen ones are whole and framed, others dim. Too many share squares."""

    pointed = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setMouseTracking(True)
        self.setMinimumHeight(120)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setAccessibleName("Blocks of the workspace in order of time")
        self._shown: WorkspaceSnapshot | None = None
        self._row = -1

    def show_blocks(self, shown: WorkspaceSnapshot) -> None:
        """Draw this state from now on."""
        self._shown = shown
        self.update()

    def grid(self) -> tuple[int, int, int]:
        """Pixels of a square, squares in a line, and blocks that share a square."""
        count = len(self._shown.ids) if self._shown else 0
        for cell in range(MOST_CELL, LEAST_CELL - 1, -1):
            line = max(1, self.width() // cell)
            if line * max(1, self.height() // cell) >= count:
                return cell, line, 1
        line = max(1, self.width() // LEAST_CELL)
        return LEAST_CELL, line, -(-count // (line * max(1, self.height() // LEAST_CELL)))

    def row_at(self, point: QPoint) -> int:
        """The first block of the square under ``point``; -1 where there is none."""
        cell, line, share = self.grid()
        if self._shown is None or point.x() // cell >= line:
            return -1
        row = (point.y() // cell * line + point.x() // cell) * share
        return row if 0 <= row < len(self._shown.ids) else -1

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Tell which block is pointed at, and show its words."""
        row = self.row_at(event.position().toPoint())
        if row != self._row:
            self._row = row
            self.pointed.emit(row)
        if row >= 0 and self._shown is not None:
            QToolTip.showText(event.globalPosition().toPoint(), describe(self._shown, row), self)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """The squares fit anew."""
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """All squares."""
        if self._shown is None:
            return
        cell, line, share = self.grid()
        painter = QPainter(self)
        painter.fillRect(self.rect(), theme.NIGHT)
        frame = QPen(theme.INK, 1.0 if cell < 10 else 1.6)
        for place, first in enumerate(range(0, len(self._shown.ids), share)):
            rows = slice(first, first + share)
            lit = bool(self._shown.chosen[rows].any())
            tier = int(self._shown.tier[rows].min())
            box = QRectF(place % line * cell + 1, place // line * cell + 1, cell - 2, cell - 2)
            colour = QColor(theme.TIERS[min(tier, len(theme.TIERS) - 1)])
            colour.setAlpha(255 if lit else 90)
            painter.fillRect(box, colour)
            if lit:
                painter.setPen(frame)
                painter.drawRect(box)
        painter.end()


class WorkspacePanel(QWidget):
    """The whole panel; ``asked`` carries a question. `show_state`, `begin_answer`, `add_piece` and `say` fill it."""

    asked = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("workspace")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setStyleSheet(theme.sheet(1.0) + f"QWidget#workspace {{ background: {theme.NIGHT.name()}; }}")
        self.title, self.facts, self.moves = QLabel("Workspace"), QLabel(""), QLabel("")
        self.title.setObjectName("title")
        self.question, self.button = QLineEdit(), QPushButton("Ask")
        self.question.setPlaceholderText("Ask about what the workspace holds")
        self.answer, self.words, self.map = QPlainTextEdit(), QPlainTextEdit(), BlockMap()
        for box, name in ((self.answer, "The answer"), (self.words, "Words of the chosen blocks")):
            box.setReadOnly(True)
            box.setAccessibleName(name)
            box.setStyleSheet(BOX)
        for label in (self.facts, self.moves):
            label.setObjectName("soft")
            label.setWordWrap(True)
        self._lay_out()
        self.button.clicked.connect(self._ask)
        self.question.returnPressed.connect(self._ask)
        self.set_busy(True)

    def set_busy(self, busy: bool) -> None:
        """Whether a question can be asked now."""
        self.button.setEnabled(not busy)
        self.question.setEnabled(not busy)
        if not busy:
            self.question.setFocus()

    def say(self, words: str) -> None:
        """A line about what goes on."""
        self.moves.setText(words)

    def begin_answer(self, question: str) -> None:
        """A new answer comes."""
        self.answer.setPlainText("")
        self.say(f"Reading “{question}” and choosing blocks …")

    def add_piece(self, piece: str) -> None:
        """More of the answer."""
        self.answer.insertPlainText(piece)
        self.answer.ensureCursorVisible()

    def show_state(self, shown: WorkspaceSnapshot) -> None:
        """The blocks, and what the last question did."""
        self.map.show_blocks(shown)
        tiers = "   ".join(f"{tier.name} {tier.used:,}" + (f" of {tier.capacity:,}" if tier.capacity else "") for tier in shown.tiers)
        held = f"{shown.tokens:,} tokens in {len(shown.ids):,} blocks"
        self.facts.setText(f"{shown.model}   ·   {held}   ·   {tiers}   ·   policy {shown.policy}")
        self.say(account(shown))
        self.words.setPlainText("\n\n".join(describe(shown, row) for row in shown.picked[:SHOWN]))

    def _ask(self) -> None:
        question = self.question.text().strip()
        if question and self.button.isEnabled():
            self.set_busy(True)
            self.begin_answer(question)
            self.asked.emit(question)

    def _lay_out(self) -> None:
        whole, row, both = QVBoxLayout(self), QHBoxLayout(), QHBoxLayout()
        whole.setContentsMargins(20, 16, 20, 16)
        whole.setSpacing(10)
        row.addWidget(self.question, 1)
        row.addWidget(self.button)
        both.addWidget(self.answer, 1)
        both.addWidget(self.words, 1)
        legend = QLabel(
            "   ".join(f'<span style="color:{theme.TIERS[i].name()}">■</span> {name}' for i, name in enumerate(TIER_NAMES))
            + "   ·   framed: in view for the last question   ·   point at a block to read it"
        )
        legend.setObjectName("soft")
        whole.addWidget(self.title)
        whole.addWidget(self.facts)
        whole.addLayout(row)
        whole.addLayout(both, 3)
        whole.addWidget(self.map, 2)
        whole.addWidget(legend)
        whole.addWidget(self.moves)
        self.map.setContextMenuPolicy(Qt.ContextMenuPolicy.NoContextMenu)


def describe(shown: WorkspaceSnapshot, row: int) -> str:
    """A block's source, tier and words."""
    tier = int(shown.tier[row])
    where = TIER_NAMES[tier] if tier < len(TIER_NAMES) else "gone"
    return f"block {shown.ids[row]} · {shown.source_of(row) or 'opening'} · {where}\n{' '.join(shown.text_of(row).split())}"


def account(shown: WorkspaceSnapshot) -> str:
    """What the last step chose, moved and took."""
    if not shown.seconds:
        return "Nothing asked yet." + "".join(f"   ·   {note}" for note in shown.degraded)
    first = sum(shown.seconds.get(name, 0.0) for name in ("listen", "select", "build", "replay"))
    captured = "" if math.isnan(shown.mass) else f", {shown.mass:.0%} of the attention to older blocks captured"
    pace = shown.answer_tokens / shown.seconds["answer"] if shown.seconds.get("answer") else 0.0
    words = (
        f"{int(shown.chosen.sum())} of {len(shown.ids)} blocks in a view of {shown.view_tokens:,} tokens{captured}   ·   "
        f"{shown.moved} moved, {shown.reused} were there, {shown.missed} missed   ·   "
        f"first word after {first:.2f} s, {pace:.1f} tokens a second"
    )
    return "   ·   ".join([words, *shown.degraded])
