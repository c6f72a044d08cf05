"""Registered predictions: written to a file first, then played, then compared (WorldPager II.E, Table II).

``worldpager bench predict --out DIR``. The stand-in steps sideways for ``out`` chunks and back again, in several sizes of memory and block
and with several speeds of drive. The planner says beforehand at which chunk the first block is written, the first is evicted and the
first read back, and whether a drive of that speed leaves blocks missing. The time of a chunk comes from a run of its own, on none of
those settings.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import tempfile
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from worldpager.engine.build import build_generator, default_config, load_for
from worldpager.engine.config import PlayConfig
from worldpager.engine.headless import SWITCH_SECONDS
from worldpager.engine.planner import cost_model as c
from worldpager.engine.planner.probe import workload
from worldpager.engine.telemetry.snapshot import Snapshot
from worldpager.engine.types import Action, Button

SPILLS = ((18, 30, 64), (22, 44, 96), (26, 40, 32), (34, 50, 64), (38, 70, 48), (46, 60, 64), (28, 28, 128), (50, 40, 64))
"""(host slots, chunks out, tokens a block)."""
SPEEDS = (0.08, 0.15, 1.6, 4.0, 20.0)
"""Drive speeds as shares of what the planner says is needed; between a quarter and one and a half neither answer would be a test."""
JOURNEYS = ((16, 36, 256), (20, 44, 192), (24, 40, 320))
DEVICE_SLOTS = 8
WRITE_LAG = 2
"""Chunks until a write that a new block calls for is counted: the next chunk's poll starts it, the one after collects it."""
CLOSE = 1
"""Chunks by which a prediction may be off."""


@dataclass(frozen=True, slots=True)
class Journey:
    """Sideways for ``out`` chunks and back, with ``slots`` host slots for blocks of ``tokens``.

    ``speed`` of the drive as a share of the need.
    """

    slots: int
    out: int
    tokens: int
    speed: float | None = None


@dataclass(frozen=True, slots=True)
class Prediction:
    """What the planner says about a journey; chunks count from 1. ``misses``: whether blocks come too late."""

    spill: int
    evict: int
    read: int | None
    misses: bool


@dataclass(frozen=True, slots=True)
class Seen:
    """What the journey did."""

    spill: int | None
    evict: int | None
    read: int | None
    missed: int
    wanted: int
    stalls: int
    longest_wait_ms: float


def config_of(journey: Journey, step_ms: float, folder: Path) -> tuple[PlayConfig, int]:
    """The journey's settings, but for the drive's speed, and the bytes of a block."""
    options = {"step-ms": str(step_ms), "tokens": str(journey.tokens)}
    config = replace(default_config("stand-in"), model_options=options, prime=False, rest_when_idle=False)
    model = load_for(config)
    block_bytes = workload(model.spec, config.memory).block_bytes
    model.close()
    memory = replace(config.memory, host_budget=journey.slots * block_bytes, device_slots=DEVICE_SLOTS, disk_dir=folder, disk_budget=None)
    return replace(config, memory=memory), block_bytes


def predict(journey: Journey, block_bytes: int, chunk_seconds: float, retrieved: int = 2) -> tuple[Prediction, float | None]:
    """The planner's word on a journey, and its drive's bytes a second."""
    work = c.Workload(block_bytes, 4, 16.0, chunk_seconds, retrieved)
    rate = None if journey.speed is None else journey.speed * c.read_need(work)
    room = c.Room(journey.slots * block_bytes, 1 << 50, read_rate=rate or float("inf"))
    p = c.plan(work, room)
    read = c.first_read(journey.slots, journey.out)
    return Prediction(p.spill_chunk + WRITE_LAG, p.first_eviction, read, p.reads is c.StallClass.SOME and read is not None), rate


def travel(config: PlayConfig, out: int) -> tuple[Seen, list[float]]:
    """Play the journey: what was seen and the milliseconds of each chunk."""
    generator = build_generator(config)
    first: dict[str, int] = {}
    times: list[float] = []
    try:
        generator.enter_thread()
        generator.step()
        newest = None
        for chunk in range(2, 2 * out + 1):
            generator.mailbox.put_action(Action(Button.RIGHT if chunk <= out else Button.LEFT))
            generator.step()
            newest = generator.mailbox.frames.newest()
            assert newest is not None
            times.append(newest.snapshot.chunk_ms)
            _note(first, newest.snapshot, chunk)
        assert newest is not None
        memory = newest.snapshot.memory
    finally:
        generator.close()
    return Seen(
        first.get("spill"), first.get("evict"), first.get("read"), memory.blocks_missed, memory.blocks_wanted,
        memory.stalls_over_half_ms, memory.longest_wait_ms,
    ), times  # fmt: skip


