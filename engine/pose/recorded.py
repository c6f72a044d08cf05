"""Recorded play: held keys and mouse turning of a person, from an ``.npz`` file.

Fields: ``rate_hz``; ``forward``, ``strafe`` (25 = walk, 50 = run; forward and right positive); ``turn_deg`` (degrees turned in the tick,
left positive), one value a tick. Files are data from anywhere: they are read without pickle and checked before use.
"""

from __future__ import annotations

import zipfile
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from worldpager.engine.errors import InputError
from worldpager.engine.types import Action, Button

WALK = 25
RUN = 37
"""Mean of ``forward`` or ``strafe`` from which a stretch counts as running: nearer to 50 than to 25."""
FIELDS = ("rate_hz", "forward", "strafe", "turn_deg")


class RecordedInput:
    """Actions of a recording. ``ticks`` float64 [3, n]: forward, strafe, turn_deg."""

    def __init__(self, ticks: NDArray[np.float64], rate_hz: float) -> None:
        self._ticks, self._rate = ticks, rate_hz
        self._now = 0.0

    @property
    def seconds(self) -> float:
        """Length of the recording."""
        return float(self._ticks.shape[1] / self._rate)

    def next(self, seconds: float) -> Action | None:
        """The action for the next ``seconds``; None when the recording has ended.

        A button counts as held when it was for more than half of the time; turning is summed, so that none is lost.
        """
        start, self._now = self._now, self._now + seconds
        first, last = round(start * self._rate), round(self._now * self._rate)
        if first >= self._ticks.shape[1]:
            return None
        ticks = self._ticks[:, first : max(first + 1, last)]
        forward, strafe, _ = ticks.mean(axis=1)
        buttons = _held(forward, Button.FORWARD, Button.BACK) | _held(strafe, Button.RIGHT, Button.LEFT)
        if buttons and max(abs(forward), abs(strafe)) >= RUN:
            buttons |= Button.RUN
        return Action(buttons, float(ticks[2].sum()) if last > first else 0.0)


def _held(mean: float, positive: Button, negative: Button) -> Button:
    if abs(mean) <= WALK / 2:
        return Button.NONE
    return positive if mean > 0 else negative


def load_recording(path: Path) -> RecordedInput:
    """Read a recording. Raises `InputError` saying what is wrong with the file."""
    fields = _read_fields(path)
    if {"position", "quaternion_xyzw"} <= fields.keys():
        raise InputError(
            f"{path} is the path of a camera, not recorded play.",
            "Use a file with held keys and turning (fields forward, strafe, turn_deg).",
        )
    missing = [name for name in FIELDS if name not in fields]
    if missing:
        raise InputError(f"{path} is no recorded play: it lacks {', '.join(missing)}.", f"It needs the fields {', '.join(FIELDS)}.")
    rate, columns = fields["rate_hz"], [fields[name] for name in FIELDS[1:]]
    if any(column.ndim != 1 or column.shape != columns[0].shape or column.dtype.kind not in "iuf" for column in columns):
        raise InputError(f"{path}: forward, strafe and turn_deg must be lists of numbers of one length.")
    if rate.size != 1 or rate.dtype.kind not in "iuf" or not 1 <= float(rate.reshape(())) <= 10_000:
        raise InputError(f"{path}: rate_hz must be one number from 1 to 10000.")
    ticks = np.stack([column.astype(np.float64) for column in columns])
    if not ticks.shape[1] or not np.isfinite(ticks).all():
        raise InputError(f"{path} holds {'nothing' if not ticks.shape[1] else 'values that are no finite numbers'}.")
    return RecordedInput(ticks, float(rate.reshape(())))


def _read_fields(path: Path) -> dict[str, NDArray[np.generic]]:
    """All arrays of an ``.npz`` file."""
    try:
        with path.open("rb") as file:
            archive = np.load(file, allow_pickle=False)
            if not isinstance(archive, np.lib.npyio.NpzFile):
                raise InputError(f"{path} is a single array, not an .npz file.", f"It needs the fields {', '.join(FIELDS)}.")
            return {name: archive[name] for name in archive.files}
    except FileNotFoundError as error:
        raise InputError(f"There is no file {path}.", "Check the path after --input.") from error
    except (OSError, ValueError, EOFError, KeyError, zipfile.BadZipFile) as error:
        raise InputError(f"{path} can't be read as an .npz file: {error}", "Give recorded play saved by numpy.savez.") from error
