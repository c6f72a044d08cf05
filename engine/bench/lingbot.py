"""LingBot-World 2.0 1.3B at full size with random weights: ``python -m worldpager.engine.bench.lingbot``.

First whether the device computes what a processor computes, at reduced size. Then a chunk by stages with a full window, and what it takes
of the device's memory; a paced turn whose memory spills to disk, with every wait counted; what a wait would be if blocks were fetched when
they are missed; and the same model with its sliding window alone. Random weights cost what real ones cost; the pictures show nothing.
A processor runs the reduced size.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import torch

from worldpager.engine.bench._lingbot_street import on_demand, paced
from worldpager.engine.models.lingbot_world.adapter import SMALLEST, LingBotWorld
from worldpager.engine.models.lingbot_world.load import load_parts
from worldpager.engine.models.lingbot_world.options import LingBotOptions
from worldpager.engine.types import Pose

Row = dict[str, object]
TURN = 0.034
"""Radians a frame: as fast as the arrow keys."""
WORST = 5e-3
"""Largest difference of keys in float32 that the order of sums explains."""
FILLING = 4
"""Chunks after the first until the window is full."""


class Stages:
    """Milliseconds of each stage of each chunk, the device's work included."""

    def __init__(self, device: torch.device) -> None:
        self._device = device
        self.ms: dict[str, list[float]] = {}

    @contextmanager
    def __call__(self, name: str) -> Iterator[None]:
        """Around a stage."""
        began = self._now()
        yield
        self.ms.setdefault(name, []).append((self._now() - began) * 1e3)

    def _now(self) -> float:
        if self._device.type == "cuda":
            torch.cuda.synchronize()
        return time.perf_counter()


def turning(chunk: int) -> list[Pose]:
    """The poses of a chunk on a steady turn."""
    return [Pose(0, 0, 0.5, TURN * i, 0) for i in range(16 * chunk + 1, 16 * chunk + 17)]


def same_as_processor(device: torch.device) -> Row:
    """Three chunks of the reduced model in float32 here and on a processor. Raises RuntimeError when they differ."""
    options = LingBotOptions.read("1.3b", {"random-weights": "yes", "size": "small"})
    torch.backends.cudnn.allow_tf32 = False
    made = []
    for where in (torch.device("cpu"), device):
        parts = load_parts(options, torch.device("cpu"))
        model = LingBotWorld(replace(parts, network=parts.network.to(where), vae=parts.vae.to(where)), options)
        list(model.begin(7, prime=False))
        made.append([model.step(turning(i), 0).kv for i in range(2)])
    torch.backends.cudnn.allow_tf32 = True
    worst = max(float((a.keys - b.keys.cpu()).abs().max()) for a, b in zip(*made, strict=True))
    if not worst < WORST:
        raise RuntimeError(f"keys on {device} differ from a processor's by {worst:.2g}")
    return {"what": "keys after 3 chunks, float32, against a processor", "largest difference": worst}


def stages(model: LingBotWorld, retrieved: int, chunks: int) -> Row:
    """A chunk by stages with ``retrieved`` chunks in the view; the first of them warms up."""
    model.step(turning(0), retrieved)
    model.watch = watch = Stages(model.device)
    for i in range(chunks):
        with watch("whole chunk"):
            model.step(turning(1 + i), retrieved)
    ms = {name: statistics.median(times) for name, times in watch.ms.items()}
    return {"what": f"chunk, {retrieved} retrieved", **ms, "fps": 16e3 / ms["whole chunk"]}


def device_memory(device: torch.device) -> dict[str, float]:
    """GB at the peak so far; empty on a processor."""
    if device.type != "cuda":
        return {}
    return {"GB allocated, peak": torch.cuda.max_memory_allocated() / 1e9, "GB reserved, peak": torch.cuda.max_memory_reserved() / 1e9}


def main(arguments: list[str] | None = None) -> int:
    """Measure, print, and write JSON if asked."""
    p = argparse.ArgumentParser(prog="worldpager bench lingbot", description=__doc__)
    p.add_argument("--chunks", type=int, default=4, help="chunks timed by stages")
    p.add_argument("--paced", type=int, default=20, help="chunks of the paced turn")
    p.add_argument("--policy", default="worldkv", help="what the paced turn brings back; worldkv wants its full number for every chunk")
    p.add_argument("--retrieved", type=int, default=2, help="chunks that the memory view holds")
    p.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()), help="where memory spills to")
    p.add_argument("--json", type=Path)
    a = p.parse_args(arguments)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    rows: list[Row] = []

    def note(row: Row) -> None:
        rows.append(row)
        shown = (f"{name} {value:.4g}" if isinstance(value, float) else f"{name} {value}" for name, value in row.items())
        print(", ".join(shown), flush=True)

    note(same_as_processor(device))
    size = {} if device.type == "cuda" else {"size": "small"}
    began = time.perf_counter()
    model = SMALLEST.load({"random-weights": "yes", "retrieved": str(a.retrieved), **size}, device)
    note({"what": f"loaded on {device}", "s": time.perf_counter() - began, **{f"decode {k}": v for k, v in model.decode_seconds.items()}})
    began = time.perf_counter()
    list(model.begin(7, prime=False))
    note({"what": "first chunk with the start picture encoded", "s": time.perf_counter() - began, **device_memory(device)})
    for i in range(FILLING):
        model.step(turning(i), 0)
    for retrieved in sorted({0, a.retrieved}):
        note(stages(model, retrieved, a.chunks))
    note({"what": "device memory", **device_memory(device)})
    with tempfile.TemporaryDirectory(dir=a.folder) as folder:
        note(on_demand(model, Path(folder)))
        note(paced(model, Path(folder), a.policy, a.paced))
        note(paced(model, Path(folder), "none", max(4, a.paced // 4)))
    note({"what": "device memory, the memory's slots included", **device_memory(device)})
    if a.json:
        a.json.write_text(json.dumps(rows, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
