"""Loading can be broken off, failures have names and reports, dead runs are noticed, memory that ran out is given back."""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
import threading
from pathlib import Path

import psutil
import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QLabel, QPushButton
from pytestqt.qtbot import QtBot

from tests.app.conftest import OpenWindow
from tests.helpers.fake_street import FakeSpec, FakeStreet, made_snapshot
from worldpager.app.bridge import EngineBridge, Progress, build_street
from worldpager.app.care import Watchdog, care_of
from worldpager.app.crash_watch import CrashWatch
from worldpager.app.faults import MemoryShortageError, explained, shortage
from worldpager.app.main_window import MainWindow
from worldpager.app.panels.message_panel import MessagePanel
from worldpager.app.panels.start_page import StartPage
from worldpager.app.preferences import Preferences
from worldpager.app.report import make_report, new_id, scrubbed
from worldpager.engine.config import MemoryConfig, PlayConfig
from worldpager.engine.errors import ModelError, TierError


@pytest.fixture
def no_previews(monkeypatch: pytest.MonkeyPatch) -> None:
    from worldpager.app.previews import Previews

    monkeypatch.setattr(Previews, "show", lambda self, model, seeds: None)


def words_on(panel: object) -> str:
    assert isinstance(panel, MessagePanel)
    return " ".join(label.text() for label in panel.findChildren(QLabel))


def press(panel: object, text: str) -> None:
    assert isinstance(panel, MessagePanel)
    next(button for button in panel.findChildren(QPushButton) if button.text() == text).click()


def test_loading_can_be_broken_off(qtbot: QtBot, tmp_path: Path, no_previews: None) -> None:
    loading, go_on = threading.Event(), threading.Event()

    def build(config: PlayConfig, progress: Progress) -> FakeStreet:
        loading.set()
        assert go_on.wait(5.0)
        progress("Still loading", 0.5)
        return FakeStreet()

    preferences = Preferences(tmp_path / "window.json", environment={"WORLDPAGER_VIEWPORT": "software"})
    window = MainWindow(PlayConfig(), EngineBridge(build), preferences)
    window.show()
    window.begin()
    assert loading.wait(5.0)
    qtbot.keyClick(window.loading, Qt.Key.Key_Escape)
    assert not window.loading.cancel.isEnabled()
    assert window.loading.isVisible()  # until the thread has ended
    go_on.set()
    qtbot.waitUntil(lambda: isinstance(window.panel, StartPage))
    assert not window.bridge.running
    window.close()


def test_a_failure_has_a_name_that_its_report_bears(
    qtbot: QtBot, open_window: OpenWindow, caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    window, street = open_window()
    window.log_path = tmp_path / "worldpager.log"
    window.log_path.write_text(f"first line\nopened {Path.home()}/secret\n")
    with caplog.at_level(logging.ERROR):
        street.fail(TierError("The disk tier is full.", "Free some space."))
        qtbot.waitUntil(lambda: isinstance(window.panel, MessagePanel))
    press(window.panel, "Copy report")
    report = json.loads(QGuiApplication.clipboard().text())
    assert report["id"].startswith("tier-")
    assert report["id"] in words_on(window.panel)
    assert report["id"] in caplog.text
    assert report["error"]["what"] == "The disk tier is full."
    assert report["versions"]["torch"] != "absent"
    assert report["play"]["tiers"][0]["name"] == "device"
    assert report["log"][-1] == "opened ~/secret"
    assert str(Path.home()) not in QGuiApplication.clipboard().text()


def test_nothing_private_in_a_report(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("getpass.getuser", lambda: "melusine")
    monkeypatch.setattr("socket.gethostname", lambda: "tower-of-m")
    assert scrubbed(f"{Path.home()}/x of melusine on tower-of-m") == "~/x of … on …"
    report = make_report("model-ABCD", ModelError("It broke for melusine."), made_snapshot(5, FakeSpec()), {}, None)
    assert "melusine" not in report


def test_names_differ_from_moment_to_moment() -> None:
    assert new_id("tier", 1000.0) != new_id("tier", 1000.2)
    assert new_id("tier", 1000.0) == new_id("tier", 1000.05)


def test_from_a_failure_to_the_start_page(qtbot: QtBot, open_window: OpenWindow, no_previews: None) -> None:
    window, street = open_window()
    street.fail(ModelError("The model broke."))
    qtbot.waitUntil(lambda: isinstance(window.panel, MessagePanel))
    press(window.panel, "Start page")
    assert isinstance(window.panel, StartPage)
    assert not window.panel.closable  # nothing to go back to


def test_the_watchdog_is_patient_and_learns() -> None:
    dog = Watchdog()
    assert dog.overdue(100.0) is None
    for k in range(5):
        dog.chunk(float(k))
    assert dog.overdue(4.0 + 19.9) is None
    assert dog.overdue(4.0 + 20.1) == pytest.approx(20.1)
    dog.rest()
    assert dog.overdue(1000.0) is None
    quick = Watchdog()
    quick.chunk(0.0)
    quick.chunk(0.1)
    assert quick.overdue(8.0) is None  # never below eight seconds
    assert quick.overdue(8.2) is not None


def test_a_stuck_world_is_said(qtbot: QtBot, open_window: OpenWindow, monkeypatch: pytest.MonkeyPatch) -> None:
    window, _ = open_window()
    monkeypatch.setattr(Watchdog, "overdue", lambda self, now: 12.0)
    qtbot.waitUntil(lambda: "12 s" in window.notices.states["stuck"].text if "stuck" in window.notices.states else False)
    monkeypatch.setattr(Watchdog, "overdue", lambda self, now: None)
    qtbot.waitUntil(lambda: window.notices.states["stuck"].text == "")


def test_a_run_that_died_is_found_once(tmp_path: Path) -> None:
    code = "from worldpager.app.crash_watch import CrashWatch; import os, sys, faulthandler; from pathlib import Path\n"
    code += "CrashWatch(Path(sys.argv[1])).begin(); faulthandler._sigabrt()"
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path)], capture_output=True, timeout=50, check=False)
    assert done.returncode != 0
    second = CrashWatch(tmp_path)
    second.begin()
    assert len(second.found) == 1
    assert "Fatal Python error" in second.found[0].stacks
    third = CrashWatch(tmp_path)
    third._collect()
    assert not third.found  # the second still runs, and the dead one is told of already
    second.end()
    assert not list(tmp_path.iterdir())


