"""The settings of the model by their option names, checked, with what to do when one is wrong."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from worldpager.engine.errors import InputError
from worldpager.engine.models.lingbot_world.config import PUBLISHED, SMALL, DitConfig

AREAS = {"480x832": 480 * 832, "320x512": 320 * 512, "304x528": 304 * 528, "288x384": 288 * 384, "192x256": 192 * 256, "48x80": 48 * 80}
"""Pixels of a frame, about: its shape follows the start picture."""
FILES = ("weights", "vae", "text-encoder", "image")
COUNTS = {"window": range(4, 129), "sink": range(17), "recent": range(65), "retrieved": range(9)}
NAMES = (*FILES, "variant", "prompt", "area", "keep", "random", *COUNTS)


@dataclass(frozen=True, slots=True)
class LingBotOptions:
    """``weights`` is the network's folder, ``vae`` a file, ``text_encoder`` a folder. ``random`` plays numbers that know nothing.

    ``dit`` has ``window`` and ``sink`` in it. ``recent`` are the latent frames before the chunk that it sees when chunks are retrieved
    (None: all of the window); ``keep`` the share of a stored chunk's tokens.
    """

    dit: DitConfig
    variant: str = "1.3b"
    weights: Path | None = None
    vae: Path | None = None
    text_encoder: Path | None = None
    prompt: str = ""
    image: Path | None = None
    area: int = AREAS["480x832"]
    recent: int | None = None
    retrieved: int = 1
    keep: float = 1.0
    random: bool = False

    @classmethod
    def read(cls, options: Mapping[str, str]) -> LingBotOptions:
        """From ``name=value`` texts. Raises `InputError` for unknown names and values that can't be."""
        for name in options:
            if name not in NAMES:
                raise InputError(f"LingBot-World has no option {name!r}.", f"Its options are {', '.join(NAMES)}.")
        random, variant = _choice(options, "random", ("", "small", "full")), _choice(options, "variant", ("1.3b", *PUBLISHED))
        dit = SMALL if random == "small" else PUBLISHED[variant].dit
        counts = {name: _count(options, name) for name in COUNTS if name in options}
        dit = _checked(replace(dit, window=counts.get("window", dit.window), sink=counts.get("sink", dit.sink)))
        area = "48x80" if random == "small" and "area" not in options else _choice(options, "area", tuple(AREAS))
        files = {name.replace("-", "_"): Path(options[name]) for name in FILES if name in options}
        return cls(
            dit, variant, prompt=options.get("prompt", ""), area=AREAS[area], recent=counts.get("recent"),
            retrieved=counts.get("retrieved", 1), keep=_share(options), random=bool(random), **files,
        )  # fmt: skip


def _choice(options: Mapping[str, str], name: str, choices: tuple[str, ...]) -> str:
    """The value of ``name``, by default the first of ``choices``."""
    text = options.get(name, choices[0])
    if text not in choices:
        raise InputError(f"LingBot-World's option {name}={text} is not possible.", f"Choose one of {', '.join(filter(None, choices))}.")
    return text


def _count(options: Mapping[str, str], name: str) -> int:
    text, allowed = options[name], COUNTS[name]
    if not text.isdecimal() or int(text) not in allowed:
        raise InputError(f"LingBot-World's option {name}={text} is not possible.", f"Give a number from {allowed[0]} to {allowed[-1]}.")
    return int(text)


def _share(options: Mapping[str, str]) -> float:
    text = options.get("keep", "1")
    try:
        share = float(text)
    except ValueError:
        share = 0.0
    if not 0.05 <= share <= 1:
        raise InputError(f"LingBot-World's option keep={text} is not possible.", "Give a share from 0.05 to 1.")
    return share


def _checked(dit: DitConfig) -> DitConfig:
    if dit.window < dit.sink + dit.chunk:
        what = f"A window of {dit.window} latent frames has no room for {dit.sink} sink frames and a chunk of {dit.chunk}."
        raise InputError(what, f"Choose window={dit.sink + dit.chunk} or more, or a smaller sink.")
    return dit
