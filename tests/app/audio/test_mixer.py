"""The mix without a device: deterministic, in whatever pieces; steps follow the walk, notes and cues the memory."""

from __future__ import annotations

import numpy as np
import pytest

from tests.helpers.fake_street import FakeSpec, made_frames, made_snapshot
from worldpager.app.audio.mixer import Levels, Mixer
from worldpager.app.audio.score import STRIDE, Scene, Score, palette
from worldpager.app.audio.waves import CUES, RATE, cue, footstep, note, pluck
from worldpager.engine.mailbox import PublishedChunk

SILENT = Levels(0.0, 0.0, 0.0, 0.0)


def chunk(number: int, **snapshot: int) -> PublishedChunk:
    spec = FakeSpec()
    return PublishedChunk(number, made_frames(number, spec), made_snapshot(number, spec, **snapshot))  # type: ignore[arg-type]


def loudness(sound: np.ndarray[tuple[int, ...], np.dtype[np.float32]]) -> float:
    return float(np.sqrt((sound.astype(np.float64) ** 2).mean()))


def test_the_same_chunks_give_the_same_sound_in_whatever_pieces() -> None:
    whole, parts = Mixer(), Mixer()
    for mixer in (whole, parts):
        for number in range(100, 104):
            mixer.hear(chunk(number))
    sound = whole.render(RATE)
    pieces = np.concatenate([parts.render(n) for n in (1, 479, 480, 1000, 7, 12345, RATE - 14312)])
    assert np.array_equal(sound, pieces)
    assert sound.shape == (RATE, 2)
    assert 0.001 < loudness(sound) < 0.5
    assert np.abs(sound).max() < 1.0


def test_steps_come_as_often_as_the_walk_has_strides() -> None:
    mixer = Mixer(Levels(ambience=0.0, steps=1.0, cues=0.0))
    mixer.play(Scene(4.0, speed=1.24))
    sound = np.abs(mixer.render(4 * RATE)).max(axis=1)
    loud = sound > 0.1
    onsets = np.flatnonzero(loud & ~np.roll(loud, 1))
    steps = 1 + int((np.diff(onsets) > RATE // 8).sum())
    assert steps == pytest.approx(4.0 * 1.24 / STRIDE, abs=1)
    still = Mixer(Levels(ambience=0.0, steps=1.0, cues=0.0))
    still.play(Scene(2.0, speed=0.0))
    assert not still.render(2 * RATE).any()


def test_ambience_follows_light_and_motion() -> None:
    def heard(scene: Scene) -> float:
        mixer = Mixer(Levels(1.0, 0.0, 0.0))
        mixer.play(scene)
        mixer.render(RATE)
        return loudness(mixer.render(RATE))

    assert heard(Scene(3.0, light=0.9)) > 1.1 * heard(Scene(3.0, light=0.1))
    assert heard(Scene(3.0, speed=1.2, turning=0.5)) > 1.1 * heard(Scene(3.0))


def test_memory_is_heard_only_on_wish() -> None:
    scene = Scene(1.0, notes=(3, -2), events=("missed",))
    quiet, told = Mixer(SILENT), Mixer(Levels(0.0, 0.0, 0.0, memory=0.8))
    for mixer in (quiet, told):
        mixer.play(scene)
    assert not quiet.render(RATE).any()
    assert loudness(told.render(RATE)) > 0.01


def test_the_score_reads_motion_colours_and_what_memory_did() -> None:
    score = Score()
    score.read(chunk(149))
    scene = score.read(chunk(150))
    assert scene.seconds == pytest.approx(0.25)
    assert scene.speed > 0.1
    assert scene.events == ("missed", "spilled")
    assert len(scene.notes) == 2
    assert scene.notes[0] <= scene.notes[1], "the older, the lower"
    assert score.read(chunk(150)).speed == 0.0, "no next chunk"
    assert score.read(chunk(151, seed=8)).events == ()
    red = np.zeros((1, 8, 8, 3), np.uint8)
    red[..., 0] = 255
    assert palette(red) == pytest.approx((1 / 3, 1.0, 0.0))


def test_a_program_event_is_struck_and_voices_are_bounded() -> None:
    mixer = Mixer(Levels(0.0, 0.0, 1.0))
    for _ in range(200):
        mixer.strike("kept")
    assert len(mixer._voices) <= 24
    assert loudness(mixer.render(RATE // 4)) > 0.05
    mixer.render(2 * RATE)
    assert not mixer.render(RATE).any(), "it ends"


def test_waves_are_tame_and_told_apart() -> None:
    waves = [cue(name) for name in CUES] + [pluck(3), footstep(2, 1)]
    for wave in waves:
        assert np.isfinite(wave).all()
        assert np.abs(wave).max() <= 1.0
        assert abs(float(wave[-1])) < 1e-3
        assert abs(float(wave[0])) < 1e-3
    assert note(5) == pytest.approx(2 * note(0))
    assert not np.array_equal(footstep(0, 1), footstep(4, 1))
