"""The last half minute, always at hand: encoded pictures in main memory, made into a film when somebody wants it.

The pictures go through an encoder that is tuned for little work; what comes out is cut into pictures and kept in a row that is bounded in
time and in bytes. Sound is kept beside them as samples. Saving copies the pictures into an MP4 as they are, so it takes well under a
second.
"""

from __future__ import annotations

import queue
import tempfile
import threading
import time
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import IO

import numpy as np

from worldpager.engine.errors import InputError, RecorderError
from worldpager.engine.recorder.encoder import Encoder, Picture, metadata_options
from worldpager.engine.recorder.ffmpeg import convert
from worldpager.engine.recorder.recorder import RecorderReport
from worldpager.engine.recorder.sound import CHANNELS, SOUND_RATE, SoundShare, SoundSource, pcm
from worldpager.engine.types import Frames

REPLAY_SECONDS = 30.0
REPLAY_BYTES = 96 << 20
REPLAY_LINES = 480
QUEUED_CHUNKS = 8
SETTLE_SECONDS = 2.0
"""How long a save waits for pictures that are still in the encoder."""
SAVE_SECONDS = 60.0
READ_BYTES = 1 << 16
DELIMITER = b"\x00\x00\x00\x01\x09"
"""Begins each picture of the stream: an access unit delimiter."""


@dataclass(frozen=True, slots=True)
class _Encoded:
    """One picture, or some sound. ``key``: decoding can begin here."""

    data: bytes
    key: bool = False


