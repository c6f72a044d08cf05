"""The window as a person meets it: keys do what the keymap says, failures have words, closing is quick and leaves nothing."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, QPoint, Qt
from PySide6.QtGui import QColor, QFocusEvent, QImage
from PySide6.QtWidgets import QApplication, QLabel, QLineEdit, QPushButton
from pytestqt.qtbot import QtBot

from tests.app.conftest import OpenWindow
from worldpager.app.panels.message_panel import MessagePanel
from worldpager.app.panels.new_world_panel import NewWorldPanel
from worldpager.app.panels.settings_panel import SettingsPanel
from worldpager.app.settings_file import load_settings
from worldpager.engine.errors import TierError
from worldpager.engine.mailbox import NewWorld, Pause, Reset, UsePolicy
from worldpager.engine.recorder import read_metadata
from worldpager.engine.types import Button

Key = Qt.Key


def near(colour: QColor, wanted: tuple[int, int, int], tolerance: int = 12) -> bool:
    have = colour.red(), colour.green(), colour.blue()
    return all(abs(one - other) <= tolerance for one, other in zip(have, wanted, strict=True))


def at(image: QImage, x: float, y: float) -> QColor:
    """Colour at a share of the width and height."""
    return image.pixelColor(round(x * (image.width() - 1)), round(y * (image.height() - 1)))


@pytest.mark.parametrize("viewport", ["software", "opengl"])
def test_the_picture_is_upright_and_its_colours_are_true(qtbot: QtBot, open_window: OpenWindow, viewport: str) -> None:
    window, _ = open_window({"viewport": viewport, "overlay": "none"})
    assert window.viewport.kind == viewport

    def quarters_are_right() -> None:
        image = window.grab().toImage()
        assert near(at(image, 0.25, 0.35), (200, 40, 40)) or near(at(image, 0.27, 0.35), (200, 40, 40))
        assert near(at(image, 0.75, 0.35), (40, 200, 40)) or near(at(image, 0.73, 0.35), (40, 200, 40))
        assert near(at(image, 0.25, 0.75), (40, 40, 200)) or near(at(image, 0.27, 0.75), (40, 40, 200))
        assert near(at(image, 0.75, 0.75), (200, 200, 40)) or near(at(image, 0.73, 0.75), (200, 200, 40))

    qtbot.waitUntil(quarters_are_right, timeout=5000)


def test_the_whole_picture_has_its_glow_beside_it(qtbot: QtBot, open_window: OpenWindow) -> None:
    window, _ = open_window({"overlay": "none", "fit": "whole"})
    qtbot.waitUntil(lambda: near(at(window.grab().toImage(), 0.3, 0.3), (200, 40, 40)))
    image = window.grab().toImage()
    left = at(image, 0.01, 0.3)
    assert left.red() > left.green()
    assert left.lightness() < 100


def test_held_keys_become_actions_and_focus_loss_lets_go(qtbot: QtBot, open_window: OpenWindow) -> None:
    window, street = open_window()
    qtbot.keyPress(window, Key.Key_W)
    qtbot.keyPress(window, Key.Key_Shift)
    qtbot.waitUntil(lambda: any(action.buttons == Button.FORWARD | Button.RUN for action in street.actions))
    assert all(action.stamp > 0 for action in street.actions)
    QApplication.sendEvent(window, QFocusEvent(QEvent.Type.FocusOut))
    qtbot.waitUntil(lambda: street.actions[-1].buttons == Button.NONE)


def test_key_to_picture_is_measured(qtbot: QtBot, open_window: OpenWindow) -> None:
    window, _ = open_window(seconds=0.25)  # at its natural rate no chunk is left out
    qtbot.keyPress(window, Key.Key_W)
    presenter = window._presenter
    assert presenter is not None
    qtbot.waitUntil(lambda: presenter.key_to_picture is not None)
    assert 0.0 <= (presenter.key_to_picture or 0.0) < 5.0


def test_commands_by_key(qtbot: QtBot, open_window: OpenWindow) -> None:
    window, street = open_window()
    for key, command in ((Key.Key_Space, Pause(True)), (Key.Key_P, Pause(False)), (Key.Key_R, Reset()), (Key.Key_M, UsePolicy("none"))):
        qtbot.keyClick(window, key)
        qtbot.waitUntil(lambda wanted=command: wanted in street.commands)  # type: ignore[misc]
    qtbot.waitUntil(lambda: window.snapshot is not None and window.snapshot.policy == "none")
    qtbot.keyClick(window, Key.Key_M)
    qtbot.waitUntil(lambda: UsePolicy("pose-overlap") in street.commands)
    qtbot.keyClick(window, Key.Key_Space, Qt.KeyboardModifier.ShiftModifier)  # while running
    qtbot.waitUntil(lambda: street.commands.count(Pause(True)) == 2)


def test_overlays_go_round_and_are_remembered(qtbot: QtBot, open_window: OpenWindow, tmp_path: Path) -> None:
    window, _ = open_window()
    shown = []
    for _ in range(3):
        qtbot.keyClick(window, Key.Key_H)
        shown.append((window.hud.preset, sum(card.isVisible() for card in window.hud.cards.values())))
    assert [name for name, _ in shown] == ["full", "none", "small"]
    assert dict(shown)["none"] == 0
    assert dict(shown)["full"] >= 5
    qtbot.keyClick(window, Key.Key_H)
    window.close()
    assert load_settings(tmp_path / "window.json").values.overlay == "full"


@pytest.mark.parametrize("size", [(1280, 720), (3840, 2160), (800, 600), (720, 440)])
def test_cards_keep_apart_and_inside(open_window: OpenWindow, size: tuple[int, int]) -> None:
    window, _ = open_window({"overlay": "full"}, size=size)
    cards = [card.geometry() for card in window.hud.cards.values() if card.isVisible()]
    assert len(cards) >= (5 if size[1] >= 600 else 4)
    for index, card in enumerate(cards):
        assert window.rect().contains(card)
        assert not any(card.intersects(other) for other in cards[index + 1 :])


def test_tier_colours_are_in_the_full_overlay(qtbot: QtBot, open_window: OpenWindow) -> None:
    from worldpager.app import theme

    window, _ = open_window({"overlay": "full"}, first=200)
    qtbot.wait(300)
    image = window.hud.cards["memory"].grab().toImage()
    colours = {image.pixelColor(x, y).name() for x in range(0, image.width(), 2) for y in range(image.height())}
    assert {theme.DEVICE.name(), theme.HOST.name(), theme.DISK.name()} <= colours


def test_another_world_by_seed(qtbot: QtBot, open_window: OpenWindow) -> None:
    window, street = open_window()
    qtbot.keyClick(window, Key.Key_N)
    panel = window.panel
    assert isinstance(panel, NewWorldPanel)
    field = panel.findChild(QLineEdit)
    assert field is not None
    field.selectAll()
    qtbot.keyClicks(field, "1234")
    qtbot.keyClick(field, Key.Key_Return)
    qtbot.waitUntil(lambda: NewWorld(1234) in street.commands)
    qtbot.waitUntil(lambda: window.snapshot is not None and window.snapshot.seed == 1234)
    assert window.panel is None
    assert not street.actions  # typing steered nothing


def test_escape_leaves_the_panel(qtbot: QtBot, open_window: OpenWindow) -> None:
    window, street = open_window()
    qtbot.keyClick(window, Key.Key_F1)
    assert isinstance(window.panel, SettingsPanel)
    qtbot.keyClick(window.panel, Key.Key_W)
    qtbot.keyClick(window.panel, Key.Key_Escape)
    assert window.panel is None
    assert not street.actions


def test_the_hint_goes_with_the_first_step(qtbot: QtBot, open_window: OpenWindow) -> None:
    window, _ = open_window({"keys_known": False})
    assert window._key_hint.isVisible()
    qtbot.keyPress(window, Key.Key_W)
    qtbot.waitUntil(lambda: not window._key_hint.isVisible())
    assert window.settings.keys_known


def test_screenshot_with_and_without_overlays(qtbot: QtBot, open_window: OpenWindow, tmp_path: Path) -> None:
    window, _ = open_window({"overlay": "full"})
    qtbot.keyClick(window, Key.Key_F12)
    qtbot.keyClick(window, Key.Key_F12, Qt.KeyboardModifier.ShiftModifier)
    qtbot.waitUntil(lambda: len(list(tmp_path.rglob("*.png"))) == 2)
    for path in tmp_path.rglob("*.png"):
        image = QImage(str(path))
        assert image.width() == 1280
        assert "world 7" in image.text("Comment")


def test_a_film_is_made_and_whole(qtbot: QtBot, open_window: OpenWindow, tmp_path: Path) -> None:
    window, _ = open_window()
    qtbot.keyClick(window, Key.Key_F9)
    qtbot.waitUntil(lambda: window.captures.film.recorder is not None and window.captures.film.recorder.frames >= 8, timeout=15000)
    with qtbot.waitSignal(window.captures.film.saved, timeout=15000) as saved:
        qtbot.keyClick(window, Key.Key_F9)
    assert saved.args is not None
    report = saved.args[0]
    assert report.path.is_relative_to(tmp_path)
    assert report.frames >= 8
    assert "world 7" in read_metadata(report.path)["title"]
    assert window.captures.taps.names == []


def test_closing_while_filming_keeps_the_film(qtbot: QtBot, open_window: OpenWindow, tmp_path: Path) -> None:
    window, _ = open_window()
    qtbot.keyClick(window, Key.Key_F9)
    qtbot.waitUntil(lambda: window.captures.film.recorder is not None and window.captures.film.recorder.frames >= 8, timeout=15000)
    window.close()
    (film,) = tmp_path.rglob("*.mp4")
    assert read_metadata(film)["title"]


def test_a_failure_has_words_and_a_way_on(qtbot: QtBot, open_window: OpenWindow) -> None:
    window, street = open_window()
    street.fail(TierError("The disk tier is full.", "Free some space."))
    qtbot.waitUntil(lambda: isinstance(window.panel, MessagePanel))
    assert window.panel is not None
    words = " ".join(label.text() for label in window.panel.findChildren(QLabel))
    assert "The disk tier is full." in words
    assert "Free some space." in words
    assert len(window.panel.findChildren(QPushButton)) >= 2
    assert window.exit_code == 1


def test_closing_is_quick(qtbot: QtBot, open_window: OpenWindow) -> None:
    window, street = open_window(seconds=0.3)
    began = time.monotonic()
    qtbot.keyClick(window, Key.Key_Q, Qt.KeyboardModifier.ControlModifier)
    assert not window.isVisible()
    assert time.monotonic() - began < 1.0
    assert street.closed.is_set()


def test_a_click_takes_the_mouse_and_escape_gives_it_back(qtbot: QtBot, open_window: OpenWindow) -> None:
    window, street = open_window()
    qtbot.mouseClick(window, Qt.MouseButton.LeftButton, pos=QPoint(600, 300))
    assert window.mouse.held
    from PySide6.QtGui import QCursor

    QCursor.setPos(QCursor.pos() + QPoint(40, -10))
    qtbot.waitUntil(lambda: any(action.turn < 0 and action.look > 0 for action in street.actions))
    turn = sum(action.turn for action in street.actions)
    assert turn == pytest.approx(-40 * window.settings.mouse_sensitivity, rel=0.1)
    qtbot.keyClick(window, Key.Key_Escape)
    assert not window.mouse.held


def test_a_film_of_nothing_leaves_no_file(qtbot: QtBot, open_window: OpenWindow, tmp_path: Path) -> None:
    window, _ = open_window()
    qtbot.keyClick(window, Key.Key_Space)
    qtbot.waitUntil(lambda: window.snapshot is not None and window.snapshot.paused)
    qtbot.keyClick(window, Key.Key_F9)
    qtbot.waitUntil(lambda: window.captures.film.recorder is not None)
    with qtbot.waitSignal(window.captures.film.saved, timeout=15000):
        qtbot.keyClick(window, Key.Key_F9)
    assert not list(tmp_path.rglob("*.mp4"))
    assert "no film" in window.notices.toast.text
