"""Kept worlds of the stand-in model for tests: small, quick, with real files."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path

from worldpager.engine.build import build_generator
from worldpager.engine.config import MemoryConfig, MiB, PlayConfig
from worldpager.engine.generator import WorldGenerator
from worldpager.engine.mailbox import Command, PublishedChunk
from worldpager.engine.session.memory import wait_for
from worldpager.engine.types import Action, Button

WALK, TURN = Action(Button.FORWARD), Action(Button.FORWARD, turn=8.0)
OPTIONS = {"width": "40", "height": "24", "tokens": "16", "layers": "1"}


def config(world: Path | None = None, **changes: object) -> PlayConfig:
    memory = MemoryConfig(host_budget=MiB, disk_dir=Path(tempfile.gettempdir()), disk_budget=64 * MiB)
    return replace(
        PlayConfig(model="stand-in", device="cpu", memory=memory, prime=False, rest_when_idle=False, world=world, model_options=OPTIONS),
        **changes,  # type: ignore[arg-type]
    )


class Player:
    """A street that steps when told to and waits for its memory, so that two runs can be compared bit for bit."""

    def __init__(self, setting: PlayConfig) -> None:
        self.generator: WorldGenerator = build_generator(setting)
        self.generator.step()

    @property
    def session(self):  # type: ignore[no-untyped-def]
        return self.generator.session

    @property
    def shown(self) -> PublishedChunk:
        newest = self.generator.mailbox.frames.newest()
        assert newest is not None
        return newest

    def act(self, action: Action = WALK) -> PublishedChunk:
        memory = self.generator._memory
        wait_for(memory, self.session.blocks(), 5.0) if len(self.session.blocks()) <= 16 else memory.poll()
        self.generator.mailbox.put_action(action)
        self.generator.step()
        self.generator.mailbox.put_action(Action())
        return self.shown

    def walk(self, chunks: int, action: Action = TURN) -> list[bytes]:
        return [self.act(action).frames.tobytes() for _ in range(chunks)]

    def send(self, command: Command) -> PublishedChunk:
        """Obey at once, without a chunk."""
        self.generator.mailbox.send(command)
        self.generator._obey_commands()
        return self.shown

    def settle(self) -> None:
        """Everything that can be saved is."""
        for _ in range(5000):
            self.generator._world.poll()
            if self.session.view().unsaved == 0:
                return
            self.generator._world._wait(0.001)
        raise AssertionError(f"{self.session.view().unsaved} changes are never saved")

    def close(self) -> None:
        self.generator.close()

    def die(self) -> None:
        """End as a killed program does, as far as that can be had in one process: nothing more is written, locks are free."""
        committer = self.session.committer
        if committer is not None:
            with committer._changed:
                committer._stop = True
                committer._changed.notify_all()
            committer._thread.join()
            committer._archive.close()
        self.session._committer, self.session.folder = None, None
        self.generator._memory.close()
        self.generator._model.close()
