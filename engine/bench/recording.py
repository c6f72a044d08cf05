"""What recording costs play: ``python -m worldpager.engine.bench.recording [--model tiny] [--chunks 24] [--rounds 4]``.

One street plays on; its taps are changed between short blocks (nothing, film, replay buffer, both), round after round, so that whatever
else the machine does falls on all of them alike. Milliseconds a chunk of the street, and processor time a second of play of this process
and of ffmpeg. Checks that the film and the saved replay hold the frames that were played.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import psutil

from worldpager.engine.build import build_generator, default_config
from worldpager.engine.generator import WorldGenerator
from worldpager.engine.mailbox import PublishedChunk, Record
from worldpager.engine.pose.script import SCRIPTS, Script
from worldpager.engine.recorder import Recorder, ReplayBuffer, film_facts

CASES: tuple[tuple[str, ...], ...] = ((), ("film",), ("replay",), ("film", "replay"))


class Tap:
    """Hands chunks to the takers of the present case."""

    def __init__(self, film: Recorder, replay: ReplayBuffer) -> None:
        self._film, self._replay = film, replay
        self.case: tuple[str, ...] = ()
        self.filmed = 0

    def take(self, chunk: PublishedChunk) -> None:
        """For `Record`."""
        if "film" in self.case:
            self.filmed += len(chunk.frames) * self._film.offer(chunk.frames)
        if "replay" in self.case:
            self._replay.offer(chunk.frames)


def processor_seconds() -> float:
    """Processor time so far of this process and its children that live."""
    me = psutil.Process()
    total = sum(me.cpu_times()[:2])
    for child in me.children(recursive=True):
        try:
            total += sum(child.cpu_times()[:2])
        except psutil.NoSuchProcess:
            continue
    return float(total)


def play(street: WorldGenerator, script: Script, chunks: int) -> list[float]:
    """Milliseconds of each of ``chunks`` chunks, held to the world's natural rate."""
    seconds, taken = street.spec.frames_per_chunk / street.spec.rate, []
    for _ in range(chunks):
        street.mailbox.put_action(script.next(seconds))
        street.wait_turn()
        street.step()
        newest = street.mailbox.frames.newest()
        assert newest is not None
        taken.append(newest.snapshot.chunk_ms)
    return taken


def measure(model: str, chunks: int, rounds: int, folder: Path) -> None:
    """Play and print the table."""
    street = build_generator(replace(default_config(model), rest_when_idle=False))
    spec, device = street.spec, str(street.device)
    film = Recorder(folder / "film.mp4", spec.width, spec.height, spec.rate)
    replay = ReplayBuffer(spec.width, spec.height, spec.rate)
    tap, script = Tap(film, replay), Script(SCRIPTS["tour"])
    street.mailbox.send(Record(tap.take))
    times: dict[tuple[str, ...], list[float]] = {case: [] for case in CASES}
    busy: dict[tuple[str, ...], list[float]] = {case: [] for case in CASES}
    try:
        street.enter_thread()
        street.step()
        play(street, script, 4)
        for turn in range(rounds):
            for case in CASES if turn % 2 == 0 else CASES[::-1]:
                tap.case = case
                began, cpu = time.perf_counter(), processor_seconds()
                times[case] += play(street, script, chunks)
                busy[case].append((processor_seconds() - cpu) / (time.perf_counter() - began))
        saved = replay.save(folder / "replay.mp4")
        report = film.close()
    finally:
        replay.close()
        street.close()
    assert report.frames == tap.filmed, f"{report.frames} frames in the film, {tap.filmed} taken"
    assert abs(film_facts(report.path).seconds - report.seconds) < 0.2, "the film's length is wrong"
    assert saved.frames > 0
    print(f"{model} on {device}, {spec.width}x{spec.height} at {spec.rate:g} a second; {rounds * chunks} chunks each")
    print(f"{'case':14s}{'ms a chunk':>12s}{'p95':>8s}{'against none':>14s}{'processor':>11s}")
    base = statistics.median(times[()])
    for case in CASES:
        ordered = sorted(times[case])
        middle, late = statistics.median(ordered), ordered[int(0.95 * (len(ordered) - 1))]
        name = " + ".join(case) or "none"
        print(f"{name:14s}{middle:12.1f}{late:8.1f}{middle / base - 1:+14.1%}{statistics.fmean(busy[case]):10.2f}x")
    print(f"film: {report.frames} frames, {report.dropped} left out; replay: {saved.seconds:.1f} s in {replay.dropped} drops")


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="What recording costs play.")
    parser.add_argument("--model", default="tiny")
    parser.add_argument("--chunks", type=int, default=12, help="chunks of one block (12)")
    parser.add_argument("--rounds", type=int, default=4, help="rounds over all cases (4)")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        measure(options.model, options.chunks, options.rounds, Path(folder))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
