"""Does the camera say in time what will be wanted? Hit rates of reusing the present pose, of constant velocity, and of several futures.

``worldpager bench prefetch [--traces DIR]``. Bookkeeping alone, with the street's own policy and futures (WorldPager II.C): a chunk's
wanted blocks against those that each way would have asked for one chunk before. *Missed* is the share of wanted blocks that are not among
the ``--slots`` staging slots when a chunk is taken, with a drive that is fast enough: what no bandwidth can mend.
"""

from __future__ import annotations

import argparse
import json
import math
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from worldpager.engine.models.stand_in import MOTION
from worldpager.engine.pose.extrapolate import futures
from worldpager.engine.pose.recorded import load_recording
from worldpager.engine.pose.script import Leg, Script
from worldpager.engine.pose.source import ActionSource
from worldpager.engine.pose.track import PoseTrack, Stance
from worldpager.engine.retrieval.pose_overlap import PoseOverlap
from worldpager.engine.types import Action, BlockId, Button, FieldOfView, Pose

FRAMES, RATE = 12, 16.0
"""A chunk of Matrix-Game 2.0."""
RETRIEVED, WINDOW = 3, 2
VIEW = FieldOfView(math.radians(84), math.radians(62), 14.0)
MISSED_WANTED = 0.002

Chunk = tuple[Stance, Action, tuple[Pose, ...]]
"""The stance after a chunk, the action that led there, the chunk's poses."""


def steered(source: ActionSource, chunks: int) -> Iterator[Chunk]:
    """Chunks of a camera that obeys ``source``."""
    track = PoseTrack(MOTION, Pose(0, 0, MOTION.eye_height, 0, 0))
    for _ in range(chunks):
        action = source.next(FRAMES / RATE)
        if action is None:
            return
        poses = track.advance(action, FRAMES)
        yield track.stance, action, poses


def filmed(path: Path, chunks: int) -> Iterator[Chunk]:
    """Chunks of a real camera's path, scaled to a walk's speed; its actions are what its last chunk's motion amounts to."""
    with np.load(path, allow_pickle=False) as data:
        seconds, position, turn = data["t"].astype(float), data["position"].astype(float), data["quaternion_xyzw"].astype(float)
    ahead = _forward(turn)
    level = np.argsort(position.std(0))[1:]  # the two axes that the camera moves along most are taken for the ground
    yaw = np.unwrap(np.arctan2(ahead[:, max(level)], ahead[:, min(level)]))
    when = np.arange(seconds[0], seconds[-1], 1 / RATE)
    x, y, angle = (np.interp(when, seconds, column) for column in (position[:, min(level)], position[:, max(level)], yaw))
    step = np.hypot(np.diff(x), np.diff(y))
    scale = MOTION.walk / max(float(np.median(step[step > 0])), 1e-9)
    poses = [Pose(float(a * scale), float(b * scale), MOTION.eye_height, float(c), 0.0) for a, b, c in zip(x, y, angle, strict=True)]
    for start in range(FRAMES, min(len(poses), FRAMES * (chunks + 1)) - FRAMES + 1, FRAMES):
        part = tuple(poses[start : start + FRAMES])
        before = poses[start - 1]
        gone = math.hypot(part[-1].x - before.x, part[-1].y - before.y) > 0.3 * FRAMES * MOTION.walk
        turned = math.degrees(part[-1].yaw - before.yaw)
        yield Stance(part[-1]), Action(Button.FORWARD if gone else Button.NONE, turned), part


def _forward(q: NDArray[np.float64]) -> NDArray[np.float64]:
    """Viewing direction [n, 3] of camera-to-world quaternions [n, 4] (x, y, z, w); cameras look along their z."""
    x, y, z, w = q.T
    return np.stack([2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)], -1)


Way = Callable[[Chunk], list[tuple[Pose, ...]]]
"""Poses for which to ask after a chunk, most likely first."""


def constant_velocity(chunk: Chunk) -> list[tuple[Pose, ...]]:
    """The last action goes on."""
    return [next(iter(futures(chunk[0], chunk[1], MOTION, FRAMES)))]


def several(chunk: Chunk) -> list[tuple[Pose, ...]]:
    """The street's futures."""
    return list(islice(futures(chunk[0], chunk[1], MOTION, FRAMES), 11))


