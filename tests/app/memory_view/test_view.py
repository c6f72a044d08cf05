"""The view in its window: opened by a key, the picture beside it, panes apart, modes live, data kept, a demo that recovers."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QImage
from pytestqt.qtbot import QtBot

from tests.app.conftest import OpenWindow
from worldpager.app import theme
from worldpager.app.memory_view import part as part_module
from worldpager.app.memory_view.part import part
from worldpager.engine.errors import TierError
from worldpager.engine.mailbox import NewWorld, UsePolicy

Key = Qt.Key


def near(colour: QColor, wanted: QColor) -> bool:
    """Whether ``colour`` is about ``wanted``, perhaps a little darker."""
    pairs = zip((colour.red(), colour.green(), colour.blue()), (wanted.red(), wanted.green(), wanted.blue()), strict=True)
    return all(abs(one - other) < 50 for one, other in pairs)


@pytest.mark.parametrize("size", [(1280, 720), (1920, 1080), (1600, 1200), (800, 600), (2560, 1080)])
def test_panes_keep_apart_inside_and_off_the_picture(qtbot: QtBot, open_window: OpenWindow, size: tuple[int, int]) -> None:
    window, _ = open_window(size=size)
    qtbot.keyClick(window, Key.Key_F2)
    view = part(window).view
    places = [pane.geometry() for pane in view.panes] + [window.viewport.widget.geometry()]
    for index, place in enumerate(places):
        assert window.rect().contains(place), (index, place)
        assert not any(place.intersects(other) for other in places[index + 1 :])
    qtbot.keyClick(window, Key.Key_F2)
    assert not view.isVisible()
    assert window.viewport.widget.geometry() == window.rect()


def test_resizing_keeps_the_picture_in_its_place(qtbot: QtBot, open_window: OpenWindow) -> None:
    window, _ = open_window()
    qtbot.keyClick(window, Key.Key_F2)
    window.resize(1600, 900)
    qtbot.waitUntil(lambda: part(window).view.size() == window.size())
    assert window.viewport.widget.geometry() == part(window).view.picture_area(1600, 900)


def test_tiers_are_drawn_in_their_colours_and_the_picture_is_seen(qtbot: QtBot, open_window: OpenWindow) -> None:
    window, _ = open_window(first=200)
    qtbot.keyClick(window, Key.Key_F2)
    qtbot.waitUntil(lambda: len(part(window).story.rows) > 3)
    part(window).view.redraw()
    image = window.grab().toImage()
    for tier in (1, 2):
        pane = part(window).view.tiers[tier].geometry()
        pixels = [image.pixelColor(x, y) for x in range(pane.left(), pane.right(), 4) for y in range(pane.top() + 40, pane.bottom(), 4)]
        assert sum(near(pixel, theme.TIERS[tier]) for pixel in pixels) > 40
    area = part(window).view.picture_area(1280, 720)
    red = image.pixelColor(area.left() + 40, area.top() + 90)
    assert red.red() > 150
    assert red.green() < 90


def test_other_panels_wait_until_the_view_closes(qtbot: QtBot, open_window: OpenWindow) -> None:
    window, _ = open_window({"overlay": "small"})
    qtbot.keyClick(window, Key.Key_F2)
    qtbot.keyClick(window, Key.Key_H)
    assert not any(card.isVisible() for card in window.hud.cards.values())
    before = window.settings.overlay
    qtbot.keyClick(window, Key.Key_F2)
    assert window.hud.preset == before
    assert any(card.isVisible() for card in window.hud.cards.values()) == (before != "none")


def test_modes_are_switched_by_key(qtbot: QtBot, open_window: OpenWindow) -> None:
    window, street = open_window()
    for key, policy in ((Key.Key_1, "none"), (Key.Key_2, "host-only"), (Key.Key_3, "pose-overlap")):
        qtbot.keyClick(window, key)
        qtbot.waitUntil(lambda wanted=policy: window.snapshot is not None and window.snapshot.policy == wanted)  # type: ignore[misc]
    assert [command.name for command in street.commands if isinstance(command, UsePolicy)] == ["none", "host-only", "pose-overlap"]
    assert {row.policy for row in part(window).story.rows} >= {"none", "host-only", "pose-overlap"}


def test_data_and_picture_are_saved(qtbot: QtBot, open_window: OpenWindow, tmp_path: Path) -> None:
    window, _ = open_window()
    qtbot.keyClick(window, Key.Key_F2)
    qtbot.waitUntil(lambda: len(part(window).story.rows) > 5)
    qtbot.keyClick(window, Key.Key_E, Qt.KeyboardModifier.ControlModifier)
    (table,) = tmp_path.rglob("*.csv")
    with table.open() as file:
        rows = list(csv.DictReader(file))
    numbers = [int(row["chunk"]) for row in rows]
    assert numbers == sorted(set(numbers))
    data = json.loads(table.with_suffix(".json").read_text())
    assert len(data["chunks"]) == len(rows)
    assert {entry["policy"] for entry in data["comparison"]} == {"none", "host-only", "pose-overlap"}
    assert QImage(str(table.with_suffix(".png"))).width() == 1280


def test_a_demo_walks_gives_way_and_goes_on(qtbot: QtBot, open_window: OpenWindow, monkeypatch: pytest.MonkeyPatch) -> None:
    window, street = open_window()
    demo = part(window)
    demo.begin_demo()
    assert demo.is_open
    qtbot.waitUntil(lambda: NewWorld(7) in street.commands)
    qtbot.waitUntil(lambda: demo.tour is not None and bool(demo.tour.words))
    qtbot.keyClick(window, Key.Key_H)
    act = demo.tour.act if demo.tour else -1
    monkeypatch.setattr(part_module, "QUIET_SECONDS", 0.2)
    qtbot.waitUntil(lambda: demo.tour is not None and demo.tour.act == act + 1)


def test_a_demo_begins_again_after_a_failure(qtbot: QtBot, open_window: OpenWindow) -> None:
    window, street = open_window()
    demo = part(window)
    demo._again.setInterval(50)
    demo.begin_demo()
    street.fail(TierError("The disk tier is full."))
    qtbot.waitUntil(lambda: demo.restarts == 1)
    assert window.panel is None
