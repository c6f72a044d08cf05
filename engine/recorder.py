"""Recording of generated frames into a film that plays everywhere.

The generator offers each chunk; a writer thread feeds them to ffmpeg, which runs as a process of its own, so that neither the street
nor the window ever waits for an encoder. The film is H.264 in yuv420p, tagged BT.709, at the world's natural rate: a slow machine makes
the same film as a fast one. It stays readable, up to the last second or two, when the program or the machine is killed.
"""

from __future__ import annotations

import contextlib
import functools
import json
import queue
import re
import subprocess
import tempfile
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import IO

import numpy as np

from worldpager.engine.errors import InputError, RecorderError
from worldpager.engine.types import Frames

FILM_HEIGHT = 640
"""Lines that a small frame is enlarged to."""
QUEUED_CHUNKS = 8
FINISH_SECONDS = 30.0

WHOLE_WHEN_CLOSED = "+hybrid_fragmented"
FRAGMENTS_ONLY = "+frag_keyframe+empty_moov+default_base_moof"


@dataclass(frozen=True, slots=True)
class RecorderReport:
    """What a closed recording holds: frames written, frames dropped, and its length in seconds of film."""

    path: Path
    frames: int
    dropped: int
    seconds: float


def film_size(width: int, height: int, lines: int = FILM_HEIGHT) -> tuple[int, int]:
    """Size of the film in pixels: the frame enlarged by the whole factor that comes nearest to ``lines``, both sides even.

    Frames are never made smaller than they are.
    """
    factor = max(1, round(lines / height))
    return width * factor + width * factor % 2, height * factor + height * factor % 2


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
    version = _ask(executable, "-version").split("version", 1)[-1].split(maxsplit=1)[0]
    if "libx264" not in _ask(executable, "-encoders"):
        raise RecorderError(
            f"The ffmpeg at {executable} has no H.264 encoder (libx264).",
            "Set IMAGEIO_FFMPEG_EXE to an ffmpeg that has one.",
        )
    ending = "whole" if _mp4_flags(executable) == WHOLE_WHEN_CLOSED else "fragmented"
    return f"ffmpeg {version}, libx264, {ending} mp4"


def read_metadata(path: Path) -> dict[str, str]:
    """Title, comment and the other tags inside a recording."""
    command = [find_ffmpeg(), "-v", "error", "-i", str(path), "-f", "ffmetadata", "-"]
    done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
    if done.returncode != 0:
        raise InputError(f"{path} can't be read as a film: {_last_line(done.stderr)}")
    pairs = (line.split("=", 1) for line in done.stdout.splitlines() if "=" in line)
    return {name: re.sub(r"\\(.)", r"\1", value) for name, value in pairs}


class Recorder:
    """Writes offered frames to one MP4 file from a thread of its own.

    ``width`` and ``height`` are those of the frames, ``fps`` the world's natural rate. ``metadata`` goes into the file: its ``title`` as
    the film's title, all of it as JSON in the comment. Small frames are enlarged to about ``lines`` lines.

    At most `QUEUED_CHUNKS` offers wait for the encoder. When the queue is full a live offer is dropped whole, and counted.
    Raises `RecorderError` at once when there is no encoder or the file can't be made; later faults show in `failure` and at `close`.
    """

    def __init__(
        self, path: Path | str, width: int, height: int, fps: float, metadata: Mapping[str, str] | None = None, *, lines: int = FILM_HEIGHT
    ) -> None:
        self.path = Path(path)
        self.fps = fps
        self._shape = (height, width, 3)
        _make_file(self.path)
        self._encoder = _Encoder(self.path, width, height, fps, dict(metadata or {}), lines)
        self._queue: queue.Queue[tuple[bytes, int] | None] = queue.Queue(QUEUED_CHUNKS)
        self._door = threading.Lock()
        self._open = True
        self._written = self._refused = self._lost = 0
        self._failure: RecorderError | None = None
        self._writer = threading.Thread(target=self._write_all, name="recorder", daemon=True)
        self._writer.start()

    @property
    def frames(self) -> int:
        """Frames handed to the encoder so far."""
        return self._written

    @property
    def dropped(self) -> int:
        """Frames offered but not in the film: the queue was full, or the encoder failed."""
        return self._refused + self._lost

    @property
    def failure(self) -> RecorderError | None:
        """Why the recording stopped, if it did. Play goes on; offers are dropped and counted."""
        return self._failure

    def offer(self, frames: Frames, *, block: bool = False) -> bool:
        """Hand over frames, uint8 [n, height, width, 3]; they are copied. True when they were taken.

        Live (the default) it returns at once and raises nothing but `InputError` for frames of another shape. With ``block`` it waits for
        room, so that nothing is dropped, and raises the recording's failure. After `close` it takes nothing.
        """
        if frames.dtype != np.uint8 or frames.ndim != 4 or frames.shape[1:] != self._shape:
            raise InputError(f"The recorder expects uint8 frames of shape [n, {', '.join(map(str, self._shape))}], not {frames.shape}.")
        with self._door:
            if not self._open:
                return False
            if self._failure is not None and block:
                raise self._failure
            try:
                self._queue.put((frames.tobytes(), len(frames)), block=block)
            except queue.Full:
                self._refused += len(frames)
                return False
        return True

    def close(self) -> RecorderReport:
        """Write what is queued, finish the file and report. Waits for the encoder, `FINISH_SECONDS` at most.

        Raises `RecorderError` when the film isn't complete for another reason than dropped frames. A second call reports again.
        """
        with self._door:
            first, self._open = self._open, False
        if first:
            self._queue.put(None)
        self._writer.join(FINISH_SECONDS)
        if self._writer.is_alive():
            self._encoder.kill()
            self._writer.join()
        if self._failure is not None:
            raise self._failure
        return RecorderReport(self.path, self._written, self.dropped, self._written / self.fps)

    def _write_all(self) -> None:
        """Writer thread: feed the encoder until the end mark. After a failure it goes on emptying the queue, so that nobody waits."""
        while (item := self._queue.get()) is not None:
            data, count = item
            try:
                if self._failure is None:
                    self._encoder.write(data)
            except RecorderError as error:
                self._failure = error
            if self._failure is None:
                self._written += count
            else:
                self._lost += count
        try:
            self._encoder.finish()
        except RecorderError as error:
            self._failure = self._failure or error


