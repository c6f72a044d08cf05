"""A street without a model: publishes made-up chunks with lively snapshots through a real mailbox."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from worldpager.engine.errors import WorldPagerError
from worldpager.engine.mailbox import Command, Mailbox, NewWorld, Pause, PublishedChunk, Quit, Record, Reset, UsePolicy
from worldpager.engine.telemetry.snapshot import BlockMap, MemoryCounters, Snapshot, TierUse
from worldpager.engine.types import Action, BlockId, FieldOfView, Frames, Pose

VIEW = FieldOfView(math.radians(84), math.radians(60), 14.0)
BLOCK_BYTES = 300_000
DEVICE_SLOTS, HOST_SLOTS, DISK_SLOTS = 16, 120, 1000


@dataclass(frozen=True, slots=True)
class FakeSpec:
    """What the window asks of a model."""

    name: str = "fake"
    frames_per_chunk: int = 4
    width: int = 120
    height: int = 80
    rate: float = 16.0


def made_frames(index: int, spec: FakeSpec) -> Frames:
    """Four quarters of plain colours, so that pixels can be checked, and a stripe that moves."""
    frames = np.zeros((spec.frames_per_chunk, spec.height, spec.width, 3), np.uint8)
    half_height, half_width = spec.height // 2, spec.width // 2
    frames[:, :half_height, :half_width] = (200, 40, 40)
    frames[:, :half_height, half_width:] = (40, 200, 40)
    frames[:, half_height:, :half_width] = (40, 40, 200)
    frames[:, half_height:, half_width:] = (200, 200, 40)
    for k in range(spec.frames_per_chunk):
        frames[k, :, (4 * index + k) % spec.width] = 255
    return frames


def made_snapshot(chunk: int, spec: FakeSpec, *, seed: int = 7, policy: str = "pose-overlap", paused: bool = False, stamp: float = 0.0,
                  stalls: int = 0) -> Snapshot:  # fmt: skip
    """A walk along a curve; blocks spill from host to disk as it goes on."""
    def pose(k: float) -> Pose:
        return Pose(6 * math.cos(k / 40), 4 * math.sin(k / 25), 0.55, k / 15, 0.0)

    numbers = np.arange(chunk, dtype=np.int64)
    tier = np.where(numbers < chunk - HOST_SLOTS, 2, 1).astype(np.uint8)
    used = tuple(BlockId(k) for k in (chunk // 3, chunk // 3 + 1) if 0 < k < chunk)
    tier[[int(block) for block in used]] = 0
    places = np.array([(p.x, p.y, p.yaw) for p in map(pose, range(chunk))], np.float32).reshape(-1, 3)
    spilled = max(0, chunk - HOST_SLOTS)
    here, ahead = pose(chunk), tuple(pose(chunk + k / 4) for k in range(1, 5))
    return Snapshot(
        model=spec.name, device="cpu", seed=seed, chunk=chunk, frames=chunk * spec.frames_per_chunk, rate=spec.rate, generated_fps=15.6,
        chunk_ms=180 + 20 * math.sin(chunk), stage_ms={"generate": 160.0, "place": 8.0, "put": 9.0, "take": 0.1}, pose=here, view=VIEW,
        predicted=ahead, futures=(ahead, (here._replace(yaw=here.yaw + 0.6),)), policy=policy, paused=paused, action_stamp=stamp,
        tiers=(
            TierUse("device", min(chunk, DEVICE_SLOTS), DEVICE_SLOTS, BLOCK_BYTES),
            TierUse("host", min(chunk, HOST_SLOTS), HOST_SLOTS, BLOCK_BYTES, dirty=min(chunk, 9)),
            TierUse("disk", spilled, DISK_SLOTS, BLOCK_BYTES, note="direct I/O"),
        ),
        memory=MemoryCounters(
            blocks=chunk, blocks_wanted=2 * chunk, blocks_missed=chunk // 50, prefetch_hits=2 * chunk - chunk // 50, spilled_blocks=spilled,
            stale_uses=chunk // 60, longest_wait_ms=0.04, stalls_over_half_ms=stalls, disk_read_bytes=spilled * BLOCK_BYTES,
            disk_written_bytes=2 * spilled * BLOCK_BYTES,
        ),
        disk_read_rate=2.4e6 * (1 + math.sin(chunk / 7)) if spilled else 0.0, disk_write_rate=1.5e6 if spilled else 0.0,
        spill_chunk=HOST_SLOTS, working_set=used, block_map=BlockMap(numbers, places, tier),
    )  # fmt: skip


class FakeStreet:
    """Obeys `Street` of the bridge. A chunk every ``seconds``; begins at chunk number ``first``; ``fail`` ends it in a failure."""

    def __init__(self, *, seconds: float = 0.02, first: int = 1, spec: FakeSpec | None = None) -> None:
        self.mailbox = Mailbox()
        self.failure: WorldPagerError | None = None
        self.spec = spec or FakeSpec()
        self.commands: list[Command] = []
        self.actions: list[Action] = []
        self.closed = threading.Event()
        self._seconds, self._chunk, self._index = seconds, first, 0
        self._seed, self._policy, self._paused = 7, "pose-overlap", False
        self._take: Callable[[PublishedChunk], object] | None = None
        self._fault: WorldPagerError | None = None

    def fail(self, error: WorldPagerError) -> None:
        """End the street in ``error`` at its next chunk."""
        self._fault = error

    def run(self) -> None:
        """Publish chunks until `Quit`."""
        while self._obey():
            if self._fault is not None:
                self.failure, self._fault = self._fault, None  # once: a street that is begun again plays
                self.mailbox.fail(self.failure)
                return
            self._publish()
            self.mailbox.wait_command(self._seconds)

    def close(self) -> None:
        """Note that it was closed."""
        self.closed.set()

    def _obey(self) -> bool:
        for command in self.mailbox.commands():
            self.commands.append(command)
            match command:
                case Quit():
                    return False
                case Pause(on):
                    self._paused = on
                case NewWorld(seed):
                    self._seed, self._chunk = seed, 1
                case Reset():
                    self._chunk = 1
                case UsePolicy(name):
                    self._policy = name
                case Record(take):
                    self._take = take
        return True

    def _publish(self) -> None:
        action = self.mailbox.take_action()
        if action.stamp:
            self.actions.append(action)
        if not self._paused:
            self._chunk, self._index = self._chunk + 1, self._index + 1
        frames = made_frames(self._index, self.spec)
        snapshot = made_snapshot(
            self._chunk, self.spec, seed=self._seed, policy=self._policy, paused=self._paused, stamp=0.0 if self._paused else action.stamp
        )
        chunk = PublishedChunk(self._index, frames, replace(snapshot, received=action))
        self.mailbox.frames.publish(chunk)
        if self._take is not None and not self._paused:
            self._take(chunk)
