"""Play without a window: the same street, steered by a script or a recording, with a film and a report at the end."""

from __future__ import annotations

import json
import platform
import resource
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from worldpager.engine.build import Progress, build_generator
from worldpager.engine.config import PlayConfig
from worldpager.engine.errors import InputError, WorldPagerError
from worldpager.engine.generator import WorldGenerator
from worldpager.engine.mailbox import PublishedChunk, Record
from worldpager.engine.pose.source import ActionSource
from worldpager.engine.recorder import Recorder
from worldpager.engine.session.replay import ReplayMailbox
from worldpager.engine.telemetry.snapshot import Snapshot

Report = dict[str, Any]

SWITCH_SECONDS = 0.0005
"""How long a Python thread may hold up the others: the usual 5 ms would let a disk reader delay the street."""


@dataclass(frozen=True, slots=True)
class HeadlessRun:
    """What to play and what to leave behind. ``real_time`` holds the world to its natural rate; else it runs as fast as it can."""

    source: ActionSource
    chunks: int
    input_name: str = ""
    record: Path | None = None
    report: Path | None = None
    real_time: bool = False


@dataclass(slots=True)
class _Tally:
    """What the chunks took."""

    chunk_ms: list[float] = field(default_factory=list)
    stage_ms: dict[str, list[float]] = field(default_factory=dict)
    seconds: float = 0.0
    interrupted: bool = False

    def add(self, snapshot: Snapshot) -> None:
        self.chunk_ms.append(snapshot.chunk_ms)
        for stage, ms in snapshot.stage_ms.items():
            self.stage_ms.setdefault(stage, []).append(ms)


def play_headless(config: PlayConfig, run: HeadlessRun, *, progress: Progress | None = None) -> Report:
    """Play ``run`` and return its report, which is also written where ``run.report`` says. Ctrl-C ends it early with both left whole.

    Raises `WorldPagerError`; a film that failed is raised after the report is written.
    """
    if run.report is not None:
        _check_writable(run.report)
    sys.setswitchinterval(SWITCH_SECONDS)
    config = replace(config, rest_when_idle=False)
    generator = build_generator(config, progress=progress)
    try:
        report, failure = _play(generator, config, run, progress or (lambda stage, share: None))
    finally:
        generator.close()
    if run.report is not None:
        write_atomically(run.report, json.dumps(report, indent=2) + "\n")
    if failure is not None:
        raise failure
    return report


def _play(generator: WorldGenerator, config: PlayConfig, run: HeadlessRun, tell: Progress) -> tuple[Report, WorldPagerError | None]:
    """(report, what went wrong with the film)."""
    spec = generator.spec
    recorder = None
    if run.record is not None:
        title = f"WorldPager, world {config.seed} of {spec.name}"
        metadata = {"title": title, "model": spec.name, "seed": str(config.seed), "input": run.input_name, "version": version("worldpager")}
        recorder = Recorder(run.record, spec.width, spec.height, spec.rate, metadata)
        generator.mailbox.send(Record(_waiting_offer(recorder)))
    tally, failure = _Tally(), None
    try:
        opening = _drive(generator, run, tally, tell)
    finally:
        if recorder is not None:
            try:
                recorder.close()
            except WorldPagerError as error:
                failure = error
    newest = generator.mailbox.frames.newest()
    if newest is None:
        raise InputError("The run was ended before the first chunk.")
    report = _report(newest.snapshot, opening, config, run, tally, recorder)
    report["settings"]["measured"] = generator.model_settings
    if isinstance(generator.mailbox, ReplayMailbox):
        same, compared = generator.mailbox.replay.same(generator.session)
        report["replay"] = {"world": str(config.replay), "same": same, "compared": compared}
    return report, failure


def _waiting_offer(recorder: Recorder) -> Callable[[PublishedChunk], object]:
    return lambda chunk: recorder.offer(chunk.frames, block=True)


