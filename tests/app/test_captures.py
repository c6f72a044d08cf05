"""Films, replays, screenshots from the window: as the settings say, with nothing in them that should not be, and whole afterwards."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from PySide6.QtCore import Qt
from PySide6.QtGui import QImage
from pytestqt.qtbot import QtBot

from tests.app.conftest import OpenWindow
from worldpager.app.main_window import MainWindow
from worldpager.app.panels.message_panel import MessagePanel
from worldpager.app.taps import Taps
from worldpager.engine.mailbox import PublishedChunk
from worldpager.engine.recorder import film_facts, find_ffmpeg, read_metadata

Key = Qt.Key


def pictures(path: Path, size: tuple[int, int]) -> NDArray[np.uint8]:
    command = [
        find_ffmpeg(),
        "-v",
        "error",
        "-i",
        str(path),
        "-vf",
        f"scale={size[0]}:{size[1]}",
        "-f",
        "rawvideo",
        "-pix_fmt",
        "rgb24",
        "-",
    ]
    raw = subprocess.run(command, capture_output=True, stdin=subprocess.DEVNULL, check=True).stdout
    return np.frombuffer(raw, np.uint8).reshape(-1, size[1], size[0], 3)


def film(qtbot: QtBot, window: MainWindow, frames: int) -> Path:
    """Film until ``frames`` are written; where the film is."""
    qtbot.keyClick(window, Key.Key_F9)
    qtbot.waitUntil(lambda: window.captures.film.recorder is not None and window.captures.film.recorder.frames >= frames, timeout=20000)
    with qtbot.waitSignal(window.captures.film.saved, timeout=20000) as saved:
        qtbot.keyClick(window, Key.Key_F9)
    assert saved.args is not None
    path: Path = saved.args[0].path
    return path


def test_two_films_hold_the_picture_alone_and_say_what_they_are(qtbot: QtBot, open_window: OpenWindow) -> None:
    """T5: no pixel of panels in them, and the second begins with what is on the screen then."""
    window, _ = open_window({"overlay": "full"})
    paths = [film(qtbot, window, 8) for _ in range(2)]
    for path in paths:
        shown = pictures(path, (12, 8))
        assert np.abs(shown[:, 1, 1].astype(int) - (200, 40, 40)).max() < 40, "the upper left quarter is red, not a panel"
        facts = json.loads(read_metadata(path)["comment"])
        assert (facts["model"], facts["seed"], facts["timing"], facts["settings"]["view"]) == ("fake", "7", "model", "picture")
        assert film_facts(path).sound


def test_a_film_of_the_window_has_its_panels_and_real_time(qtbot: QtBot, open_window: OpenWindow) -> None:
    window, _ = open_window({"overlay": "full", "film_view": "window", "film_sound": False}, size=(960, 540))
    path = film(qtbot, window, 10)
    facts = film_facts(path)
    assert (facts.width, facts.height, facts.sound) == (960, 540, False)
    shown = pictures(path, (960, 540))
    card = window.hud.cards["status"].geometry().center()
    assert shown[-1, card.y() + 4 : card.y() + 20, card.x() - 40 : card.x() + 40].mean() < 90, "a dark card lies over the red quarter"
    assert json.loads(read_metadata(path)["comment"])["timing"] == "wall"


def test_the_replay_buffer_saves_the_last_seconds_by_a_key(qtbot: QtBot, open_window: OpenWindow, tmp_path: Path) -> None:
    window, _ = open_window({"replay_seconds": "15"})
    qtbot.waitUntil(lambda: window.captures.replay is not None and window.captures.replay.held_seconds > 2, timeout=20000)
    qtbot.keyClick(window, Key.Key_F8)
    qtbot.waitUntil(lambda: bool(list(tmp_path.rglob("*replay*.mp4"))), timeout=20000)
    (path,) = tmp_path.rglob("*replay*.mp4")
    qtbot.waitUntil(lambda: window.captures._saving is None)
    assert film_facts(path).seconds >= 2
    assert "replay" in window.notices.toast.text


def test_the_replay_buffer_goes_with_its_setting(qtbot: QtBot, open_window: OpenWindow) -> None:
    window, _ = open_window({"replay_seconds": "15"})
    assert window.captures.replay is not None
    window.preferences.set("replay_seconds", "0")
    assert window.captures.replay is None
    qtbot.keyClick(window, Key.Key_F8)
    assert "off" in window.notices.toast.text


def test_screenshots_hold_facts(qtbot: QtBot, open_window: OpenWindow, tmp_path: Path) -> None:
    window, _ = open_window()
    qtbot.keyClick(window, Key.Key_F12)
    qtbot.waitUntil(lambda: bool(list(tmp_path.rglob("*.png"))))
    (path,) = tmp_path.rglob("*.png")
    facts = json.loads(QImage(str(path)).text("WorldPager"))
    assert facts["seed"] == 7
    assert len(facts["pose"]) == 5


def test_a_failing_taker_is_let_go_alone(caplog: pytest.LogCaptureFixture) -> None:
    taken: list[object] = []

    def broken(chunk: PublishedChunk) -> None:
        raise OSError("full")

    taps = Taps()
    taps.add("broken", broken)
    taps.add("good", taken.append)
    taps.take("first")  # type: ignore[arg-type]
    taps.take("second")  # type: ignore[arg-type]
    assert taken == ["first", "second"]
    assert taps.names == ["good"]


def test_a_recording_that_fails_is_told_while_play_goes_on(qtbot: QtBot, open_window: OpenWindow) -> None:
    window, street = open_window()
    qtbot.keyClick(window, Key.Key_F9)
    qtbot.waitUntil(lambda: window.captures.film.recorder is not None and window.captures.film.recorder.frames >= 4, timeout=20000)
    recorder = window.captures.film.recorder
    assert recorder is not None
    recorder._encoder.kill()
    qtbot.waitUntil(lambda: isinstance(window.panel, MessagePanel), timeout=20000)
    assert window.captures.film.recorder is None
    assert window.captures.taps.names == []
    assert not street.closed.is_set()
