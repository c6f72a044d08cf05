"""Sound stays with its frames, by model time and by wall time."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.engine.recorder.kit import HEIGHT, WIDTH, Tones, grey, heard, numbers
from tests.helpers.clocks import HandClock
from worldpager.engine.errors import InputError, RecorderError
from worldpager.engine.recorder import SOUND_RATE, Recorder, film_facts


def test_sound_is_as_long_as_the_picture_and_in_step(tmp_path: Path) -> None:
    path = tmp_path / "a.mp4"
    recorder = Recorder(path, WIDTH, HEIGHT, 16.0, sound=Tones())
    for chunk in range(12):
        recorder.offer(grey(4 * chunk), block=True, cue=0.5 if chunk >= 6 else 0.0)
    assert recorder.close().frames == 48
    facts = film_facts(path)
    assert facts.sound
    assert facts.seconds == pytest.approx(3.0, abs=0.1)
    sound = heard(path)
    assert len(sound) / SOUND_RATE == pytest.approx(3.0, abs=0.1)
    assert np.abs(sound[: int(1.4 * SOUND_RATE)]).max() < 0.02
    loud = sound[int(1.6 * SOUND_RATE) : int(2.9 * SOUND_RATE)]
    assert np.sqrt((loud**2).mean()) == pytest.approx(0.5 / np.sqrt(2), rel=0.05)


def test_by_wall_time_the_film_lasts_as_long_as_play(tmp_path: Path) -> None:
    """Half the rate: by wall time twice as long, each frame twice; T4 of the reference."""
    path, clock = tmp_path / "wall.mp4", HandClock()
    recorder = Recorder(path, WIDTH, HEIGHT, 16.0, timing="wall", clock=clock, sound=Tones())
    for chunk in range(4):
        recorder.offer(grey(4 * chunk), block=True)
        clock.now += 0.5
    report = recorder.close()
    assert report.seconds == pytest.approx(2.0)
    assert numbers(path) == [n for n in range(16) for _ in range(2)]
    assert len(heard(path)) / SOUND_RATE == pytest.approx(2.0, abs=0.1)


def test_unknown_timing_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="model, wall"):
        Recorder(tmp_path / "a.mp4", WIDTH, HEIGHT, 16.0, timing="lunar")


def test_a_failing_sound_source_ends_the_film_with_words(tmp_path: Path) -> None:
    class Broken(Tones):
        def render(self, samples: int) -> NDArray[np.float32]:
            raise ValueError("no more breath")

    recorder = Recorder(tmp_path / "a.mp4", WIDTH, HEIGHT, 16.0, sound=Broken())
    recorder.offer(grey(0))
    with pytest.raises(RecorderError, match="no more breath"):
        recorder.close()
    assert recorder.dropped == 4
