from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from tests.helpers.clocks import HandClock, HandMailbox
from tests.helpers.plain_store import PlainStore
from tests.helpers.streets import CPU, SMALL, WALK, Street, act, block_store, shown, tour
from worldpager.engine.build import make_policies
from worldpager.engine.config import MiB, PlayConfig
from worldpager.engine.errors import InputError, ModelError
from worldpager.engine.generator import Pace, WorldGenerator
from worldpager.engine.mailbox import NewWorld, Pause, Prompt, PublishedChunk, Quit, Record, Reset, RestWhenIdle, UsePolicy
from worldpager.engine.models.base import ChunkOutput
from worldpager.engine.models.stand_in import StandIn
from worldpager.engine.types import Action, BlockId, Button, Pose

# Commands


def test_quit_ends_the_street(street: Street) -> None:
    generator = street()
    generator.step()
    generator.mailbox.send(Quit())
    assert not generator.step()


def test_quit_ends_an_opening(street: Street) -> None:
    generator = street(prime=True)
    generator.mailbox.send(Quit())
    commands, generator.mailbox.commands = generator.mailbox.commands, list  # type: ignore[method-assign]
    generator.step()
    generator.mailbox.commands = commands  # type: ignore[method-assign]
    assert generator.mailbox.frames.newest() is None
    assert not generator.step()


def test_pause_keeps_the_picture_and_forgets_what_was_moved_meanwhile(street: Street) -> None:
    generator = street()
    generator.step()
    before = act(generator, WALK)
    generator.mailbox.send(Pause(True))
    paused = act(generator, Action(turn=90.0))
    assert paused.index == before.index
    assert paused.frames is before.frames
    assert paused.snapshot.paused
    generator.mailbox.send(Pause(False))
    after = act(generator, WALK)
    assert after.index == before.index + 1
    assert not after.snapshot.paused
    assert after.snapshot.pose.yaw == before.snapshot.pose.yaw


def test_new_world_starts_with_an_empty_memory(street: Street) -> None:
    memory = PlainStore()
    generator = street(memory)
    generator.step()
    for _ in range(20):
        act(generator, Action(turn=24.0))
    generator.mailbox.send(Pause(True))
    generator.mailbox.send(NewWorld(99))
    generator.step()
    snapshot = shown(generator).snapshot
    assert (snapshot.seed, snapshot.chunk, snapshot.paused) == (99, 1, False)
    assert len(memory.blocks) == 1
    first = len(memory.wanted)
    for _ in range(20):
        act(generator, Action(turn=24.0))
    assert all(block in memory.blocks for wanted in memory.wanted[first:] for block in wanted)


def test_reset_repeats_the_world_bit_for_bit(street: Street) -> None:
    generator = street(prime=True)
    once = tour(generator, 30)
    last = shown(generator).index
    generator.mailbox.send(Reset())
    again = tour(generator, 30)
    assert all(np.array_equal(a, b) for a, b in zip(once, again, strict=True))
    assert shown(generator).index == 2 * last + 1, "over all worlds of the run"


def test_policy_is_switched_while_playing(street: Street) -> None:
    memory = PlainStore()
    generator = street(memory)
    generator.step()
    for _ in range(10):
        act(generator, Action(turn=24.0))
    for name, wanted in (("recency", (8, 7)), ("none", ())):
        generator.mailbox.send(UsePolicy(name))
        chunk = act(generator, Action(turn=24.0))
        assert chunk.snapshot.policy == name
        assert len(memory.wanted[-1]) == len(wanted)
    assert memory.wanted[-2] == (8, 7)
    generator.mailbox.send(UsePolicy("pose-overlap"))
    for _ in range(10):
        act(generator, Action(turn=24.0))
    assert memory.wanted[-1], "what was made meanwhile is known"


def test_unknown_policy_is_named(street: Street) -> None:
    with pytest.raises(InputError, match="sight"):
        street(policy="sight")


def test_a_prompt_reaches_a_model_that_hears_one_and_the_rest_say_so(street: Street, monkeypatch: pytest.MonkeyPatch) -> None:
    generator = street()
    generator.step()
    generator.mailbox.send(Prompt("a castle"))
    assert any("hears no prompt" in note for note in act(generator, WALK).snapshot.degraded)
    heard: list[str] = []
    monkeypatch.setattr(StandIn, "hear", lambda model, text: heard.append(text), raising=False)
    generator.mailbox.send(Prompt("a river"))
    assert not act(generator, WALK).snapshot.degraded
    assert heard == ["a river"]