class ReplayBuffer:
    """Keeps the last ``seconds`` of what is offered, in ``max_bytes`` at most. Frames are ``width`` x ``height``, ``fps`` a second of film.

    Live offers never wait: what finds the queue full is dropped and counted. Raises `RecorderError` when there is no encoder; a later fault
    shows in `failure`, and what was kept until then can still be saved.
    """

    def __init__(
        self,
        width: int,
        height: int,
        fps: float,
        *,
        seconds: float = REPLAY_SECONDS,
        max_bytes: int = REPLAY_BYTES,
        lines: int = REPLAY_LINES,
        sound: SoundSource | None = None,
    ) -> None:
        if seconds <= 0 or max_bytes <= 0:
            raise InputError(f"A replay of {seconds:g} s in {max_bytes} bytes can't be kept.", "Give more than 0 of both.")
        self.fps, self.seconds, self._max_bytes = fps, seconds, max_bytes
        self._shape, self._sound, self._share = (height, width, 3), sound, SoundShare(fps)
        picture = Picture(width, height, fps, lines, key_frames=max(1, round(fps / 4)), hasty=True)
        options = ["-bsf:v", "h264_metadata=aud=insert", "-flush_packets", "1", "-f", "h264", "pipe:1"]
        self._encoder = Encoder("The replay buffer", picture, options, pipe_out=True)
        self._pictures: deque[_Encoded] = deque()
        self._sounds: deque[bytes] = deque()
        self._tail = b""
        self._bytes = self._received = self._written = self._dropped = self._lost = 0
        self._changed = threading.Condition()
        self._queue: queue.Queue[tuple[Frames, object] | None] = queue.Queue(QUEUED_CHUNKS)
        self._door = threading.Lock()
        self._open = True
        self.failure: RecorderError | None = None
        self._writer = threading.Thread(target=self._write_all, name="replay writer", daemon=True)
        self._reader = threading.Thread(target=self._read_all, args=(self._encoder.stdout,), name="replay reader", daemon=True)
        self._writer.start()
        self._reader.start()

    @property
    def held_bytes(self) -> int:
        """Bytes of encoded pictures and of sound kept now."""
        with self._changed:  # the reader counts a new picture before it lets go of old ones
            return self._bytes

    @property
    def held_seconds(self) -> float:
        """Seconds of play kept now."""
        return len(self._pictures) / self.fps

    @property
    def dropped(self) -> int:
        """Frames offered that found the queue full, or the encoder gone."""
        return self._dropped + self._lost

    def offer(self, frames: Frames, *, cue: object = None) -> bool:
        """Hand over frames, uint8 [n, height, width, 3]; never waits. True when they were taken. Raises `InputError` for another shape."""
        if frames.dtype != np.uint8 or frames.ndim != 4 or frames.shape[1:] != self._shape:
            raise InputError(f"The replay expects uint8 frames of shape [n, {', '.join(map(str, self._shape))}], not {frames.shape}.")
        with self._door:
            if not self._open:
                return False
            try:
                self._queue.put_nowait((frames.copy() if frames.flags.writeable else frames, cue))
            except queue.Full:
                self._dropped += len(frames)
                return False
        return True

    def save(self, path: Path, metadata: Mapping[str, object] | None = None, *, clear: bool = False) -> RecorderReport:
        """Write what is kept as an MP4 at ``path``; waits for ffmpeg. With ``clear`` the next save holds only what comes after.

        Raises `RecorderError` when nothing is kept or the film can't be written.
        """
        pictures, sounds = self._settled(clear)
        if not pictures:
            raise RecorderError("There is no replay to save yet.", "Play for a moment first.")
        length = len(pictures) / self.fps
        tags = {**(metadata or {}), "timing": "model", "replay": True}
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(dir=path.parent, prefix=".replay-") as folder:
                self._mux(Path(folder), pictures, sounds, tags).replace(path)
        except OSError as error:
            raise RecorderError(
                f"The replay can't be written to {path}: {error.strerror}.", "Choose another folder, or free some space."
            ) from error
        return RecorderReport(path, len(pictures), self.dropped, length)

    def close(self) -> None:
        """End the encoder and forget everything. A second call does nothing."""
        with self._door:
            first, self._open = self._open, False
        if first:
            self._queue.put(None)
        self._writer.join(SETTLE_SECONDS)
        if self._writer.is_alive():
            self._encoder.kill()
            self._writer.join()
        self._reader.join()
        with self._changed:
            self._pictures.clear()
            self._sounds.clear()
            self._bytes = 0

    def _settled(self, clear: bool) -> tuple[list[_Encoded], list[bytes]]:
        """What is kept, once the pictures offered before this call are in it."""
        deadline = time.monotonic() + SETTLE_SECONDS
        while not self._queue.empty() and self.failure is None and time.monotonic() < deadline:
            time.sleep(0.005)
        with self._changed:
            self._changed.wait_for(lambda: self._received + 1 >= self._written or self.failure is not None, SETTLE_SECONDS)
            pictures, sounds = list(self._pictures), list(self._sounds)
            if self._received < self._written and self._tail.startswith(DELIMITER):
                pictures.append(_Encoded(self._tail))  # the newest picture is known to be whole when the next one begins
            if clear:
                self._pictures.clear()
                self._sounds.clear()
                self._bytes = 0
        while pictures and not pictures[0].key:
            pictures.pop(0)
        return pictures, sounds

    def _mux(self, folder: Path, pictures: list[_Encoded], sounds: list[bytes], tags: Mapping[str, object]) -> Path:
        """The film in ``folder``: pictures as they are, sound cut to their length from the newest end backwards."""
        video, film = folder / "video.h264", folder / "film.mp4"
        video.write_bytes(b"".join(picture.data for picture in pictures))
        rate = str(Fraction(self.fps).limit_denominator(1001))
        command = ["-f", "h264", "-framerate", rate, "-i", str(video)]
        if self._sound is not None:
            wanted = round(len(pictures) / self.fps * SOUND_RATE) * CHANNELS * 2
            track = b"".join(sounds)[-wanted:]
            (folder / "sound.raw").write_bytes(track.rjust(wanted, b"\0"))
            command += ["-f", "s16le", "-ar", str(SOUND_RATE), "-ac", str(CHANNELS), "-i", str(folder / "sound.raw"), "-c:a", "aac"]
        convert(
            [*command, "-c:v", "copy", "-movflags", "+faststart", *metadata_options(tags), "-f", "mp4", str(film)],
            "Saving the replay",
            SAVE_SECONDS,
        )
        return film

    # Writer thread

    def _write_all(self) -> None:
        while (item := self._queue.get()) is not None:
            frames, cue = item
            try:
                if self.failure is None:
                    self._write(frames, cue)
                    continue
            except RecorderError as error:
                self.failure = error
            self._lost += len(frames)
        try:
            self._encoder.finish()
        except RecorderError as error:
            self.failure = self.failure or error

    def _write(self, frames: Frames, cue: object) -> None:
        sound = b""
        if self._sound is not None:
            self._sound.hear(cue)
            sound = pcm(self._sound.render(self._share.due(len(frames))))
        with self._changed:
            self._written += len(frames)
        self._encoder.write(frames.tobytes())
        if sound:
            with self._changed:
                self._sounds.append(sound)
                self._bytes += len(sound)

    # Reader thread

    def _read_all(self, stream: IO[bytes]) -> None:
        """Cut the stream into pictures until it ends."""
        with stream:
            while data := stream.read1(READ_BYTES):  # type: ignore[attr-defined]  # a buffered pipe has it
                self._take(data)
        with self._changed:
            self._changed.notify_all()

    def _take(self, data: bytes) -> None:
        with self._changed:
            parts = (self._tail + data).split(DELIMITER)
            whole, rest = parts[:-1], parts[-1]
            for part in whole:
                if part:
                    self._keep(DELIMITER + part)
            self._tail = DELIMITER + rest if len(parts) > 1 else rest
            self._changed.notify_all()

    def _keep(self, picture: bytes) -> None:
        self._pictures.append(_Encoded(picture, _is_key(picture)))
        self._received += 1
        self._bytes += len(picture)
        self._trim()

    def _trim(self) -> None:
        """Let go of the oldest group of pictures while the rest is long enough, or while there are too many bytes."""
        while len(self._pictures) > 1:
            group = next((n for n, picture in enumerate(self._pictures) if n and picture.key), len(self._pictures))
            enough = len(self._pictures) - group >= self.seconds * self.fps
            if not enough and self._bytes <= self._max_bytes:
                return
            for _ in range(group):
                self._bytes -= len(self._pictures.popleft().data)
            most = (len(self._pictures) / self.fps + 1.0) * SOUND_RATE * CHANNELS * 2
            while self._sounds and sum(map(len, self._sounds)) - len(self._sounds[0]) > most:
                self._bytes -= len(self._sounds.popleft())


def _is_key(picture: bytes) -> bool:
    """Whether the encoded picture has a slice that needs no other picture (type 5 of its units)."""
    at = picture.find(b"\x00\x00\x01")
    while at >= 0 and at + 3 < len(picture):
        if picture[at + 3] & 31 == 5:
            return True
        at = picture.find(b"\x00\x00\x01", at + 3)
    return False
