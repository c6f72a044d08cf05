"""The tiny world model as the street sees it: options, opening, chunks, and settings measured on this machine."""

from __future__ import annotations

import math
import os
import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

from worldpager.engine.errors import InputError
from worldpager.engine.models.base import ChunkOutput, KVShape, MemoryView, ModelSpec, PastChunk, RotarySpec
from worldpager.engine.models.tiny import opening
from worldpager.engine.models.tiny.clearance import clearance
from worldpager.engine.models.tiny.network import HEAD, TIME_FREQUENCIES, TinyNetwork
from worldpager.engine.models.tiny.player import Player
from worldpager.engine.models.tiny.render import FOV_X, HEIGHT, SIGHT, WIDTH, Scene
from worldpager.engine.models.tiny.rollout import MEMORY_OFFSET, SCHEDULES
from worldpager.engine.models.tiny.weights import in_type, load_network, shipped_weights
from worldpager.engine.types import FieldOfView, Frames, Motion, Pose

RATE = 14.0
OVERHEAD = 0.25
"""Share of a chunk's time that the rest of the street and the window take. Automatic passes keep the natural rate; a third one adds little:
taken on a machine where it just fits alone, it makes 9.5 frames a second beside full panels where two make 13."""
MOST_THREADS = 16
MEASURING = 1.2
"""Seconds that measuring may take, about."""
MOTION = Motion(walk=0.085, run=0.15, turn=0.075, look=0.04, pitch_limit=0.45, eye_height=opening.EYE, turn_limit=0.2)
CHOICES = {"passes": ("auto", "2", "3", "4"), "window": ("1", "2"), "retrieved": ("0", "1", "2", "3", "4")}


@dataclass(frozen=True, slots=True)
class TinyOptions:
    """Settings by their option names; ``passes`` and ``threads`` None = measured at start."""

    passes: int | None = None
    window: int = 2
    retrieved: int = 2
    threads: int | None = None
    weights: Path | None = None

    @classmethod
    def read(cls, options: Mapping[str, str]) -> TinyOptions:
        """From ``name=value`` texts. Raises `InputError` for unknown names and values out of range."""
        cores = tuple(str(n) for n in range(1, (os.cpu_count() or 1) + 1))
        choices = {**CHOICES, "threads": ("auto", *cores)}
        for name, text in options.items():
            if name != "weights" and name not in choices:
                raise InputError(f"The tiny model has no option {name!r}.", f"Its options are {', '.join(choices)}, weights.")
            if name != "weights" and text not in choices[name]:
                raise InputError(f"The tiny model's option {name}={text} is not possible.", f"Choose one of {', '.join(choices[name])}.")
        numbers = {name: int(text) for name, text in options.items() if name != "weights" and text != "auto"}
        return cls(**numbers, weights=Path(options["weights"]) if "weights" in options else None)