def test_a_number_used_again_is_no_living_run(tmp_path: Path) -> None:
    (tmp_path / f"{os.getpid()}.json").write_text(json.dumps({"began": "long ago", "created": psutil.Process().create_time() - 999}))
    (tmp_path / "nonsense.json").write_text("{")
    watch = CrashWatch(tmp_path)
    watch._collect()
    assert {note.began for note in watch.found} == {"long ago", ""}


def test_memory_that_ran_out_is_told_with_need_and_free() -> None:
    text = "CUDA out of memory. Tried to allocate 2.50 GiB. GPU 0 has a total capacity of 23 GiB"
    error = shortage(text, PlayConfig(model="big"))
    assert error.code == "memory"
    assert "big" in error.what
    assert "2.5 GiB" in error.what
    assert "free" in error.what
    assert isinstance(explained(MemoryError(), PlayConfig()), MemoryShortageError)
    assert explained(TierError("x"), PlayConfig()).code == "tier"


def test_after_too_much_the_same_process_plays_something_smaller(qtbot: QtBot) -> None:
    """T8: the stand-in with blocks no machine can hold, then a small one."""
    bridge, own = EngineBridge(build_street), psutil.Process()
    memory = MemoryConfig(host_budget=1 << 22)
    huge = PlayConfig(model="stand-in", memory=memory, model_options={"layers": "4096", "tokens": "4194304", "head-dim": "512"})
    small = PlayConfig(model="stand-in", memory=memory, model_options={"step-ms": "5"})
    with qtbot.waitSignal(bridge.ready, timeout=30000):
        bridge.start(small)
    assert bridge.stop()
    before = own.memory_info().rss
    with qtbot.waitSignal(bridge.failed, timeout=30000) as told:
        bridge.start(huge)
    assert told.args is not None
    assert told.args[0].code == "memory", told.args[0]
    assert "free" in told.args[0].what
    qtbot.waitUntil(lambda: not bridge.running)
    assert own.memory_info().rss < before + (64 << 20)
    with qtbot.waitSignal(bridge.ready, timeout=30000):
        bridge.start(small)
    qtbot.waitUntil(lambda: bridge.newest() is not None, timeout=10000)
    assert bridge.stop()


def test_the_last_run_is_told_of(qtbot: QtBot, open_window: OpenWindow, tmp_path: Path) -> None:
    (tmp_path / "999999999.json").write_text(json.dumps({"began": "2026-12-01 10:00:00"}))
    watch = CrashWatch(tmp_path)
    watch._collect()
    window, _ = open_window()
    care_of(window).watch(watch)
    assert "Ctrl+Shift+C" in window.notices.toast.text
    assert json.loads(care_of(window).report())["id"].startswith("crash-")
