"""Plays a sound source on a device, if there is one. Whatever goes wrong with the device means silence and a line in the log, nothing
else.
"""

from __future__ import annotations

import importlib
import logging
import threading
import time
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from worldpager.app.audio.waves import RATE
from worldpager.engine.recorder.sound import SoundSource

log = logging.getLogger(__name__)

BLOCK = 1024
AHEAD = 0.25
"""Most seconds that sound may be made ahead of the clock: some devices take everything at once."""
WAIT = 0.02


class Sink(Protocol):
    """Takes samples at the speed of a device, or of a clock."""

    def write(self, sound: NDArray[np.float32]) -> None:
        """Take samples [n, 2]; may wait. Raises what it likes when the device is gone."""
        ...

    def close(self) -> None:
        """Let the device go."""
        ...


class DeviceSink:
    """A PortAudio device by name; empty: the system's own."""

    def __init__(self, device: str = "") -> None:
        sound = load_sounddevice()
        if sound is None:
            raise OSError("PortAudio is not installed")
        self._stream = sound.OutputStream(
            samplerate=RATE, channels=2, dtype="float32", blocksize=BLOCK, device=device or None, latency="high"
        )
        self._stream.start()

    def write(self, sound: NDArray[np.float32]) -> None:
        """Play; waits for the device."""
        self._stream.write(np.ascontiguousarray(sound))

    def close(self) -> None:
        """Stop."""
        self._stream.close()


def load_sounddevice() -> Any:
    """The sounddevice module; None without PortAudio, where importing it raises."""
    try:
        return importlib.import_module("sounddevice")
    except (ImportError, OSError) as error:
        log.info("no sound: %s", error)
        return None


def output_devices() -> list[str]:
    """Names of the devices that can play; empty where there is none."""
    sound = load_sounddevice()
    try:
        return [] if sound is None else [str(device["name"]) for device in sound.query_devices() if device["max_output_channels"] > 0]
    except Exception as error:
        log.info("sound devices can't be listed: %s", error)
        return []


class Player:
    """A thread that renders ``source`` into a sink. ``open_sink`` makes it; a sink that can't be made or breaks is the end of the sound.

    ``volume`` from 0 to 1. ``clock`` and ``sleep`` in seconds.
    """

    def __init__(
        self,
        source: SoundSource,
        open_sink: Callable[[], Sink],
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.volume, self.failure = 0.7, ""
        self._source, self._open_sink, self._clock, self._sleep = source, open_sink, clock, sleep
        self._ending = threading.Event()
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self._run, name="sound", daemon=True)
        self._thread.start()

    @property
    def playing(self) -> bool:
        """Whether a device takes sound."""
        return self._thread.is_alive() and not self.failure

    def hear(self, cue: object) -> None:
        """Tell the source, from any thread."""
        with self._lock:
            self._source.hear(cue)

    def with_source(self, work: Callable[[], None]) -> None:
        """Do ``work`` on the source while nothing is rendered."""
        with self._lock:
            work()

    def close(self) -> None:
        """End the thread."""
        self._ending.set()
        self._thread.join()

    def _run(self) -> None:
        try:
            sink = self._open_sink()
        except Exception as error:  # PortAudio has errors of its own, and a missing library raises OSError
            self.failure = f"{type(error).__name__}: {error}"
            log.info("no sound: %s", error)
            return
        try:
            self._play(sink)
        except Exception as error:
            self.failure = f"{type(error).__name__}: {error}"
            log.warning("sound ends: %s", error)
        finally:
            try:
                sink.close()
            except Exception as error:
                log.info("the sound device can't be closed: %s", error)

    def _play(self, sink: Sink) -> None:
        begun, made = self._clock(), 0
        while not self._ending.is_set():
            ahead = made / RATE - (self._clock() - begun)
            if ahead > AHEAD:
                self._sleep(WAIT)
                continue
            if ahead < -1.0:  # the machine slept: sound goes on from here
                begun, made = self._clock(), 0
            with self._lock:
                sound = self._source.render(BLOCK)
            sink.write(sound * np.float32(self.volume**2))
            made += BLOCK