def test_recording_takes_frames_from_the_start_view_on(street: Street) -> None:
    taken: list[PublishedChunk] = []
    generator = street(prime=True)
    generator.mailbox.send(Record(taken.append))
    generator.step()
    act(generator, WALK)
    generator.mailbox.send(Record(None))
    act(generator, WALK)
    assert len(taken) == 2
    assert [chunk.snapshot.chunk for chunk in taken] == [taken[0].snapshot.chunk, taken[0].snapshot.chunk + 1]


def test_failing_recording_ends_alone_and_is_named(street: Street) -> None:
    def full(chunk: PublishedChunk) -> None:
        raise OSError("disk full")

    generator = street()
    generator.mailbox.send(Record(full))
    generator.step()
    act(generator, WALK)
    assert "recording ended: disk full" in act(generator, WALK).snapshot.degraded


# Rest and pace


def test_idle_rests_and_goes_on_with_a_key(street: Street) -> None:
    memory = PlainStore()
    generator = street(memory)
    generator.step()
    polls = memory.polls
    resting = act(generator, Action())
    assert resting.index == 0
    assert resting.snapshot.idle
    assert memory.polls == polls + 1, "the memory is looked after meanwhile"
    moving = act(generator, WALK)
    assert moving.index == 1
    assert not moving.snapshot.idle


def test_rest_is_a_setting(street: Street) -> None:
    generator = street(rest_when_idle=False)
    generator.step()
    assert act(generator, Action()).index == 1
    generator.mailbox.send(RestWhenIdle(True))
    assert act(generator, Action()).index == 1


def test_owed_turning_is_finished_before_rest(street: Street) -> None:
    generator = street()
    generator.step()
    act(generator, Action(turn=170.0))
    while not act(generator, Action()).snapshot.idle:
        pass
    assert shown(generator).snapshot.pose.yaw == pytest.approx(np.radians(7 + 170))


def test_walls_stop_the_walk(street: Street) -> None:
    generator = street(model=StandIn(replace(SMALL, wall=3.0), CPU))
    generator.step()
    for _ in range(40):
        act(generator, WALK)
    assert shown(generator).snapshot.pose.x == pytest.approx(3.0 - 0.35, abs=0.02)


def test_pace_owes_one_period_however_often_a_rest_looks_around() -> None:
    clock = HandClock(0.0)
    pace = Pace(1.0, clock)
    for _ in range(100):
        pace.start()
        clock.now += 0.25
    assert pace.seconds_left() == pytest.approx(0.75)


def test_pace_gives_a_period_between_starts_without_catching_up() -> None:
    clock = HandClock(0.0)
    pace = Pace(0.25, clock)
    pace.start()
    assert pace.seconds_left() == pytest.approx(0.25)
    clock.now = 0.26
    pace.start()
    assert pace.seconds_left() == pytest.approx(0.24)
    clock.now = 5.0
    pace.start()
    assert pace.seconds_left() <= 0
    pace.start()
    assert pace.seconds_left() == pytest.approx(0.25)


class _Played(HandMailbox):
    """Quits after so many waits."""

    def __init__(self, clock: HandClock, waits: int) -> None:
        super().__init__(clock)
        self._left = waits

    def wait_command(self, seconds: float) -> bool:
        self._count()
        return super().wait_command(seconds)

    def wait_news(self, seconds: float) -> bool:
        self._count()
        return super().wait_news(seconds)

    def _count(self) -> None:
        self._left -= 1
        if not self._left:
            self.send(Quit())


def test_loop_keeps_the_models_rate_and_no_more(street: Street) -> None:
    clock = HandClock(0.0)
    generator = street(model=StandIn(replace(SMALL, step_ms=100), CPU, clock=clock, sleep=clock.sleep), clock=clock)
    generator.mailbox = _Played(clock, 20)
    generator.mailbox.put_action(Action(Button.FORWARD))
    generator.run()
    assert generator.failure is None
    made = shown(generator).index + 1
    assert clock.now == pytest.approx(made * 0.25, abs=0.26)
    assert shown(generator).snapshot.generated_fps == pytest.approx(16, rel=0.1)