WAYS: dict[str, Way] = {"constant velocity": constant_velocity, "several futures": several}
PRESENT = "present set again"


@dataclass
class Score:
    """Blocks wanted, asked for in time by the first future, by any of them, and not staged."""

    wanted: int = 0
    first: int = 0
    any: int = 0
    missed: int = 0
    slots: OrderedDict[BlockId, None] = field(default_factory=OrderedDict)

    def count(self, wanted: Sequence[BlockId], asked: Sequence[Sequence[BlockId]], size: int) -> None:
        """Take in a chunk: what it wants, and what had been asked for before it, most likely first."""
        ranked = list(dict.fromkeys(block for blocks in asked for block in blocks))
        for block in reversed(ranked[:size]):
            self.slots[block] = None
            self.slots.move_to_end(block)
        while len(self.slots) > size:
            self.slots.popitem(last=False)
        self.wanted += len(wanted)
        self.first += len(set(wanted) & set(asked[0] if asked else ()))
        self.any += len(set(wanted) & set(ranked))
        self.missed += sum(block not in self.slots for block in wanted)


def run(chunks: Iterable[Chunk], size: int, limit: int) -> dict[str, Score]:
    """Scores of every way along a path; the street asks for at most ``limit`` futures that differ in their blocks."""
    policy, scores = PoseOverlap(VIEW), {name: Score() for name in (PRESENT, *WAYS)}
    asked: dict[str, list[list[BlockId]]] = {name: [] for name in scores}
    for index, chunk in enumerate(chunks):
        window = [BlockId(i) for i in {0, *range(max(0, index - WINDOW), index)} if i < index]
        wanted = policy.select(chunk[2], RETRIEVED, window)
        for name, score in scores.items():
            score.count(wanted, asked[name], size)
        held = [BlockId(i) for i in {0, *range(max(0, index - WINDOW + 1), index)} if i < index]
        asked[PRESENT] = [wanted]
        for name, way in WAYS.items():
            each = policy.select_each(way(chunk), RETRIEVED, held, under_way=chunk[2])
            asked[name] = [list(blocks) for blocks in islice(dict.fromkeys(map(tuple, each)), limit)]
        policy.add(BlockId(index), chunk[2])
    return scores


def paths(traces: Path | None, chunks: int) -> Iterator[tuple[str, Iterable[Chunk]]]:
    """Scripted ways, and the recorded ones that are there."""
    back = [leg for _ in range(40) for leg in (Leg(15.0, Button.FORWARD), Leg(4.0, turn=45), Leg(15.0, Button.FORWARD), Leg(4.0, turn=45))]
    yield "yaw", steered(Script([Leg(16.0, turn=22.5)]), chunks)
    yield "back and forth", steered(Script(back), chunks)
    for path in sorted(traces.glob("*.npz")) if traces else ():
        yield path.stem, filmed(path, chunks) if path.stem.startswith("camera") else steered(load_recording(path), chunks)


def main(arguments: list[str] | None = None) -> int:
    """Run every path and print the table."""
    p = argparse.ArgumentParser(prog="worldpager bench prefetch", description=__doc__)
    p.add_argument("--traces", type=Path, help="folder of recorded paths (.npz)")
    p.add_argument("--chunks", type=int, default=1000, help="chunks a path at most")
    p.add_argument("--slots", type=int, default=16, help="staging slots")
    p.add_argument("--futures", type=int, default=8, help="futures that are asked for")
    p.add_argument("--json", type=Path)
    a = p.parse_args(arguments)
    rows = []
    for name, path in paths(a.traces, a.chunks):
        for way, score in run(path, a.slots, a.futures).items():
            wanted = max(1, score.wanted)
            row = {"path": name, "way": way, "wanted": score.wanted, "first": score.first / wanted, "any": score.any / wanted,
                   "missed": score.missed / wanted}  # fmt: skip
            rows.append(row)
            print(f"{name:22s} {way:18s} wanted {score.wanted:5d}  first future {row['first']:.3f}  any {row['any']:.3f}"
                  f"  missed {row['missed']:.4f}", flush=True)  # fmt: skip
    if a.json:
        a.json.write_text(json.dumps(rows, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
