"""The world street: from the newest action to published frames, one chunk a step.

`WorldGenerator.step` is the table of contents. Whatever is not a stage (pause, another world, another policy) is a command, obeyed before
the street. Nothing here ever waits for bytes: what memory lacks is replaced by what it has and counted.
"""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Protocol

import torch

from worldpager.engine.config import PlayConfig
from worldpager.engine.errors import InputError, ModelError, WorldPagerError
from worldpager.engine.mailbox import Command, Mailbox, NewWorld, Pause, PublishedChunk, Quit, Record, Reset, RestWhenIdle, UsePolicy
from worldpager.engine.memory.prefetcher import WorkingSet
from worldpager.engine.models.base import BlockKV, ChunkOutput, MemoryView, ModelSpec, WorldModel
from worldpager.engine.pose.extrapolate import futures
from worldpager.engine.pose.track import PoseTrack
from worldpager.engine.retrieval.policy import RetrievalPolicy
from worldpager.engine.telemetry.counters import Counters, MeasuredMemory, StreetState
from worldpager.engine.types import Action, BlockId, Frames, Pose

log = logging.getLogger(__name__)

REST_SECONDS = 0.25
"""How often a resting or paused street looks after its memory and refreshes the snapshot."""
REPORT_IT = "This is a fault of the program: please report it with the log."


class ChunkMemory(MeasuredMemory, Protocol):
    """The memory as the street uses it; `BlockStore` is the real one. No call waits for I/O."""

    def put(self, kv: BlockKV) -> BlockId | None:
        """Store a chunk's KV; None when there is no room."""
        ...

    def poll(self) -> None:
        """Collect finished background moves."""
        ...

    def request(self, ranked: Sequence[BlockId]) -> None:
        """Stage these blocks, the first first, instead of those of the last request."""
        ...

    def take(self, wanted: Sequence[BlockId]) -> WorkingSet:
        """The wanted blocks as far as they are at hand, else a stale set."""
        ...

    def place(self, working: WorkingSet, view: MemoryView, offset: float | Sequence[float]) -> None:
        """Decode the working set into the view, its keys turned by ``offset`` frames: one for all blocks or one for each."""
        ...

    def drop(self, ids: Iterable[BlockId]) -> None:
        """Forget blocks."""
        ...

    def close(self) -> None:
        """End workers, free everything."""
        ...


class Pace:
    """When the next chunk is due: one every ``period`` seconds, without catching up on lost ones."""

    def __init__(self, period: float, clock: Callable[[], float]) -> None:
        self._period, self._clock = period, clock
        self._due = clock()

    def seconds_left(self) -> float:
        """Seconds until the next chunk may start."""
        return self._due - self._clock()

    def start(self) -> None:
        """A chunk starts now."""
        self._due = max(self._due + self._period, self._clock())


