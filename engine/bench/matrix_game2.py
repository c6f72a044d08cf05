"""Matrix-Game 2.0 on this machine, with random weights: is it right, how long does a chunk take and where, what does it hold.

``worldpager bench matrix-game2`` or ``python -m worldpager.engine.bench.matrix_game2``. A GPU runs the full size; a processor the reduced
one. First what must hold: bytes of a chunk, recorded passes against plain ones, the memory view against the model's own cache, and that a
process that ran out of memory can load something smaller. Then each stage by itself, with and without memory, 3 and 4 steps, both decoders.
``--paced-chunks N`` plays N chunks at ``--rate`` frames a second through the whole street, spilling to ``--disk``.
"""

from __future__ import annotations

import argparse
import gc
import json
import statistics
import tempfile
import time
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from worldpager.engine.build import default_config, pick_device
from worldpager.engine.config import CodecConfig, GiB
from worldpager.engine.errors import WorldPagerError
from worldpager.engine.headless import HeadlessRun, play_headless
from worldpager.engine.memory.codec import make_codec
from worldpager.engine.models.matrix_game2.adapter import UNIVERSAL, MatrixGame, needed
from worldpager.engine.models.matrix_game2.config import PUBLISHED
from worldpager.engine.models.matrix_game2.context import CHUNK, Window
from worldpager.engine.models.matrix_game2.fusing import fused
from worldpager.engine.models.matrix_game2.graphs import PassGraphs
from worldpager.engine.models.matrix_game2.options import STEPS, MatrixGameOptions
from worldpager.engine.models.matrix_game2.parts import Design, Parts, random_parts
from worldpager.engine.models.matrix_game2.player import Player
from worldpager.engine.models.matrix_game2.rollout import SHIFT, run_plainly
from worldpager.engine.models.wan.flow import plain_steps
from worldpager.engine.types import Action, Button, Pose

FULL_BYTES = 486_604_800
K = 3
REPEATS = 5


@dataclass(slots=True)
class Bench:
    """One run: what it found, and where."""

    device: torch.device
    full: bool
    found: dict[str, Any] = field(default_factory=dict)
    started: float = field(default_factory=time.perf_counter)

    def say(self, name: str, value: object) -> None:
        """Note and print a result."""
        self.found[name] = value
        print(f"[{time.perf_counter() - self.started:5.1f} s] {name}: {value}", flush=True)

    def sync(self) -> None:
        """Wait for the device."""
        if self.device.type == "cuda":
            torch.cuda.synchronize(self.device)

    def milliseconds(self, work: Callable[[], object], repeats: int = REPEATS, warm: int = 2) -> float:
        """Median time of one call."""
        for _ in range(warm):
            work()
        times = []
        for _ in range(repeats):
            self.sync()
            start = time.perf_counter()
            work()
            self.sync()
            times.append(time.perf_counter() - start)
        return round(1e3 * statistics.median(times), 3)

    def gigabytes(self) -> float:
        """Most memory that was allocated on the device since the last call."""
        if self.device.type != "cuda":
            return 0.0
        peak = torch.cuda.max_memory_allocated(self.device) / 1e9
        torch.cuda.reset_peak_memory_stats(self.device)
        return round(peak, 2)


