"""One ffmpeg process that takes raw frames, and sound beside them, and makes H.264."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import subprocess
import tempfile
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import IO

from worldpager.engine.errors import RecorderError
from worldpager.engine.recorder.ffmpeg import fault, find_ffmpeg, mp4_flags
from worldpager.engine.recorder.sound import CHANNELS, SOUND_RATE

FILM_HEIGHT = 640
"""Lines that a small frame is enlarged to."""
QUEUED_SOUNDS = 256
"""Pieces of sound that wait for ffmpeg. It reads picture and sound in step, so few ever do."""


def film_size(width: int, height: int, lines: int = FILM_HEIGHT) -> tuple[int, int]:
    """Size of the film in pixels: the frame enlarged by the whole factor that comes nearest to ``lines``, both sides even.

    Frames are never made smaller than they are.
    """
    factor = max(1, round(lines / height))
    return width * factor + width * factor % 2, height * factor + height * factor % 2


@dataclass(frozen=True, slots=True)
class Picture:
    """What is encoded: frames of ``width`` x ``height``, ``fps`` of them a second, enlarged to about ``lines`` lines.

    A key frame comes every ``key_frames``; ``hasty`` trades size for the least work and delay.
    """

    width: int
    height: int
    fps: float
    lines: int = FILM_HEIGHT
    key_frames: int = 0
    hasty: bool = False

    def input_options(self) -> list[str]:
        """ffmpeg options that name the raw frames."""
        rate = str(Fraction(self.fps).limit_denominator(1001))
        return ["-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{self.width}x{self.height}", "-r", rate, "-i", "pipe:0"]

    def stream_options(self) -> list[str]:
        """ffmpeg options from the raw frame to the H.264 stream: enlarged by Lanczos, BT.709."""
        size = film_size(self.width, self.height, self.lines)
        filtering = "fast_bilinear" if self.hasty else "lanczos+accurate_rnd+full_chroma_int"
        scale = f"scale={size[0]}:{size[1]}:flags={filtering}:out_color_matrix=bt709:out_range=tv"
        colour = ["-colorspace", "bt709", "-color_primaries", "bt709", "-color_trc", "bt709", "-color_range", "tv"]
        pace = ["-preset", "ultrafast", "-tune", "zerolatency", "-crf", "23"] if self.hasty else ["-preset", "veryfast", "-crf", "20"]
        every = str(self.key_frames or max(1, round(self.fps)))
        keys = ["-g", every, "-keyint_min", every, "-sc_threshold", "0"] if self.hasty else ["-g", every]
        return ["-vf", scale, "-c:v", "libx264", *pace, "-bf", "0", "-pix_fmt", "yuv420p", *keys, *colour]


def metadata_options(metadata: Mapping[str, object]) -> list[str]:
    """ffmpeg options that put the title and, as JSON, all of ``metadata`` into the file."""
    title = metadata.get("title", "WorldPager")
    return ["-metadata", f"title={title}", "-metadata", f"comment={json.dumps(dict(metadata), ensure_ascii=False)}"]


def film_options(path: Path, metadata: Mapping[str, object]) -> list[str]:
    """ffmpeg options of an MP4 at ``path`` that stays readable, up to the last second or two, when everything is killed."""
    return ["-movflags", mp4_flags(find_ffmpeg()), "-flush_packets", "1", *metadata_options(metadata), "-f", "mp4", str(path)]


class Encoder:
    """Feeds an ffmpeg process. ``output`` are its options after the streams; ``sound`` gives it a second input.

    ``stdout`` is where a process writes whose output is a pipe. Raises `RecorderError` when it can't be started.
    """

    def __init__(self, what: str, picture: Picture, output: list[str], *, sound: bool = False, pipe_out: bool = False) -> None:
        self._what = what
        executable = find_ffmpeg()
        self._log: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the process that writes to it
        read_end, write_end = os.pipe() if sound else (-1, -1)
        command = [executable, "-v", "error", "-nostdin", "-y", *picture.input_options()]
        if sound:
            command += [
                "-f",
                "s16le",
                "-ar",
                str(SOUND_RATE),
                "-ac",
                str(CHANNELS),
                "-i",
                f"pipe:{read_end}",
                "-c:a",
                "aac",
                "-b:a",
                "160k",
            ]
        command += [*picture.stream_options(), *([] if sound else ["-an"]), *output]
        try:
            self._process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE if pipe_out else subprocess.DEVNULL, stderr=self._log,
                start_new_session=True, pass_fds=(read_end,) if sound else (),
            )  # fmt: skip
        except OSError as error:
            self._log.close()
            _close(read_end, write_end)
            raise RecorderError(f"ffmpeg at {executable} can't be started: {error.strerror}.", "Set IMAGEIO_FFMPEG_EXE to one.") from error
        _close(read_end)
        assert self._process.stdin is not None
        self._pipe = self._process.stdin
        self._sounds = _SoundPipe(write_end) if sound else None

    @property
    def stdout(self) -> IO[bytes]:
        """What the process writes, if it was started so."""
        assert self._process.stdout is not None
        return self._process.stdout

    def write(self, data: bytes, sound: bytes = b"") -> None:
        """Feed raw frames and the sound that belongs to them; waits while the encoder is busy. Raises `RecorderError` when it has ended."""
        if self._sounds is not None and sound:
            self._sounds.put(sound)
        try:
            self._pipe.write(data)
            self._pipe.flush()
        except OSError as error:
            raise self._fault() from error

    def finish(self) -> None:
        """Close the inputs and wait for the output to be whole."""
        with contextlib.suppress(OSError):  # the exit status tells what happened
            self._pipe.close()
        if self._sounds is not None:
            self._sounds.close()
        if self._process.wait() != 0:
            raise self._fault()
        self._log.close()

    def kill(self) -> None:
        """End the process at once; what it has written stays readable."""
        self._process.kill()

    def abandon(self) -> None:
        """End the process at once and free everything; for the thread that feeds it."""
        self.kill()
        self._process.wait()
        with contextlib.suppress(OSError):
            self._pipe.close()
        if self._sounds is not None:
            self._sounds.close()
        self._log.close()

    def _fault(self) -> RecorderError:
        status = self._process.wait()
        if self._sounds is not None:
            self._sounds.close()
        if self._log.closed:
            return RecorderError(f"{self._what} stopped: ffmpeg has ended.")
        self._log.seek(0)
        said = self._log.read().decode(errors="replace")
        self._log.close()
        return fault(self._what, status, said)


class _SoundPipe:
    """Writes sound from a thread of its own: ffmpeg reads picture and sound in turn, and one thread for both could wait for ever."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._queue: queue.Queue[bytes | None] = queue.Queue(QUEUED_SOUNDS)
        self._thread = threading.Thread(target=self._write_all, name="recorder sound", daemon=True)
        self._closed = False
        self._thread.start()

    def put(self, sound: bytes) -> None:
        """Queue ``sound``."""
        self._queue.put(sound)

    def close(self) -> None:
        """Write what is queued and close the pipe. A second call does nothing."""
        if not self._closed:
            self._closed = True
            self._queue.put(None)
            self._thread.join()

    def _write_all(self) -> None:
        broken = False
        while (sound := self._queue.get()) is not None:
            try:
                while sound and not broken:
                    sound = sound[os.write(self._descriptor, sound) :]
            except OSError:  # ffmpeg has ended; the picture's pipe says why
                broken = True
        os.close(self._descriptor)


def _close(*descriptors: int) -> None:
    for descriptor in descriptors:
        if descriptor >= 0:
            os.close(descriptor)
