"""The recordings page: what lies in the folder is shown and played; nothing outside of it can be touched."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QFile, Qt
from pytestqt.qtbot import QtBot

from tests.app.conftest import OpenWindow
from worldpager.app.film_shelf import FilmShelf
from worldpager.app.folders import films_folder
from worldpager.app.panels.films_panel import FilmsPanel
from worldpager.engine.errors import InputError
from worldpager.engine.recorder import Recorder

Key = Qt.Key


def make_film(path: Path, frames: int = 8) -> Path:
    recorder = Recorder(path, 48, 32, 16.0, {"title": "A walk", "model": "tiny", "seed": "7"}, lines=32)
    recorder.offer(np.full((frames, 32, 48, 3), 90, np.uint8), block=True)
    recorder.close()
    return path


@pytest.fixture
def no_trash(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(QFile, "moveToTrash", lambda *_: False)


def test_films_are_listed_newest_first_with_what_they_say(tmp_path: Path) -> None:
    shelf = FilmShelf(tmp_path)
    assert FilmShelf(tmp_path / "none").reels() == []
    old, new = make_film(tmp_path / "old.mp4"), make_film(tmp_path / "new.mp4")
    import os

    os.utime(old, (1, 1))
    (tmp_path / "broken.mp4").write_bytes(b"no film")
    (tmp_path / "notes.txt").touch()
    (tmp_path / "link.mp4").symlink_to("/etc/passwd")
    reels = shelf.reels()
    assert {reel.path.name for reel in reels} == {"old.mp4", "new.mp4", "broken.mp4"}
    assert reels[-1].path == old
    label = shelf.label(next(reel for reel in reels if reel.path == new))
    assert label.facts is not None
    assert "tiny 7" in label.words
    assert label.picture is not None
    broken = shelf.label(next(reel for reel in reels if reel.path.name == "broken.mp4"))
    assert broken.facts is None
    assert "can't be read" in broken.words


@pytest.mark.parametrize("name", ["", "..", "../up", "a/b", ".hidden", "x" * 200, "new\0"])
def test_names_that_lead_elsewhere_are_refused(tmp_path: Path, name: str) -> None:
    film = make_film(tmp_path / "a.mp4")
    with pytest.raises(InputError):
        FilmShelf(tmp_path).rename(film, name)
    assert film.exists()


def test_renaming_never_replaces_and_deleting_never_leaves_the_folder(tmp_path: Path, no_trash: None) -> None:
    (tmp_path / "films").mkdir()
    shelf = FilmShelf(tmp_path / "films")
    one, two = make_film(tmp_path / "films" / "one.mp4"), make_film(tmp_path / "films" / "two.mp4")
    outside = make_film(tmp_path / "outside.mp4")
    (tmp_path / "films" / "link.mp4").symlink_to(outside)
    with pytest.raises(InputError, match="already"):
        shelf.rename(one, "two")
    assert shelf.rename(one, "drei.mp4").name == "drei.mp4"
    for path in (outside, tmp_path / "films" / ".." / "outside.mp4", tmp_path / "films" / "link.mp4", Path("/etc/passwd")):
        with pytest.raises(InputError, match="no film"):
            shelf.delete(path)
        with pytest.raises(InputError, match="no film"):
            shelf.rename(path, "mine")
    assert outside.exists()
    assert shelf.delete(two) is False
    assert not two.exists()


def test_the_page_plays_renames_and_deletes(qtbot: QtBot, open_window: OpenWindow, no_trash: None) -> None:
    window, _ = open_window()
    folder = films_folder(window.settings)
    make_film(folder / "walk.mp4", frames=24)
    qtbot.keyClick(window, Key.Key_F3)
    panel = window.panel
    assert isinstance(panel, FilmsPanel)
    qtbot.waitUntil(lambda: "tiny 7" in panel.list.item(0).text(), timeout=15000)
    panel.play()
    assert panel.player is not None
    qtbot.waitUntil(lambda: panel.player is not None and panel.player.seconds > 1.0, timeout=15000)
    panel.player.toggle()
    panel.play()
    assert panel.player is None
    panel._ask_name()
    panel.name.setText("a better name")
    qtbot.keyClick(panel.name, Key.Key_Return)
    assert (folder / "a better name.mp4").exists()
    panel._delete()
    assert (folder / "a better name.mp4").exists(), "it asks once"
    panel._delete()
    assert not list(folder.glob("*.mp4"))
    qtbot.keyClick(panel, Key.Key_Escape)
    assert window.panel is None


def test_closing_the_page_while_a_film_plays_leaves_nothing(qtbot: QtBot, open_window: OpenWindow) -> None:
    window, _ = open_window()
    make_film(films_folder(window.settings) / "walk.mp4", frames=64)
    qtbot.keyClick(window, Key.Key_F3)
    panel = window.panel
    assert isinstance(panel, FilmsPanel)
    qtbot.waitUntil(lambda: panel._buttons["play"].isEnabled(), timeout=15000)
    panel.play()
    window.close()