class Stages:
    """A player filled with a few chunks, whose stages can be run over and over."""

    def __init__(self, parts: Parts, steps: int, memory: bool, graphs: bool) -> None:
        config = parts.network.config
        self.retrieved = K if memory else 0
        window = Window(config.window + (CHUNK if memory else 0), CHUNK if memory else 0, K if memory else 0)
        runner = PassGraphs(parts.network.patch_embedding.weight.device) if graphs else run_plainly
        self.player = Player(parts, window, plain_steps(STEPS[steps], SHIFT), runner)
        self.noise = torch.randn(config.outputs, CHUNK, parts.design.height, parts.design.width, device=self.player.device)
        size = (config.window, 12, 2), (config.window, 12, config.action.keys)
        self._mouse, self._keyboard = (torch.rand(CHUNK, *shape[1:]) * 0.1 for shape in size)
        self._condition = torch.randn(20, CHUNK, parts.design.height, parts.design.width, device=self.player.device)
        self._clip = torch.randn(257, 1280, device=self.player.device)
        self.clean = self.noise
        self.fill()

    @torch.no_grad()
    def fill(self) -> None:
        """Begin, and make chunks until every window is full; the memory view holds copies of the last."""
        rollout = self.player.rollout
        rollout.begin(self._clip)
        for _ in range(4):
            self.prepare(0)
            rollout.finish(self.noise * 0.5)
            kept = rollout.take()
            rollout.advance()
        view = rollout.context.visual.view
        for slot in range(self.retrieved):
            view.keys[:, slot], view.values[:, slot] = kept.keys, kept.values
        self.prepare(self.retrieved)

    def prepare(self, retrieved: int) -> None:
        """The next chunk's inputs."""
        self.player.rollout.prepare(self._condition, self._mouse, self._keyboard, retrieved)

    @torch.no_grad()
    def denoise(self) -> None:
        """All denoising passes."""
        self.clean = self.player.rollout.denoise(self.noise, self.player.steps, lambda: self.noise)

    @torch.no_grad()
    def finish(self) -> None:
        """The pass at t = 0."""
        self.player.rollout.finish(self.clean)

    @torch.no_grad()
    def hand_over(self) -> None:
        """Copy out the keys and values and shift the windows."""
        self.player.rollout.take()
        self.player.rollout.context.advance()


def check_view(bench: Bench, stages: Stages) -> None:
    """A chunk decoded at its birth against the keys in the model's own window."""
    rollout, visual = stages.player.rollout, stages.player.rollout.context.visual
    config = rollout.network.config
    spec = MatrixGame("universal", stages.player.parts, MatrixGameOptions(retrieved=1, graphs="no")).spec
    rollout.begin(stages._clip, frame=300)
    stages.prepare(0)
    stages.finish()
    kept = rollout.take()
    codec = make_codec(CodecConfig(bits=16), spec.kv, spec.rotary)
    record = torch.empty(codec.record_bytes, dtype=torch.uint8, device=bench.device)
    codec.encode(kept, record)
    codec.place([record], visual.view.keys, visual.view.values, [300.0])
    own = visual.keys[:, visual.current].float()
    apart = (visual.view.keys[:, 0].float() - own).abs()
    bench.say("view against the model's own cache, largest difference over largest key", f"{float(apart.max() / own.abs().max()):.2e}")
    assert float(apart.max() / own.abs().max()) < 2**-7, "the view is not the model's own cache"
    assert spec.kv.layers == config.blocks
    if bench.full:
        assert spec.kv.bf16_bytes == FULL_BYTES, spec.kv.bf16_bytes
    bench.say("KV bytes of a chunk", spec.kv.bf16_bytes)


@torch.no_grad()
def check_graphs(bench: Bench, parts: Parts) -> None:
    """Recorded passes answer what plain ones answer."""
    answers: list[Tensor] = []
    torch.manual_seed(5)
    noise = torch.randn(16, CHUNK, parts.design.height, parts.design.width, device=bench.device)
    for graphs in (False, True):
        torch.manual_seed(6)
        stages = Stages(parts, 3, True, graphs)
        for _ in range(4):
            answer = stages.player.rollout.flow(noise, 500.0).clone()
        answers.append(answer)
    apart = float((answers[0] - answers[1]).norm() / answers[0].norm())
    bench.say("recorded passes against plain ones, relative difference", f"{apart:.2e}")
    assert apart < 1e-3


def measure(bench: Bench, parts: Parts, graphs: bool, compiled: bool) -> None:
    """Denoising, the pass at t = 0 and the hand-over, with and without memory, 3 and 4 steps."""
    rows = []
    with fused() if compiled else nullcontext():
        for memory in (False, True):
            for steps in (3, 4):
                stages = Stages(parts, steps, memory, graphs)
                row = {"memory": memory, "steps": steps, "denoise": bench.milliseconds(stages.denoise, warm=4)}
                row |= {"t=0": bench.milliseconds(stages.finish, warm=4), "windows": bench.milliseconds(stages.hand_over)}
                rows.append(row | {"peak GB": bench.gigabytes()})
                bench.say(f"chunk, ms, graphs={graphs} compiled={compiled}", rows[-1])
                del stages
                _free()
    bench.found[f"stages graphs={graphs} compiled={compiled}"] = rows


