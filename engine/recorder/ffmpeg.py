"""The ffmpeg program: where it is, what it can, how it is asked, what it says when it fails."""

from __future__ import annotations

import functools
import subprocess
from collections.abc import Sequence

from worldpager.engine.errors import RecorderError

WHOLE_WHEN_CLOSED = "+hybrid_fragmented"
FRAGMENTS_ONLY = "+frag_keyframe+empty_moov+default_base_moof"
ANSWER_SECONDS = 20.0


def find_ffmpeg() -> str:
    """Path of the ffmpeg that recordings use: the one in ``IMAGEIO_FFMPEG_EXE``, the packaged one, or the system's.

    Raises `RecorderError` when there is none.
    """
    try:
        import imageio_ffmpeg

        return str(imageio_ffmpeg.get_ffmpeg_exe())
    except (ImportError, RuntimeError) as error:
        raise RecorderError(
            "No ffmpeg program was found, so nothing can be recorded.",
            "Install ffmpeg, or set IMAGEIO_FFMPEG_EXE to the path of one.",
        ) from error


def describe_encoder() -> str:
    """One line about the encoder in use, such as ``ffmpeg 7.1, libx264``. Raises `RecorderError` when recording can't work."""
    executable = find_ffmpeg()
    version = ask(executable, "-version").split("version", 1)[-1].split(maxsplit=1)[0]
    if "libx264" not in ask(executable, "-encoders"):
        raise RecorderError(
            f"The ffmpeg at {executable} has no H.264 encoder (libx264).",
            "Set IMAGEIO_FFMPEG_EXE to an ffmpeg that has one.",
        )
    ending = "whole" if mp4_flags(executable) == WHOLE_WHEN_CLOSED else "fragmented"
    return f"ffmpeg {version}, libx264, {ending} mp4"


@functools.cache
def mp4_flags(executable: str) -> str:
    """How the MP4 survives a kill. Newer ffmpegs turn the fragments into an ordinary file when it is closed."""
    return WHOLE_WHEN_CLOSED if "hybrid_fragmented" in ask(executable, "-h", "muxer=mp4") else FRAGMENTS_ONLY


def ask(executable: str, *question: str) -> str:
    """Standard output of ``ffmpeg -hide_banner question``. Raises `RecorderError` when it can't be run."""
    try:
        done = subprocess.run(
            [executable, "-hide_banner", *question],
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            timeout=ANSWER_SECONDS,
            check=True,
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise RecorderError(f"ffmpeg at {executable} doesn't run: {error}.", "Set IMAGEIO_FFMPEG_EXE to one that does.") from error
    return done.stdout


def convert(arguments: Sequence[str], what: str, seconds: float) -> bytes:
    """Run ffmpeg to its end and return its standard output. Raises `RecorderError`, which says that ``what`` failed and why."""
    command = [find_ffmpeg(), "-v", "error", "-nostdin", "-y", *arguments]
    try:
        done = subprocess.run(command, capture_output=True, stdin=subprocess.DEVNULL, timeout=seconds, check=False, start_new_session=True)
    except subprocess.TimeoutExpired as error:
        raise RecorderError(f"{what} failed: ffmpeg took more than {seconds:.0f} s.", "Try a shorter piece.") from error
    except OSError as error:
        raise RecorderError(
            f"{what} failed: ffmpeg can't be started: {error.strerror}.", "Set IMAGEIO_FFMPEG_EXE to one that can."
        ) from error
    if done.returncode != 0:
        raise fault(what, done.returncode, done.stderr.decode(errors="replace"))
    return done.stdout


def fault(what: str, status: int, said: str) -> RecorderError:
    """What ffmpeg said when it ended, as an error with a next step."""
    if "No space left" in said:
        return RecorderError(f"{what} failed: the disk is full.", "Free some space and try again.")
    return RecorderError(f"{what} failed: ffmpeg ended with status {status}: {last_line(said)}")


def last_line(text: str) -> str:
    """The last line that says something."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else "no reason given"
