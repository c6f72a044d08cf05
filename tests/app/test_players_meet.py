"""What players of such programs meet and complain of (T1 to T10 of the notes on play clients), on the stand-in under a virtual screen.

T4 to T6, films and the replay buffer, are with the recorder's tests; T8, memory that runs out, is in `test_care`.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest
from PySide6.QtCore import QEvent, QPoint, Qt
from PySide6.QtGui import QCursor, QFocusEvent
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from tests.helpers.fake_street import FakeSpec, FakeStreet, made_snapshot
from worldpager.app.bridge import EngineBridge, build_street
from worldpager.app.main_window import MainWindow
from worldpager.app.preferences import Preferences
from worldpager.app.presenter import Presenter
from worldpager.app.settings_file import VERSION, load_settings
from worldpager.engine.config import MemoryConfig, PlayConfig
from worldpager.engine.headless import HeadlessRun, play_headless
from worldpager.engine.mailbox import PublishedChunk
from worldpager.engine.pose.source import open_source
from worldpager.engine.recorder import read_metadata
from worldpager.engine.types import Button

Key = Qt.Key
Play = Callable[..., MainWindow]


@pytest.fixture
def play(qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Play]:
    """Opens a window on the stand-in; the keywords are the model's options, ``_`` for ``-``."""
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("XDG_PICTURES_DIR", "XDG_VIDEOS_DIR", "XDG_CONFIG_HOME", "XDG_STATE_HOME"):
        monkeypatch.setenv(name, str(tmp_path / name))
    opened: list[MainWindow] = []

    def begin(settings: dict[str, Any] | None = None, memory: MemoryConfig | None = None, **options: object) -> MainWindow:
        texts = {name.replace("_", "-"): str(value) for name, value in options.items()}
        config = PlayConfig(
            model="stand-in", prime=False, rest_when_idle=False, memory=memory or MemoryConfig(host_budget=1 << 22), model_options=texts
        )
        given = {name: (value, "test") for name, value in ({"viewport": "software", "keys_known": True} | (settings or {})).items()}
        window = MainWindow(config, EngineBridge(build_street), Preferences(tmp_path / "window.json", given, {}))
        opened.append(window)
        window.show()
        qtbot.waitExposed(window)
        window.begin()
        qtbot.waitUntil(lambda: window.playing, timeout=20000)
        window.activateWindow()
        window.setFocus()
        return window

    yield begin
    for window in opened:
        window.close()
        window.deleteLater()


def received(window: MainWindow) -> Button:
    assert window.snapshot is not None
    return window.snapshot.received.buttons


def test_t1_nothing_is_stuck_after_the_focus_was_away(qtbot: QtBot, play: Play) -> None:
    window = play(step_ms=30)
    qtbot.mouseClick(window, Qt.MouseButton.LeftButton, pos=QPoint(600, 300))
    qtbot.keyPress(window, Key.Key_W)
    qtbot.waitUntil(lambda: received(window) == Button.FORWARD)
    QApplication.sendEvent(window, QFocusEvent(QEvent.Type.FocusOut))
    assert not window.mouse.held
    qtbot.waitUntil(lambda: received(window) == Button.NONE)
    given: list[Any] = []
    window.sent.connect(given.append)
    QCursor.setPos(QCursor.pos() + QPoint(50, 20))  # meanwhile the mouse moves; the key goes up elsewhere
    chunk = window.snapshot.chunk if window.snapshot else 0
    window.setFocus()
    QApplication.sendEvent(window, QFocusEvent(QEvent.Type.FocusIn))
    qtbot.waitUntil(lambda: window.snapshot is not None and window.snapshot.chunk > chunk + 3)
    assert not given
    assert received(window) == Button.NONE