def _note(first: dict[str, int], snapshot: Snapshot, chunk: int) -> None:
    memory = snapshot.memory
    for name, happened in (("spill", memory.spilled_blocks), ("evict", memory.evicted_blocks), ("read", memory.disk_read_bytes)):
        if happened:
            first.setdefault(name, chunk)


def close_to(predicted: int | None, seen: int | None) -> bool:
    """Both nothing, or within `CLOSE` chunks."""
    return predicted is seen if predicted is None or seen is None else abs(predicted - seen) <= CLOSE


def verdicts(prediction: Prediction, seen: Seen, timed: bool) -> dict[str, bool]:
    """Which predictions came true: of the drive's speed if ``timed``, else of the chunks."""
    if timed:
        return {"misses": prediction.misses == (seen.missed > 0)}
    return {name: close_to(getattr(prediction, name), getattr(seen, name)) for name in ("spill", "evict", "read")}


def journeys(quick: bool) -> list[Journey]:
    """All, or a few short ones."""
    spills: Iterable[tuple[int, int, int]] = SPILLS[:2] if quick else SPILLS
    paths: Iterable[tuple[int, int, int]] = JOURNEYS[:1] if quick else JOURNEYS
    speeds = (SPEEDS[0], SPEEDS[-1]) if quick else SPEEDS
    return [Journey(*j) for j in spills] + [Journey(*j, speed=speed) for j in paths for speed in speeds]


def main(arguments: list[str] | None = None) -> int:
    """Calibrate, predict, play, compare."""
    p = argparse.ArgumentParser(prog="worldpager bench predict", description=__doc__)
    p.add_argument("--out", type=Path, default=Path("out/predict"), help="folder for predictions.json and results.json")
    p.add_argument("--step-ms", type=float, default=40.0, help="time that the stand-in computes a chunk")
    p.add_argument("--quick", action="store_true", help="a few short journeys")
    a = p.parse_args(arguments)
    a.out.mkdir(parents=True, exist_ok=True)
    sys.setswitchinterval(SWITCH_SECONDS)
    with tempfile.TemporaryDirectory(dir="/var/tmp" if os.path.isdir("/var/tmp") else None) as folder:  # noqa: PTH112
        config, _ = config_of(Journey(14, 20, 224), a.step_ms, Path(folder))
        seconds = statistics.median(travel(config, 20)[1]) / 1e3
        print(f"a chunk takes {seconds * 1e3:.1f} ms")
        planned = []
        for journey in journeys(a.quick):
            config, block_bytes = config_of(journey, a.step_ms, Path(folder))
            planned.append((journey, config, *predict(journey, block_bytes, seconds)))
        register = [{"journey": asdict(j), "prediction": asdict(said), "read_rate": rate} for j, _, said, rate in planned]
        (a.out / "predictions.json").write_text(json.dumps({"chunk_seconds": seconds, "predictions": register}, indent=1) + "\n")
        rows = [compare(*each) for each in planned]
    (a.out / "results.json").write_text(json.dumps(rows, indent=1) + "\n")
    hits = [hit for row in rows for hit in row["hits"].values()]  # type: ignore[attr-defined]
    print(f"{sum(hits)} of {len(hits)} predictions came true")
    return 0


def compare(journey: Journey, config: PlayConfig, said: Prediction, rate: float | None) -> dict[str, object]:
    """Play one journey and print it beside its prediction."""
    seen, _ = travel(replace(config, memory=replace(config.memory, read_limit=rate)), journey.out)
    hits = verdicts(said, seen, rate is not None)
    name = f"{journey.slots} slots, {journey.out} out, {journey.tokens} tokens"
    if rate is None:
        print(f"{name}: write {said.spill} / {seen.spill}, evict {said.evict} / {seen.evict}, read {said.read} / {seen.read}"
              f" {'' if all(hits.values()) else 'MISSED'}", flush=True)  # fmt: skip
    else:
        print(f"{name}, {rate / 1e6:.2f} MB/s = {journey.speed:g} of the need: {'misses' if said.misses else 'none missing'} /"
              f" {seen.missed} of {seen.wanted}, longest wait {seen.longest_wait_ms:.3f} ms {'' if all(hits.values()) else 'MISSED'}",
              flush=True)  # fmt: skip
    return {"journey": asdict(journey), "predicted": asdict(said), "seen": asdict(seen), "hits": hits}


if __name__ == "__main__":
    raise SystemExit(main())
