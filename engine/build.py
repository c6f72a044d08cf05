"""Puts a street together. The only place that names concrete classes."""

from __future__ import annotations

from collections.abc import Callable

from worldpager.engine.config import PlayConfig
from worldpager.engine.generator import WorldGenerator


def default_config(model: str = "tiny") -> PlayConfig:
    """What ``worldpager play`` uses when nothing is said: ``model`` with modest budgets and a scratch disk tier."""
    return PlayConfig(model=model)


def build_generator(config: PlayConfig, *, progress: Callable[[str, float], None] | None = None) -> WorldGenerator:
    """A street ready to run. ``progress`` hears (stage, share done from 0 to 1), on the calling thread.

    Raises `WorldPagerError` naming what can't be had; nothing stays open then.
    """
    raise NotImplementedError