def test_t2_the_newest_input_counts_and_queues_are_bounded(qtbot: QtBot, play: Play) -> None:
    window = play(step_ms=300, rate=8)
    presenter = window._presenter
    assert presenter is not None
    chunk = presenter.newest.index if presenter.newest else 0
    qtbot.waitUntil(lambda: presenter.newest is not None and presenter.newest.index > chunk)
    qtbot.keyPress(window, Key.Key_A)
    qtbot.wait(20)  # a tick: A has been handed over
    qtbot.keyRelease(window, Key.Key_A)
    qtbot.keyPress(window, Key.Key_D)
    seen: list[PublishedChunk] = []
    window.chunk_arrived.connect(seen.append)
    qtbot.waitUntil(lambda: any(each.snapshot.received.buttons == Button.RIGHT for each in seen))
    assert not [each for each in seen if each.snapshot.received.buttons == Button.LEFT | Button.RIGHT]
    first = next(each.snapshot for each in seen if each.snapshot.received.buttons == Button.RIGHT)
    assert first.action_stamp > 0
    waiting = []
    for _ in range(4):
        count = len(seen)
        qtbot.waitUntil(lambda count=count: len(seen) > count)  # type: ignore[misc]
        waiting.append((presenter.pacer.waiting, len(presenter._chunks)))
    assert max(frames for frames, _ in waiting) <= 8
    assert max(chunks for _, chunks in waiting) <= 3


class CountingViewport:
    """Counts the frames that are shown."""

    def __init__(self) -> None:
        self.shown = 0
        self.on_painted: Callable[[], None] | None = None

    def show_frame(self, frame: object) -> None:
        self.shown += 1


