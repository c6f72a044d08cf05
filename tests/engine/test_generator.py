from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from tests.helpers.clocks import HandClock, HandMailbox
from tests.helpers.plain_store import PlainStore
from worldpager.engine.build import make_policies
from worldpager.engine.config import CodecConfig, MemoryConfig, MiB, PlayConfig
from worldpager.engine.errors import InputError, ModelError
from worldpager.engine.generator import ChunkMemory, Pace, WorldGenerator
from worldpager.engine.mailbox import NewWorld, Pause, PublishedChunk, Quit, Record, Reset, RestWhenIdle, UsePolicy
from worldpager.engine.memory.store import BlockStore
from worldpager.engine.models.base import ChunkOutput
from worldpager.engine.models.stand_in import StandIn, StandInOptions
from worldpager.engine.pose.script import SCRIPTS, Script
from worldpager.engine.types import Action, BlockId, Button, Frames, Pose

CPU = torch.device("cpu")
SMALL = StandInOptions(width=40, height=24)
WALK = Action(Button.FORWARD)

Street = Callable[..., WorldGenerator]


@pytest.fixture
def street() -> Iterable[Street]:
    """Makes streets and closes them at the end."""
    made: list[WorldGenerator] = []

    def make(
        memory: ChunkMemory | None = None, model: StandIn | None = None, clock: HandClock | None = None, **settings: object
    ) -> WorldGenerator:
        model, clock = model or StandIn(SMALL, CPU), clock or HandClock()
        config = replace(PlayConfig(model="stand-in", prime=False), **settings)  # type: ignore[arg-type]
        store = memory or PlainStore(model.spec.rotary)
        generator = WorldGenerator(model, store, make_policies(model.spec.view), config, clock=clock, mailbox=HandMailbox(clock))
        made.append(generator)
        return generator

    yield make
    for generator in made:
        generator.close()


def shown(generator: WorldGenerator) -> PublishedChunk:
    newest = generator.mailbox.frames.newest()
    assert newest is not None
    return newest


def act(generator: WorldGenerator, action: Action) -> PublishedChunk:
    """One chunk under ``action`` alone."""
    generator.mailbox.put_action(action)
    generator.step()
    generator.mailbox.put_action(Action())
    return shown(generator)


def tour(generator: WorldGenerator, chunks: int, after: Callable[[], object] = lambda: None) -> list[Frames]:
    """Frames of a scripted tour, the opening's last chunk first."""
    script, frames = Script(SCRIPTS["tour"]), []
    generator.step()
    frames.append(shown(generator).frames)
    for _ in range(chunks):
        generator.mailbox.put_action(script.next(0.25))
        generator.step()
        frames.append(shown(generator).frames)
        after()
    return frames


def block_store(host_budget: int, disk: Path | None = None, bits: int = 4, options: StandInOptions = SMALL) -> BlockStore:
    spec = StandIn(options, CPU).spec
    config = MemoryConfig(CodecConfig(bits=bits), host_budget=host_budget, disk_dir=disk, disk_budget=64 * MiB if disk else None)
    return BlockStore(config, spec.kv, spec.rotary, CPU)


# The street


def test_first_step_opens_the_world(street: Street) -> None:
    generator = street(prime=True)
    assert generator.step()
    snapshot = shown(generator).snapshot
    assert snapshot.chunk == 13
    assert not snapshot.opening
    assert snapshot.memory.blocks == 13


def test_action_moves_the_camera_of_the_next_chunk(street: Street) -> None:
    generator = street()
    generator.step()
    chunk = act(generator, Action(Button.FORWARD, stamp=7.0))
    assert chunk.index == 1
    assert chunk.snapshot.pose.x == pytest.approx(4 * 0.12 * np.cos(np.radians(7)))
    assert chunk.snapshot.action_stamp == 7.0
    assert list(chunk.snapshot.stage_ms) == ["pose", "poll", "retrieve", "take", "prefetch", "place", "generate", "put"]


def test_same_seed_and_actions_give_the_same_frames(street: Street) -> None:
    one, other = tour(street(prime=True), 80), tour(street(prime=True), 80)
    assert all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))
    third = tour(street(prime=True, seed=8), 80)
    assert not any(np.array_equal(a, b) for a, b in zip(one, third, strict=True))


def test_memory_makes_a_difference_to_the_frames(street: Street) -> None:
    remembering, forgetting = tour(street(prime=True), 60), tour(street(prime=True, policy="none"), 60)
    assert not all(np.array_equal(a, b) for a, b in zip(remembering, forgetting, strict=True))


