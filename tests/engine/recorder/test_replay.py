"""The replay buffer: the last seconds, no more bytes than allowed, saved as often as wanted."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tests.engine.recorder.kit import HEIGHT, WIDTH, Tones, grey, heard, numbers
from worldpager.engine.errors import InputError, RecorderError
from worldpager.engine.recorder import SOUND_RATE, ReplayBuffer, export_clip, film_facts, read_metadata, thumbnail

FPS = 16.0


def feed(replay: ReplayBuffer, first: int, chunks: int, level: float = 0.0) -> None:
    """Offer chunks of four frames until each is taken."""
    for chunk in range(chunks):
        while not replay.offer(grey(first + 4 * chunk), cue=level):
            pass


def test_a_save_holds_the_last_seconds_up_to_the_newest_frame(tmp_path: Path) -> None:
    replay = ReplayBuffer(WIDTH, HEIGHT, FPS, seconds=2.0)
    try:
        feed(replay, 0, 25)
        report = replay.save(tmp_path / "one.mp4", {"title": "A replay", "seed": 7})
        shown = numbers(tmp_path / "one.mp4")
        assert shown[-1] == 99
        assert shown == list(range(shown[0], 100))
        assert 2.0 <= report.seconds <= 2.5
        assert json.loads(read_metadata(tmp_path / "one.mp4")["comment"])["seed"] == 7
        feed(replay, 40, 4)
        replay.save(tmp_path / "two.mp4")
        assert numbers(tmp_path / "two.mp4")[-1] == 55
    finally:
        replay.close()


def test_after_a_save_that_clears_only_new_frames_come(tmp_path: Path) -> None:
    replay = ReplayBuffer(WIDTH, HEIGHT, FPS)
    try:
        feed(replay, 0, 4)
        replay.save(tmp_path / "one.mp4", clear=True)
        feed(replay, 16, 6)
        replay.save(tmp_path / "two.mp4")
        shown = numbers(tmp_path / "two.mp4")
        assert shown[0] >= 16
        assert shown[-1] == 39
    finally:
        replay.close()


def test_bytes_stay_under_the_cap(tmp_path: Path) -> None:
    noise = np.random.default_rng(1).integers(0, 255, (4, HEIGHT, WIDTH, 3), np.uint8)
    replay = ReplayBuffer(WIDTH, HEIGHT, FPS, seconds=600.0, max_bytes=200_000)
    try:
        most = 0
        for _ in range(60):
            while not replay.offer(noise):
                most = max(most, replay.held_bytes)
        replay.save(tmp_path / "a.mp4")
        assert replay.held_bytes <= 200_000
        assert most <= 200_000
        assert replay.held_seconds < 15.0, "the cap had no work, so it was not tested"
    finally:
        replay.close()


def test_sound_goes_with_the_picture(tmp_path: Path) -> None:
    replay = ReplayBuffer(WIDTH, HEIGHT, FPS, seconds=2.0, sound=Tones())
    try:
        feed(replay, 0, 20, 0.0)
        feed(replay, 80, 4, 0.5)
        replay.save(tmp_path / "a.mp4")
        sound = heard(tmp_path / "a.mp4")
        assert film_facts(tmp_path / "a.mp4").seconds == pytest.approx(len(sound) / SOUND_RATE, abs=0.1)
        loud = np.abs(sound[-int(0.8 * SOUND_RATE) : -int(0.1 * SOUND_RATE)])
        assert loud.max() > 0.4
        assert np.abs(sound[: len(sound) - int(1.2 * SOUND_RATE)]).max() < 0.02
    finally:
        replay.close()


def test_nothing_to_save_is_said(tmp_path: Path) -> None:
    replay = ReplayBuffer(WIDTH, HEIGHT, FPS)
    try:
        with pytest.raises(RecorderError, match="no replay"):
            replay.save(tmp_path / "a.mp4")
    finally:
        replay.close()
        replay.close()
    assert not replay.offer(grey(0))
    with pytest.raises(InputError, match="0 s"):
        ReplayBuffer(WIDTH, HEIGHT, FPS, seconds=0.0)


def test_a_dead_encoder_is_a_failure_and_what_was_kept_can_be_saved(tmp_path: Path) -> None:
    replay = ReplayBuffer(WIDTH, HEIGHT, FPS)
    try:
        feed(replay, 0, 8)
        replay.save(tmp_path / "before.mp4")
        replay._encoder.kill()
        while replay.failure is None:
            replay.offer(grey(40))
        assert replay.save(tmp_path / "after.mp4").frames >= 28
        assert replay.dropped > 0
    finally:
        replay.close()


@pytest.mark.parametrize("kind", ["webp", "gif"])
def test_a_replay_becomes_a_clip(tmp_path: Path, kind: str) -> None:
    from PIL import Image

    replay = ReplayBuffer(WIDTH, HEIGHT, FPS, seconds=2.0)
    try:
        feed(replay, 0, 8)
        replay.save(tmp_path / "a.mp4")
    finally:
        replay.close()
    path = export_clip(tmp_path / "a.mp4", tmp_path / f"clip.{kind}", seconds=1.0, width=64, rate=8.0)
    with Image.open(path) as image:
        assert getattr(image, "n_frames", 1) >= 6
        assert image.width == 64
    picture = thumbnail(tmp_path / "a.mp4", (32, 20))
    assert picture is not None
    assert picture.shape == (20, 32, 3)
    with pytest.raises(InputError, match=r"\.webp or \.gif"):
        export_clip(tmp_path / "a.mp4", tmp_path / "clip.avi")
