"""Enlarging a small frame on the CPU, where it goes in the window, and the glow around it. Shared by both viewports."""

from __future__ import annotations

import functools

import numpy as np
from numpy.typing import NDArray

from worldpager.engine.types import Frames

GLOW_SIZE = (9, 6)
"""Columns and rows of the blurred picture around the frame."""
GLOW_LIGHT = 0.30


def picture_box(window: tuple[float, float], frame: tuple[int, int]) -> tuple[float, float, float, float]:
    """Left, top, width, height of the largest upright picture of a ``frame`` (width, height) in a ``window`` (width, height)."""
    factor = min(window[0] / frame[0], window[1] / frame[1])
    width, height = round(frame[0] * factor), round(frame[1] * factor)
    return round((window[0] - width) / 2), round((window[1] - height) / 2), width, height


@functools.lru_cache(maxsize=16)
def catmull_rom(size: int, factor: int) -> NDArray[np.float32]:
    """Matrix [size * factor, size] that enlarges a line of pixels by the Catmull-Rom spline; edges repeat."""
    at = (np.arange(size * factor) + 0.5) / factor - 0.5
    base = np.floor(at).astype(int)
    f = at - base
    taps = (f * (-0.5 + f * (1 - 0.5 * f)), 1 + f * f * (1.5 * f - 2.5), f * (0.5 + f * (2 - 1.5 * f)), f * f * (0.5 * f - 0.5))
    matrix = np.zeros((size * factor, size), np.float32)
    for offset, weight in zip((-1, 0, 1, 2), taps, strict=True):
        np.add.at(matrix, (np.arange(size * factor), (base + offset).clip(0, size - 1)), weight)
    return matrix


def enlarge(frame: Frames, factor: int) -> Frames:
    """``frame`` [height, width, 3] made ``factor`` times larger, as RGBX [height * factor, width * factor, 4]."""
    height, width, _ = frame.shape
    result = np.full((height * factor, width * factor, 4), 255, np.uint8)
    if factor == 1:
        result[..., :3] = frame
        return result
    tall = catmull_rom(height, factor) @ frame.reshape(height, -1).astype(np.float32)
    across = catmull_rom(width, factor) @ tall.reshape(height * factor, width, 3)
    result[..., :3] = (across + 0.5).clip(0, 255)
    return result


def glow(frame: Frames) -> Frames:
    """A few dark, blurred pixels of ``frame``, RGBX [rows, columns, 4], for the space beside the picture."""
    columns, rows = GLOW_SIZE
    height, width, _ = frame.shape
    ys, xs = np.linspace(0, height, rows, endpoint=False).astype(int), np.linspace(0, width, columns, endpoint=False).astype(int)
    sums = np.add.reduceat(np.add.reduceat(frame.astype(np.float32), ys, axis=0), xs, axis=1)
    areas = np.diff(ys, append=height)[:, None, None] * np.diff(xs, append=width)[None, :, None]
    result = np.full((rows, columns, 4), 255, np.uint8)
    result[..., :3] = sums / areas * GLOW_LIGHT
    return result
