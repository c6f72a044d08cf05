"""Speed of the tiny world model on this machine: ``python -m worldpager.engine.bench.tiny_speed``.

Milliseconds a chunk and frames a second of the model alone (no store, no window) with a full context, by passes and threads, and the time
that a primed opening takes. Best and median of several chunks: the best is what a quiet machine gives.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import time
from pathlib import Path

import torch

from worldpager.engine.models.tiny.adapter import TinyModel, thread_counts
from worldpager.engine.models.tiny.rollout import SCHEDULES
from worldpager.engine.types import Pose


def chunk_seconds(model: TinyModel, start: Pose, chunks: int) -> list[float]:
    """Seconds of each of ``chunks`` chunks on a slow turn with all retrieved slots in use, after one to warm up."""
    frames, times = model.spec.frames_per_chunk, []
    for chunk in range(chunks + 1):
        poses = [start._replace(yaw=start.yaw + 0.05 * (chunk * frames + i + 1)) for i in range(frames)]
        began = time.perf_counter()
        model.step(poses, model.spec.retrieved)
        times.append(time.perf_counter() - began)
    return times[1:]


def opening_seconds(model: TinyModel, seed: int) -> tuple[float, int]:
    """Seconds and chunks of the primed opening of world ``seed``."""
    began = time.perf_counter()
    count = sum(1 for _ in model.begin(seed, prime=True))
    return time.perf_counter() - began, count


def main(arguments: list[str] | None = None) -> int:
    """Measure, print, and write JSON if asked."""
    p = argparse.ArgumentParser(prog="worldpager bench tiny-speed", description=__doc__)
    p.add_argument("--chunks", type=int, default=8, help="chunks a setting")
    p.add_argument("--weights", help="other weights than the shipped ones")
    p.add_argument("--json", type=Path)
    a = p.parse_args(arguments)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    began = time.perf_counter()
    model = TinyModel.load({"weights": a.weights} if a.weights else {}, device)
    rows: dict[str, float] = {"load s": time.perf_counter() - began}
    print(f"{device}, {os.cpu_count()} cores; chosen: {model.settings}; loaded in {rows['load s']:.2f} s")
    threads, frames = model.threads, model.spec.frames_per_chunk
    rows["opening s"], count = opening_seconds(model, 7)
    print(f"opening of {count} chunks on {threads} threads: {rows['opening s']:.2f} s")
    start = next(model.begin(7, prime=False)).poses[-1]
    for number in sorted(thread_counts(os.cpu_count() or 1, device)):
        torch.set_num_threads(number)
        for model.passes in SCHEDULES:
            times = chunk_seconds(model, start, a.chunks)
            best, middle = min(times), statistics.median(times)
            rows[f"{model.passes} passes, {number} threads, best ms"], rows[f"{model.passes} passes, {number} threads, median ms"] = (
                best * 1e3, middle * 1e3)  # fmt: skip
            print(f"{model.passes} passes, {number} threads: best {best * 1e3:6.1f} ms a chunk ({frames / best:5.1f} fps), "
                  f"median {middle * 1e3:6.1f} ms ({frames / middle:5.1f} fps)", flush=True)
    if a.json:
        a.json.write_text(json.dumps({name: round(value, 3) for name, value in rows.items()}, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
