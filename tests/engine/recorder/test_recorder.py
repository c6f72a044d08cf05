"""The recorder: the film shows the frames that were offered, nobody waits, faults are named, and a kill costs two seconds at most."""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import psutil
import pytest
from numpy.typing import NDArray

import worldpager.engine.recorder as recorder_module
import worldpager.engine.recorder.encoder as encoder_module
from worldpager.engine.errors import InputError, RecorderError
from worldpager.engine.recorder import QUEUED_CHUNKS, Recorder, describe_encoder, film_size, find_ffmpeg, read_metadata
from worldpager.engine.types import Frames

WIDTH, HEIGHT, FPS = 120, 80, 15.0

KILLED = """
import sys, time
import numpy as np
from worldpager.engine.recorder import Recorder
class Tone:
    def hear(self, cue): pass
    def render(self, samples): return np.full((samples, 2), 0.1, np.float32)
recorder = Recorder(sys.argv[1], 120, 80, 30, sound=Tone() if sys.argv[2:] else None)
for index in range(150):
    recorder.offer(np.full((1, 80, 120, 3), index, np.uint8), block=True)
print("offered", flush=True)
time.sleep(60)
"""


def chunk(first: int, count: int = 4) -> Frames:
    """Smooth frames that differ from one another: a ramp that brightens and a bar that walks."""
    y, x = np.mgrid[0:HEIGHT, 0:WIDTH]
    frames = []
    for index in range(first, first + count):
        bar = 80.0 * np.exp(-(((x - 3 * index) % WIDTH - 60) ** 2) / 200.0)
        frames.append(np.stack([x + index, 2.0 * y + 20, 40 + bar + index], axis=-1))
    film: Frames = np.clip(np.stack(frames), 0, 255).astype(np.uint8)
    return film


