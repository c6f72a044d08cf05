"""The start page: worlds to choose from with pictures, back to the game without a restart, never an empty window."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QLabel, QPushButton
from pytestqt.qtbot import QtBot

from tests.app.conftest import OpenWindow
from tests.helpers.fake_street import FakeSpec, made_snapshot
from worldpager.app import machine_words
from worldpager.app.main_window import MainWindow
from worldpager.app.panels.message_panel import MessagePanel
from worldpager.app.panels.start_cards import WorldCard
from worldpager.app.panels.start_page import StartPage
from worldpager.app.play_settings import configured, for_model, overrides_of_line, starting_config
from worldpager.app.previews import TURNS, Previews
from worldpager.app.settings import Settings
from worldpager.engine.build import default_config
from worldpager.engine.cli import flags_given
from worldpager.engine.config import GiB, MiB
from worldpager.engine.mailbox import NewWorld, Pause
from worldpager.engine.offer import MachineOffer, ModelOffer, outlook
from worldpager.engine.session.catalogue import KeptWorld
from worldpager.engine.types import Frames

Key, Modifier = Qt.Key, Qt.KeyboardModifier


class DrawnWorld:
    """One colour a seed; notes what was asked."""

    def __init__(self, seed: int, asked: list[tuple[int, float]]) -> None:
        self._seed, self._asked = seed, asked

    def picture(self, turn: float) -> Frames:
        self._asked.append((self._seed, turn))
        return np.full((80, 120, 3), self._seed, np.uint8)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, float]]:
    """Windows draw previews at once; what they ask for."""
    found: list[tuple[int, float]] = []
    monkeypatch.setattr("worldpager.app.previews.open_preview", lambda model, seed: DrawnWorld(seed, found) if model == "tiny" else None)
    monkeypatch.setattr(Previews.__init__, "__defaults__", (None, lambda model, seed: DrawnWorld(seed, found) if model == "tiny" else None))
    return found


def page_of(window: MainWindow) -> StartPage:
    assert isinstance(window.panel, StartPage)
    return window.panel


def test_from_the_game_and_back(qtbot: QtBot, open_window: OpenWindow, asked: list[tuple[int, float]]) -> None:
    window, street = open_window()
    qtbot.keyClick(window, Key.Key_Home)
    page = page_of(window)
    assert "7" in page.go_on.text()
    qtbot.waitUntil(lambda: Pause(True) in street.commands)
    qtbot.waitUntil(lambda: all(page._picture(index) is not None for index in range(4)))
    qtbot.keyClick(page, Key.Key_Escape)
    qtbot.waitUntil(lambda: street.commands[-1] == Pause(False))
    assert window.panel is None
    assert window.playing


def test_another_world_of_the_same_model_needs_no_loading(qtbot: QtBot, open_window: OpenWindow, asked: list[tuple[int, float]]) -> None:
    window, street = open_window()
    window.config = configured(default_config(), window.settings, {})
    qtbot.keyClick(window, Key.Key_Home)
    page = page_of(window)
    qtbot.keyClicks(page.number, "321")
    qtbot.keyClick(page.number, Key.Key_Return)
    qtbot.waitUntil(lambda: NewWorld(321) in street.commands)
    assert window.panel is None
    assert not street.closed.is_set()


def test_another_model_is_loaded_and_remembered(qtbot: QtBot, open_window: OpenWindow, asked: list[tuple[int, float]]) -> None:
    window, street = open_window()
    qtbot.keyClick(window, Key.Key_Home)
    page_of(window).new_world.emit("stand-in", 5)
    assert street.closed.is_set()
    assert (window.config.model, window.config.seed) == ("stand-in", 5)
    assert window.preferences.values.model == "stand-in"
    assert window.loading.isVisible()


def test_escape_leads_there_once_nothing_else_is_to_leave(qtbot: QtBot, open_window: OpenWindow, asked: list[tuple[int, float]]) -> None:
    window, _ = open_window()
    qtbot.keyClick(window, Key.Key_Escape)
    page_of(window)


def test_a_window_without_a_world_is_never_empty(qtbot: QtBot, open_window: OpenWindow, asked: list[tuple[int, float]]) -> None:
    window, _ = open_window()
    window.bridge.stop()
    window.playing = False
    window.run_action("start")
    page = page_of(window)
    assert not page.go_on.isVisible()
    qtbot.keyClick(page, Key.Key_Escape)
    assert window.panel is page
    page.settings_asked.emit()
    assert window.panel is not page
    window.close_panel()
    qtbot.waitUntil(lambda: isinstance(window.panel, StartPage))


FROM_THE_START = ("keys", "settings", "recordings")


@pytest.mark.parametrize("action", FROM_THE_START)
def test_before_the_first_world_every_way_leads_back(
    qtbot: QtBot, open_window: OpenWindow, asked: list[tuple[int, float]], action: str
) -> None:
    window, _ = open_window(begin=False)
    assert not window.loading.isVisible(), "nothing is being loaded"
    window.run_action("start")
    page_of(window)
    window.run_action(action)
    assert not isinstance(window.panel, StartPage)
    qtbot.keyClick(window.panel, Key.Key_Escape)
    qtbot.waitUntil(lambda: isinstance(window.panel, StartPage))
    assert not window.loading.isVisible()


@pytest.mark.parametrize(("action", "key", "modifier"), [
    ("keys", Key.Key_F1, Modifier.NoModifier), ("settings", Key.Key_Comma, Modifier.ControlModifier),
    ("recordings", Key.Key_F3, Modifier.NoModifier), ("fullscreen", Key.Key_F11, Modifier.NoModifier),
    ("quit", Key.Key_Q, Modifier.ControlModifier),
])  # fmt: skip
def test_keys_that_need_no_world_count_on_the_start_page(
    qtbot: QtBot, open_window: OpenWindow, asked: list[tuple[int, float]], monkeypatch: pytest.MonkeyPatch, action: str, key: Qt.Key,
    modifier: Qt.KeyboardModifier,
) -> None:  # fmt: skip
    window, _ = open_window(begin=False)
    window.run_action("start")
    page, ran = page_of(window), list[str]()
    monkeypatch.setattr(window, "run_action", ran.append)
    qtbot.keyClick(QApplication.focusWidget() or page, key, modifier)
    assert ran == [action]
    qtbot.keyClick(page, Key.Key_W)
    qtbot.keyClick(page, Key.Key_R)
    assert ran == [action], "nothing is played here"


def test_the_first_pictures_come_before_the_whole_turn(qtbot: QtBot, tmp_path: Path, asked: list[tuple[int, float]]) -> None:
    from PySide6.QtCore import QObject

    owner = QObject()
    previews = Previews(owner, tmp_path)
    previews.show("tiny", (3, 4))
    qtbot.waitUntil(lambda: previews.complete((3, 4)))
    previews.end()
    assert [seed for seed, _ in asked[:2]] == [3, 4]
    assert [turn for _, turn in asked[:2]] == [0.0, 0.0]
    assert len(asked) == 2 * TURNS
    again = Previews(owner, tmp_path)
    again.show("tiny", (3, 4))
    qtbot.waitUntil(lambda: again.complete((3, 4)))
    again.end()
    assert len(asked) == 2 * TURNS  # all from the cache
    image = again.image(4, 1)
    assert image is not None
    assert image.pixelColor(5, 5).red() == 4


def test_pictures_wait_while_a_world_is_played_and_are_still_there(qtbot: QtBot, tmp_path: Path) -> None:
    from PySide6.QtCore import QObject

    drawn, go_on = threading.Semaphore(0), threading.Semaphore(0)

    class SlowWorld:
        def picture(self, turn: float) -> Frames:
            drawn.release()
            assert go_on.acquire(timeout=10)
            return np.zeros((8, 12, 3), np.uint8)

    owner = QObject()
    previews = Previews(owner, tmp_path, lambda model, seed: SlowWorld())
    previews.show("tiny", (3,))
    assert drawn.acquire(timeout=5)
    previews.rest()
    go_on.release()
    assert not drawn.acquire(timeout=0.2)  # no second picture
    assert previews.image(3, 0) is not None
    previews.show("tiny", (3,))
    assert previews.image(3, 0) is not None  # nothing is blank meanwhile
    go_on.release(TURNS)
    qtbot.waitUntil(lambda: previews.complete((3,)))
    previews.rest()
    previews.show("tiny", (3,))
    assert previews.complete((3,))
    previews.end()


def test_a_model_without_previews_shows_none(qtbot: QtBot, tmp_path: Path, asked: list[tuple[int, float]]) -> None:
    from PySide6.QtCore import QObject

    owner = QObject()
    previews = Previews(owner, tmp_path)
    previews.show("stand-in", (3,))
    previews.end()
    assert previews.image(3, 0) is None
    assert not asked
    assert not [thread for thread in threading.enumerate() if thread.name == "previews"]


def test_measurements_are_kept_by_model(tmp_path: Path) -> None:
    path = tmp_path / "state" / "measured.json"
    assert machine_words.read_measured("fake", path) is None
    machine_words.keep_measured(made_snapshot(40, FakeSpec()), path)
    found = machine_words.read_measured("fake", path)
    assert found == machine_words.Measured(15.6, 4, 300_000)
    path.write_text(json.dumps({"fake": {"fps": -1, "frames_per_chunk": 4, "block_bytes": 3}}))
    assert machine_words.read_measured("fake", path) is None
    path.write_text("{")
    assert machine_words.read_measured("fake", path) is None


def test_minutes_until_tiers_are_full() -> None:
    offer = MachineOffer(8 * GiB, GiB, 60 * MiB, 100 * GiB, 600 * MiB, "", 0)
    seen = outlook(offer, MiB, 2.0)
    assert (seen.until_disk, seen.until_full) == (2.0, 20.0)


def test_settings_reach_the_configuration_and_the_line_comes_first() -> None:
    config = default_config()
    settings = Settings(host_budget="1GiB", disk_budget="16GiB", disk_folder="/somewhere")
    memory = configured(config, settings, {}).memory
    assert (memory.host_budget, memory.disk_budget, memory.disk_dir) == (GiB, 16 * GiB, Path("/somewhere"))
    memory = configured(config, settings, {"host_budget": "--host-budget", "disk": "--disk"}).memory
    assert (memory.host_budget, memory.disk_budget, memory.disk_dir) == (config.memory.host_budget, 16 * GiB, config.memory.disk_dir)
    assert overrides_of_line(config, {"model": "--model", "seed": "--seed"}) == {"model": ("tiny", "--model")}


def test_the_model_of_last_time_unless_it_is_gone() -> None:
    config = default_config()
    assert starting_config(config, Settings(model="stand-in"), {}).model == "stand-in"
    assert starting_config(config, Settings(model="stand-in"), {"model": "--model"}).model == "tiny"
    assert starting_config(config, Settings(model="no such"), {}).model == "tiny"
    assert for_model(config, "stand-in", Settings(), {}).memory.host_budget == default_config("stand-in").memory.host_budget


def test_flags_on_the_line() -> None:
    known = ("model", "host_budget", "no_disk", "command")
    assert flags_given(["play", "--model=tiny", "--host-b", "1GiB"], known) == {"model": "--model", "host_budget": "--host-budget"}
    assert flags_given(["play"], known) == {}


def test_every_control_has_a_name(open_window: OpenWindow, qtbot: QtBot, asked: list[tuple[int, float]]) -> None:
    window, _ = open_window()
    qtbot.keyClick(window, Key.Key_Home)
    page = page_of(window)
    assert all(button.text() or button.accessibleName() for button in page.findChildren(QPushButton))
    assert any("main memory" in label.text() for label in page.findChildren(QLabel))


def test_kept_worlds_are_opened_where_they_were_left(
    qtbot: QtBot, open_window: OpenWindow, asked: list[tuple[int, float]], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    worlds = [
        KeptWorld("harbour", tmp_path / "harbour", "stand-in", 9, 40, 1, 120.0, played=2.0, size=1 << 20),
        KeptWorld("ruin", tmp_path / "ruin", problem="its index is damaged"),
    ]
    monkeypatch.setattr("worldpager.app.start_actions.kept_worlds", lambda folder: worlds)
    window, _ = open_window()
    qtbot.keyClick(window, Key.Key_Home)
    page = page_of(window)
    cards = {card.title: card for card in page.findChildren(WorldCard)}
    assert cards["harbour"].line == "stand-in, 2.0 min, 1.0 MiB"
    assert "damaged" in cards["ruin"].line
    cards["ruin"].click()
    assert window.panel is page
    cards["harbour"].click()
    assert (window.config.model, window.config.seed, window.config.world) == ("stand-in", 9, tmp_path / "harbour")
    assert window.loading.isVisible()
    window.run_action("start")
    page_of(window).new_world.emit("stand-in", 10)
    assert window.config.world is None


def test_models_that_are_not_here_say_how_to_get_them(
    qtbot: QtBot, open_window: OpenWindow, asked: list[tuple[int, float]], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "nothing"))
    window, street = open_window()
    qtbot.keyClick(window, Key.Key_Home)
    page = page_of(window)
    buttons = {button.text(): button for button in page.findChildren(QPushButton)}
    absent = next(text for text in buttons if text.startswith("○"))
    buttons[absent].click()
    assert "worldpager models fetch" in page._about.text()
    assert not any(card.isEnabled() for card in page._scenes)
    page._open(5)
    assert window.panel is page
    assert not street.closed.is_set()


def test_a_folder_without_a_model_is_refused_in_words(
    qtbot: QtBot, open_window: OpenWindow, asked: list[tuple[int, float]], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("worldpager.app.start_actions.QFileDialog.getExistingDirectory", lambda *rest: str(tmp_path))
    window, _ = open_window()
    qtbot.keyClick(window, Key.Key_Home)
    page_of(window).models_asked.emit()
    qtbot.waitUntil(lambda: isinstance(window.panel, MessagePanel), timeout=15000)
    assert window.panel is not None
    assert any(str(tmp_path) in label.text() for label in window.panel.findChildren(QLabel))


def test_a_picture_of_ones_own_begins_a_world_where_the_model_takes_one(
    qtbot: QtBot, open_window: OpenWindow, asked: list[tuple[int, float]], monkeypatch: pytest.MonkeyPatch
) -> None:
    offers = [ModelOffer("tiny", "small", 1 << 20), ModelOffer("matrix-game-2", "large", 1 << 30, takes_picture=True)]
    monkeypatch.setattr("worldpager.app.start_actions.models_on_offer", lambda: offers)
    monkeypatch.setattr("worldpager.app.panels.start_page.QFileDialog.getOpenFileName", lambda *rest: ("/pictures/hill.png", ""))
    window, _ = open_window()
    qtbot.keyClick(window, Key.Key_Home)
    page = page_of(window)
    assert not page.own.isVisibleTo(page)
    next(button for button in page.findChildren(QPushButton) if button.text() == "matrix-game-2").click()
    assert page.own.isVisibleTo(page)
    assert page.acceptDrops()
    page.own.click()
    assert window.config.model == "matrix-game-2"
    assert window.config.model_options == {"image": "/pictures/hill.png"}
    window.run_action("start")
    page_of(window).new_world.emit("matrix-game-2", 4)
    assert window.config.model_options == {}
