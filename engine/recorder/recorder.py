"""Recording of generated frames into a film that plays everywhere.

The generator offers each chunk; a writer thread feeds them to ffmpeg, which runs as a process of its own, so that neither the street
nor the window ever waits for an encoder. The film is H.264 in yuv420p, tagged BT.709, with AAC sound where a sound source is given. It
stays readable, up to the last second or two, when the program or the machine is killed.
"""

from __future__ import annotations

import os
import queue
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from worldpager.engine.errors import InputError, RecorderError
from worldpager.engine.recorder.encoder import FILM_HEIGHT, Encoder, Picture, film_options
from worldpager.engine.recorder.sound import SoundShare, SoundSource, pcm
from worldpager.engine.recorder.timing import TIMINGS, WallSlots
from worldpager.engine.types import Frames

QUEUED_CHUNKS = 8
FINISH_SECONDS = 30.0
STILL_SECONDS = 2.0
"""By wall time a film goes on with the last frame when no new one has come for so long."""


@dataclass(frozen=True, slots=True)
class RecorderReport:
    """What a closed recording holds: frames written, frames dropped, and its length in seconds of film."""

    path: Path
    frames: int
    dropped: int
    seconds: float


@dataclass(frozen=True, slots=True)
class _Offer:
    """Frames as they came, and when."""

    frames: Frames
    cue: object
    when: float


class Recorder:
    """Writes offered frames to one MP4 file from a thread of its own.

    ``width`` and ``height`` are those of the frames, ``fps`` the film's rate. ``timing`` ``model``: every frame once, ``wall``: as long as
    play took by ``clock``. ``metadata`` goes into the file: its ``title`` as the film's title, all of it as JSON in the comment. Small
    frames are enlarged to about ``lines`` lines. ``sound`` makes the sound track; the recording's own thread uses it.

    At most `QUEUED_CHUNKS` offers wait for the encoder. When the queue is full a live offer is dropped whole, and counted.
    Raises `RecorderError` at once when there is no encoder or the file can't be made; later faults show in `failure` and at `close`.
    """

    def __init__(
        self,
        path: Path | str,
        width: int,
        height: int,
        fps: float,
        metadata: Mapping[str, object] | None = None,
        *,
        lines: int = FILM_HEIGHT,
        timing: str = "model",
        sound: SoundSource | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        if timing not in TIMINGS:
            raise InputError(f"There is no timing {timing!r} of a film.", f"Choose one of {', '.join(TIMINGS)}.")
        self.path = Path(path)
        self.fps = fps
        self._shape = (height, width, 3)
        sound = sound if os.name == "posix" else None  # elsewhere ffmpeg can't be handed a second pipe; the film is silent
        self._clock, self._sound, self._share = clock, sound, SoundShare(fps)
        self._slots = WallSlots(fps) if timing == "wall" else None
        self._last: Frames | None = None
        _make_file(self.path)
        tags = {**(metadata or {}), "timing": timing}
        picture = Picture(width, height, fps, lines)
        self._encoder = Encoder(f"The recording {self.path}", picture, film_options(self.path, tags), sound=sound is not None)
        self._queue: queue.Queue[_Offer | None] = queue.Queue(QUEUED_CHUNKS)
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
    def seconds(self) -> float:
        """Length of the film so far."""
        return self._written / self.fps

    @property
    def dropped(self) -> int:
        """Frames offered but not in the film: the queue was full, or the encoder failed."""
        return self._refused + self._lost

    @property
    def failure(self) -> RecorderError | None:
        """Why the recording stopped, if it did. Play goes on; offers are dropped and counted."""
        return self._failure

    def offer(self, frames: Frames, *, block: bool = False, cue: object = None) -> bool:
        """Hand over frames, uint8 [n, height, width, 3]; they are copied unless they are read-only. True when they were taken.

        ``cue`` is for the sound source. Live (the default) it returns at once and raises nothing but `InputError` for frames of another
        shape. With ``block`` it waits for room, so that nothing is dropped, and raises the recording's failure. After `close` it takes
        nothing.
        """
        if frames.dtype != np.uint8 or frames.ndim != 4 or frames.shape[1:] != self._shape:
            raise InputError(f"The recorder expects uint8 frames of shape [n, {', '.join(map(str, self._shape))}], not {frames.shape}.")
        with self._door:
            if not self._open:
                return False
            if self._failure is not None and block:
                raise self._failure
            try:
                self._queue.put(_Offer(frames.copy() if frames.flags.writeable else frames, cue, self._clock()), block=block)
            except queue.Full:
                self._refused += len(frames)
                return False
        return True

    def close(self) -> RecorderReport:
        """Write what is queued, finish the file and report. Waits for the encoder while it gets on; `FINISH_SECONDS` without a frame end
        it.

        Raises `RecorderError` when the film isn't complete for another reason than dropped frames. A second call reports again.
        """
        with self._door:
            first, self._open = self._open, False
        if first:
            self._queue.put(None)
        while self._writer.is_alive():
            before = self._written + self._lost
            self._writer.join(FINISH_SECONDS)
            if self._writer.is_alive() and self._written + self._lost == before:
                self._encoder.kill()
                self._writer.join()
        if self._failure is not None:
            raise self._failure
        return RecorderReport(self.path, self._written, self.dropped, self._written / self.fps)

    def _write_all(self) -> None:
        """Writer thread: feed the encoder until the end mark. After a failure it goes on emptying the queue, so that nobody waits."""
        while True:
            try:
                offer = self._queue.get(timeout=STILL_SECONDS if self._slots else None)
            except queue.Empty:
                self._guarded(0, self._stand_still)
                continue
            if offer is None:
                break
            self._guarded(len(offer.frames), lambda offer=offer: self._take(offer))  # type: ignore[misc]
        self._guarded(0, self._end)

    def _guarded(self, frames: int, work: Callable[[], None]) -> None:
        """Do ``work``; after a failure only count ``frames`` as lost. A sound source that fails is a failure, too."""
        if self._failure is None:
            try:
                work()
            except RecorderError as error:
                self._failure = error
            except Exception as error:
                self._failure = RecorderError(f"The recording {self.path} stopped: {type(error).__name__}: {error}")
        elif work == self._end:
            self._encoder.abandon()
        if self._failure is not None:
            self._lost += frames

    def _take(self, offer: _Offer) -> None:
        if self._slots is None:
            self._hear(offer.cue)
            self._write(offer.frames)
            return
        filled = self._slots.arrive(offer.when, len(offer.frames))
        self._repeat(filled)
        self._hear(offer.cue)
        self._last = offer.frames

    def _stand_still(self) -> None:
        if self._slots is not None:
            self._repeat(self._slots.fill(self._clock()))

    def _end(self) -> None:
        if self._slots is not None:
            self._repeat(self._slots.end(self._clock()))
        self._encoder.finish()

    def _hear(self, cue: object) -> None:
        if self._sound is not None:
            self._sound.hear(cue)

    def _repeat(self, indexes: list[int]) -> None:
        """Write frames of the chunk before by their number, one by one: a long rest must not fill the memory."""
        for index in indexes:
            if self._last is not None:
                self._write(self._last[index : index + 1])

    def _write(self, frames: Frames) -> None:
        sound = pcm(self._sound.render(self._share.due(len(frames)))) if self._sound is not None else b""
        self._encoder.write(frames.tobytes(), sound)
        self._written += len(frames)


def _make_file(path: Path) -> None:
    """Make the folder and an empty file, to know now that both can be written."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.open("wb").close()
    except OSError as error:
        raise RecorderError(f"{path} can't be written: {error.strerror}.", "Choose another folder for recordings.") from error
