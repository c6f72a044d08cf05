from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from PySide6.QtCore import QPoint, QPointF, Qt
from pytestqt.qtbot import QtBot

from tests.app.conftest import OpenWindow
from tests.helpers.fake_street import FakeStreet
from worldpager.app.overlay.pose_map import Plan, PoseMap, nearest_block
from worldpager.app.panels.branches_panel import BranchesPanel, spread, tree_order
from worldpager.app.panels.worlds_panel import KeepPanel, free_name
from worldpager.app.play_actions import open_world
from worldpager.app.world_actions import Worlds, line_of, part
from worldpager.engine.mailbox import DeleteBranch, ForgetBookmark, GoTo, Keep, NewWorld, Pause, Recall, RenameBranch, SetBookmark
from worldpager.engine.models.base import BlockKV, ChunkOutput
from worldpager.engine.session.session import Session
from worldpager.engine.types import Action, BlockId, Pose

NOTHING = BlockKV(torch.zeros(0), torch.zeros(0))


def played(chunks: int = 8) -> Session:
    """A session of so many chunks; a second branch leaves the first after chunk 3."""
    session = Session()
    session.begin(7)
    for number in range(chunks + 3):
        if number == chunks:
            session.stand(3)
        frames = np.full((1, 20, 30, 3), 20 * (number % 12), np.uint8)
        session.add(ChunkOutput(frames, (Pose(number, 0, 0, 0, 0),), NOTHING), BlockId(number), Action())
    return session


def ready(open_window: OpenWindow) -> tuple[Worlds, FakeStreet, Session]:
    window, street = open_window()
    street.session = session = played()  # type: ignore[attr-defined]
    return part(window), street, session


def of_kind(street: FakeStreet, kind: type) -> list[object]:
    return [command for command in street.commands if isinstance(command, kind)]


def test_held_key_goes_back_until_it_is_let_go(open_window: OpenWindow, qtbot: QtBot) -> None:
    worlds, street, session = ready(open_window)
    window = worlds._window
    qtbot.keyPress(window, Qt.Key.Key_Backspace)
    qtbot.waitUntil(lambda: len(of_kind(street, GoTo)) >= 3)
    qtbot.keyRelease(window, Qt.Key.Key_Backspace)
    assert not worlds._timer.isActive()
    line = list(line_of(session.view()))
    steps = [command.chunk for command in of_kind(street, GoTo)]  # type: ignore[attr-defined]
    assert steps[:3] == line[-2:-5:-1]
    assert of_kind(street, Pause)[0] == Pause(True), "nothing is made meanwhile"
    assert worlds.strip.isVisible()
    qtbot.keyClick(window, Qt.Key.Key_Escape)
    assert not worlds.strip.isVisible()
    qtbot.waitUntil(lambda: of_kind(street, Pause)[-1] == Pause(False))


def test_the_past_ends_at_the_beginning(open_window: OpenWindow, qtbot: QtBot) -> None:
    worlds, _, _ = ready(open_window)
    worlds.timeline()
    assert worlds.strip.step(-100) == 0
    assert worlds.strip.step(-1) is None
    worlds._timer.start()
    worlds._step_back()
    assert not worlds._timer.isActive()
    assert "beginning" in worlds._window.notices.toast.text