def measure_decoders(bench: Bench, parts: Parts, large_at_once: tuple[int, ...] = (1, 3)) -> None:
    """Both decoders on a chunk in the middle of a video, frames brought to the processor included."""
    for tiny in (False, True):
        for at_once in (1,) if tiny else large_at_once:
            player = Player(replace_tiny(parts, tiny), Window(parts.network.config.window), plain_steps(STEPS[3], SHIFT))
            player.at_once = at_once
            clean = torch.randn(16, CHUNK, parts.design.height, parts.design.width, device=bench.device)
            name = "tiny decoder" if tiny else f"large decoder, {at_once} latent frames at once"
            bench.gigabytes()

            def decode(player: Player = player, clean: Tensor = clean) -> object:
                return player.decode(clean)

            bench.say(f"{name}, ms a chunk", bench.milliseconds(decode, repeats=3, warm=2))
            bench.say(f"{name}, peak GB", bench.gigabytes())
            del player
            _free()


def replace_tiny(parts: Parts, tiny: bool) -> Parts:
    """The same parts with one decoder."""
    return Parts(parts.design, parts.network, parts.vae, parts.tiny if tiny else None, parts.clip_tokens)


def measure_memory(bench: Bench, parts: Parts) -> None:
    """Encoding a chunk and decoding three at their places, by the store's codec."""
    spec = MatrixGame("universal", parts, MatrixGameOptions(retrieved=K, graphs="no")).spec
    codec = make_codec(CodecConfig(), spec.kv, spec.rotary)
    stages = Stages(parts, 3, True, False)
    stages.finish()
    kept, view = stages.player.rollout.take(), stages.player.rollout.context.visual.view
    records = [torch.empty(codec.record_bytes, dtype=torch.uint8, device=bench.device) for _ in range(K)]
    for record in records:
        codec.encode(kept, record)
    bench.say("encoded chunk, bytes", codec.record_bytes)
    bench.say("encode a chunk's KV, ms", bench.milliseconds(lambda: codec.encode(kept, records[0])))
    bench.say("view of three, turned, ms", bench.milliseconds(lambda: codec.place(records, view.keys, view.values, [3.0, 30.0, 300.0])))
    bench.say("view of three, as stored, ms", bench.milliseconds(lambda: codec.place(records, view.keys, view.values, None)))


def check_out_of_memory(bench: Bench) -> None:
    """With too little memory the full model is refused or fails, and the small one loads and plays in the same process."""
    if bench.device.type != "cuda":
        return
    torch.cuda.set_per_process_memory_fraction(4 / (torch.cuda.get_device_properties(bench.device).total_memory / 1e9))
    try:
        UNIVERSAL.load({"random-weights": "yes"}, bench.device).close()
        raise AssertionError("the full model fitted into 4 GB")
    except WorldPagerError as error:
        bench.say("out of memory", str(error))
    finally:
        _free()
    small = UNIVERSAL.load({"random-weights": "yes", "size": "small"}, bench.device)
    frames = [len(chunk.frames) for chunk in small.begin(1, False)]
    frames.append(len(small.step([Pose(0, 0, 0, 0, 0)] * 12, 0).frames))
    small.close()
    torch.cuda.set_per_process_memory_fraction(1.0)
    bench.say("afterwards the small model plays", frames)


class Turning:
    """Holds a turn key: every twenty chunks the same views come again, so that old chunks are wanted all the time."""

    def next(self, seconds: float) -> Action:
        """See `ActionSource`."""
        return Action(Button.TURN_LEFT)