class TinyModel:
    """The tiny world model over ``network``, which lies on its device already.

    ``threads`` is what the thread that calls `step` should set; ``settings`` says what was chosen, for reports.
    """

    def __init__(self, network: TinyNetwork, options: TinyOptions) -> None:
        c, self._network = network.config, network
        self._player = Player(network, options.window, options.retrieved)
        self.threads = options.threads or torch.get_num_threads()
        self.passes = options.passes or 3
        vertical = 2 * math.atan(math.tan(FOV_X / 2) * HEIGHT / WIDTH)
        self._spec = ModelSpec(
            name="tiny", frames_per_chunk=c.frames, width=WIDTH, height=HEIGHT, rate=RATE,
            kv=KVShape(c.layers, c.tokens, c.heads, HEAD), rotary=RotarySpec(0, TIME_FREQUENCIES), retrieved=options.retrieved,
            window=options.window, memory_offset=MEMORY_OFFSET, view=FieldOfView(FOV_X, vertical, SIGHT),
        )  # fmt: skip

    @classmethod
    def load(cls, options: Mapping[str, str], device: torch.device) -> TinyModel:
        """The shipped model (or that of option ``weights``) on ``device``, with what ``options`` leave open measured there.

        Raises `InputError` or `WeightsError`.
        """
        read = TinyOptions.read(options)
        network = load_network(read.weights or shipped_weights()).to(device)
        model = cls(in_type(network, torch.bfloat16 if device.type == "cuda" else torch.float32), read)
        model.measure(read)
        return model

    @property
    def spec(self) -> ModelSpec:
        """Constants by the options."""
        return self._spec

    @property
    def motion(self) -> Motion:
        """A person's walk, within what training saw."""
        return MOTION

    @property
    def device(self) -> torch.device:
        """Where the network lies."""
        return self._player.device

    @property
    def memory_view(self) -> MemoryView:
        """The retrieved slots of the context itself."""
        return self._player.context.view

    @property
    def settings(self) -> dict[str, str]:
        """What was chosen, by option name."""
        kind = str(self.memory_view.keys.dtype).removeprefix("torch.")
        spec = self._spec
        numbers = {"passes": self.passes, "window": spec.window, "retrieved": spec.retrieved, "threads": self.threads}
        return {**{name: str(number) for name, number in numbers.items()}, "dtype": kind}

    def begin(self, seed: int, prime: bool) -> Iterator[ChunkOutput]:
        """Rendered chunks that the model remembers as if it had made them: around and some steps ahead and back, or one."""
        self._player.reset(seed)
        world = opening.played_world(seed)
        scene = Scene.of([world], self.device)
        for poses in opening.opening_poses(world, prime, self._spec.frames_per_chunk):
            pictures = opening.rendered(scene, poses)
            tokens = self._player.write(pictures[None].float() / 127.5 - 1, torch.tensor(poses, dtype=torch.float32))
            yield self._output(pictures, poses, tokens)

    def step(self, poses: Sequence[Pose], retrieved: int) -> ChunkOutput:
        """The next chunk; the same for the same seed, number of the chunk, poses and memory."""
        at = torch.tensor(poses, dtype=torch.float32)
        picture, tokens = self._player.generate(at, retrieved, self.passes)
        return self._output(((picture[0].clamp(-1, 1) + 1) * 127.5).round().to(torch.uint8), poses, tokens)

    def restore(self, seed: int, number: int, sink: PastChunk, newest: Sequence[PastChunk]) -> None:
        """See `Resumable`."""
        self._player.stand(seed, number + 1, newest[0].poses[-1])
        self._player.context.put_back(sink.kv, [past.kv for past in newest])

    def window_state(self) -> dict[str, Tensor]:
        """See `Resumable`."""
        return self._player.context.state()

    def take_window_state(self, state: Mapping[str, Tensor]) -> None:
        """See `Resumable`."""
        self._player.context.take_state(state)

    @torch.no_grad()
    def _output(self, pictures: Tensor, poses: Sequence[Pose], tokens: Tensor) -> ChunkOutput:
        """A chunk with pictures uint8 [F, 3, h, w]."""
        frames: Frames = pictures.permute(0, 2, 3, 1).contiguous().cpu().numpy()
        free = clearance(self._network.head.inverse_depth(tokens)[0, -1], poses[-1])
        return ChunkOutput(frames, tuple(poses), self._player.context.own(), free)

    def close(self) -> None:
        """Let go of weights and buffers."""
        del self._player, self._network

    def measure(self, options: TinyOptions, clock: Callable[[], float] = time.perf_counter) -> None:
        """Choose the threads with the fastest pass, then as many usual passes as keep the natural rate, where ``options`` don't say."""
        counts = [options.threads] if options.threads else thread_counts(os.cpu_count() or 1, self.device)
        seconds = {count: [0.0] for count in counts}
        if options.passes is None or len(counts) > 1:
            seconds = self._pass_seconds(counts, clock)
        self.threads = min(seconds, key=lambda count: min(seconds[count]))
        torch.set_num_threads(self.threads)
        room = self._spec.frames_per_chunk / RATE * (1 - OVERHEAD)
        fitting = [n for n in SCHEDULES if n * statistics.median(seconds[self.threads]) <= room]
        self.passes = options.passes or max(fitting, default=min(SCHEDULES))

    def _pass_seconds(self, counts: Sequence[int], clock: Callable[[], float]) -> dict[int, list[float]]:
        """Seconds of passes with a full context on each number of threads, in rounds that take about `MEASURING` seconds.

        What is made once is made before; the counts take turns, so that a busy moment of the machine is no count's bad luck alone.
        """
        self._player.trial()
        seconds: dict[int, list[float]] = {count: [] for count in counts}
        spent, rounds = 0.0, 0
        while rounds < 2 or spent < MEASURING:
            for count in counts:
                torch.set_num_threads(count)
                began = clock()
                self._player.trial()
                seconds[count].append(clock() - began)
                spent += seconds[count][-1]
            rounds += 1
        return seconds


def thread_counts(cores: int, device: torch.device) -> list[int]:
    """Counts worth trying, most first: all, then halves; a GPU's host needs one."""
    counts = [min(cores, MOST_THREADS)] if device.type == "cpu" else [1]
    while counts[-1] > 1:
        counts.append(counts[-1] // 2)
    return counts
