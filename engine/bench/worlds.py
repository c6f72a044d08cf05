"""What keeping worlds costs and how true it is: ``worldpager bench worlds [--chunks N] [--model tiny|stand-in] [--quick]``.

Reopening a long world, writing through, bytes a minute, the window to the bit against the window from int4 blocks, recalling a place.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from worldpager.engine.build import build_generator, default_config
from worldpager.engine.config import PlayConfig
from worldpager.engine.generator import WorldGenerator
from worldpager.engine.mailbox import GoTo, Recall
from worldpager.engine.session.catalogue import bytes_of, describe
from worldpager.engine.session.window import WINDOW
from worldpager.engine.telemetry.snapshot import Snapshot
from worldpager.engine.types import Action, Button, Frames

STAND_IN = {"width": "120", "height": "80", "tokens": "16", "layers": "1"}
WALK = Action(Button.FORWARD, turn=4.0)


def main(arguments: Sequence[str] = ()) -> int:
    """Run all parts and print their tables."""
    parser = argparse.ArgumentParser(prog="worldpager bench worlds")
    parser.add_argument("--chunks", type=int, default=3000, help="length of the long world (3000)")
    parser.add_argument("--model", default="tiny", help="for exactness and recall (tiny)")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--quick", action="store_true", help="fewer chunks, to see that it works")
    options = parser.parse_args(list(arguments))
    with tempfile.TemporaryDirectory() as folder:
        long_world(Path(folder) / "long", 200 if options.quick else options.chunks)
        write_through(Path(folder), options.model, options.device, 20 if options.quick else 100)
        exactness(Path(folder), options.model, options.device, 4 if options.quick else 12)
        recall(options.model, options.device, 3 if options.quick else 8)
    return 0


def long_world(folder: Path, chunks: int) -> None:
    """How long a world of many chunks takes to open (stand-in: its blocks are small, which opening doesn't read anyway)."""
    setting = replace(default_config("stand-in"), world=folder, rest_when_idle=False, prime=False, model_options=STAND_IN)
    generator = build_generator(setting)
    generator.step()
    for _ in range(chunks - 1):
        act(generator, WALK)
    generator.close()
    times = []
    for _ in range(3):
        began = time.perf_counter()
        generator = build_generator(setting)
        generator.step()
        times.append(time.perf_counter() - began)
        began = time.perf_counter()
        generator.mailbox.send(GoTo(chunks // 2))
        generator._obey_commands()
        jump = time.perf_counter() - began
        generator.close()
    began = time.perf_counter()
    world = describe(folder)
    listed = time.perf_counter() - began
    each = ", ".join(f"{t:.3f}" for t in times)
    print(f"long world: {world.chunks} chunks, {world.size / 1e6:.1f} MB; model, index and picture up after {each} s; "
          f"a jump to its middle {1e3 * jump:.1f} ms; one line of the list {1e3 * listed:.1f} ms")  # fmt: skip


def write_through(folder: Path, model: str, device: str, chunks: int) -> None:
    """What a chunk costs more in a kept world than in a scratch one, and what it leaves on the drive."""
    base = config(model, device)
    scratch, _ = chunk_times(base, chunks)
    kept, generator = chunk_times(replace(base, world=folder / "through"), chunks)
    spec, session = generator.spec, generator.session
    committer = session.committer
    assert committer is not None
    pictures = session.picture_bytes / len(session.tree)
    commits = f"{committer.commits} commits of {1e3 * committer.seconds / max(1, committer.commits):.1f} ms on their own thread"
    generator.close()
    window = (folder / "through" / WINDOW).stat().st_size
    size, played = bytes_of(folder / "through") - window, len(session.tree) * spec.frames_per_chunk / spec.rate
    print(f"write-through, {model}: put {scratch[1]:.2f} ms a chunk in a scratch world, {kept[1]:.2f} ms in a kept one; whole chunk "
          f"{scratch[0]:.1f} and {kept[0]:.1f} ms; {commits}, longest {1e3 * committer.longest:.0f} ms")  # fmt: skip
    print(f"space, {model}: {size / 1e6:.1f} MB for {played:.0f} s of the world, {60 * size / played / 1e6:.0f} MB a minute, and "
          f"{window / 1e6:.1f} MB once for the window; pictures {pictures / 1e3:.1f} KB a chunk of it")  # fmt: skip


def chunk_times(setting: PlayConfig, chunks: int) -> tuple[tuple[float, float], WorldGenerator]:
    """((median of a chunk, median of its put) in ms, the street, still open where it keeps a world)."""
    generator = build_generator(setting)
    generator.enter_thread()
    generator.step()
    whole, put = [], []
    for _ in range(chunks):
        snapshot = shown(generator, WALK)[1]
        whole.append(snapshot.chunk_ms)
        put.append(snapshot.stage_ms["put"] + snapshot.stage_ms["poll"])
    if setting.world is None:
        generator.close()
    return (statistics.median(whole), statistics.median(put)), generator


def exactness(folder: Path, model: str, device: str, chunks: int) -> None:
    """Going on after a close against never stopping: with the window to the bit, and with the window from int4 blocks."""
    base = config(model, device)
    always = build_generator(base)
    always.enter_thread()
    always.step()
    [act(always, WALK) for _ in range(chunks)]
    after = [act(always, WALK) for _ in range(chunks)]
    options = {**base.model_options, **{k: v for k, v in always.model_settings.items() if k in ("passes", "threads")}}
    always.close()
    kept = replace(base, world=folder / "exact", model_options=options)
    generator = build_generator(kept)
    generator.enter_thread()
    generator.step()
    [act(generator, WALK) for _ in range(chunks)]
    generator.close()
    for words, window in (("window to the bit", True), ("window from int4 blocks", False)):
        if not window:
            generator = build_generator(kept)  # stands at the end of the exact run: go back to where both began
            generator.enter_thread()
            generator.step()
            generator.mailbox.send(GoTo(generator.session.tree.path()[-1 - chunks].id))
            generator._obey_commands()  # before the next action, which going somewhere would forget
            (folder / "exact" / WINDOW).unlink(missing_ok=True)
        else:
            generator = build_generator(kept)
            generator.enter_thread()
            generator.step()
        again = [act(generator, WALK) for _ in range(chunks)]
        generator.close()
        same = sum(np.array_equal(one, other) for one, other in zip(again, after, strict=True))
        each = [psnr(one, other) for one, other in zip(again, after, strict=True)]
        mean = statistics.fmean(min(p, 99.0) for p in each)
        print(f"exactness, {model}, {words}: {same} of {chunks} chunks the same to the bit; PSNR to the run that never stopped "
              f"{each[0]:.1f} dB in the first chunk, {mean:.1f} on the mean, {min(each):.1f} at worst")  # fmt: skip


def recall(model: str, device: str, places: int) -> None:
    """How well the picture of a recalled place matches the first visit."""
    generator = build_generator(config(model, device))
    generator.enter_thread()
    generator.step()
    frames = [act(generator, WALK) for _ in range(5 * places)]
    first = generator.session.tree.head
    assert first is not None
    first -= len(frames) - 1
    found = []
    for place in range(places):
        number = 4 * place
        generator.mailbox.send(Recall(first + number))
        there = act(generator, Action())
        found.append(psnr(there[-1:], frames[number][-1:]))
    generator.close()
    print(f"recall, {model}: PSNR of {places} recalled places to the last frame of their first visit {statistics.fmean(found):.1f} dB "
          f"({min(found):.1f} to {max(found):.1f})")  # fmt: skip


def config(model: str, device: str) -> PlayConfig:
    """Headless play of the model as it comes."""
    return replace(default_config(model), device=device, rest_when_idle=False, seed=19)


def act(generator: WorldGenerator, action: Action) -> Frames:
    """Frames of one chunk."""
    return shown(generator, action)[0]


def shown(generator: WorldGenerator, action: Action) -> tuple[Frames, Snapshot]:
    """Frames and snapshot of one chunk."""
    generator.mailbox.put_action(action)
    generator.step()
    newest = generator.mailbox.frames.newest()
    assert newest is not None
    return newest.frames, newest.snapshot


def psnr(one: Frames, other: Frames) -> float:
    """Decibels; infinite for equal pictures."""
    error = float(np.mean((one.astype(np.float32) - other.astype(np.float32)) ** 2))
    return float("inf") if error == 0 else 10 * float(np.log10(255**2 / error))


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