def _drive(generator: WorldGenerator, run: HeadlessRun, tally: _Tally, tell: Progress) -> int:
    """Open the world and play the chunks. Returns how many chunks the opening had."""
    seconds = generator.spec.frames_per_chunk / generator.spec.rate
    mailbox, opening = generator.mailbox, 0
    generator.enter_thread()
    try:
        tell("Opening the world", 0.0)
        generator.step()
        newest = mailbox.frames.newest()
        opening = newest.snapshot.chunk if newest else 0
        start = time.perf_counter()
        for chunk in range(run.chunks):
            action = run.source.next(seconds)
            if action is None or (isinstance(mailbox, ReplayMailbox) and mailbox.replay.over):
                break
            mailbox.put_action(action)
            if run.real_time:
                generator.wait_turn()
            generator.step()
            newest = mailbox.frames.newest()
            assert newest is not None
            tally.add(newest.snapshot)
            tally.seconds = time.perf_counter() - start
            chunks = mailbox.replay.chunks if isinstance(mailbox, ReplayMailbox) else run.chunks
            tell(f"Chunk {chunk + 1} of {chunks}, {newest.snapshot.generated_fps:.1f} frames a second", (chunk + 1) / chunks)
    except KeyboardInterrupt:
        tally.interrupted = True
    return opening


def _report(snapshot: Snapshot, opening: int, config: PlayConfig, run: HeadlessRun, tally: _Tally, recorder: Recorder | None) -> Report:
    """The report's fields. ``chunks`` and ``frames`` count what was generated; the opening stands beside them."""
    memory, chunks = snapshot.memory, len(tally.chunk_ms)
    frames = snapshot.frames * chunks // max(1, snapshot.chunk)
    ordered = sorted(tally.chunk_ms)
    return {
        "model": snapshot.model,
        "device": snapshot.device,
        "seed": snapshot.seed,
        "input": run.input_name,
        "chunks": chunks,
        "opening_chunks": opening,
        "frames": frames,
        "seconds": round(tally.seconds, 3),
        "interrupted": tally.interrupted,
        "generated_fps": round(frames / tally.seconds, 2) if tally.seconds else 0.0,
        "rate": snapshot.rate,
        "chunk_ms_median": round(statistics.median(ordered), 3) if ordered else 0.0,
        "chunk_ms_p95": round(ordered[int(0.95 * (chunks - 1))], 3) if ordered else 0.0,
        "stage_ms_mean": {stage: round(statistics.fmean(times), 3) for stage, times in tally.stage_ms.items()},
        "stalls_over_half_ms": memory.stalls_over_half_ms,
        "longest_wait_ms": round(memory.longest_wait_ms, 3),
        "blocks": memory.blocks,
        "blocks_wanted": memory.blocks_wanted,
        "blocks_missed": memory.blocks_missed,
        "prefetch_hit_rate": round(memory.prefetch_hit_rate, 4),
        "stale_uses": memory.stale_uses,
        "spilled_blocks": memory.spilled_blocks,
        "blocks_refused": memory.blocks_refused,
        "blocks_dropped": memory.blocks_dropped,
        "evicted_blocks": memory.evicted_blocks,
        "failed_moves": memory.failed_moves,
        "disk_read_bytes": memory.disk_read_bytes,
        "disk_written_bytes": memory.disk_written_bytes,
        "written_per_minute": round(snapshot.written_per_minute),
        "drive_days": round(snapshot.drive_days, 1) if memory.disk_written_bytes else None,
        "host_peak_bytes": memory.host_peak_bytes,
        "host_budget_bytes": memory.host_budget_bytes,
        "rss_peak_bytes": rss_peak_bytes(),
        "tiers": [asdict(tier) for tier in snapshot.tiers],
        "degraded": list(snapshot.degraded),
        "film": None if recorder is None else {"path": str(recorder.path), "frames": recorder.frames, "dropped": recorder.dropped},
        "versions": {"python": platform.python_version()} | {name: version_of(name) for name in ("worldpager", "torch", "numpy")},
        "settings": json.loads(json.dumps(asdict(config), default=str)),
    }


def version_of(package: str) -> str:
    """The installed version; "not installed" where the code runs from a checkout alone."""
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


def rss_peak_bytes() -> int:
    """Most memory that this process ever had in RAM."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def write_atomically(path: Path, text: str) -> None:
    """Replace ``path`` by ``text`` as a whole or not at all. Raises `InputError` when it can't be written."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile("w", dir=path.parent, prefix=f".{path.name}.", delete=False) as file:
            written = Path(file.name)
            try:
                file.write(text)
                file.close()
                written.chmod(0o644)
                written.replace(path)
            except BaseException:
                written.unlink(missing_ok=True)
                raise
    except OSError as error:
        raise InputError(f"{path} can't be written: {error.strerror}.", "Give another path.") from error


def _check_writable(path: Path) -> None:
    """Find out before a long run whether its report can be written."""
    folder = path.parent
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise InputError(f"The report {path} can't be written: {error.strerror}.", "Give another path after --report.") from error
    if path.is_dir():
        raise InputError(f"The report {path} is a folder.", "Give the path of a file after --report.")
