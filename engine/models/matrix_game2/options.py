"""What a player can set about Matrix-Game 2.0, as ``name=value`` texts."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path

from worldpager.engine.errors import InputError

STEPS = {2: (1000, 666), 3: (1000, 666, 333), 4: (1000, 750, 500, 250)}
"""Raw timesteps by the number of denoising passes."""
NATIVE_HORIZON = 341
"""The first chunk whose latent frames leave the published table of 1024 rows."""
YES = ("no", "yes")


@dataclass(frozen=True, slots=True)
class MatrixGameOptions:
    """Settings by their option names with ``-`` for ``_``.

    ``before`` are latent frames between the chunk in the making and retrieved ones beyond chunk ``horizon``. ``gain`` is degrees that a
    mouse unit turns the camera in a frame, ``walk`` metres a frame, ``fov`` the horizontal field of view in degrees, ``sight`` metres: how
    the pose follows from actions, to be tuned by the player. ``sink`` in chunks.
    """

    steps: int = 0
    decoder: str = "auto"
    retrieved: int = 3
    sink: int = 1
    before: float = 30.0
    horizon: int = NATIVE_HORIZON
    rate: float = 16.0
    gain: float = 15.0
    walk: float = 0.1235
    fov: float = 90.0
    sight: float = 20.0
    image: str = ""
    random_weights: bool = False
    size: str = "full"
    graphs: str = "auto"

    @classmethod
    def read(cls, options: Mapping[str, str]) -> MatrixGameOptions:
        """From texts. Raises `InputError` for unknown names and values out of range."""
        known = {field.name.replace("_", "-") for field in fields(cls)}
        values: dict[str, object] = {}
        for name, text in options.items():
            if name not in known:
                raise InputError(f"Matrix-Game 2.0 has no option {name!r}.", f"Its options are {', '.join(sorted(known))}.")
            values[name.replace("-", "_")] = _value(name, text)
        read = cls(**values)  # type: ignore[arg-type]
        if read.size != "full" and not read.random_weights:
            raise InputError(f"size={read.size} is for trials with random weights.", "Add --random-weights, or leave size out.")
        return read

    @property
    def tiny(self) -> bool:
        """Whether the small decoder decodes: asked for, or at the small size, whose player has a processor alone."""
        return self.decoder == "tiny" or (self.decoder == "auto" and self.size == "small")

    @property
    def image_path(self) -> Path | None:
        """The player's own start picture."""
        return Path(self.image).expanduser() if self.image else None


CHOICES = {
    "steps": ("0", *map(str, STEPS)), "decoder": ("auto", "wan", "tiny"), "retrieved": tuple(map(str, range(9))), "sink": ("0", "1"),
    "random-weights": YES, "size": ("full", "small"), "graphs": ("auto", *YES),
}  # fmt: skip
RANGES = {
    "before": (6.0, 900.0), "horizon": (2.0, 1e6), "rate": (1.0, 120.0), "gain": (1.0, 180.0), "walk": (0.001, 10.0), "fov": (20.0, 150.0),
    "sight": (1.0, 1000.0),
}  # fmt: skip
WHOLE = ("steps", "retrieved", "sink", "horizon")


def _value(name: str, text: str) -> object:
    if name in CHOICES:
        if text not in CHOICES[name]:
            raise InputError(f"Matrix-Game 2.0's option {name}={text} is not possible.", f"Choose one of {', '.join(CHOICES[name])}.")
        return int(text) if name in WHOLE else text == "yes" if CHOICES[name] == YES else text
    if name in RANGES:
        low, high = RANGES[name]
        try:
            number = float(text)
        except ValueError:
            number = math.nan
        if not low <= number <= high:
            what = f"Matrix-Game 2.0's option {name}={text} is not possible."
            raise InputError(what, f"Choose a number from {low:g} to {high:g}.")
        return int(number) if name in WHOLE else number
    return text
