"""Random walks of a kept store: put, stage, take, pin, evict, write, fail, branch, drop, crash and reopen. See `walk`."""

from __future__ import annotations

import random

import pytest

from tests.engine.memory.walk import Walk

MILLION = 1_000_000


@pytest.mark.parametrize("seed", range(4))
def test_a_long_walk(seed: int) -> None:
    walk, dice = Walk(), random.Random(seed)
    for _ in range(400):
        walk.step(dice)
    walk.close()
    assert walk.crashes


@pytest.mark.stress
@pytest.mark.timeout(4 * 3600)
def test_a_million_steps() -> None:
    steps = crashes = seed = 0
    while steps < MILLION:
        walk, dice = Walk(), random.Random(1000 + seed)
        for _ in range(20_000):
            walk.step(dice)
        walk.close()
        steps, crashes, seed = steps + walk.steps, crashes + walk.crashes, seed + 1
    assert steps >= MILLION
    assert crashes > MILLION / 100
