"""Values that this network gave when it equalled the published code's vectors: they hold where those vectors are absent."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from worldpager.engine.models.matrix_game2.action_module import rows_of
from worldpager.engine.models.matrix_game2.config import ActionConfig, DitConfig
from worldpager.engine.models.matrix_game2.network import MatrixGameDit
from worldpager.engine.models.matrix_game2.rollout import SHIFT, Rollout
from worldpager.engine.models.wan.flow import plain_steps

RECORDED: dict[str, list[float]] = {
    "universal": [2.99079, -0.31648, -0.20513, 3.83726, 0.57285, -2.86792, -0.08987, -2.48818],
    "gta": [-0.95048, -2.3692, -0.3677, -0.92596, -1.07023, 0.8142, 4.08295, -0.68952],
    "templerun": [0.26843, 0.23128, 0.78444, 0.66828, -0.46172, -3.26531, -2.47398, -0.00754],
    "sink": [2.97544, -0.31648, -0.20513, 3.83726, 0.57285, -2.86792, -0.08987, -2.48818],
}


def drawn(rng: np.random.Generator, *shape: int) -> torch.Tensor:
    return torch.from_numpy(rng.standard_normal(shape)).float()


@torch.no_grad()
def values(variant: str) -> list[float]:
    """Eight of the numbers of three chunks, with weights and inputs from numpy's fixed generator."""
    keys, mouse, window, sink = {"universal": (4, 2, 6, 0), "gta": (2, 2, 4, 0), "templerun": (7, 0, 6, 0), "sink": (4, 2, 7, 1)}[variant]
    network = MatrixGameDit(DitConfig(128, 160, 2, 2, window, sink, ActionConfig((0,), 2, keys, 16, mouse)))
    rng = np.random.default_rng(7)
    for name, parameter in network.named_parameters():
        spread = 0.1 if parameter.dim() == 1 or "modulation" in name else parameter[0].numel() ** -0.5
        parameter.data = drawn(rng, *parameter.shape) * spread + float(parameter.dim() == 1 and "norm" in name)
    rollout, frames = Rollout(network, 4, 6), 9
    rollout.begin(drawn(rng, 257, 1280))
    moves, pressed = drawn(rng, 4 * frames, max(1, mouse)) * 0.1, (drawn(rng, 4 * frames, keys) > 0).float()
    clean = []
    for frame in range(0, frames, 3):
        heard = rows_of(moves, frame, 3) if mouse else None
        rollout.prepare(drawn(rng, 20, 3, 4, 6), heard, rows_of(pressed, frame, 3), 0)
        clean.append(rollout.denoise(drawn(rng, 16, 3, 4, 6), plain_steps((1000, 500), SHIFT), lambda: drawn(rng, 16, 3, 4, 6)))
        rollout.finish(clean[-1])
        rollout.advance()
    return [round(float(value), 5) for value in torch.cat(clean, 1).flatten()[215::437]]


@pytest.mark.parametrize("variant", ["universal", "gta", "templerun", "sink"])
def test_the_network_gives_what_it_gave(variant: str) -> None:
    assert values(variant) == pytest.approx(RECORDED[variant], abs=1e-4)
