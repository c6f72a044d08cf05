"""The reduced model with random numbers through the whole street: memory, retrieval, prefetch, going back."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from worldpager.engine.build import build_generator
from worldpager.engine.config import MemoryConfig, MiB, PlayConfig
from worldpager.engine.generator import WorldGenerator
from worldpager.engine.models.lingbot_world.adapter import RANDOM_NOTE
from worldpager.engine.telemetry.snapshot import Snapshot
from worldpager.engine.types import Action, Button

OPTIONS = {"random-weights": "yes", "size": "small"}


def street(tmp_path: Path, policy: str) -> WorldGenerator:
    memory = MemoryConfig(host_budget=MiB // 8, disk_dir=tmp_path, disk_budget=8 * MiB)
    config = PlayConfig(model="lingbot-world", device="cpu", memory=memory, policy=policy, rest_when_idle=False, model_options=OPTIONS)
    return build_generator(config)


@pytest.fixture(params=["pose-overlap", "worldkv"])
def generator(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[WorldGenerator]:
    made = street(tmp_path, request.param)
    yield made
    made.close()


def play(generator: WorldGenerator, chunks: int, buttons: Button) -> Snapshot:
    for _ in range(chunks):
        generator.mailbox.put_action(Action(buttons))
        generator.step()
    newest = generator.mailbox.frames.newest()
    assert newest is not None
    return newest.snapshot


def test_a_world_is_played_spills_and_is_brought_back(generator: WorldGenerator) -> None:
    generator.step()
    play(generator, 4, Button.TURN_LEFT)
    snapshot = play(generator, 4, Button.TURN_RIGHT)
    memory = snapshot.memory
    assert snapshot.chunk == 9
    assert memory.blocks == 9
    assert memory.blocks_wanted >= (5 if snapshot.policy == "worldkv" else 1)
    assert memory.blocks_refused == memory.failed_moves == 0
    assert memory.spilled_blocks > 0
    assert snapshot.degraded == (RANDOM_NOTE,)