class _Encoder:
    """One ffmpeg process that takes raw RGB frames on its input and writes one MP4 file."""

    def __init__(self, path: Path, width: int, height: int, fps: float, metadata: dict[str, str], lines: int) -> None:
        self._path = path
        executable = find_ffmpeg()
        rate = str(Fraction(fps).limit_denominator(1001))
        command = [executable, "-v", "error", "-nostdin", "-y"]
        command += ["-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{width}x{height}", "-r", rate, "-i", "-"]
        command += _picture_options(film_size(width, height, lines), fps)
        command += ["-movflags", _mp4_flags(executable), "-flush_packets", "1", *_metadata_options(metadata), "-f", "mp4", str(path)]
        self._log: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the process that writes to it
        try:
            self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stderr=self._log, start_new_session=True)
        except OSError as error:
            self._log.close()
            raise RecorderError(f"ffmpeg at {executable} can't be started: {error.strerror}.", "Set IMAGEIO_FFMPEG_EXE to one.") from error
        assert self._process.stdin is not None
        self._pipe = self._process.stdin

    def write(self, data: bytes) -> None:
        """Feed raw frames; waits while the encoder is busy. Raises `RecorderError` when it has ended."""
        try:
            self._pipe.write(data)
            self._pipe.flush()
        except OSError as error:
            raise self._fault() from error

    def finish(self) -> None:
        """Close the input and wait for the file to be whole."""
        with contextlib.suppress(OSError):  # the exit status tells what happened
            self._pipe.close()
        if self._process.wait() != 0:
            raise self._fault()
        self._log.close()

    def kill(self) -> None:
        """End the process at once; what it has written stays readable."""
        self._process.kill()

    def _fault(self) -> RecorderError:
        """What ffmpeg said when it ended, as an error with a next step."""
        status = self._process.wait()
        if self._log.closed:
            return RecorderError(f"The recording {self._path} stopped: ffmpeg has ended.")
        self._log.seek(0)
        said = self._log.read().decode(errors="replace")
        self._log.close()
        if "No space left" in said:
            return RecorderError(f"The recording {self._path} stopped: the disk is full.", "Free some space and record again.")
        return RecorderError(f"The recording {self._path} stopped: ffmpeg ended with status {status}: {_last_line(said)}")


def _picture_options(size: tuple[int, int], fps: float) -> list[str]:
    """ffmpeg options from the raw frame to the H.264 stream: enlarged by Lanczos, BT.709, a key frame a second."""
    scale = f"scale={size[0]}:{size[1]}:flags=lanczos+accurate_rnd+full_chroma_int:out_color_matrix=bt709:out_range=tv"
    colour = ["-colorspace", "bt709", "-color_primaries", "bt709", "-color_trc", "bt709", "-color_range", "tv"]
    stream = ["-c:v", "libx264", "-preset", "veryfast", "-crf", "20", "-bf", "0", "-pix_fmt", "yuv420p", "-g", str(max(1, round(fps)))]
    return ["-an", "-vf", scale, *stream, *colour]


def _metadata_options(metadata: dict[str, str]) -> list[str]:
    """ffmpeg options that put the title and, as JSON, all of ``metadata`` into the file."""
    title = metadata.get("title", "WorldPager")
    return ["-metadata", f"title={title}", "-metadata", f"comment={json.dumps(metadata, ensure_ascii=False)}"]


@functools.cache
def _mp4_flags(executable: str) -> str:
    """How the MP4 survives a kill. Newer ffmpegs turn the fragments into an ordinary file when it is closed."""
    return WHOLE_WHEN_CLOSED if "hybrid_fragmented" in _ask(executable, "-h", "muxer=mp4") else FRAGMENTS_ONLY


def _ask(executable: str, *question: str) -> str:
    """Standard output of ``ffmpeg -hide_banner question``. Raises `RecorderError` when it can't be run."""
    try:
        done = subprocess.run(
            [executable, "-hide_banner", *question], capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=20, check=True
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise RecorderError(f"ffmpeg at {executable} doesn't run: {error}.", "Set IMAGEIO_FFMPEG_EXE to one that does.") from error
    return done.stdout


def _make_file(path: Path) -> None:
    """Make the folder and an empty file, to know now that both can be written."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.open("wb").close()
    except OSError as error:
        raise RecorderError(f"{path} can't be written: {error.strerror}.", "Choose another folder for recordings.") from error


def _last_line(text: str) -> str:
    """The last line that says something."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else "no reason given"
