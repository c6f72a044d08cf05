"""The nouns that cross module borders: actions, poses, chunks, block ids.

Plain frozen values without behaviour beyond arithmetic; nothing here imports torch.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntFlag
from typing import NamedTuple, NewType

import numpy as np
from numpy.typing import NDArray

BlockId = NewType("BlockId", int)

Frames = NDArray[np.uint8]
"""RGB frames of one chunk, shape [frames, height, width, 3], contiguous."""


class Button(IntFlag):
    """Held controls, independent of the keys that they are bound to."""

    NONE = 0
    FORWARD = 1
    BACK = 2
    LEFT = 4
    RIGHT = 8
    TURN_LEFT = 16
    TURN_RIGHT = 32
    LOOK_UP = 64
    LOOK_DOWN = 128
    RUN = 256


@dataclass(frozen=True, slots=True)
class Action:
    """One control sample.

    ``turn`` and ``look`` are mouse motion already turned into degrees (left and up positive), summed since the last sample.
    ``stamp`` is the monotonic time in seconds of the newest input in it, for key-to-picture time.
    """

    buttons: Button = Button.NONE
    turn: float = 0.0
    look: float = 0.0
    stamp: float = 0.0

    @property
    def idle(self) -> bool:
        """True when nothing is held and nothing moved."""
        return self.buttons & ~Button.RUN == Button.NONE and self.turn == 0.0 and self.look == 0.0


class Pose(NamedTuple):
    """Camera pose of one frame: position in cells (z up), yaw (counter-clockwise, 0 = +x) and pitch (up positive) in radians."""

    x: float
    y: float
    z: float
    yaw: float
    pitch: float


@dataclass(frozen=True, slots=True)
class FieldOfView:
    """What a camera sees: full horizontal and vertical angles in radians and the sight distance in cells."""

    horizontal: float
    vertical: float
    sight: float


@dataclass(frozen=True, slots=True)
class Motion:
    """How an action moves the camera: speeds per frame, in cells and radians."""

    walk: float
    run: float
    turn: float
    look: float
    pitch_limit: float
    eye_height: float
    turn_limit: float = float("inf")
    """Most radians a frame that keys and mouse together may turn; what the mouse asks beyond it comes a chunk later."""
    heading: float = 1.0
    """Share of a frame's turn that comes before its step: 1 walks along the new yaw, 0.5 along the mean of the old and the new."""
