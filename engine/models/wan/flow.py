"""Flow matching in few steps: which noise levels a model was distilled for, from noise to a clean guess and back to less noise.

A sample at level sigma is ``(1 - sigma) * clean + sigma * noise`` and the network answers ``noise - clean``. Two published families keep
the same idea in different tables; both become a list of `FlowStep`, and the loop is the same.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

ROWS = 1000
"""Levels of a training table."""


@dataclass(frozen=True, slots=True)
class FlowStep:
    """One forward of the loop.

    ``timestep`` is what the network is told; ``sigma`` leads from its answer to the clean guess; ``renoise`` is the level to which the
    guess before is brought for this step (the first step starts from pure noise and doesn't use it).
    """

    timestep: float
    sigma: float
    renoise: float


def _warped(levels: Tensor, shift: float) -> Tensor:
    """Levels from 1 to 0 moved towards 1 by ``shift``."""
    return shift * levels / (1 + (shift - 1) * levels)


def plain_table(shift: float) -> tuple[Tensor, Tensor]:
    """(sigmas, timesteps), each float32 [1000]: levels 1, 0.999, ... warped; the timestep is 1000 sigma. Matrix-Game 2.0's."""
    sigmas = _warped(torch.linspace(1.0, 0.0, ROWS + 1)[:-1], shift)
    return sigmas, sigmas * ROWS


def plain_steps(raw: Sequence[int], shift: float) -> list[FlowStep]:
    """Steps for raw timesteps such as 1000, 666, 333: entry r is row 1000 - r of `plain_table`."""
    sigmas, timesteps = plain_table(shift)
    return [FlowStep(float(timesteps[ROWS - r]), float(sigmas[ROWS - r]), float(sigmas[ROWS - r])) for r in raw]


def nearest_sigma(timestep: float, shift: float) -> float:
    """The level of the row of `plain_table` whose timestep is nearest."""
    sigmas, timesteps = plain_table(shift)
    return float(sigmas[(timesteps - timestep).abs().argmin()])


def whole_table(shift: float) -> tuple[Tensor, Tensor]:
    """(sigmas float32 [1001], timesteps int64 [1000]): timesteps cut to whole numbers, so many are there twice. LingBot-World's."""
    levels = 0.999 * (1 - torch.arange(ROWS, dtype=torch.float64) / ROWS)
    sigmas = _warped(levels, shift)
    return torch.cat([sigmas.float(), torch.zeros(1)]), (sigmas * ROWS).floor().long()


def whole_rows(indices: Sequence[int], shift: float) -> list[tuple[int, int]]:
    """(row for the clean guess, row for re-noising) of each index: the first and, if there are more, the second row of equal timestep."""
    _, timesteps = whole_table(shift)
    rows = []
    for index in indices:
        equal = (timesteps == timesteps[index]).nonzero().flatten().tolist()
        rows.append((equal[0], equal[min(1, len(equal) - 1)]))
    return rows


def whole_steps(indices: Sequence[int], shift: float) -> list[FlowStep]:
    """Steps for rows such as 0, 250, 500, 750 of `whole_table`."""
    sigmas, timesteps = whole_table(shift)
    rows = whole_rows(indices, shift)
    return [FlowStep(float(timesteps[i]), float(sigmas[a]), float(sigmas[b])) for i, (a, b) in zip(indices, rows, strict=True)]


def clean_guess(noisy: Tensor, flow: Tensor, sigma: float) -> Tensor:
    """``noisy`` without its noise, reckoned in float64, in ``noisy``'s type."""
    return (noisy.double() - sigma * flow.double()).to(noisy.dtype)


def noised(clean: Tensor, noise: Tensor, sigma: float) -> Tensor:
    """``clean`` at level ``sigma``."""
    return (1 - sigma) * clean + sigma * noise


def denoise(noise: Tensor, steps: Sequence[FlowStep], flow: Callable[[Tensor, float], Tensor], fresh: Callable[[], Tensor]) -> Tensor:
    """A clean sample from ``noise``; ``flow(sample, timestep)`` is the network, ``fresh()`` draws noise for each step after the first."""
    sample = noise
    for i, step in enumerate(steps):
        clean = clean_guess(sample, flow(sample, step.timestep), step.sigma)
        if i + 1 < len(steps):
            sample = noised(clean, fresh(), steps[i + 1].renoise)
    return clean
