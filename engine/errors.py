"""Errors that a person can act on: each names the thing, what was wrong and what to do."""

from __future__ import annotations


class WorldPagerError(Exception):
    """Base of every error the program raises on purpose.

    ``what`` says what is wrong with which thing, ``hint`` what to do about it. Both are plain sentences.
    """

    code = "error"

    def __init__(self, what: str, hint: str = "") -> None:
        super().__init__(f"{what} {hint}".strip())
        self.what = what
        self.hint = hint


class InputError(WorldPagerError):
    """A value, flag or file that the user gave can't be used."""

    code = "input"


class WeightsError(WorldPagerError):
    """Model weights are absent, damaged, or of another model."""

    code = "weights"


class TierError(WorldPagerError):
    """A tier can't be made or opened: no space, no permission, locked by another run."""

    code = "tier"


class ModelError(WorldPagerError):
    """The model failed while generating."""

    code = "model"


class RecorderError(WorldPagerError):
    """A recording can't be started or went wrong: no encoder, folder not writable, disk full."""

    code = "recorder"
