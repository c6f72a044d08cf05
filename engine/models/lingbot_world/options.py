"""The settings of the model by their option names, checked, with what to do when one is wrong."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from worldpager.engine.errors import InputError
from worldpager.engine.models.lingbot_world.config import PUBLISHED, SMALL, SMALL_VAE, DitConfig
from worldpager.engine.models.wan.vae import VaeConfig

AREAS = {"480x832": 480 * 832, "320x512": 320 * 512, "304x528": 304 * 528, "288x384": 288 * 384, "192x256": 192 * 256, "48x80": 48 * 80}
"""Pixels of a frame, about: its shape follows the start picture."""
COUNTS = {"window": range(4, 129), "sink": range(17), "recent": range(65), "retrieved": range(9), "horizon": range(2, 10**6)}
SHARES = {"keep": (0.05, 1.0), "rate": (1.0, 120.0), "before": (8.0, 900.0)}
YES = ("no", "yes")
NAMES = ("image", "prompt", "area", "random-weights", "size", *SHARES, *COUNTS)


@dataclass(frozen=True, slots=True)
class LingBotOptions:
    """``random`` plays numbers that know nothing. ``dit`` has ``window`` and ``sink`` in it.

    ``recent`` are the latent frames before the chunk that it sees when chunks are retrieved
    (None: all of the window); ``keep`` the share of a stored chunk's tokens. From chunk ``horizon`` on (None: where the published table
    ends) retrieved chunks are placed ``before`` latent frames before the present one.
    """

    dit: DitConfig
    variant: str
    vae: VaeConfig
    prompt: str = ""
    image: Path | None = None
    area: int = AREAS["480x832"]
    recent: int | None = None
    retrieved: int = 1
    keep: float = 1.0
    rate: float = 16.0
    before: float = 30.0
    horizon: int | None = None
    random: bool = False

    @classmethod
    def read(cls, variant: str, options: Mapping[str, str]) -> LingBotOptions:
        """For ``variant``, from ``name=value`` texts. Raises `InputError` for unknown names and values that can't be."""
        for name in options:
            if name not in NAMES:
                raise InputError(f"LingBot-World has no option {name!r}.", f"Its options are {', '.join(NAMES)}.")
        random, size = _choice(options, "random-weights", YES) == "yes", _choice(options, "size", ("full", "small"))
        if size == "small" and not random:
            raise InputError("size=small is for trials with random weights.", "Add random-weights=yes, or leave size out.")
        dit, vae = (SMALL, SMALL_VAE) if size == "small" else (PUBLISHED[variant].dit, PUBLISHED[variant].vae)
        counts = {name: _count(options, name) for name in COUNTS if name in options}
        dit = _checked(replace(dit, window=counts.get("window", dit.window), sink=counts.get("sink", dit.sink)))
        area = "48x80" if size == "small" and "area" not in options else _choice(options, "area", tuple(AREAS))
        image = Path(options["image"]).expanduser() if options.get("image") else None
        keep, rate, before = (_number(options, name, usual) for name, usual in (("keep", 1.0), ("rate", 16.0), ("before", 30.0)))
        return cls(
            dit, variant, vae, options.get("prompt", ""), image, AREAS[area], counts.get("recent"),
            counts.get("retrieved", 1), keep, rate, before, counts.get("horizon"), random,
        )  # fmt: skip


def _choice(options: Mapping[str, str], name: str, choices: tuple[str, ...]) -> str:
    """The value of ``name``, by default the first of ``choices``."""
    text = options.get(name, choices[0])
    if text not in choices:
        raise InputError(f"LingBot-World's option {name}={text} is not possible.", f"Choose one of {', '.join(choices)}.")
    return text


def _count(options: Mapping[str, str], name: str) -> int:
    text, allowed = options[name], COUNTS[name]
    if not text.isdecimal() or int(text) not in allowed:
        raise InputError(f"LingBot-World's option {name}={text} is not possible.", f"Give a number from {allowed[0]} to {allowed[-1]}.")
    return int(text)


def _number(options: Mapping[str, str], name: str, usual: float) -> float:
    text, (least, most) = options.get(name, str(usual)), SHARES[name]
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not least <= number <= most:
        raise InputError(f"LingBot-World's option {name}={text} is not possible.", f"Give a number from {least:g} to {most:g}.")
    return number


def _checked(dit: DitConfig) -> DitConfig:
    if dit.window < dit.sink + dit.chunk:
        what = f"A window of {dit.window} latent frames has no room for {dit.sink} sink frames and a chunk of {dit.chunk}."
        raise InputError(what, f"Choose window={dit.sink + dit.chunk} or more, or a smaller sink.")
    return dit