def test_dragging_the_strip_goes_where_it_is_dragged(open_window: OpenWindow, qtbot: QtBot) -> None:
    worlds, street, session = ready(open_window)
    worlds.timeline()
    strip, line = worlds.strip, line_of(session.view())
    qtbot.mousePress(strip, Qt.MouseButton.LeftButton, pos=QPoint(strip.width() // 2, strip.height() // 2))
    qtbot.waitUntil(lambda: bool(of_kind(street, GoTo)))
    chunk = of_kind(street, GoTo)[-1].chunk  # type: ignore[attr-defined]
    assert abs(line.index(chunk) - (len(line) - 1) / 2) <= 1
    assert strip.chunk == chunk
    assert strip.grab().toImage().pixelColor(strip.width() // 2, 60).alpha() == 255, "it is painted"


def test_strip_stays_away_while_nothing_was_played(open_window: OpenWindow) -> None:
    window, street = open_window()
    worlds = part(window)
    worlds.timeline()
    assert not worlds.strip.isVisible()
    street.session = Session()  # type: ignore[attr-defined]
    worlds.rewind()
    worlds.branches()
    worlds.bookmark()
    assert not worlds.strip.isVisible()
    assert window.panel is None


def test_branches_panel_sends_what_is_chosen(open_window: OpenWindow, qtbot: QtBot) -> None:
    worlds, street, session = ready(open_window)
    worlds.branches()
    panel = worlds._window.panel
    assert isinstance(panel, BranchesPanel)
    panel.rename_branch.emit(2, "mill")
    panel.delete_branch.emit(1)
    panel.forget_bookmark.emit("x")
    panel.go.emit(5)
    worlds._leave_panel(Recall(2))
    qtbot.waitUntil(lambda: bool(of_kind(street, Recall)))
    assert RenameBranch(2, "mill") in street.commands
    assert DeleteBranch(1) in street.commands
    assert ForgetBookmark("x") in street.commands
    assert GoTo(5) in street.commands
    assert worlds._window.panel is None
    assert [(branch.id, depth) for branch, depth in tree_order(session.view())] == [(1, 0), (2, 1)]
    assert spread(list(range(20)), 4) == [0, 6, 13, 19]


def test_bookmarks_get_names_of_their_own(open_window: OpenWindow, qtbot: QtBot) -> None:
    worlds, street, session = ready(open_window)
    worlds.bookmark()
    session.bookmark("place 1")
    worlds.bookmark()
    qtbot.waitUntil(lambda: len(of_kind(street, SetBookmark)) == 2)
    assert [mark.name for mark in of_kind(street, SetBookmark)] == ["place 1", "place 2"]  # type: ignore[attr-defined]


def test_keep_asks_for_a_free_name(open_window: OpenWindow, qtbot: QtBot, tmp_path: Path) -> None:
    worlds, street, _ = ready(open_window)
    worlds.keep()
    panel = worlds._window.panel
    assert isinstance(panel, KeepPanel)
    panel.name.setText("..")
    panel._keep()
    assert worlds._window.panel is panel
    panel.name.setText("the mill")
    panel._keep()
    qtbot.waitUntil(lambda: bool(of_kind(street, Keep)))
    assert of_kind(street, Keep)[0].folder.name == "the mill"  # type: ignore[attr-defined]
    (tmp_path / "a").mkdir()
    assert free_name(tmp_path, "a") == "a 2"


def test_click_on_the_map_recalls_the_mark_under_it(open_window: OpenWindow, qtbot: QtBot) -> None:
    worlds, street, _ = ready(open_window)
    window = worlds._window
    card, snapshot = window.hud.cards["map"], window.snapshot
    assert isinstance(card, PoseMap)
    assert snapshot is not None
    plan = Plan(QPointF(100, 100), snapshot.pose.x, snapshot.pose.y, 8.0)
    x, y = plan.places(snapshot.block_map.xy_yaw)[-1]
    assert nearest_block(plan, snapshot, QPointF(float(x) + 2, float(y))) is not None
    assert nearest_block(plan, snapshot, QPointF(float(x) + 4000, float(y))) is None
    card.block_at = lambda point, snapshot: 4  # type: ignore[method-assign]
    middle = card.geometry().center()
    qtbot.mouseClick(window, Qt.MouseButton.LeftButton, pos=middle)
    qtbot.waitUntil(lambda: Recall(4) in street.commands)
    assert not window.mouse.held


def test_another_world_leaves_the_kept_one_in_its_folder(open_window: OpenWindow, qtbot: QtBot, tmp_path: Path) -> None:
    worlds, street, session = ready(open_window)
    window = worlds._window
    session.folder = tmp_path / "mill"
    qtbot.waitUntil(lambda: window.config.world == tmp_path / "mill")
    began: list[bool] = []
    window.begin = lambda: began.append(True)  # type: ignore[method-assign]
    open_world(window, 12)
    assert began == [True]
    assert (window.config.seed, window.config.world) == (12, None)
    assert not of_kind(street, NewWorld)
