from __future__ import annotations

import threading

import numpy as np
import pytest

from worldpager.engine.mailbox import FrameSlot, Mailbox, Pause, PublishedChunk, Quit, Reset
from worldpager.engine.telemetry.snapshot import MemoryCounters, Snapshot
from worldpager.engine.types import Action, Button, FieldOfView, Pose

SNAPSHOT = Snapshot(
    "m", "cpu", 0, 0, 0, 16.0, 0.0, 0.0, {}, Pose(0, 0, 0, 0, 0), FieldOfView(1, 1, 1), (), (), MemoryCounters(), 0.0, 0.0, None
)


def chunk(index: int) -> PublishedChunk:
    return PublishedChunk(index, np.full((4, 2, 2, 3), index, np.uint8), SNAPSHOT)


def test_newest_buttons_and_summed_mouse() -> None:
    box = Mailbox()
    box.put_action(Action(Button.FORWARD, 1.0, 0.5, stamp=1.0))
    box.put_action(Action(Button.BACK, 2.0, -1.5, stamp=2.0))
    assert box.take_action() == Action(Button.BACK, 3.0, -1.0, stamp=2.0)


def test_taken_motion_is_gone_but_held_buttons_stay() -> None:
    box = Mailbox()
    box.put_action(Action(Button.FORWARD, 1.0, 0.0, stamp=5.0))
    box.take_action()
    assert box.take_action() == Action(Button.FORWARD)


def test_press_shorter_than_a_chunk_counts_once() -> None:
    box = Mailbox()
    box.put_action(Action(Button.FORWARD, stamp=1.0))
    box.put_action(Action(Button.NONE, stamp=2.0))
    assert box.take_action() == Action(Button.FORWARD, stamp=2.0)
    assert box.take_action() == Action()


def test_tap_before_another_held_button_does_not_join_it() -> None:
    box = Mailbox()
    box.put_action(Action(Button.LEFT))
    box.put_action(Action(Button.RIGHT))
    assert box.take_action().buttons == Button.RIGHT


def test_running_alone_does_not_hide_a_tap() -> None:
    box = Mailbox()
    box.put_action(Action(Button.RUN | Button.FORWARD))
    box.put_action(Action(Button.RUN))
    assert box.take_action().buttons == Button.RUN | Button.FORWARD


def test_dropped_action_leaves_held_buttons() -> None:
    box = Mailbox()
    box.put_action(Action(Button.FORWARD, 30.0))
    box.drop_action()
    assert box.take_action() == Action(Button.FORWARD)


def test_commands_come_in_order_and_once() -> None:
    box = Mailbox()
    box.send(Pause(True))
    box.send(Reset())
    assert box.commands() == [Pause(True), Reset()]
    assert box.commands() == []


def test_quitting_shows_before_it_is_taken() -> None:
    box = Mailbox()
    assert not box.quitting
    box.send(Quit())
    assert box.quitting


def test_waits_return_at_once_when_something_lies_there() -> None:
    box = Mailbox()
    assert not box.wait_command(0)
    assert not box.wait_news(0)
    box.put_action(Action(Button.FORWARD))
    assert box.wait_news(60)
    assert not box.wait_command(0)
    box.send(Reset())
    assert box.wait_command(60)


def test_running_without_direction_is_no_news() -> None:
    box = Mailbox()
    box.put_action(Action(Button.RUN))
    assert not box.wait_news(0)


def test_waiter_wakes_for_a_command_of_another_thread() -> None:
    box = Mailbox()
    woken: list[bool] = []
    waiter = threading.Thread(target=lambda: woken.append(box.wait_command(30)))
    waiter.start()
    box.send(Quit())
    waiter.join(10)
    assert woken == [True]


def test_latest_frames_win() -> None:
    slot = FrameSlot()
    assert slot.newest() is None
    slot.publish(chunk(1))
    slot.publish(chunk(2))
    newest = slot.newest()
    assert newest is not None
    assert newest.index == 2
    assert slot.newest() is newest


def test_published_frames_cannot_be_written() -> None:
    slot = FrameSlot()
    slot.publish(chunk(1))
    newest = slot.newest()
    assert newest is not None
    with pytest.raises(ValueError, match="read-only"):
        newest.frames[0, 0, 0, 0] = 1


def test_wakes_only_when_the_last_was_taken() -> None:
    slot, woken = FrameSlot(), []
    slot.on_news(lambda: woken.append(1))
    slot.publish(chunk(1))
    slot.publish(chunk(2))
    assert len(woken) == 1
    slot.newest()
    slot.publish(chunk(3))
    assert len(woken) == 2


def test_failure_is_published() -> None:
    box = Mailbox()
    error = RuntimeError("gone")
    box.fail(error)
    assert box.failure is error
