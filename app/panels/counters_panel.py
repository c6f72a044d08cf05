"""Every counter as a table of words and figures: what the overlays draw, for eyes and readers that want text. Renewed twice a second."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QHeaderView, QTableWidget, QTableWidgetItem, QWidget

from worldpager.app.overlay.card import HudState, bytes_text
from worldpager.app.overlay.status_card import delay_text
from worldpager.app.panels.panel import Panel
from worldpager.app.words import tr

RENEW_MS = 500
ROWS_SHOWN, TABLE_SHARE = 14, 0.5
"""Rows of the table, as long as it takes no more than this share of the window."""


def counter_rows(state: HudState) -> list[tuple[str, str]]:
    """(what, how much) of everything that is counted."""
    snapshot, memory = state.snapshot, state.snapshot.memory
    rows = [
        (tr("model"), snapshot.model), (tr("world"), str(snapshot.seed)), (tr("chunk"), str(snapshot.chunk)),
        (tr("generated frames a second"), f"{snapshot.generated_fps:.1f}"), (tr("shown frames a second"), f"{state.presented_fps:.1f}"),
        (tr("recorded frames a second"), f"{state.recorded_fps:.0f}" if state.recorded_fps else "–"),
        (tr("screen refreshes a second"), f"{state.screen_fps:.0f}"), (tr("natural frames a second"), f"{snapshot.rate:.0f}"),
        (tr("key to picture"), delay_text(state.key_to_picture)), (tr("one chunk"), f"{snapshot.chunk_ms:.0f} ms"),
    ]  # fmt: skip
    for tier in snapshot.tiers:
        used = tr("{used} of {all} blocks", used=tier.used, all=tier.capacity)
        rows.append((tr(tier.name), f"{used}, {bytes_text(tier.used_bytes)} / {bytes_text(tier.capacity_bytes)}"))
    rows += [
        (tr("stalls over 0.5 ms"), str(memory.stalls_over_half_ms)), (tr("longest wait"), f"{memory.longest_wait_ms:.2f} ms"),
        (tr("blocks"), str(memory.blocks)), (tr("wanted"), str(memory.blocks_wanted)), (tr("misses"), str(memory.blocks_missed)),
        (tr("stale"), str(memory.stale_uses)), (tr("hits"), f"{memory.prefetch_hit_rate:.1%}"), (tr("unused"), str(memory.prefetch_wasted)),
        (tr("spilled"), str(memory.spilled_blocks)), (tr("not kept for want of room"), str(memory.blocks_refused)),
        (tr("failed moves"), str(memory.failed_moves)), (tr("read"), bytes_text(memory.disk_read_bytes)),
        (tr("written"), bytes_text(memory.disk_written_bytes)),
        (tr("given up for newer blocks"), str(memory.blocks_dropped)),
        (tr("written a minute of the world"), bytes_text(snapshot.written_per_minute)),
        (tr("days until a drive for 600 TB is used up"), f"{snapshot.drive_days:.0f}" if memory.disk_written_bytes else "–"),
    ]  # fmt: skip
    return rows


class CountersPanel(Panel):
    """``ask`` gives the newest state, None while there is none."""

    design_width = 640

    def __init__(self, parent: QWidget, ask: Callable[[], HudState | None]) -> None:
        super().__init__(parent)
        self._ask = ask
        self.add_label(tr("Counters"), "title")
        self.table = QTableWidget(0, 2, self.frame)
        self.table.setAccessibleName(tr("Counters"))
        self.table.horizontalHeader().hide()
        self.table.verticalHeader().hide()
        self.table.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Stretch)
        self.table.setEditTriggers(QTableWidget.EditTrigger.NoEditTriggers)
        self.table.setSelectionBehavior(QTableWidget.SelectionBehavior.SelectRows)
        self.table.setTabKeyNavigation(False)
        self.table.setShowGrid(False)
        self.table.setMinimumHeight(min(self.px(26 * ROWS_SHOWN), round(TABLE_SHARE * parent.height())))
        self.body.addWidget(self.table)
        copy, done = self.button(tr("Copy")), self.button(tr("Close"), primary=True)
        copy.clicked.connect(self._copy)
        done.clicked.connect(self.close_panel)
        self.add_buttons(copy, done)
        self._timer = QTimer(self, interval=RENEW_MS)
        self._timer.timeout.connect(self.renew)
        self._timer.start()
        self.renew()

    def first_focus(self) -> QWidget:
        """The table, to be read line by line."""
        return self.table

    def renew(self) -> None:
        """Write the newest figures; the line that is read stays selected."""
        state = self._ask()
        if state is None:
            return
        rows = counter_rows(state)
        self.table.setRowCount(len(rows))
        for row, texts in enumerate(rows):
            for column, text in enumerate(texts):
                item = self.table.item(row, column)
                if item is None:
                    item = QTableWidgetItem()
                    item.setFlags(Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable)
                    self.table.setItem(row, column, item)
                if item.text() != text:
                    item.setText(text)

    def _copy(self) -> None:
        state = self._ask()
        if state is not None:
            QGuiApplication.clipboard().setText("\n".join(f"{what}\t{much}" for what, much in counter_rows(state)))
