"""The world street: from the newest action to published frames, one chunk a step.

`WorldGenerator.step` is the table of contents. Whatever is not a stage (pause, another world, another policy) is a command, obeyed before
the street. Nothing here ever waits for bytes: what memory lacks is replaced by what it has and counted.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice

import torch

from worldpager.engine.config import PlayConfig
from worldpager.engine.errors import InputError, ModelError, WorldPagerError
from worldpager.engine.mailbox import (
    Command,
    GoTo,
    HoldRate,
    Mailbox,
    NewWorld,
    Pause,
    Prompt,
    PublishedChunk,
    Quit,
    Record,
    Reset,
    RestWhenIdle,
    UsePolicy,
    WorldMove,
)
from worldpager.engine.memory.prefetcher import WorkingSet
from worldpager.engine.models.base import ChunkOutput, ModelSpec, WorldModel
from worldpager.engine.pose.extrapolate import futures
from worldpager.engine.pose.track import PoseTrack
from worldpager.engine.retrieval.policy import RetrievalPolicy
from worldpager.engine.session.branch import Chunk
from worldpager.engine.session.memory import ChunkMemory as ChunkMemory
from worldpager.engine.session.session import Session
from worldpager.engine.session.world import World
from worldpager.engine.telemetry.counters import Counters, StreetState
from worldpager.engine.types import Action, BlockId, Frames, Pose

log = logging.getLogger(__name__)

REST_SECONDS = 0.25
"""How often a resting or paused street looks after its memory and refreshes the snapshot."""
STAYS_KEPT = "This world is kept in its folder and stays what it is; another one begins from the start page."
REPORT_IT = "This is a fault of the program: please report it with the log."


class Pace:
    """When the next chunk is due: one every ``period`` seconds, without catching up on lost ones."""

    def __init__(self, period: float, clock: Callable[[], float]) -> None:
        self._period, self._clock = period, clock
        self._due = clock()

    def seconds_left(self) -> float:
        """Seconds until the next chunk may start."""
        return self._due - self._clock()

    def start(self) -> None:
        """A chunk starts now, perhaps before it was due (a rest ended): the next one is due a period later at most."""
        now = self._clock()
        self._due = min(max(self._due + self._period, now), now + self._period)


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
        session: Session | None = None,
    ) -> None:
        self.mailbox = mailbox or Mailbox()
        self.failure: WorldPagerError | None = None
        self._model, self._memory, self._policies, self._config = model, memory, dict(policies), config
        self._counters = Counters(model.spec.name, str(model.device), model.spec.rate, model.spec.view, clock)
        self._hold_rate = True
        self._pace = Pace(model.spec.frames_per_chunk / model.spec.rate, clock)
        self._world = World(model, memory, self._policies, self._counters, session or Session())
        self._use_policy(config.policy)
        self._seed, self._begun = config.seed, False
        self._resting, self._paused, self._rest_when_idle = False, False, config.rest_when_idle
        self._index = -1
        self._take_chunk: Callable[[PublishedChunk], object] | None = None
        self._degraded: tuple[str, ...] = ()
        self._said: tuple[str, ...] = ()
        self._shown: PublishedChunk | None = None
        self._state = StreetState(self._world.track.pose)

    @property
    def spec(self) -> ModelSpec:
        """Constants of the model in use: frame size, rate, frames per chunk."""
        return self._model.spec

    @property
    def device(self) -> torch.device:
        """Where the model computes."""
        return self._model.device

    @property
    def session(self) -> Session:
        """All that was played of the present world; other threads may look at it (`view`, `picture`)."""
        return self._world.session

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
        if self._taken_up():
            self._run_street(action)
        else:
            self._refresh()
        return True

    def _run_street(self, action: Action) -> None:
        """One chunk. See the README for the table of these stages."""
        spec, span = self.spec, self._counters.spans
        with span("pose"):
            heeded = self._heeded(action)
            poses = self._world.track.advance(heeded, spec.frames_per_chunk)
        with span("poll"):
            self._world.poll()
        with span("retrieve"):
            wanted = self._policy.select(poses, spec.retrieved, self._world.seen_anyway())
        self._world.await_memory(wanted)
        with span("take"):
            working = self._memory.take(wanted)
        with span("prefetch"):
            ahead = self._request_ahead(heeded, poses)
        with span("place"):
            self._memory.place(working, self._model.memory_view, self._offsets(working))
        with span("generate"):
            output = self._generate(poses, working)
        with span("put"):
            self._world.remember(output, action, working.ids)
        self._publish(output, StreetState(self._world.track.pose, ahead, working.ids, working.stale, action.stamp, received=action))

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
        """End the memory's workers, leave a kept world whole, free the model; call once `run` has returned."""
        try:
            self._world.close()
        finally:
            self._model.close()

    def wait_turn(self) -> None:
        """Until the next chunk is due, a command comes, or, at rest, something moves."""
        if self._paused:
            self.mailbox.wait_command(REST_SECONDS)
        elif self._resting:
            self.mailbox.wait_news(REST_SECONDS)
        else:
            self.mailbox.wait_command(self._pace.seconds_left() if self._hold_rate else 0.0)
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
            case Reset() if self._world.kept:
                self._move(GoTo(self._world.start))
            case Reset():
                self._begun = self._paused = False
            case NewWorld() if self._world.kept:
                self._said = (STAYS_KEPT,)
            case NewWorld(seed):
                self._seed, self._begun, self._paused = seed, False, False
            case UsePolicy(name):
                self._use_policy(name)
            case RestWhenIdle(on):
                self._rest_when_idle = on
            case Prompt(text):
                self._hear(text)
            case HoldRate(on):
                self._hold_rate = on
            case Record(take):
                self._take_chunk = take
            case Quit():
                pass
            case _:
                self._move(command)

    def _hear(self, prompt: str) -> None:
        """Have the model hear another prompt; what can't be is said."""
        hear: Callable[[str], None] | None = getattr(self._model, "hear", None)
        try:
            if hear is None:
                raise InputError(f"The model {self.spec.name} hears no prompt.")
            hear(prompt)
            self._said = ()
        except WorldPagerError as error:
            self._said = (str(error),)

    def _move(self, command: WorldMove) -> None:
        """Obey a command to the world's history and show where play stands then. What can't be done is said, and nothing changes."""
        try:
            chunk = self._world.obey(command)
        except WorldPagerError as error:
            self._said = (str(error),)
            return
        self._said = ()
        if chunk is not None:
            self._stand_still(chunk)

    def _taken_up(self) -> bool:
        """Have the model see what it should where play has gone to. False, and said, when memory has lost all of that."""
        try:
            self._world.take_up()
        except InputError as error:
            self._said = (str(error),)
            return False
        return True

    def _stand_still(self, chunk: Chunk) -> None:
        """Show the picture of a chunk of the past; what is made next goes on from there."""
        self._index += 1
        self._show(self._index, self._world.picture(chunk), StreetState(self._world.track.pose, idle=True))
        self.mailbox.drop_action()

    def _use_policy(self, name: str) -> None:
        """Retrieve by another policy from now on. Raises `InputError` for an unknown one."""
        if name not in self._policies:
            raise InputError(f"There is no retrieval policy {name!r}.", f"Choose one of {', '.join(self._policies)}.")
        self._policy, self._policy_name = self._policies[name], name
        self._world.use(name)

    # Rest

    def _rests(self, action: Action) -> bool:
        """Whether this step generates nothing."""
        self._resting = self._rest_when_idle and action.idle and self._world.track.stance.settled and not self._world.owed
        return self._paused or self._resting

    def _refresh(self) -> None:
        """Look after the memory and publish the same frames with a newer snapshot."""
        self._counters.stand_still()
        self._world.poll()
        if self._shown is not None:
            state = replace(self._state, idle=self._resting, action_stamp=0.0, received=Action())
            self._show(self._shown.index, self._shown.frames, state)

    # A world's opening

    def _open_world(self) -> None:
        """Forget the last world and take in the opening chunks of this one; ends early on `Quit`."""
        if self._world.reopens:
            self._begun, self._seed = True, self._world.session.seed
            self._stand_still(self._world.reopen())
            return
        self._world.begin(self._seed)
        self._degraded = self._said = ()
        opening = self._opening_chunks()
        output = next(opening, None)
        if output is None:
            raise ModelError(f"The model {self.spec.name} opens world {self._seed} with nothing.", REPORT_IT)
        while output is not None and not self.mailbox.quitting:
            self._world.track = PoseTrack(self._model.motion, output.poses[-1])
            self._world.poll()
            self._world.remember(output)
            after = next(opening, None)
            self._publish(output, StreetState(self._world.track.pose, opening=after is not None))
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

    def _request_ahead(self, action: Action, poses: Sequence[Pose]) -> tuple[tuple[Pose, ...], ...]:
        """Ask for the blocks of the likely next poses, while this chunk computes. Returns the futures asked for."""
        spec = self.spec
        held = self._world.seen_anyway(max(0, spec.window - 1))
        ahead = list(futures(self._world.track.stance, action, self._model.motion, spec.frames_per_chunk))
        ranked: dict[tuple[BlockId, ...], tuple[Pose, ...]] = {}
        for future, blocks in zip(ahead, self._policy.select_each(ahead, spec.retrieved, held, under_way=poses), strict=True):
            ranked.setdefault(tuple(blocks), future)
        asked = list(islice(ranked.items(), self._config.futures))
        self._memory.request(list(dict.fromkeys(block for blocks, _ in asked for block in blocks)))
        return tuple(future for _, future in asked)

    def _heeded(self, action: Action) -> Action:
        """What the model makes of ``action``: some know fewer controls, or others."""
        heed: Callable[[Action], Action] | None = getattr(self._model, "heed", None)
        return action if heed is None else heed(action)

    def _offsets(self, working: WorkingSet) -> float | list[float]:
        """How far the keys of the working set are turned for the chunk in the making."""
        placement = self.spec.placement
        if placement is None:
            return self.spec.memory_offset
        return placement.offsets(self._world.births(working.ids), self._world.chunks)

    def _generate(self, poses: Sequence[Pose], working: WorkingSet) -> ChunkOutput:
        try:
            return self._model.step(poses, len(working.ids))
        except WorldPagerError:
            raise
        except Exception as error:
            what = f"The model {self.spec.name} failed at chunk {self._index + 1}: {type(error).__name__}: {error}"
            raise ModelError(what, "Begin a new world; if it fails again, report it with the log.") from error

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
        notes: tuple[str, ...] = getattr(self._model, "notes", ())
        degraded = notes + self._degraded + self._said + self._world.session.degraded
        self._state = replace(state, policy=self._policy_name, paused=self._paused, degraded=degraded)
        snapshot, lost = self._counters.snapshot(self._memory, self._state)
        if lost:
            self._world.lost(lost)
        self._shown = PublishedChunk(index, frames, snapshot)
        self.mailbox.frames.publish(self._shown)
