"""Half an hour of automatic play in a window, by request (--stress): memory stays flat and nothing piles up."""

from __future__ import annotations

import os
import time
from pathlib import Path

import psutil
import pytest
from pytestqt.qtbot import QtBot

from worldpager.app.bridge import EngineBridge
from worldpager.app.main_window import MainWindow
from worldpager.app.preferences import Preferences
from worldpager.engine.config import MemoryConfig, PlayConfig
from worldpager.engine.pose.source import open_source

SECONDS = float(os.environ.get("WORLDPAGER_LONG_SECONDS", "1800"))
WARM_SHARE = 0.25
GROWTH = 24 << 20
"""Bytes that the process may grow after it is warm: the index of blocks grows, pictures and chunks must not."""


@pytest.mark.stress
@pytest.mark.timeout(SECONDS * 2 + 120)
def test_memory_stays_flat(qtbot: QtBot, tmp_path: Path) -> None:
    memory = MemoryConfig(host_budget=1 << 22, disk_dir=tmp_path, disk_budget=1 << 30)
    config = PlayConfig(model="stand-in", prime=False, memory=memory, model_options={"step-ms": "20"})
    given = {"viewport": ("software", "test"), "overlay": ("full", "test"), "show_input": (True, "test")}
    window = MainWindow(config, EngineBridge(), Preferences(tmp_path / "window.json", given, {}))
    window.show()
    process, samples = psutil.Process(), []
    begun = time.monotonic()
    while (played := time.monotonic() - begun) < SECONDS:
        if window._scripted is None and (not window.playing or played > 1):
            window._source = open_source("script:tour")  # the tour again, in a new world each time
            window.begin()
        qtbot.wait(200)
        if played > WARM_SHARE * SECONDS:
            samples.append(process.memory_info().rss)
            presenter = window._presenter
            assert presenter is None or len(presenter._chunks) <= 4
    window.close()
    window.deleteLater()
    assert max(samples[len(samples) // 2 :]) - min(samples[: len(samples) // 2]) < GROWTH
