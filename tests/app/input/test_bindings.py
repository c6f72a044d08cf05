"""Keys can be changed; a key that is taken says by whom; a choice that can't stand costs itself alone."""

from __future__ import annotations

from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QKeyEvent
from pytestqt.qtbot import QtBot

from tests.app.conftest import OpenWindow
from worldpager.app.actions import all_actions
from worldpager.app.input.bindings import Bindings, key_text, own_keys, sequence_of, words_of
from worldpager.app.panels.keys_page import KeysPage
from worldpager.engine.types import Button

Key, Modifier = Qt.Key, Qt.KeyboardModifier


def test_no_two_actions_ask_for_the_same_key() -> None:
    keys = [key for action in all_actions().values() for key in action.keys]
    assert len(set(keys)) == len(keys)
    assert own_keys()["forward"] == ["KeyW"]


def test_what_is_chosen_counts_and_the_rest_stays() -> None:
    bindings = Bindings({"forward": ["KeyI"], "pause": ["F7"]})
    assert bindings.keymap.by_key[int(Key.Key_I)] == Button.FORWARD
    assert int(Key.Key_W) not in bindings.keymap.by_key
    assert bindings.keymap.commands[int(Key.Key_F7)] == "pause"
    assert bindings.keymap.commands[int(Key.Key_R)] == "reset"
    assert {name: bindings.chosen[name] for name in ("forward", "pause")} == {"forward": ["KeyI"], "pause": ["F7"]}


def test_a_chosen_key_is_nobody_elses_by_default() -> None:
    bindings = Bindings({"forward": ["KeyR"]})
    assert bindings.keys_of("reset") == []
    assert bindings.keymap.by_key[int(Key.Key_R)] == Button.FORWARD
    assert not bindings.complaints


def test_a_choice_that_cannot_stand_costs_itself_alone() -> None:
    bindings = Bindings({"pause": ["Ctrl+F7"], "fly": ["F6"], "reset": ["no such key"], "memory": ["Ctrl+F7"]})
    assert bindings.chosen == {"pause": ["Ctrl+F7"]}
    assert len(bindings.complaints) == 3


def test_the_holder_of_a_key_is_named_across_controls_and_actions() -> None:
    bindings = Bindings({})
    assert bindings.holder("back", "KeyW") == "forward"
    assert bindings.holder("pause", "W") == "forward"
    assert bindings.holder("forward", "KeyR") == "reset"
    assert bindings.holder("forward", "Backslash") is None
    assert bindings.holder("record", "Ctrl+W") is None


def test_taking_a_key_takes_it_from_its_holder() -> None:
    bindings = Bindings({})
    assert bindings.bind("reset", "W") == "forward"
    assert bindings.keys_of("forward") == []
    assert bindings.keymap.commands[int(Key.Key_W)] == "reset"
    bindings.restore()
    assert bindings.chosen == {}
    assert bindings.keys_of("forward") == ["KeyW"]


def test_a_fourth_key_replaces_the_first() -> None:
    bindings = Bindings({})
    for key in ("Numpad8", "Backslash", "Semicolon"):
        assert bindings.bind("forward", key) is None
    assert bindings.keys_of("forward") == ["Numpad8", "Backslash", "Semicolon"]


def test_words_for_keys() -> None:
    assert key_text("forward", "ArrowUp") == "↑"
    assert key_text("forward", "KeyW") == "W"
    assert key_text("pause", "Ctrl+K") == "Ctrl+K"
    assert words_of("forward") == "walk forward"
    assert sequence_of(int(Key.Key_Shift), Modifier.ShiftModifier) is None
    assert sequence_of(int(Key.Key_K), Modifier.ControlModifier) == "Ctrl+K"
    assert sequence_of(0, Modifier.NoModifier) is None


def press(page: KeysPage, name: str, key: Qt.Key, modifiers: Qt.KeyboardModifier = Modifier.NoModifier) -> None:
    page.eventFilter(page.buttons[name], QKeyEvent(QEvent.Type.KeyPress, key, modifiers))


def test_on_the_page(qtbot: QtBot, open_window: OpenWindow) -> None:
    window, street = open_window()
    qtbot.keyClick(window, Key.Key_F1)
    assert window.panel is not None
    page = window.panel.findChild(KeysPage)
    assert isinstance(page, KeysPage)
    page.buttons["pause"].click()
    press(page, "pause", Key.Key_Tab)  # Tab is a key like others while one is awaited
    assert "Tab" in page.buttons["pause"].text()
    page.buttons["reset"].click()
    press(page, "reset", Key.Key_N)
    assert "another world" in page.message.text()
    assert window.bindings.keys_of("new_world") == ["N"]
    press(page, "reset", Key.Key_N)
    assert window.bindings.keys_of("new_world") == []
    assert "N" in page.buttons["reset"].text()
    page.buttons["forward"].click()
    press(page, "forward", Key.Key_Escape)
    assert page.buttons["forward"].text() == "W"
    page.buttons["memory"].click()
    press(page, "memory", Key.Key_Backspace)
    assert page.buttons["memory"].text() == "no key"
    window.close_panel()
    qtbot.keyClick(window, Key.Key_M)
    qtbot.keyClick(window, Key.Key_N)
    assert window.panel is None
    qtbot.waitUntil(lambda: bool(street.commands))  # N begins this world again
    assert window.preferences.values.keys["memory"] == []


def test_escape_can_not_be_taken(qtbot: QtBot, open_window: OpenWindow) -> None:
    window, _ = open_window()
    qtbot.keyClick(window, Key.Key_F1)
    assert window.panel is not None
    page = window.panel.findChild(KeysPage)
    assert isinstance(page, KeysPage)
    assert not page.buttons["release"].isEnabled()
