"""Small streets for tests, and how to drive them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import torch

from tests.helpers.clocks import HandClock, HandMailbox
from tests.helpers.plain_store import PlainStore
from worldpager.engine.build import make_policies
from worldpager.engine.config import CodecConfig, MemoryConfig, MiB, PlayConfig
from worldpager.engine.generator import ChunkMemory, WorldGenerator
from worldpager.engine.mailbox import PublishedChunk
from worldpager.engine.memory.store import BlockStore
from worldpager.engine.models.stand_in import StandIn, StandInOptions
from worldpager.engine.pose.script import SCRIPTS, Script
from worldpager.engine.types import Action, Button, Frames

CPU = torch.device("cpu")
SMALL = StandInOptions(width=40, height=24)
WALK = Action(Button.FORWARD)

Street = Callable[..., WorldGenerator]


def make_street(
    memory: ChunkMemory | None = None, model: StandIn | None = None, clock: HandClock | None = None, **settings: object
) -> WorldGenerator:
    """A street over the stand-in model, on hand-turned time; ``settings`` are those of `PlayConfig`."""
    model, clock = model or StandIn(SMALL, CPU), clock or HandClock()
    config = replace(PlayConfig(model="stand-in", prime=False), **settings)  # type: ignore[arg-type]
    store = memory or PlainStore(model.spec.rotary)
    return WorldGenerator(model, store, make_policies(model.spec.view), config, clock=clock, mailbox=HandMailbox(clock))


def shown(generator: WorldGenerator) -> PublishedChunk:
    newest = generator.mailbox.frames.newest()
    assert newest is not None
    return newest


def act(generator: WorldGenerator, action: Action) -> PublishedChunk:
    """One chunk under ``action`` alone."""
    generator.mailbox.put_action(action)
    generator.step()
    generator.mailbox.put_action(Action())
    return shown(generator)


def tour(generator: WorldGenerator, chunks: int, after: Callable[[], object] = lambda: None) -> list[Frames]:
    """Frames of a scripted tour, the opening's last chunk first."""
    script, frames = Script(SCRIPTS["tour"]), []
    generator.step()
    frames.append(shown(generator).frames)
    for _ in range(chunks):
        generator.mailbox.put_action(script.next(0.25))
        generator.step()
        frames.append(shown(generator).frames)
        after()
    return frames


def block_store(host_budget: int, disk: Path | None = None, bits: int = 4, options: StandInOptions = SMALL) -> BlockStore:
    spec = StandIn(options, CPU).spec
    config = MemoryConfig(CodecConfig(bits=bits), host_budget=host_budget, disk_dir=disk, disk_budget=64 * MiB if disk else None)
    return BlockStore(config, spec.kv, spec.rotary, CPU)
