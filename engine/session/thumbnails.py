"""A small picture of every chunk: what rewinding shows at once, and what the panels are made of.

One JPEG of the chunk's last frame, at most `WIDEST` pixels wide. For 120x80 frames that is the frame itself: about 3 KB and a third of a
millisecond a chunk.
"""

from __future__ import annotations

import io

import numpy as np
from PIL import Image

from worldpager.engine.types import Frames

WIDEST = 320
QUALITY = 85
MOST_PIXELS = 1 << 22
"""No stored picture is larger: a damaged or foreign file must not fill the memory."""


def shrunk(frames: Frames) -> bytes:
    """JPEG of the last of ``frames`` [n, height, width, 3]."""
    image: Image.Image = Image.fromarray(frames[-1])
    if image.width > WIDEST:
        image = image.resize((WIDEST, max(1, round(image.height * WIDEST / image.width))), Image.Resampling.BILINEAR)
    out = io.BytesIO()
    image.save(out, "JPEG", quality=QUALITY)
    return out.getvalue()


def enlarged(picture: bytes, width: int, height: int) -> Frames:
    """The picture as one frame [1, height, width, 3]; black where it can't be read."""
    try:
        image: Image.Image = Image.open(io.BytesIO(picture), formats=("JPEG",))
        if image.width * image.height > MOST_PIXELS:
            raise ValueError("too large")
        image = image.convert("RGB")
        if image.size != (width, height):
            image = image.resize((width, height), Image.Resampling.BICUBIC)
        return np.array(image, np.uint8)[None]
    except (OSError, ValueError, SyntaxError):
        return np.zeros((1, height, width, 3), np.uint8)
