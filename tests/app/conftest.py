"""A window on a made-up street, with nothing of the person's own folders touched."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pytestqt.qtbot import QtBot

from tests.helpers.fake_street import FakeStreet
from worldpager.app.bridge import EngineBridge
from worldpager.app.main_window import MainWindow
from worldpager.app.preferences import Preferences
from worldpager.app.settings import Settings
from worldpager.app.settings_file import save_settings
from worldpager.engine.config import PlayConfig

OpenWindow = Callable[..., tuple[MainWindow, FakeStreet]]


@pytest.fixture
def open_window(qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[OpenWindow]:
    """Opens a window that shows its first picture, or none without ``begin``. ``settings`` are the window's, the rest is the street's."""
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("XDG_PICTURES_DIR", "XDG_VIDEOS_DIR", "XDG_CONFIG_HOME", "XDG_STATE_HOME"):
        monkeypatch.setenv(name, str(tmp_path / name))
    opened: list[MainWindow] = []

    def open_one(
        settings: dict[str, Any] | None = None, *, size: tuple[int, int] = (1280, 720), begin: bool = True, **street: Any
    ) -> tuple[MainWindow, FakeStreet]:
        fake = FakeStreet(**street)
        wanted = replace(Settings(viewport="software", keys_known=True, mute=True, replay_seconds="0"), **(settings or {}))
        save_settings(wanted, tmp_path / "window.json")
        preferences = Preferences(tmp_path / "window.json", environment={})
        window = MainWindow(PlayConfig(), EngineBridge(lambda config, progress: fake), preferences)
        opened.append(window)
        window.resize(*size)
        window.show()
        qtbot.waitExposed(window)
        if begin:
            window.begin()
            qtbot.waitUntil(lambda: window.snapshot is not None and not window.loading.isVisible())
        window.activateWindow()
        window.setFocus()
        return window, fake

    yield open_one
    for window in opened:
        window.close()
        window.deleteLater()