def decode(path: Path) -> NDArray[np.float64]:
    """Frames of a film, averaged back to the size they were recorded from: [n, HEIGHT, WIDTH, 3]."""
    wide, high = film_size(WIDTH, HEIGHT)
    command = [find_ffmpeg(), "-v", "quiet", "-i", str(path), "-f", "rawvideo", "-pix_fmt", "rgb24", "-"]
    raw = subprocess.run(command, capture_output=True, stdin=subprocess.DEVNULL, check=False).stdout
    film = np.frombuffer(raw, np.uint8).reshape(-1, HEIGHT, high // HEIGHT, WIDTH, wide // WIDTH, 3)
    small: NDArray[np.float64] = film.mean(axis=(2, 4))
    return small


@pytest.fixture
def fake_ffmpeg(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A stand-in encoder that reads nothing until the file ``go`` appears, then takes everything and ends well."""
    program, script = tmp_path / "fake.py", tmp_path / "ffmpeg"
    program.write_text(
        "import os, sys, time\n"
        "if '-h' in sys.argv: sys.exit()\n"
        f"while not os.path.exists({str(tmp_path / 'go')!r}): time.sleep(0.01)\n"
        "while os.read(0, 1 << 20): pass\n"
    )
    # Through a shell, since a first line that names the interpreter can't hold a path with spaces.
    script.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} {shlex.quote(str(program))} "$@"\n')
    script.chmod(0o755)
    monkeypatch.setenv("IMAGEIO_FFMPEG_EXE", str(script))
    return tmp_path / "go"


@pytest.mark.parametrize("flags", [recorder_module.WHOLE_WHEN_CLOSED, recorder_module.FRAGMENTS_ONLY])
def test_film_shows_every_offered_frame_in_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, flags: str) -> None:
    """With either kind of MP4: older ffmpegs know only the second."""
    monkeypatch.setattr(encoder_module, "mp4_flags", lambda _executable: flags)
    path = tmp_path / "new folder" / "wörld.mp4"
    recorder = Recorder(path, WIDTH, HEIGHT, FPS)
    for first in range(0, 48, 4):
        assert recorder.offer(chunk(first), block=True)
    report = recorder.close()
    assert (report.path, report.frames, report.dropped, report.seconds) == (path, 48, 0, 48 / FPS)
    film, offered = decode(path), chunk(0, 48).astype(np.float64)
    assert film.shape == offered.shape
    error = np.sqrt(((film - offered) ** 2).mean(axis=(1, 2, 3)))
    assert error.max() < 4.0, "a frame is wrong, or colours are off"
    shifted = np.sqrt(((film[1:] - offered[:-1]) ** 2).mean(axis=(1, 2, 3)))
    assert (shifted > error[1:]).all(), "frames are not told apart, so order was not tested"


def test_offered_frames_may_be_overwritten_at_once(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path / "a.mp4", WIDTH, HEIGHT, FPS)
    frames = np.full((1, HEIGHT, WIDTH, 3), 200, np.uint8)
    for _ in range(8):
        frames[:] = 200
        recorder.offer(frames, block=True)
        frames[:] = 0
    recorder.close()
    assert abs(decode(tmp_path / "a.mp4") - 200).max() < 6


def test_metadata_is_inside_the_file(tmp_path: Path) -> None:
    metadata = {"title": "World = 7; #1 \\ née", "seed": "7", "model": "tiny"}
    recorder = Recorder(tmp_path / "a.mp4", WIDTH, HEIGHT, FPS, metadata)
    recorder.offer(chunk(0), block=True)
    recorder.close()
    tags = read_metadata(tmp_path / "a.mp4")
    assert tags["title"] == metadata["title"]
    assert json.loads(tags["comment"]) == metadata | {"timing": "model"}


def test_live_offers_never_wait_and_drops_are_counted(tmp_path: Path, fake_ffmpeg: Path) -> None:
    recorder = Recorder(tmp_path / "a.mp4", WIDTH, HEIGHT, FPS)
    taken = [recorder.offer(chunk(0)) for _ in range(4 * QUEUED_CHUNKS)]
    assert not all(taken), "the queue has no bound"
    assert recorder.dropped == 4 * taken.count(False)
    fake_ffmpeg.touch()
    report = recorder.close()
    assert report.frames == 4 * taken.count(True)
    assert report.frames + report.dropped == 4 * len(taken)


def test_full_disk_is_named_and_play_goes_on(tmp_path: Path) -> None:
    (tmp_path / "full.mp4").symlink_to("/dev/full")
    recorder = Recorder(tmp_path / "full.mp4", WIDTH, HEIGHT, FPS)
    deadline = time.monotonic() + 30
    while recorder.failure is None and time.monotonic() < deadline:
        recorder.offer(chunk(0, 8))
    with pytest.raises(RecorderError, match="disk is full"):
        recorder.close()
    assert recorder.dropped > 0
    with pytest.raises(RecorderError):
        recorder.close()


def test_failed_recording_stops_a_blocking_caller(tmp_path: Path) -> None:
    (tmp_path / "full.mp4").symlink_to("/dev/full")
    recorder = Recorder(tmp_path / "full.mp4", WIDTH, HEIGHT, FPS)

    def offer_for_ever() -> None:
        while True:
            recorder.offer(chunk(0, 8), block=True)

    with pytest.raises(RecorderError, match="disk is full"):
        offer_for_ever()
    with pytest.raises(RecorderError):
        recorder.close()


def test_unusable_folder_is_refused_at_once(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(RecorderError, match="can't be written"):
        Recorder(tmp_path / "file" / "a.mp4", WIDTH, HEIGHT, FPS)


def test_missing_encoder_is_refused_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IMAGEIO_FFMPEG_EXE", str(tmp_path / "nothing here"))
    with pytest.raises(RecorderError, match="nothing here"):
        Recorder(tmp_path / "a.mp4", WIDTH, HEIGHT, FPS)
    with pytest.raises(RecorderError, match="IMAGEIO_FFMPEG_EXE"):
        describe_encoder()


def test_wrong_frames_are_refused(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path / "a.mp4", WIDTH, HEIGHT, FPS)
    with pytest.raises(InputError, match="80, 120, 3"):
        recorder.offer(np.zeros((4, HEIGHT, HEIGHT, 3), np.uint8))
    recorder.offer(chunk(0), block=True)
    recorder.close()


def test_closing_twice_reports_again_and_later_offers_are_not_taken(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path / "a.mp4", WIDTH, HEIGHT, FPS)
    recorder.offer(chunk(0), block=True)
    assert recorder.close() == recorder.close()
    assert not recorder.offer(chunk(0), block=True)


@pytest.mark.parametrize(
    ("frame", "film"), [((120, 80), (960, 640)), ((640, 352), (1280, 704)), ((1280, 720), (1280, 720)), ((121, 801), (122, 802))]
)
def test_film_size_is_a_whole_multiple_and_even(frame: tuple[int, int], film: tuple[int, int]) -> None:
    assert film_size(*frame) == film


def test_describes_the_encoder() -> None:
    assert "libx264" in describe_encoder()


@pytest.mark.parametrize("sound", [[], ["sound"]])
def test_killing_program_and_encoder_loses_two_seconds_at_most(tmp_path: Path, sound: list[str]) -> None:
    """150 frames at 30 a second, then both processes get SIGKILL: at least three of the five seconds can be watched."""
    path = tmp_path / "a.mp4"
    child = subprocess.Popen([sys.executable, "-c", KILLED, str(path), *sound], stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    try:
        assert child.stdout.readline() == "offered\n"
        deadline = time.monotonic() + 30
        while readable_frames(path, tmp_path) < 90 and time.monotonic() < deadline:
            time.sleep(0.1)
    finally:
        for process in [*psutil.Process(child.pid).children(recursive=True), child]:
            process.kill()
        child.communicate()
    assert readable_frames(path, tmp_path) >= 90


def readable_frames(path: Path, folder: Path) -> int:
    """Frames that a player would show of the file as it is now."""
    copy = Path(shutil.copy(path, folder / "copy.mp4"))
    command = [find_ffmpeg(), "-v", "quiet", "-i", str(copy), "-vf", "scale=4:4", "-f", "rawvideo", "-pix_fmt", "rgb24", "-"]
    return len(subprocess.run(command, capture_output=True, stdin=subprocess.DEVNULL, check=False).stdout) // 48
