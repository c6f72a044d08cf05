from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, Qt, QUrl
from PySide6.QtGui import QGuiApplication, QImage
from pytestqt.qtbot import QtBot

from tests.app.conftest import OpenWindow
from worldpager.app.panels.start_page import ModelChoice, StartContent, StartPage
from worldpager.app.pasted_picture import pasted_picture
from worldpager.app.previews import Previews


def of_pixels() -> QMimeData:
    image = QImage(8, 6, QImage.Format.Format_RGB32)
    image.fill(Qt.GlobalColor.darkGreen)
    content = QMimeData()
    content.setImageData(image)
    return content


def test_pixels_become_a_file_once(qapp: object, tmp_path: Path) -> None:
    first, again = pasted_picture(of_pixels(), tmp_path), pasted_picture(of_pixels(), tmp_path)
    assert first == again
    assert first is not None
    assert QImage(str(first)).size().width() == 8
    assert len(list(tmp_path.iterdir())) == 1


def test_a_copied_file_is_taken_as_it_is(qapp: object, tmp_path: Path) -> None:
    content = QMimeData()
    content.setUrls([QUrl.fromLocalFile(str(tmp_path / "notes.txt")), QUrl.fromLocalFile(str(tmp_path / "street.JPG"))])
    assert pasted_picture(content, tmp_path) == tmp_path / "street.JPG"


def test_text_is_no_picture(qapp: object, tmp_path: Path) -> None:
    content = QMimeData()
    content.setText("picture.png")
    assert pasted_picture(content, tmp_path) is None


@pytest.mark.parametrize("takes", [True, False])
def test_pasting_on_the_start_page_begins_a_world_where_the_model_takes_pictures(
    qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, open_window: OpenWindow, takes: bool
) -> None:
    monkeypatch.setattr("worldpager.app.pasted_picture.pictures_kept", lambda: tmp_path)
    window, *_ = open_window()
    content = StartContent([ModelChoice("one", "", True, takes)], "one", [], [], [])
    previews = Previews(window, tmp_path, lambda model, seed: None)
    page = StartPage(window, content, previews, still=True)
    found: list[tuple[str, str]] = []
    page.picture_world.connect(lambda model, path: found.append((model, path)))
    QGuiApplication.clipboard().setMimeData(of_pixels())
    page.paste()
    previews.end()
    assert [model for model, _ in found] == (["one"] if takes else [])
    assert all(Path(path).parent == tmp_path for _, path in found)