def test_slow_model_is_not_held_back(street: Street) -> None:
    clock = HandClock(0.0)
    generator = street(model=StandIn(replace(SMALL, step_ms=500), CPU, clock=clock, sleep=clock.sleep), clock=clock)
    generator.mailbox = _Played(clock, 10)
    generator.mailbox.put_action(Action(Button.FORWARD))
    generator.run()
    assert clock.now == pytest.approx(shown(generator).index * 0.5, abs=0.3)


def test_resting_loop_waits_for_news(street: Street) -> None:
    clock = HandClock(0.0)
    generator = street(clock=clock)
    box = generator.mailbox = _Played(clock, 10)
    generator.run()
    assert {kind for kind, _ in box.waits[1:]} == {"news"}
    assert shown(generator).index == 0


# Faults


class _Broken(StandIn):
    """Fails at its third chunk."""

    def step(self, poses: Sequence[Pose], retrieved: int) -> ChunkOutput:
        if self._chunk == 3:
            raise ValueError("shapes differ")
        return super().step(poses, retrieved)


def test_failing_model_ends_the_loop_with_a_published_error(street: Street) -> None:
    clock = HandClock()
    generator = street(model=_Broken(SMALL, CPU), clock=clock)
    generator.mailbox.put_action(Action(Button.FORWARD))
    generator.run()
    assert isinstance(generator.failure, ModelError)
    assert "shapes differ" in generator.failure.what
    assert "chunk 3" in generator.failure.what
    assert generator.mailbox.failure is generator.failure


def test_failing_memory_ends_the_loop_with_a_published_error(street: Street) -> None:
    class Torn(PlainStore):
        def take(self, wanted: Sequence[BlockId]) -> object:  # type: ignore[override]
            raise RuntimeError("torn")

    generator = street(Torn())
    generator.mailbox.put_action(Action(Button.FORWARD))
    generator.run()
    assert generator.failure is not None
    assert "torn" in generator.failure.what
    assert generator.mailbox.failure is generator.failure


def test_model_that_opens_with_nothing_is_named(street: Street) -> None:
    class Mute(StandIn):
        def begin(self, seed: int, prime: bool) -> Iterable[ChunkOutput]:  # type: ignore[override]
            return iter(())

    generator = street(model=Mute(SMALL, CPU))
    with pytest.raises(ModelError, match="stand-in"):
        generator.step()


def test_runs_on_a_thread_and_quits_in_the_middle_of_play(tmp_path: Path) -> None:
    model = StandIn(replace(SMALL, step_ms=2, rate=1000), CPU)
    memory = block_store(MiB // 4, tmp_path)
    generator = WorldGenerator(model, memory, make_policies(model.spec.view), PlayConfig(model="stand-in"))
    came = threading.Event()

    def look() -> None:
        if shown(generator).index >= 20:
            came.set()

    generator.mailbox.frames.on_news(look)
    generator.mailbox.put_action(Action(Button.FORWARD | Button.TURN_LEFT))
    thread = threading.Thread(target=generator.run)
    thread.start()
    assert came.wait(20)
    generator.mailbox.send(Quit())
    thread.join(5)
    assert not thread.is_alive()
    generator.close()
    assert generator.failure is None


def test_thread_takes_the_models_thread_count(street: Street, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    monkeypatch.setattr(torch, "set_num_threads", asked.append)
    model = StandIn(SMALL, CPU)
    street(model=model).enter_thread()
    assert asked == []
    model.threads = 3  # type: ignore[attr-defined]
    street(model=model).enter_thread()
    assert asked == [3]


def test_close_frees_the_model_even_if_the_memory_fails() -> None:
    closed: list[str] = []

    class Stuck(PlainStore):
        def close(self, *, keep: bool = False) -> int:
            raise OSError("stuck")

    class Freed(StandIn):
        def close(self) -> None:
            closed.append("model")

    model = Freed(SMALL, CPU)
    generator = WorldGenerator(model, Stuck(), make_policies(model.spec.view), PlayConfig())
    with pytest.raises(OSError, match="stuck"):
        generator.close()
    assert closed == ["model"]