def play_paced(bench: Bench, options: argparse.Namespace) -> None:
    """The whole street at a fixed rate, spilling."""
    config = default_config("matrix-game-2")
    size = {} if bench.full else {"size": "small"}
    given = {"random-weights": "yes", "rate": str(options.rate), "decoder": options.decoder, "steps": str(options.steps), **size}
    budget = options.host_budget or (6 * GiB if bench.full else 1 << 20)
    memory = replace(config.memory, host_budget=budget, disk_dir=options.disk or Path(tempfile.gettempdir()), device_slots=options.slots)
    memory = replace(memory, disk_budget=options.disk_budget * GiB if bench.full else 64 << 20)
    config = replace(config, device=bench.device.type, memory=memory, model_options=given)
    bench.gigabytes()
    report = play_headless(config, HeadlessRun(Turning(), options.paced_chunks, "turning", real_time=True))
    for name in (
        "chunks", "seconds", "generated_fps", "chunk_ms_median", "chunk_ms_p95", "stage_ms_mean", "stalls_over_half_ms", "longest_wait_ms",
        "blocks_wanted", "blocks_missed", "spilled_blocks", "blocks_refused", "evicted_blocks", "disk_read_bytes", "disk_written_bytes",
        "host_peak_bytes", "degraded",
    ):  # fmt: skip
        bench.say(f"paced: {name}", report[name])
    stages = report["stage_ms_mean"]
    own = sum(ms for name, ms in stages.items() if name not in ("generate", "pose"))
    bench.say("paced: memory's share of a chunk", f"{own / max(1e-9, sum(stages.values())):.2%}")
    bench.say("paced: peak GB", bench.gigabytes())


def _free() -> None:
    gc.collect()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()


def make_parser() -> argparse.ArgumentParser:
    """The command line."""
    p = argparse.ArgumentParser(prog="worldpager bench matrix-game2", description=__doc__)
    p.add_argument("--device", default="auto", choices=("auto", "cpu", "cuda"))
    p.add_argument("--size", default="auto", choices=("auto", "full", "small"))
    p.add_argument("--json", type=Path)
    p.add_argument("--card", type=float, help="allow no more than this many GB of the GPU's memory")
    p.add_argument("--compile", action="store_true", help="measure with compiled small steps, too")
    p.add_argument("--skip-stages", action="store_true", help="only what must hold, and the paced run")
    p.add_argument("--paced-chunks", type=int, default=0)
    p.add_argument("--rate", type=float, default=16.0, help="frames a second of the paced run")
    p.add_argument("--steps", type=int, default=3, choices=tuple(STEPS))
    p.add_argument("--decoder", default="wan", choices=("wan", "tiny"))
    p.add_argument("--slots", type=int, default=12)
    p.add_argument("--host-budget", type=int, help="bytes (6 GiB)")
    p.add_argument("--disk", type=Path)
    p.add_argument("--disk-budget", type=int, default=40, help="GiB")
    return p


def main(arguments: list[str] | None = None) -> int:
    """Run, print, and write JSON if asked."""
    options = make_parser().parse_args(arguments)
    device = pick_device(options.device)
    bench = Bench(device, options.size == "full" or (options.size == "auto" and device.type == "cuda"))
    if device.type == "cuda":
        bench.say("device", torch.cuda.get_device_name(device))
        torch.backends.cudnn.benchmark = True
        check_out_of_memory(bench)
        if options.card:
            torch.cuda.set_per_process_memory_fraction(min(1.0, options.card * 1e9 / torch.cuda.get_device_properties(device).total_memory))
    wanted = needed(Design.of(PUBLISHED["universal"]), MatrixGameOptions(), torch.device("cuda"), options.slots)
    wanted["sum"] = sum(wanted.values())
    bench.say("reckoned need of the full size, GB", {name: round(size / 1e9, 2) for name, size in wanted.items()})
    parts = random_parts(Design.of(PUBLISHED["universal"]) if bench.full else Design.small("universal"), True, device)
    bench.say("loaded, GB", bench.gigabytes())
    check_view(bench, Stages(parts, 3, True, False))
    if device.type == "cuda":
        check_graphs(bench, parts)
    if not options.skip_stages:
        for graphs, compiled in ((False, False), (True, False), (True, True)):
            if (graphs and device.type != "cuda") or (compiled and not options.compile):
                continue
            measure(bench, parts, graphs, compiled)
        measure_decoders(bench, parts)
        measure_memory(bench, parts)
    del parts
    _free()
    if options.paced_chunks:
        play_paced(bench, options)
    if options.json:
        options.json.write_text(json.dumps(bench.found, indent=1, default=str))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
