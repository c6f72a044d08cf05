"""Values that this code gave when it equalled the published code's vectors: they hold where those vectors are absent."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from worldpager.engine.models.base import BlockKV
from worldpager.engine.models.lingbot_world import camera
from worldpager.engine.models.lingbot_world.clip_poses import keys_to_poses
from worldpager.engine.models.lingbot_world.config import DitConfig
from worldpager.engine.models.lingbot_world.network import LingBotDit
from worldpager.engine.models.lingbot_world.rollout import Rollout
from worldpager.engine.models.wan.flow import whole_steps
from worldpager.engine.models.wan.rope import grid_rotation, rotary_spec
from worldpager.engine.models.wan.umt5 import Umt5Config, Umt5Encoder
from worldpager.engine.models.wan.vae import VaeConfig, WanVae
from worldpager.engine.models.wan.vae_parts import Stream
from worldpager.engine.positions.rope import turned
from worldpager.engine.retrieval.worldkv import WorldKv
from worldpager.engine.types import BlockId, Pose

RECORDED: dict[str, list[float]] = {
    "rollout": [-1.67532, -2.16397, 1.58538, -0.10981, -0.05941, -0.05735, 2.84601, 1.78275, 1.14421, 0.66721, 0.5851, -0.05255,
        0.53831, 0.8375, -0.52581, -0.1375],
    "with memory": [-1.67644, -2.19675, 1.60539, -0.11544, -0.02558, -0.05627, 2.84632, 1.76294, 1.14137, 0.65962, 0.59747, -0.05638,
        0.52942, 0.84176, -0.51797, -0.13055],
    "video": [0.37263, 0.06804, -0.20901, -0.64431, -0.13192, 0.15458, 0.95154, 0.01124, -0.59816, -0.60844, -0.1425, -0.4757, -0.52041,
        0.22968, -0.35097, -0.83222],
    "rays": [-0.07456, 0, 0, 0.19592, -0.6683, -0.34021, -0.21575, 0.68984],
    "keys": [0, -0.00352, 1, 0, 0, 0.05168, 0, 1],
    "positions": [0.50667, 1.70451, 1.28004, -1.31128, 0.43792, 0.11312, 0.02592, 0.94],
    "words": [-0.24347, -0.24243, -0.24292, -0.23923, -0.24128, -0.23548, -0.23154, -0.25291],
    "levels": [999, 0.9998, 0.9996, 937, 0.93789, 0.93758, 833, 0.83361, 0.83306, 624, 0.62469, 0.62469, 999, 0.9999, 0.9998, 978,
        0.97897, 0.97883, 947, 0.94791, 0.94769, 825, 0.82585, 0.82519],
    "brought back": [1, 2, 1, 3, 2, 4, 3, 5, 1, 1, 6, 1, 2, 1, 2, 2, 1, 3, 2, 4, 3, 5, 4, 6, 5, 7, 6, 8, 7, 9, 8, 10, 9, 11, 10, 12, 11,
        13, 12],
}  # fmt: skip
SPEC = rotary_spec(48)


def drawn(rng: np.random.Generator, *shape: int) -> Tensor:
    return torch.from_numpy(rng.standard_normal(shape)).float()


def filled(module: nn.Module, rng: np.random.Generator) -> None:
    """Numbers from numpy's fixed generator, gains about 1."""
    for name, parameter in module.named_parameters():
        gain = ("norm" in name and name.endswith("weight")) or name.endswith("gamma")
        spread = 0.1 if parameter.dim() == 1 or gain or "modulation" in name else parameter[0].numel() ** -0.5
        parameter.data = drawn(rng, *parameter.shape) * spread + float(gain)


