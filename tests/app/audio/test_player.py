"""The player: paced by a clock, silent and unfailing without a device."""

from __future__ import annotations

import builtins
import importlib
import threading
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from pytestqt.qtbot import QtBot

from tests.app.conftest import OpenWindow
from worldpager.app.audio.devices import Devices
from worldpager.app.audio.mixer import Levels, Mixer
from worldpager.app.audio.part import SoundPart
from worldpager.app.audio.player import AHEAD, BLOCK, DeviceSink, Player, output_devices
from worldpager.app.audio.score import Scene
from worldpager.app.audio.waves import RATE
from worldpager.engine.mailbox import SetBookmark


class Reel:
    """A sink that takes everything at once, and ends play after ``enough`` samples."""

    def __init__(self, enough: int) -> None:
        self.sound: list[NDArray[np.float32]] = []
        self.enough, self.full, self.closed = enough, threading.Event(), False

    def write(self, sound: NDArray[np.float32]) -> None:
        self.sound.append(sound)
        if sum(map(len, self.sound)) >= self.enough:
            self.full.set()

    def close(self) -> None:
        self.closed = True


class SleepClock:
    """A clock that moves only while somebody sleeps."""

    def __init__(self) -> None:
        self.now = 50.0

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


def test_a_greedy_device_gets_no_more_than_time_brings() -> None:
    clock, reel = SleepClock(), Reel(2 * RATE)
    player = Player(Mixer(), lambda: reel, clock=clock, sleep=clock.sleep)
    assert reel.full.wait(20)
    player.close()
    made = sum(map(len, reel.sound)) / RATE
    assert made <= clock.now - 50.0 + AHEAD + 2 * BLOCK / RATE
    assert reel.closed


def test_volume_and_chunks_reach_the_sink() -> None:
    clock, reel = SleepClock(), Reel(RATE)
    mixer = Mixer(Levels(0.0, 1.0, 0.0))
    mixer.play(Scene(2.0, speed=2.0))
    player = Player(mixer, lambda: reel, clock=clock, sleep=clock.sleep)
    player.volume = 1.0
    assert reel.full.wait(20)
    player.close()
    assert np.abs(np.concatenate(reel.sound)).max() > 0.1


def test_no_device_is_silence_with_a_reason() -> None:
    def broken() -> Reel:
        raise OSError("no default output device")

    player = Player(Mixer(), broken)
    player.close()
    assert not player.playing
    assert "no default output device" in player.failure
    player.hear(None)


def test_a_device_that_goes_away_ends_the_sound_alone() -> None:
    class Gone(Reel):
        def write(self, sound: NDArray[np.float32]) -> None:
            raise RuntimeError("unplugged")

    gone = Gone(1)
    player = Player(Mixer(), lambda: gone)
    player.close()
    assert "unplugged" in player.failure
    assert gone.closed


def test_without_portaudio_there_are_no_devices(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def importing(name: str, *rest: Any) -> Any:
        if name == "sounddevice":
            raise OSError("PortAudio library not found")
        return real(name, *rest)

    monkeypatch.setattr(importlib, "import_module", lambda name: importing(name))
    assert output_devices() == []
    assert list(Devices()) == [""]
    assert "USB headset" in Devices()
    with pytest.raises(OSError, match="PortAudio"):
        DeviceSink()


def test_the_window_plays_to_a_device_and_mutes(qtbot: QtBot, open_window: OpenWindow, monkeypatch: pytest.MonkeyPatch) -> None:
    reels: list[Reel] = []

    def open_sink(self: SoundPart) -> Reel:
        reels.append(Reel(RATE // 2))
        return reels[-1]

    monkeypatch.setattr(SoundPart, "open_sink", open_sink)
    window, _ = open_window({"mute": False})
    sound = window.parts["sound"]
    assert isinstance(sound, SoundPart)
    qtbot.waitUntil(lambda: bool(reels) and reels[0].full.is_set())
    window.bridge.send(SetBookmark("here"))
    qtbot.keyClick(window, "U")
    assert sound.player is None
    assert reels[0].closed
    qtbot.keyClick(window, "U")
    qtbot.waitUntil(lambda: len(reels) == 2)
