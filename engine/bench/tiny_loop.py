"""Does the tiny world stay the same for ever? One real chunk, then back and forth over one path, each leg against the first visit.

``worldpager bench tiny-loop`` or ``python -m worldpager.engine.bench.tiny_loop``. PSNR in dB of each leg against the model's own first leg
at the same poses, and the share of the first leg's sharpness. A leg is 12 chunks of 4 frames; every other one runs backwards.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from worldpager.assets.models.tiny.data import FRAMES, HELD_OUT, rendered, retrieve
from worldpager.assets.models.tiny.paths import make_path
from worldpager.engine.bench.tiny_quality import load_network, psnr, sharpness
from worldpager.engine.models.tiny.rollout import PlayOptions, roll
from worldpager.engine.models.tiny.weights import shipped_weights
from worldpager.engine.models.tiny.worlds import make_world

LEG = 12


def looped(path: np.ndarray, chunks: int) -> np.ndarray:
    """``chunks`` chunks of poses [chunks * FRAMES, 5]: ``path`` [LEG * FRAMES, 5] forth, back, forth, ..."""
    legs = [path if i % 2 == 0 else path[::-1] for i in range(-(-chunks // LEG))]
    return np.concatenate(legs)[: chunks * FRAMES]


def play(weights: Path, program: str, chunks: int, memory: bool, passes: int, seed: int) -> Tensor:
    """Pictures [1, chunks, FRAMES, 3, h, w] of one held-out world."""
    world = make_world(HELD_OUT + seed)
    path = looped(make_path(world, np.random.default_rng(seed), LEG * FRAMES, program), chunks)
    poses = torch.from_numpy(path.astype(np.float32)).reshape(1, chunks, FRAMES, 5)
    scene = {"cells": torch.from_numpy(world.cells)[None], "sky": torch.from_numpy(world.sky)[None], "poses": poses[:, :1]}
    opening = rendered(scene, torch.device("cpu"))[0].float() / 127.5 - 1
    back = torch.from_numpy(retrieve(path, 2, 2))[None]
    network, options = load_network(weights, torch.device("cpu")), PlayOptions(passes, memory=memory)
    return roll(network, poses, back, opening, options, torch.Generator().manual_seed(seed))


def legs(pictures: Tensor) -> list[tuple[float, float]]:
    """(PSNR against the first leg, sharpness over the first leg's) of each later whole leg of ``pictures``."""
    frames = pictures.flatten(1, 2)
    first, out = frames[:, : LEG * FRAMES], []
    for i in range(1, frames.shape[1] // (LEG * FRAMES)):
        leg = frames[:, i * LEG * FRAMES:(i + 1) * LEG * FRAMES]
        same = (leg if i % 2 == 0 else leg.flip(1)).unflatten(1, (-1, FRAMES))
        out.append((psnr(same, first.unflatten(1, (-1, FRAMES))), sharpness(same, first.unflatten(1, (-1, FRAMES)))))
    return out


@torch.no_grad()
def main(arguments: list[str] | None = None) -> int:
    """Run, print every tenth of the way, and write JSON if asked."""
    p = argparse.ArgumentParser(prog="worldpager bench tiny-loop", description=__doc__)
    p.add_argument("--weights", type=Path, default=shipped_weights())
    p.add_argument("--chunks", type=int, default=1000)
    p.add_argument("--program", choices=("walk", "spin", "free"), default="free")
    p.add_argument("--passes", type=int, default=2)
    p.add_argument("--seed", type=int, default=0)
    p.add_argument("--no-memory", action="store_true")
    p.add_argument("--json", type=Path)
    a = p.parse_args(arguments)
    began = time.monotonic()
    rows = legs(play(a.weights, a.program, a.chunks, not a.no_memory, a.passes, a.seed))
    for i in sorted({round(x) for x in np.linspace(0, len(rows) - 1, 11)}):
        print(f"leg {i + 1:3d}, chunk {(i + 1) * LEG:4d}: {rows[i][0]:6.2f} dB, sharpness x {rows[i][1]:.2f}", flush=True)
    print(f"{time.monotonic() - began:.0f} s")
    if a.json:
        a.json.write_text(json.dumps(rows) + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