def some(x: Tensor) -> list[float]:
    flat = x.detach().flatten()
    return [round(float(value), 5) for value in flat[len(flat) // 16 :: len(flat) // 8]]


@torch.no_grad()
def rollout(retrieve: bool) -> list[float]:
    """Six chunks of four latent frames: the window of 18 with a sink of 6 has evicted three times; the first non-sink chunk comes back."""
    rng = np.random.default_rng(7)
    c = DitConfig(96, 128, 2, 2, 4, 18, 6, (0, 500), 5.0, text_width=24, text_length=8)
    network = LingBotDit(c)
    filled(network, rng)
    played = Rollout(network, 4, 6, 1)
    played.begin(drawn(rng, 5, 24))
    clean: list[Tensor] = []
    kept: list[BlockKV] = []
    for chunk in range(6):
        back = int(retrieve and chunk == 5)
        if back:
            view, past = played.context.view, kept[1]
            view.keys[:, 0], view.values[:, 0] = turned(past.keys, SPEC, 4.0), past.values
        step = played.prepare(drawn(rng, 384, 4, 4, 6), back)
        condition = drawn(rng, 20, 4, 4, 6)
        clean.append(played.denoise(drawn(rng, 16, 4, 4, 6), condition, lambda: drawn(rng, 16, 4, 4, 6), step))
        kept.append(played.finish(clean[-1], condition, step))
        played.advance()
    return some(clean[-1]) + some(kept[-1].keys)


@torch.no_grad()
def video() -> list[float]:
    """A picture encoded, and two chunks decoded in a stream."""
    rng = np.random.default_rng(8)
    vae = WanVae(VaeConfig(width=4))
    filled(vae, rng)
    stream: Stream = {}
    z = drawn(rng, 1, 16, 5, 2, 2)
    frames = torch.cat([vae.decode(z[:, :, :2], stream), vae.decode(z[:, :, 2:], stream)], dim=2)
    return some(vae.encode_start(drawn(rng, 1, 3, 16, 16).tanh(), 4)) + some(frames)


def rays() -> list[float]:
    poses = [Pose(0.02 * i, 0.01 * i, 0.5, 0.1 + 0.03 * i, 0.01 * i) for i in range(16)]
    here = camera.camera_to_world(camera.latent_poses(poses, 4))
    steps = camera.scaled(camera.relative_steps(here, camera.camera_to_world([Pose(0, 0, 0.5, 0.1, 0)])[0]), 0.32)
    return some(camera.ray_condition(steps, camera.intrinsics(48, 32), 48, 32))


def keys() -> list[float]:
    return some(keys_to_poses([(1, 0, 0, 0, 0, 1, 0, 0), (1, 0, 0, 1, 1, 0, 0, 0), (0, 1, 1, 0, 0, 0, 1, 1)])[-1])


def positions() -> list[float]:
    rng = np.random.default_rng(9)
    return some(grid_rotation(128, range(1022, 1026), 2, 3)(drawn(rng, 24, 2, 128)))


@torch.no_grad()
def words() -> list[float]:
    rng = np.random.default_rng(10)
    encoder = Umt5Encoder(Umt5Config(width=16, heads=2, ffn=24, layers=2, vocabulary=20))
    filled(encoder, rng)
    return some(encoder(torch.arange(20).repeat(8)))


def levels() -> list[float]:
    steps = whole_steps((0, 250, 500, 750), 5.0) + whole_steps((0, 179, 358, 679), 10.0)
    return [round(number, 5) for step in steps for number in (step.timestep, step.sigma, step.renoise)]


def brought_back() -> list[float]:
    """What WorldKV picks along two laps of a circle."""
    policy, picked = WorldKv(), []
    for chunk in range(24):
        at = [chunk / 12 * 2 * math.pi + 0.05 * frame for frame in range(4)]
        poses = [Pose(math.cos(a), math.sin(a), 0, a * 1.3, 0.1 * math.sin(a)) for a in at]
        picked += policy.select(poses, 2, [BlockId(b) for b in (0, chunk - 1, chunk - 2)])
        policy.add(BlockId(chunk), poses)
    return [float(block) for block in picked]


CASES: dict[str, Callable[[], Sequence[float]]] = {
    "rollout": lambda: rollout(False), "with memory": lambda: rollout(True), "video": video, "rays": rays, "keys": keys,
    "positions": positions, "words": words, "levels": levels, "brought back": brought_back,
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_the_code_gives_what_it_gave(case: str) -> None:
    assert CASES[case]() == pytest.approx(RECORDED[case], abs=1e-4)
