"""Short moving pictures for pages and messages: a piece of a film as animated WebP or GIF."""

from __future__ import annotations

import tempfile
from pathlib import Path

from worldpager.engine.errors import InputError, RecorderError
from worldpager.engine.recorder.ffmpeg import convert

CLIP_KINDS = ("webp", "gif")
CLIP_WIDTH = 480
CLIP_RATE = 15.0
MOST_SECONDS = 60.0
CONVERT_SECONDS = 300.0


def export_clip(
    film: Path, path: Path, *, start: float = 0.0, seconds: float | None = None, width: int = CLIP_WIDTH, rate: float = CLIP_RATE
) -> Path:
    """Write ``seconds`` of ``film`` from ``start`` on (all of it if None, a minute at most) to ``path``, whose ending says which kind.

    WebP is smaller and quicker to make; GIF plays everywhere. Raises `InputError` for another kind, `RecorderError` when it fails.
    """
    kind = path.suffix.removeprefix(".").lower()
    if kind not in CLIP_KINDS:
        raise InputError(
            f"A clip can't be a {kind or 'file without an ending'}.", f"End its name in {' or '.join('.' + k for k in CLIP_KINDS)}."
        )
    piece = ["-ss", f"{max(0.0, start):.3f}", "-t", f"{min(seconds or MOST_SECONDS, MOST_SECONDS):.3f}", "-i", str(film), "-an"]
    shrink = f"fps={rate:g},scale='min({width},iw)':-2:flags=lanczos"
    if kind == "webp":
        options = ["-vf", shrink, "-c:v", "libwebp_anim", "-quality", "75", "-compression_level", "3", "-loop", "0", "-f", "webp"]
    else:
        palette = "split[a][b];[a]palettegen=stats_mode=diff[p];[b][p]paletteuse=dither=bayer:bayer_scale=4:diff_mode=rectangle"
        options = ["-filter_complex", f"[0:v]{shrink},{palette}", "-loop", "0", "-f", "gif"]
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=path.parent, prefix=".clip-") as folder:
            made = Path(folder) / path.name
            convert([*piece, *options, str(made)], f"The clip of {film.name}", CONVERT_SECONDS)
            made.replace(path)
    except OSError as error:
        raise RecorderError(f"The clip {path} can't be written: {error.strerror}.", "Choose another folder, or free some space.") from error
    return path