@pytest.mark.parametrize(("cap", "least", "most"), [(True, 157, 163), (False, 1500, 1610)])
def test_t3_a_fast_machine_shows_the_natural_rate(cap: bool, least: int, most: int) -> None:
    """Ten seconds of a street ten times as fast as the world, by a clock of our own."""
    now, viewport = [0.0], CountingViewport()
    presenter = Presenter(viewport, 16.0, lambda: now[0])  # type: ignore[arg-type]
    presenter.pacer.hold(cap)
    frames = np.zeros((4, 8, 8, 3), np.uint8)
    snapshot = made_snapshot(1, FakeSpec())
    for tick in range(10_000):
        now[0] = tick / 1000
        if tick % 25 == 0:  # a chunk of four frames every 25 ms
            chunk = PublishedChunk(tick // 25, frames, snapshot)
        presenter.tick(chunk)
    assert least <= viewport.shown <= most


def test_t3_the_rates_stand_apart_and_the_cap_is_said(qtbot: QtBot, play: Play) -> None:
    window = play(step_ms=5, rate=12)

    def generated() -> float:
        state = window.hud_state()
        return state.snapshot.generated_fps if state else 0.0

    qtbot.waitUntil(lambda: window.snapshot is not None and window.snapshot.chunk > 14, timeout=10000)
    qtbot.waitUntil(lambda: 0 < generated() < 1.3 * 12)
    window.preferences.set("cap", False)
    qtbot.waitUntil(lambda: generated() > 2 * 12, timeout=10000)
    qtbot.waitUntil(lambda: bool(window.notices.states["cap"].text))


def run_headless(memory: MemoryConfig, chunks: int) -> dict[str, Any]:
    config = PlayConfig(model="stand-in", prime=False, memory=memory, model_options={"step-ms": "0"})
    source = open_source("script:tour")
    assert source is not None
    return dict(play_headless(config, HeadlessRun(source, chunks, "script:tour", None, None, False)))


def test_t7_main_memory_stays_under_its_budget_and_old_places_go_to_disk(tmp_path: Path) -> None:
    budget = 1 << 18
    report = run_headless(MemoryConfig(host_budget=budget, disk_dir=tmp_path, disk_budget=1 << 26), 160)
    assert report["frames"] >= 160 * 4
    assert report["spilled_blocks"] > 0
    assert report["host_peak_bytes"] <= budget
    assert not list(tmp_path.iterdir())  # a scratch world leaves nothing


def test_t7_a_full_disk_is_said_and_play_goes_on(qtbot: QtBot, play: Play, tmp_path: Path) -> None:
    folder = tmp_path / "disk"
    folder.mkdir()
    window = play(memory=MemoryConfig(host_budget=1 << 17, disk_dir=folder, disk_budget=1 << 17), step_ms=1, rate=400, frames=1)
    qtbot.waitUntil(lambda: window.snapshot is not None and bool(window.snapshot.degraded), timeout=20000)
    qtbot.waitUntil(lambda: bool(window.notices.told))
    chunk = window.snapshot.chunk if window.snapshot else 0
    qtbot.waitUntil(lambda: window.snapshot is not None and window.snapshot.chunk > chunk + 5, timeout=10000)
    assert window.exit_code == 0


@pytest.mark.parametrize(
    "content", [None, "{", json.dumps({"version": VERSION, "overlay": 7, "fit": "whole"}), json.dumps({"version": 99})]
)
@pytest.mark.parametrize("leave", ["quit", "close"])
def test_t9_any_settings_file_starts_and_a_last_change_is_kept(qtbot: QtBot, tmp_path: Path, content: str | None, leave: str) -> None:
    path = tmp_path / "window.json"
    if content is not None:
        path.write_text(content)
    preferences = Preferences(path, {"viewport": ("software", "test")}, {})
    window = MainWindow(PlayConfig(), EngineBridge(lambda config, progress: FakeStreet()), preferences)
    window.show()
    window.begin()
    qtbot.waitUntil(lambda: window.playing)
    assert preferences.values.fit == ("whole" if content and "whole" in content else "fill")
    qtbot.keyClick(window, Key.Key_H)
    if leave == "quit":
        qtbot.keyClick(window, Key.Key_Q, Qt.KeyboardModifier.ControlModifier)
    else:
        window.close()
    assert load_settings(path).values.overlay == "full"
    assert (tmp_path / "window.json.unreadable").exists() == (content == "{")
    window.deleteLater()


def test_t10_closing_in_the_middle_of_a_chunk(qtbot: QtBot, play: Play) -> None:
    window = play(step_ms=400, rate=8)
    began = time.monotonic()
    window.close()
    assert not window.bridge.running
    assert time.monotonic() - began < 5.0
    assert window.exit_code == 0


def test_t10_another_model_never_shows_the_one_before(qtbot: QtBot, tmp_path: Path) -> None:
    streets = iter((FakeStreet(spec=FakeSpec("one")), FakeStreet(spec=FakeSpec("two"))))
    preferences = Preferences(tmp_path / "window.json", {"viewport": ("software", "test")}, {})
    window = MainWindow(PlayConfig(), EngineBridge(lambda config, progress: next(streets)), preferences)
    window.show()
    window.begin()
    qtbot.waitUntil(lambda: window.playing)
    window.begin()
    uncovered: list[str] = []

    def look(now: float) -> None:
        if not window.loading.isVisible():
            uncovered.append(window.snapshot.model if window.snapshot else "")

    window.ticked.connect(look)
    qtbot.waitUntil(lambda: len(uncovered) > 20)
    assert set(uncovered) == {"two"}
    window.close()
    window.deleteLater()


def program(folder: Path, *arguments: str) -> subprocess.Popen[str]:
    environment = {**os.environ, "HOME": str(folder), "WORLDPAGER_VIEWPORT": "software", "OMP_NUM_THREADS": "1", "TRITON_INTERPRET": "1"}
    environment |= {name: str(folder / name) for name in ("XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME")}
    line = [sys.executable, "-m", "worldpager.app", "--model", "stand-in", "--no-rest", "--disk", str(folder / "disk"), *arguments]
    return subprocess.Popen(line, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def wait_until(true: Callable[[], bool], seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.05)


@pytest.mark.slow  # a whole program, twice
@pytest.mark.timeout(180)
def test_t10_ended_from_outside_while_filming_then_killed(tmp_path: Path, qapp: object) -> None:
    (tmp_path / "disk").mkdir()
    film = tmp_path / "film.mp4"
    first = program(tmp_path, "--record", str(film))
    wait_until(lambda: film.exists() and film.stat().st_size > 2000, 40)
    children = psutil.Process(first.pid).children(recursive=True)
    first.send_signal(signal.SIGTERM)
    said, _ = first.communicate(timeout=20)
    assert first.returncode == 0, said
    assert "Traceback" not in said
    assert read_metadata(film)["title"]
    assert not psutil.wait_procs(children, timeout=5)[1]
    running = tmp_path / "XDG_STATE_HOME" / "worldpager" / "running"
    assert not list(running.iterdir())
    second = program(tmp_path)
    wait_until(lambda: any(running.glob("*.json")), 40)
    second.kill()
    second.communicate(timeout=20)
    assert len(list(running.glob("*.json"))) == 1  # the next start tells of it
    assert not list((tmp_path / "disk").iterdir())