def test_wanted_blocks_were_not_in_window_or_sink_and_were_prefetched(street: Street) -> None:
    """On a steady turn the present action's future is what comes: every block was asked for one chunk before."""
    memory = PlainStore()
    generator = street(memory)
    generator.step()
    for _ in range(40):
        act(generator, Action(turn=24.0))
    for chunk, wanted in enumerate(memory.wanted, start=1):
        assert not set(wanted) & {0, chunk - 1, chunk - 2}
        assert chunk == 1 or set(wanted) <= set(memory.requests[chunk - 2])
    assert sum(map(len, memory.wanted)) > 10


def test_request_ranks_the_present_actions_future_first(street: Street) -> None:
    memory = PlainStore()
    generator = street(memory)
    generator.step()
    for _ in range(30):
        act(generator, Action(turn=24.0))
    snapshot = shown(generator).snapshot
    following = generator._policy.select(snapshot.predicted, 2, [BlockId(0), BlockId(29), BlockId(30)])
    assert list(memory.requests[-1][: len(following)]) == following
    assert 1 < len(snapshot.futures) <= 8


def test_futures_are_told_apart_by_what_they_retrieve(street: Street) -> None:
    memory = PlainStore()
    generator = street(memory, futures=3)
    tour(generator, 40)
    assert all(len(set(request)) == len(request) <= 3 * 2 for request in memory.requests)


# Tiers


def test_below_capacity_tiers_change_no_bit(street: Street, tmp_path: Path) -> None:
    alone = tour(street(block_store(64 * MiB), prime=True), 80)
    tiered = tour(street(block_store(64 * MiB, tmp_path), prime=True), 80)
    assert all(np.array_equal(a, b) for a, b in zip(alone, tiered, strict=True))


def test_store_of_16_bits_equals_the_naive_twin(street: Street) -> None:
    rotary = StandIn(SMALL, CPU).spec.rotary
    twin = street(PlainStore(rotary), model=StandIn(SMALL, CPU))
    real = street(block_store(64 * MiB, bits=16), model=StandIn(SMALL, CPU))
    for chunk in range(40):
        action = Action(turn=30.0)
        act(twin, action), act(real, action)
        keys, expected = real._model.memory_view.keys, twin._model.memory_view.keys
        torch.testing.assert_close(keys, expected, rtol=1e-2, atol=1e-2, msg=f"chunk {chunk}")
        assert torch.equal(real._model.memory_view.values, twin._model.memory_view.values)


def test_small_host_budget_spills_reads_back_and_never_stalls(street: Street, tmp_path: Path) -> None:
    memory = block_store(MiB // 4, tmp_path)
    model = StandIn(replace(SMALL, step_ms=4), CPU)
    generator = street(memory, model, prime=True)
    tour(generator, 150, after=memory.check)
    counters = memory.counters()
    assert counters.spilled_blocks > 50
    assert counters.disk_written_bytes > 0
    assert counters.disk_read_bytes > 0
    assert counters.stalls_over_half_ms == 0
    assert counters.host_peak_bytes <= counters.host_budget_bytes == MiB // 4
    snapshot = shown(generator).snapshot
    assert snapshot.memory.spilled_blocks == counters.spilled_blocks
    assert set(np.unique(snapshot.block_map.tier)) >= {1, 2}


def test_refused_chunk_is_played_on_without(street: Street) -> None:
    memory = PlainStore()
    generator = street(memory)
    generator.step()
    memory.full = True
    act(generator, WALK)
    memory.full = False
    act(generator, WALK)
    assert shown(generator).snapshot.chunk == 3
    assert list(shown(generator).snapshot.block_map.ids) == [0, 1]


def test_lost_blocks_are_forgotten_by_policies_and_map(street: Street) -> None:
    memory = PlainStore()
    generator = street(memory)
    generator.step()
    for _ in range(30):
        act(generator, Action(turn=24.0))
    memory.drop([BlockId(number) for number in range(1, 29)])
    act(generator, Action(turn=24.0))
    act(generator, Action(turn=24.0))
    assert not set(memory.wanted[-1]) & set(range(1, 29))
    assert list(shown(generator).snapshot.block_map.ids) == [0, 29, 30, 31, 32]


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


def test_recording_takes_frames_from_the_start_view_on(street: Street) -> None:
    taken: list[Frames] = []
    generator = street(prime=True)
    generator.mailbox.send(Record(taken.append))
    generator.step()
    act(generator, WALK)
    generator.mailbox.send(Record(None))
    act(generator, WALK)
    assert len(taken) == 2


def test_failing_recording_ends_alone_and_is_named(street: Street) -> None:
    def full(frames: Frames) -> None:
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
        def close(self) -> None:
            raise OSError("stuck")

    class Freed(StandIn):
        def close(self) -> None:
            closed.append("model")

    model = Freed(SMALL, CPU)
    generator = WorldGenerator(model, Stuck(), make_policies(model.spec.view), PlayConfig())
    with pytest.raises(OSError, match="stuck"):
        generator.close()
    assert closed == ["model"]
