"""The bridge starts, steers and ends a street; nothing is left running, whatever goes wrong and whenever the window closes."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import pytest
from pytestqt.qtbot import QtBot

from tests.helpers.fake_street import FakeStreet
from worldpager.app.bridge import EngineBridge
from worldpager.engine.config import PlayConfig
from worldpager.engine.errors import ModelError, WeightsError
from worldpager.engine.mailbox import Pause
from worldpager.engine.types import Action, Button

Progress = Callable[[str, float], None]


def bridge_to(street: FakeStreet) -> EngineBridge:
    def build(config: PlayConfig, progress: Progress) -> FakeStreet:
        progress("Loading", 0.5)
        return street

    return EngineBridge(build)


def test_loads_plays_and_ends(qtbot: QtBot) -> None:
    street, stages = FakeStreet(), []
    bridge = bridge_to(street)
    bridge.progress.connect(lambda stage, share: stages.append((stage, share)))
    with qtbot.waitSignal(bridge.ready):
        bridge.start(PlayConfig())
    qtbot.waitUntil(lambda: bridge.newest() is not None)
    assert ("Loading", 0.5) in stages
    bridge.put(Action(Button.FORWARD, 1.5, 0.0, 3.0))
    qtbot.waitUntil(lambda: bool(street.actions))
    assert street.actions[0] == Action(Button.FORWARD, 1.5, 0.0, 3.0)
    assert bridge.send(Pause(True))
    qtbot.waitUntil(lambda: Pause(True) in street.commands)
    began = time.monotonic()
    assert bridge.stop()
    assert time.monotonic() - began < 1.0
    assert not bridge.running
    assert street.closed.is_set()
    assert not bridge.send(Pause(False))


def test_a_street_that_cannot_be_built_is_told(qtbot: QtBot) -> None:
    def build(config: PlayConfig, progress: Progress) -> FakeStreet:
        raise WeightsError("The weights of tiny are damaged.", "Install again.")

    bridge = EngineBridge(build)
    with qtbot.waitSignal(bridge.failed) as told:
        bridge.start(PlayConfig())
    assert told.args is not None
    assert told.args[0].hint == "Install again."
    assert bridge.stop()


def test_an_unforeseen_fault_is_told_with_a_next_step(qtbot: QtBot) -> None:
    def build(config: PlayConfig, progress: Progress) -> FakeStreet:
        raise KeyError("layers")

    bridge = EngineBridge(build)
    with qtbot.waitSignal(bridge.failed) as told:
        bridge.start(PlayConfig())
    assert told.args is not None
    assert isinstance(told.args[0], ModelError)
    assert "KeyError" in told.args[0].what
    assert told.args[0].hint
    assert bridge.stop()


def test_a_failure_while_playing_closes_the_street(qtbot: QtBot) -> None:
    street = FakeStreet()
    bridge = bridge_to(street)
    with qtbot.waitSignal(bridge.ready):
        bridge.start(PlayConfig())
    with qtbot.waitSignal(bridge.failed) as told:
        street.fail(ModelError("The model broke.", "Begin anew."))
    assert told.args is not None
    assert told.args[0].what == "The model broke."
    assert street.closed.wait(1.0)
    qtbot.waitUntil(lambda: not bridge.running)
    assert bridge.stop()


@pytest.mark.parametrize("tell_again", [True, False])
def test_closing_while_loading_leaves_nothing(qtbot: QtBot, tell_again: bool) -> None:
    street, loading, go_on = FakeStreet(), threading.Event(), threading.Event()

    def build(config: PlayConfig, progress: Progress) -> FakeStreet:
        loading.set()
        assert go_on.wait(5.0)
        if tell_again:
            progress("Still loading", 0.9)
        return street

    bridge = EngineBridge(build)
    bridge.start(PlayConfig())
    assert loading.wait(5.0)
    threading.Timer(0.05, go_on.set).start()
    assert bridge.stop()
    assert street.closed.is_set() != tell_again
    assert bridge.newest() is None


def test_news_of_a_street_that_was_left_stay_unheard(qtbot: QtBot) -> None:
    first, second = FakeStreet(), FakeStreet()
    streets = iter((first, second))
    bridge = EngineBridge(lambda config, progress: next(streets))
    heard: list[object] = []
    bridge.failed.connect(heard.append)
    with qtbot.waitSignal(bridge.ready):
        bridge.start(PlayConfig())
    first.fail(ModelError("late"))
    assert first.closed.wait(2.0)  # its failure lies in the event queue
    with qtbot.waitSignal(bridge.ready):
        bridge.start(PlayConfig())
    assert heard == []
    assert bridge.stop()
