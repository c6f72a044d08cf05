"""Training data: worlds and paths made by processes on the CPU, rendered on the GPU into a ring of sequences."""

from __future__ import annotations

import zlib
from collections.abc import Iterator

import numpy as np
import torch
from torch import Tensor
from torch.utils.data import DataLoader, IterableDataset

from worldpager.assets.models.tiny.paths import make_path
from worldpager.engine.models.tiny import render
from worldpager.engine.models.tiny.worlds import PLAYED, World, make_world
from worldpager.engine.retrieval.pose_overlap import PoseOverlap
from worldpager.engine.types import BlockId, FieldOfView, Pose

FRAMES = 4
VIEW = FieldOfView(horizontal=render.FOV_X, vertical=2 * np.arctan(np.tan(render.FOV_X / 2) * 2 / 3), sight=render.SIGHT)
HELD_OUT = PLAYED + 1000
"""First seed of the evaluation's worlds."""


def retrieve(path: np.ndarray, window: int, k: int) -> np.ndarray:
    """Chunks [S, k] that the pose-overlap policy brings back along ``path`` [S * FRAMES, 5]; 0 where there is none yet."""
    policy = PoseOverlap(VIEW)
    chunks = [tuple(Pose(*map(float, p)) for p in part) for part in path.reshape(-1, FRAMES, 5)]
    out = np.zeros((len(chunks), k), np.int64)
    for s, poses in enumerate(chunks):
        recent = [BlockId(i) for i in {0, *range(max(0, s - window), s)} if i < s]
        picked = policy.select(poses, k, recent)
        out[s, : len(picked)] = picked
        policy.add(BlockId(s), poses)
    return out


class Sequences(IterableDataset[dict[str, Tensor]]):
    """Endless (cells, sky, poses, retrieved) of fresh worlds; each worker draws seeds of its own."""

    def __init__(self, frames: int, seed: int) -> None:
        self.frames, self.seed = frames, seed

    def __iter__(self) -> Iterator[dict[str, Tensor]]:
        info = torch.utils.data.get_worker_info()
        worker = info.id if info else 0
        rng = np.random.default_rng([self.seed, worker])
        while True:
            yield sequence(make_world(int(rng.integers(PLAYED))), rng, self.frames)


def sequence(world: World, rng: np.random.Generator, frames: int, program: str | None = None) -> dict[str, Tensor]:
    """One training sequence of ``world`` before rendering."""
    path = make_path(world, rng, frames, program)
    return {
        "cells": torch.from_numpy(world.cells), "sky": torch.from_numpy(world.sky),
        "poses": torch.from_numpy(path.astype(np.float32)).reshape(-1, FRAMES, 5),
        "retrieved": torch.from_numpy(retrieve(path, 2, 2)),
    }


def held_out(count: int, frames: int, program: str) -> dict[str, Tensor]:
    """A fixed batch of sequences in worlds that training never sees."""
    salt = zlib.crc32(program.encode())
    rows = [sequence(make_world(HELD_OUT + i), np.random.default_rng([salt, i]), frames, program) for i in range(count)]
    return {key: torch.stack([row[key] for row in rows]) for key in rows[0]}


@torch.no_grad()
def rendered(batch: dict[str, Tensor], device: torch.device, samples: int = 2) -> tuple[Tensor, Tensor]:
    """Pictures uint8 [B, S, F, 3, h, w] and inverse depth float16 [B, S, F, h, w] of a batch of sequences."""
    pictures, depths = [], []
    for cells, sky, poses in zip(batch["cells"], batch["sky"], batch["poses"], strict=True):
        scene = render.Scene(cells.reshape(-1, cells.shape[-1]).to(device), sky[None].to(device))
        flat = poses.reshape(-1, 5).to(device)
        rgb, inverse = render.render(scene, torch.zeros(len(flat), dtype=torch.long, device=device), flat, samples)
        pictures.append((rgb * 255).round().to(torch.uint8).unflatten(0, poses.shape[:2]))
        depths.append(inverse.half().unflatten(0, poses.shape[:2]))
    return torch.stack(pictures), torch.stack(depths)


class Ring:
    """The newest ``size`` rendered sequences on the device, drawn from at random; renewed ``batch`` at a time."""

    def __init__(self, frames: int, size: int, batch: int, device: torch.device, workers: int, seed: int) -> None:
        self.device, self.size, self.batch = device, size, batch
        ahead = 4 if workers else None
        self.source = iter(DataLoader(Sequences(frames, seed), batch_size=batch, num_workers=workers, prefetch_factor=ahead))
        self.rows: dict[str, Tensor] = {}
        self.drawn = self.made = 0

    def renew(self) -> None:
        """Render one batch into the ring, over the oldest."""
        batch = next(self.source)
        pictures, depth = rendered(batch, self.device)
        new = {"pictures": pictures, "depth": depth, **{key: batch[key].to(self.device) for key in ("poses", "retrieved")}}
        if not self.rows:
            self.rows = {key: torch.empty(self.size, *value.shape[1:], dtype=value.dtype, device=self.device) for key, value in new.items()}
        at = (torch.arange(self.batch) + self.made) % self.size
        for key, value in new.items():
            self.rows[key][at.to(self.device)] = value
        self.made += self.batch

    def draw(self, count: int) -> dict[str, Tensor]:
        """``count`` random sequences."""
        pick = torch.randint(0, min(self.made, self.size), (count,), device=self.device)
        return {key: value[pick] for key, value in self.rows.items()}
