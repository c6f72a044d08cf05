"""The window for everyone: all by keyboard, names on all controls, larger, stronger, stiller, and counters as text."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible
from PySide6.QtWidgets import QAbstractButton, QApplication, QLineEdit, QSlider, QTableWidget, QWidget
from pytestqt.qtbot import QtBot

from tests.app.conftest import OpenWindow
from worldpager.app import theme
from worldpager.app.live_settings import use_look
from worldpager.app.main_window import MainWindow
from worldpager.app.panels.counters_panel import CountersPanel
from worldpager.app.panels.panel import Panel
from worldpager.app.panels.settings_panel import TITLES, SettingsPanel
from worldpager.app.settings import Settings

PAGES = ("start", "settings", "keys", "counters", "new_world")


@pytest.fixture(autouse=True)
def usual_look() -> Iterator[None]:
    yield
    use_look(Settings())


def cells(panel: CountersPanel) -> dict[str, str]:
    found = [[panel.table.item(row, column) for column in range(2)] for row in range(panel.table.rowCount())]
    return {name.text(): value.text() for name, value in found if name is not None and value is not None}


def panel_of(window: MainWindow, action: str) -> Panel:
    window.run_action(action)
    assert window.panel is not None
    return window.panel


@pytest.mark.parametrize("action", PAGES)
def test_every_control_has_a_name(open_window: OpenWindow, action: str) -> None:
    window, _ = open_window()
    panel = panel_of(window, action)
    pages = list(TITLES) if isinstance(panel, SettingsPanel) else [""]
    for page in pages:
        if isinstance(panel, SettingsPanel):
            panel.show_page(page)
        controls = [each for kind in (QAbstractButton, QSlider, QLineEdit, QTableWidget) for each in panel.findChildren(kind)]
        assert controls
        for control in controls:
            if control.isVisible() and control.focusPolicy() != Qt.FocusPolicy.NoFocus:
                assert QAccessible.queryAccessibleInterface(control).text(QAccessible.Text.Name), control


@pytest.mark.parametrize("action", PAGES)
def test_tab_reaches_every_control(qtbot: QtBot, open_window: OpenWindow, action: str) -> None:
    window, _ = open_window()
    qtbot.waitUntil(window.isActiveWindow)
    panel = panel_of(window, action)
    reached: set[QWidget] = set()
    for _ in range(120):
        focus = QApplication.focusWidget()
        assert focus is not None
        assert focus is panel or panel.isAncestorOf(focus), f"{focus} lies outside the panel"
        if focus in reached and len(reached) > 1:
            break
        reached.add(focus)
        qtbot.keyClick(focus, Qt.Key.Key_Tab)
    buttons = [each for each in panel.findChildren(QAbstractButton) if each.isVisible() and each.isEnabled()]
    groups = {each.group() for each in buttons if each.group() is not None}
    alone = [each for each in buttons if each.group() is None and each.focusPolicy() & Qt.FocusPolicy.TabFocus]
    missed = [each.text() or each.accessibleName() for each in alone if each not in reached]
    assert not missed, missed
    assert all(any(isinstance(each, QAbstractButton) and each.group() is group for each in reached) for group in groups)


def test_the_focus_is_seen(open_window: OpenWindow, qtbot: QtBot) -> None:
    window, _ = open_window()
    qtbot.waitUntil(window.isActiveWindow)
    panel = panel_of(window, "settings")
    first = panel.first_focus()
    assert first is not None
    with_focus = first.grab().toImage()
    panel.setFocus()
    qtbot.wait(30)
    assert first.grab().toImage() != with_focus


def test_larger_text_fits_the_window(open_window: OpenWindow, qtbot: QtBot) -> None:
    window, _ = open_window({"interface_scale": 2.0}, size=(1280, 720))
    use_look(window.settings)
    for action in PAGES:
        panel = panel_of(window, action)
        assert not panel.frame.isVisible() or panel.rect().contains(panel.frame.geometry())
        for child in panel.findChildren(QAbstractButton):
            if child.isVisible():
                assert child.mapTo(panel, child.rect().topLeft()).x() >= 0
                assert child.mapTo(panel, child.rect().bottomRight()).x() <= panel.width(), (action, child.text())


def test_high_contrast_is_strong_and_taken_back(open_window: OpenWindow, qtbot: QtBot) -> None:
    window, _ = open_window({"overlay": "full"})
    assert theme.FAINT.alpha() < 150
    window.preferences.set("high_contrast", True)
    assert theme.FAINT.alpha() > 220
    assert theme.CARD.alpha() > 240
    assert "black" in theme.sheet(1.0)
    window.preferences.set("high_contrast", False)
    assert theme.FAINT.alpha() < 150
    assert "black" not in theme.sheet(1.0)


def test_counters_as_text_follow_the_world(open_window: OpenWindow, qtbot: QtBot) -> None:
    window, _ = open_window(first=200)
    panel = panel_of(window, "counters")
    assert isinstance(panel, CountersPanel)
    rows = cells(panel)
    assert rows["model"] == "fake"
    assert rows["stalls over 0.5 ms"] == "0"
    assert "blocks" in rows["disk"]
    before = rows["chunk"]

    def moved_on() -> bool:
        panel.renew()
        return cells(panel)["chunk"] != before

    qtbot.waitUntil(moved_on)
