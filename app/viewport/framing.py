"""Where a frame lies in the window: filling it with its edges cut, or whole with a border."""

from __future__ import annotations

from dataclasses import dataclass

MOST_CUT = 0.25
"""Largest share of the picture that filling may cut away; beyond it the picture is shown whole."""


@dataclass(frozen=True, slots=True)
class Framing:
    """The part of the window that the frame covers and the part of the frame that is seen, as (x, y, width, height) shares from 0 to 1."""

    window: tuple[float, float, float, float]
    frame: tuple[float, float, float, float]

    @property
    def crop(self) -> tuple[float, float, float, float]:
        """Window place to frame place: x and y offset, x and y scale."""
        (wx, wy, ww, wh), (fx, fy, fw, fh) = self.window, self.frame
        sx, sy = fw / ww, fh / wh
        return fx - wx * sx, fy - wy * sy, sx, sy

    @property
    def bordered(self) -> bool:
        """Whether some of the window lies beside the frame."""
        return self.window != FULL


FULL = (0.0, 0.0, 1.0, 1.0)


def frame_in_window(frame: tuple[int, int], window: tuple[int, int], fit: str) -> Framing:
    """Framing of a frame (width, height) in a window (width, height). ``fit`` is ``fill`` or ``whole``. Pixels stay square."""
    ratio = (frame[0] / frame[1]) / (max(1, window[0]) / max(1, window[1]))
    seen = min(ratio, 1 / ratio)
    middle = ((1 - seen) / 2, seen)
    if fit == "fill" and 1 - seen <= MOST_CUT:
        part = (middle[0], 0.0, middle[1], 1.0) if ratio > 1 else (0.0, middle[0], 1.0, middle[1])
        return Framing(FULL, part)
    part = (0.0, middle[0], 1.0, middle[1]) if ratio > 1 else (middle[0], 0.0, middle[1], 1.0)
    return Framing(part, FULL)
