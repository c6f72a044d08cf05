"""The world street: from the newest action to published frames, one chunk a step (under construction: signature first)."""

from __future__ import annotations

import torch

from worldpager.engine.mailbox import Mailbox
from worldpager.engine.models.base import ModelSpec


class WorldGenerator:
    """Runs one world street. ``mailbox`` is the only door for other threads; all else belongs to the thread that runs it."""

    mailbox: Mailbox
    failure: BaseException | None

    @property
    def spec(self) -> ModelSpec:
        """Constants of the model in use: frame size, rate, frames per chunk."""
        raise NotImplementedError

    @property
    def device(self) -> torch.device:
        """Where the model computes."""
        raise NotImplementedError

    def step(self) -> bool:
        """Commands first, then one chunk through the street. False after `Quit`. Raises what goes wrong."""
        raise NotImplementedError

    def run(self) -> None:
        """The loop for a thread of its own: steps at the model's rate until `Quit`. Never raises: see ``failure``."""
        raise NotImplementedError

    def close(self) -> None:
        """Free the model and close the store; call once `run` has returned."""
        raise NotImplementedError