class WorldGenerator:
    """Runs one world street. ``mailbox`` is the only door for other threads; all else belongs to the thread that runs it.

    ``policies`` are kept up to date side by side, so that they can be switched while playing. Closes ``model`` and ``memory`` with itself.
    """

    def __init__(
        self,
        model: WorldModel,
        memory: ChunkMemory,
        policies: Mapping[str, RetrievalPolicy],
        config: PlayConfig,
        *,
        clock: Callable[[], float] = time.monotonic,
        mailbox: Mailbox | None = None,
    ) -> None:
        self.mailbox = mailbox or Mailbox()
        self.failure: WorldPagerError | None = None
        self._model, self._memory, self._policies, self._config = model, memory, dict(policies), config
        self._counters = Counters(model.spec.name, str(model.device), model.spec.rate, model.spec.view, clock)
        self._pace = Pace(model.spec.frames_per_chunk / model.spec.rate, clock)
        self._use_policy(config.policy)
        self._seed, self._begun = config.seed, False
        self._resting, self._paused, self._rest_when_idle = False, False, config.rest_when_idle
        self._index = -1
        self._take_chunk: Callable[[PublishedChunk], object] | None = None
        self._degraded: tuple[str, ...] = ()
        self._track = PoseTrack(model.motion, Pose(0, 0, 0, 0, 0))
        self._sink: BlockId | None = None
        self._births: dict[BlockId, int] = {}
        self._chunks = 0
        self._window: deque[BlockId | None] = deque(maxlen=model.spec.window)
        self._shown: PublishedChunk | None = None
        self._state = StreetState(self._track.pose)

    @property
    def spec(self) -> ModelSpec:
        """Constants of the model in use: frame size, rate, frames per chunk."""
        return self._model.spec

    @property
    def device(self) -> torch.device:
        """Where the model computes."""
        return self._model.device

    @property
    def model_settings(self) -> dict[str, str]:
        """What the model chose for this machine at its start, if it says so."""
        return dict(getattr(self._model, "settings", {}))

    @torch.no_grad()
    def step(self) -> bool:
        """Commands first, then one chunk through the street (or a world's opening, or a rest). False after `Quit`.

        Raises what goes wrong, as `WorldPagerError`.
        """
        if not self._obey_commands():
            return False
        if not self._begun:
            self._open_world()
            return True
        action = self.mailbox.take_action()
        if self._rests(action):
            self._refresh()
            return True
        self._run_street(action)
        return True

    def _run_street(self, action: Action) -> None:
        """One chunk. See the README for the table of these stages."""
        spec, span = self.spec, self._counters.spans
        with span("pose"):
            poses = self._track.advance(action, spec.frames_per_chunk)
        with span("poll"):
            self._memory.poll()
        with span("retrieve"):
            wanted = self._policy.select(poses, spec.retrieved, self._seen_anyway())
        with span("take"):
            working = self._memory.take(wanted)
        with span("prefetch"):
            ahead = self._request_ahead(action, poses)
        with span("place"):
            self._memory.place(working, self._model.memory_view, self._offsets(working))
        with span("generate"):
            output = self._generate(poses, working)
        with span("put"):
            self._remember(output)
        self._publish(output, StreetState(self._track.pose, ahead, working.ids, working.stale, action.stamp))

    def run(self) -> None:
        """The loop for a thread of its own: steps at the model's rate until `Quit`. Never raises: see ``failure``."""
        try:
            self.enter_thread()
            while self.step():
                self.wait_turn()
        except WorldPagerError as error:
            self._fail(error)
        except Exception as error:
            self._fail(ModelError(f"The street stopped at chunk {self._index + 1}: {type(error).__name__}: {error}", REPORT_IT), error)

    def enter_thread(self) -> None:
        """Take the thread settings that the model measured at its start, if it did; `run` does it by itself."""
        threads = getattr(self._model, "threads", None)
        if threads:
            torch.set_num_threads(threads)

    def close(self) -> None:
        """End the memory's workers and free the model; call once `run` has returned."""
        try:
            self._memory.close()
        finally:
            self._model.close()

    def wait_turn(self) -> None:
        """Until the next chunk is due, a command comes, or, at rest, something moves."""
        if self._paused:
            self.mailbox.wait_command(REST_SECONDS)
        elif self._resting:
            self.mailbox.wait_news(REST_SECONDS)
        else:
            self.mailbox.wait_command(self._pace.seconds_left())
        self._pace.start()

    def _fail(self, error: WorldPagerError, cause: BaseException | None = None) -> None:
        log.error("%s", error, exc_info=cause or error)
        self.failure = error
        self.mailbox.fail(error)

    # Commands

    def _obey_commands(self) -> bool:
        """Obey what lies in the mailbox; False when the street is to end."""
        for command in self.mailbox.commands():
            if isinstance(command, Quit):
                return False
            self._obey(command)
        return True

    def _obey(self, command: Command) -> None:
        match command:
            case Pause(on):
                self._paused = on
                self.mailbox.drop_action()
            case Reset():
                self._begun = self._paused = False
            case NewWorld(seed):
                self._seed, self._begun, self._paused = seed, False, False
            case UsePolicy(name):
                self._use_policy(name)
            case RestWhenIdle(on):
                self._rest_when_idle = on
            case Record(take):
                self._take_chunk = take

    def _use_policy(self, name: str) -> None:
        """Retrieve by another policy from now on. Raises `InputError` for an unknown one."""
        if name not in self._policies:
            raise InputError(f"There is no retrieval policy {name!r}.", f"Choose one of {', '.join(self._policies)}.")
        self._policy, self._policy_name = self._policies[name], name

    # Rest

    def _rests(self, action: Action) -> bool:
        """Whether this step generates nothing."""
        self._resting = self._rest_when_idle and action.idle and self._track.stance.settled
        return self._paused or self._resting

    def _refresh(self) -> None:
        """Look after the memory and publish the same frames with a newer snapshot."""
        self._counters.stand_still()
        self._memory.poll()
        if self._shown is not None:
            state = replace(self._state, idle=self._resting, action_stamp=0.0)
            self._show(self._shown.index, self._shown.frames, state)

    # A world's opening

    def _open_world(self) -> None:
        """Forget the last world and take in the opening chunks of this one; ends early on `Quit`."""
        self._memory.drop(self._counters.remembered())
        for policy in self._policies.values():
            policy.clear()
        self._window.clear()
        self._sink, self._degraded = None, ()
        self._births.clear()
        self._chunks = 0
        self._counters.begin_world(self._seed, self._memory.counters())
        opening = self._opening_chunks()
        output = next(opening, None)
        if output is None:
            raise ModelError(f"The model {self.spec.name} opens world {self._seed} with nothing.", REPORT_IT)
        while output is not None and not self.mailbox.quitting:
            self._track = PoseTrack(self._model.motion, output.poses[-1])
            self._memory.poll()
            self._remember(output)
            after = next(opening, None)
            self._publish(output, StreetState(self._track.pose, opening=after is not None))
            output = after
        self._counters.end_opening()
        self._begun = True
        self.mailbox.drop_action()

    def _opening_chunks(self) -> Iterator[ChunkOutput]:
        """The model's opening, timed."""
        chunks = iter(self._model.begin(self._seed, self._config.prime))
        while True:
            with self._counters.spans("opening"):
                output = next(chunks, None)
            if output is None:
                return
            yield output

    # Stages

    def _seen_anyway(self, newest: int | None = None) -> list[BlockId]:
        """Blocks that the model itself holds: the sink and the window (its ``newest`` chunks alone if given)."""
        window = list(self._window)
        held = [self._sink, *(window if newest is None else window[len(window) - newest :])]
        return [block for block in held if block is not None]

    def _request_ahead(self, action: Action, poses: Sequence[Pose]) -> tuple[tuple[Pose, ...], ...]:
        """Ask for the blocks of the likely next poses, while this chunk computes. Returns the futures asked for."""
        spec = self.spec
        held = self._seen_anyway(min(len(self._window), max(0, spec.window - 1)))
        ahead = list(futures(self._track.stance, action, self._model.motion, spec.frames_per_chunk))
        ranked: dict[tuple[BlockId, ...], tuple[Pose, ...]] = {}
        for future, blocks in zip(ahead, self._policy.select_each(ahead, spec.retrieved, held, under_way=poses), strict=True):
            ranked.setdefault(tuple(blocks), future)
        asked = list(islice(ranked.items(), self._config.futures))
        self._memory.request(list(dict.fromkeys(block for blocks, _ in asked for block in blocks)))
        return tuple(future for _, future in asked)

    def _offsets(self, working: WorkingSet) -> float | list[float]:
        """How far the keys of the working set are turned for the chunk in the making."""
        placement = self.spec.placement
        if placement is None:
            return self.spec.memory_offset
        return placement.offsets([self._births[block] for block in working.ids], self._chunks)

    def _generate(self, poses: Sequence[Pose], working: WorkingSet) -> ChunkOutput:
        try:
            return self._model.step(poses, len(working.ids))
        except WorldPagerError:
            raise
        except Exception as error:
            what = f"The model {self.spec.name} failed at chunk {self._index + 1}: {type(error).__name__}: {error}"
            raise ModelError(what, "Begin a new world; if it fails again, report it with the log.") from error

    def _remember(self, output: ChunkOutput) -> None:
        """Store the chunk and index it by its poses. The memory may refuse it; then the world is poorer by a chunk."""
        block = self._memory.put(output.kv)
        self._track.see(output.clearance)
        if self.spec.keeps_sink and self._chunks == 0:
            self._sink = block
        self._window.append(block)
        if block is not None:
            self._births[block] = self._chunks
            for policy in self._policies.values():
                policy.add(block, output.poses)
            self._counters.remember(block, output.poses[-1])
        self._chunks += 1

    def _publish(self, output: ChunkOutput, state: StreetState) -> None:
        """Count the chunk, show it, hand it to the recording."""
        self._counters.count_chunk(len(output.frames))
        self._index += 1
        self._show(self._index, output.frames, state)
        if self._take_chunk is not None and self._shown is not None and not state.opening:
            try:
                self._take_chunk(self._shown)
            except Exception as error:  # a recording must not end the play
                log.warning("recording ends", exc_info=error)
                self._take_chunk = None
                self._degraded += (f"recording ended: {error}",)

    def _show(self, index: int, frames: Frames, state: StreetState) -> None:
        """Publish ``frames`` with a snapshot, and forget the blocks that the memory has lost."""
        self._state = replace(state, policy=self._policy_name, paused=self._paused, degraded=self._degraded)
        snapshot, lost = self._counters.snapshot(self._memory, self._state)
        if lost:
            self._counters.forget(lost)
            self._births = {block: birth for block, birth in self._births.items() if block not in lost}
            for policy in self._policies.values():
                policy.drop(lost)
        self._shown = PublishedChunk(index, frames, snapshot)
        self.mailbox.frames.publish(self._shown)
