"""A workspace of a million tokens: ``python -m worldpager.engine.bench.workspace_scale [--weights PATH]``.

Reads in text window after window, blocks going to host and disk, and asks at several sizes: memory on the device, time to rebuild a view,
time to the first word, tokens a second, bytes on each tier, size of the index. With ``--weights`` (a GGUF file or a folder) codes are
hidden in the text and asked for; without, weights of SmolLM2-135M's shape are drawn at random: speed and space, no quality. On a
machine without a GPU everything is reduced. ``--blocks`` measures index and bookkeeping alone, on stand-in blocks.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import torch

from worldpager.engine.bench._workspace_tasks import THINGS, prose
from worldpager.engine.config import CodecConfig, GiB, MemoryConfig
from worldpager.engine.memory.store import BlockStore
from worldpager.engine.models.base import BlockKV, KVShape, RotarySpec
from worldpager.engine.models.causal_lm.config import LMConfig
from worldpager.engine.models.causal_lm.load import LoadedLM, load_lm
from worldpager.engine.models.causal_lm.network import CausalLM
from worldpager.engine.models.causal_lm.rotary import rotated
from worldpager.engine.models.causal_lm.tokenizer import Frame, Rendered
from worldpager.engine.models.causal_lm.weights import random_weights
from worldpager.engine.retrieval.mean_k import MeanK
from worldpager.engine.retrieval.mean_k_index import MeanKeyIndex
from worldpager.engine.retrieval.mean_k_rescored import RescoredMeanK
from worldpager.engine.retrieval.text_query import TextPolicy
from worldpager.engine.types import BlockId
from worldpager.engine.workspace.config import BLOCK_TOKENS, WorkspaceConfig
from worldpager.engine.workspace.parts import make_store
from worldpager.engine.workspace.street import WorkspaceStreet

SMOLLM2 = LMConfig("llama", "random numbers in SmolLM2-135M's shape", 30, 576, 1536, 9, 3, 64, 49152, 8192, 100000.0, 1e-5, False, True)
SMALL = replace(SMOLLM2, name="random numbers in a small shape", layers=3, width=192, hidden=384, vocab=2048)
MIB = 1 << 20


class RandomWords:
    """Stands for a tokenizer where weights know no words."""

    stops: frozenset[int] = frozenset()

    def __init__(self, size: int) -> None:
        self.size = size

    def encode(self, text: str) -> list[int]:
        """Numbers that depend on the text's letters."""
        return [ord(letter) % self.size for letter in text]

    def decode(self, tokens: Sequence[int]) -> str:
        """Numbers as text."""
        return " ".join(map(str, tokens))

    def frame(self, system: str) -> Frame:
        """A few numbers for each turn."""
        return Frame((1,) * 16, (2,) * 4, (3,) * 4)

    def chat(self, messages: Sequence[Any], *, answer: bool = True) -> Rendered:
        """Not used here."""
        raise NotImplementedError


@dataclass(slots=True)
class Asked:
    """One measurement. Times in seconds, sizes in MiB."""

    tokens: int
    policy: str
    select: float
    rebuild: float
    first_word: float
    per_second: float
    moved: int
    live: float
    peak: float
    right: bool | None
    tiers: dict[str, float] = field(default_factory=dict)
    index: float = 0.0


def main(arguments: list[str] | None = None) -> int:
    """Measure, print, write JSON if asked."""
    p = argparse.ArgumentParser(prog="worldpager bench workspace-scale", description=__doc__)
    p.add_argument("--weights", type=Path, help="a GGUF file or a folder of safetensors")
    p.add_argument("--tokens", type=int, help="size of the workspace (1,000,000 on a GPU, 12,000 without)")
    p.add_argument("--budget", type=int, help="tokens of a view, the question included (6,144; 512 without a GPU)")
    p.add_argument("--chunk", type=int, help="tokens read at once (2,048; 256 without a GPU)")
    p.add_argument("--bits", type=int, default=4)
    p.add_argument("--prototypes", type=int, default=4)
    p.add_argument("--host", type=float, help="GiB of host memory for blocks (2; 0.008 without a GPU)")
    p.add_argument("--disk", type=Path, default=Path(tempfile.gettempdir()))
    p.add_argument("--blocks", type=int, help="stand-in blocks, for index and bookkeeping (312,500 = 10 M tokens; 4,000 without a GPU)")
    p.add_argument("--json", type=Path)
    a = p.parse_args(arguments)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    large = device.type == "cuda"
    lm = make_model(a.weights, device, large)
    total = a.tokens or (1_000_000 if large else 12_000)
    config = WorkspaceConfig(
        budget=a.budget or (6144 if large else 512), recent=512 if large else 64, chunk=a.chunk or (2048 if large else 256), answer=32,
        memory=MemoryConfig(
            codec=CodecConfig(bits=a.bits, key_group=BLOCK_TOKENS, value_group=32), device_slots=1024 if large else 64,
            host_budget=int((a.host or (2 if large else 0.008)) * GiB), disk_dir=a.disk, disk_budget=(32 if large else 1) * GiB,
            watermark=2048 if large else 16, read_threads=8,
        ),
    )  # fmt: skip
    size = f"{lm.model.config.parameters / 1e6:.1f} M parameters on {device} ({lm.model.dtype})"
    print(f"{lm.model.config.name}: {size}; view {config.budget} tokens, {a.bits} bits, {a.prototypes} prototypes a block", flush=True)
    report: dict[str, Any] = {"model": lm.model.config.name, "real_weights": a.weights is not None, "device": str(device)}
    report["asked"], report["read"] = measure(lm, config, total, a.prototypes, real=a.weights is not None)
    blocks = a.blocks if a.blocks is not None else (312_500 if large else 4_000)
    if blocks:
        report["stand_in"] = stand_in(lm.model.config, blocks, device)
    if a.json:
        a.json.write_text(json.dumps(report, indent=1, default=asdict) + "\n")
    return 0


def make_model(weights: Path | None, device: torch.device, large: bool) -> LoadedLM:
    """The real model, or random numbers in its shape."""
    if weights is not None:
        return load_lm(weights, device)
    shape = SMOLLM2 if large else SMALL
    model = CausalLM(shape, random_weights(shape, device, torch.bfloat16 if large else torch.float32))
    return LoadedLM(model, RandomWords(shape.vocab))  # type: ignore[arg-type]


def measure(lm: LoadedLM, config: WorkspaceConfig, total: int, prototypes: int, *, real: bool) -> tuple[list[Asked], dict[str, float]]:
    """Read ``total`` tokens, asking at a few sizes."""
    c, device = lm.model.config, lm.model.device
    index = MeanKeyIndex(c.layers, c.kv_heads, c.head_dim, prototypes=prototypes, device=device)
    policies: list[TextPolicy] = [MeanK(index), RescoredMeanK(index, power=2)]
    store = make_store(c, config, device)
    street = WorkspaceStreet(lm, store, policies[0], config)
    marks = [size for size in (65_536, 262_144, 1_000_000, 4_000_000) if size < total] + [total]
    if total < 100_000:
        marks = [total // 4, total]
    street.begin()
    asked: list[Asked] = []
    texts = Text(lm, total, real)
    spent, began = 0.0, time.perf_counter()
    for mark in marks:
        began = time.perf_counter()
        while len(street.repository.tokens) < mark:
            for _ in street.read(texts.more(config.chunk * 8)):
                pass
        wait_for(device)
        spent += time.perf_counter() - began
        print(f"\n{len(street.repository.tokens):,} tokens, {len(street.repository.blocks):,} blocks read in {spent:.1f} s", flush=True)
        for policy in policies:
            street.policy = policy
            for question, answer in texts.questions(3):
                asked.append(ask(street, store, question, answer, index))
                show(asked[-1])
        check_placing(street, lm)
    first, last = asked[0].live, asked[-1].live
    rate = (len(street.repository.tokens)) / spent
    print(f"\nread at {rate:,.0f} tokens a second; device memory {first:.0f} MiB at {asked[0].tokens:,} tokens and {last:.0f} MiB at "
          f"{asked[-1].tokens:,}: {(last / first - 1) * 100 if first else 0:+.2f} %", flush=True)  # fmt: skip
    lost = len(street.repository.given_up)
    counters = store.counters()
    written, back = counters.disk_written_bytes / GiB, counters.disk_read_bytes / MIB
    print(f"{lost} blocks given up, {counters.spilled_blocks:,} written ({written:.2f} GiB), {back:.0f} MiB read back, "
          f"{counters.failed_moves} moves failed; {store.degraded()}", flush=True)  # fmt: skip
    store.close()
    return asked, {"tokens_per_second": rate, "given_up": lost, "written_gib": written, "failed": counters.failed_moves}


class Text:
    """Prose with codes in it; the codes to ask for. Random numbers where the weights know no words."""

    def __init__(self, lm: LoadedLM, total: int, real: bool) -> None:
        import random

        self._lm, self._real, self._draw = lm, real, random.Random(7)
        self._hidden: list[tuple[str, str]] = []
        self._paragraphs = [lm.tokenizer.encode(paragraph + "\n") for paragraph in prose(400_000, self._draw)] if real else []
        self._at = 0
        self._codes = 0

    def more(self, count: int) -> list[int]:
        """About ``count`` tokens; one code in every 16,384."""
        if not self._real:
            return [self._draw.randrange(self._lm.tokenizer.size) for _ in range(count)]
        made: list[int] = []
        while len(made) < count:
            made += self._paragraphs[self._at % len(self._paragraphs)]
            self._at += 1
        place = f"{THINGS[self._codes % len(THINGS)]} number {self._codes + 1}"
        code = str(self._draw.randrange(10000, 99999))
        self._codes += 1
        self._hidden.append((f"What is the access code of the {place}?", code))
        at = self._draw.randrange(len(made))
        return made[:at] + self._lm.tokenizer.encode(f"\nThe access code of the {place} is {code}.\n") + made[at:]

    def questions(self, count: int) -> list[tuple[str, str]]:
        """Questions about codes read so far, and their answers."""
        if not self._real:
            return [(f"what was said at place {number}?", "") for number in range(count)]
        return self._draw.sample(self._hidden, min(count, len(self._hidden)))


def ask(street: WorkspaceStreet, store: BlockStore, question: str, answer: str, index: MeanKeyIndex) -> Asked:
    """Ask once. The answer's turn joins the workspace, as in use."""
    device = street.lm.model.device
    wait_for(device)
    if device.type == "cuda":
        torch.cuda.reset_peak_memory_stats()
    said = "".join(street.ask(question))
    wait_for(device)
    step = street.last
    assert step is not None
    live, peak = ((torch.cuda.memory_allocated() / MIB, torch.cuda.max_memory_allocated() / MIB) if device.type == "cuda" else (0.0, 0.0))
    seconds = step.seconds
    first_word = seconds["listen"] + seconds["select"] + seconds["build"] + seconds["replay"]
    return Asked(
        len(street.repository.tokens), street.policy.name, seconds["select"], seconds["select"] + seconds["build"], first_word,
        step.answer_tokens / max(seconds["answer"], 1e-9), step.moved, live, peak, (answer in said) if answer else None,
        {tier.name: tier.used_bytes / MIB for tier in store.tiers()}, index.host_bytes / MIB,
    )  # fmt: skip


def show(row: Asked) -> None:
    """One line."""
    tiers = ", ".join(f"{name} {size:,.0f}" for name, size in row.tiers.items())
    right = "" if row.right is None else (" right" if row.right else " wrong")
    print(f"  {row.policy:10s} select {row.select * 1e3:7.1f} ms, view rebuilt in {row.rebuild * 1e3:7.1f} ms ({row.moved} blocks moved), "
          f"first word {row.first_word * 1e3:7.1f} ms, {row.per_second:6.1f} tokens/s; device {row.live:,.0f} MiB (peak {row.peak:,.0f}), "
          f"index {row.index:,.0f} MiB; tiers in MiB: {tiers}{right}", flush=True)  # fmt: skip


def check_placing(street: WorkspaceStreet, lm: LoadedLM) -> None:
    """Old blocks in a view must be their own keys, turned to where they stand. Raises AssertionError."""
    blocks = list(street.repository.blocks)[:: max(1, len(street.repository.blocks) // 8)][:8]
    view = lm.model.new_view(len(blocks) * BLOCK_TOKENS)
    got, raw = street.keys(blocks)
    street.fill(view, got)
    assert view.length == len(got) * BLOCK_TOKENS, f"{len(got)} of {len(blocks)} blocks came back"
    for layer in range(lm.model.config.layers):
        baked = rotated(raw[layer].flatten(0, 1), lm.model.turns.at(0, view.length))
        torch.testing.assert_close(view.keys[layer, : view.length].float(), baked, rtol=2e-2, atol=2e-2 * float(baked.abs().max()))


def stand_in(c: LMConfig, blocks: int, device: torch.device) -> dict[str, float]:
    """Index and store with ``blocks`` blocks that no model made: times in seconds, sizes in MiB."""
    index = MeanKeyIndex(c.layers, c.kv_heads, c.head_dim, device=device)
    means = torch.randn(c.layers, 1024, 1, c.kv_heads, c.head_dim, generator=torch.Generator().manual_seed(0)).half()
    began = time.perf_counter()
    for first in range(0, blocks, 1024):
        index.add([BlockId(number) for number in range(first, min(first + 1024, blocks))], means[:, : min(1024, blocks - first)])
    filled = time.perf_counter() - began
    queries = torch.randn(c.layers, 24, c.heads, c.head_dim, generator=torch.Generator().manual_seed(1))
    seconds = timed(lambda: index.shares(queries), device)
    kv = KVShape(1, BLOCK_TOKENS, 1, 8)
    codec = CodecConfig(bits=16)
    memory = MemoryConfig(codec=codec, device_slots=1024, host_budget=blocks * 4096 + 64 * MIB)
    store = BlockStore(memory, kv, RotarySpec(), torch.device("cpu"))
    block = BlockKV(torch.zeros(1, BLOCK_TOKENS, 1, 8), torch.zeros(1, BLOCK_TOKENS, 1, 8))
    began = time.perf_counter()
    for _ in range(blocks):
        store.put(block)
    put = (time.perf_counter() - began) / blocks
    wanted = [BlockId(number) for number in range(0, blocks, max(1, blocks // 512))][:512]
    take = timed(lambda: store.take(wanted), torch.device("cpu"))
    store.close()
    size = index.host_bytes / MIB
    made = {"blocks": blocks, "index_mib": size, "index_fill_s": filled, "score_s": seconds, "put_us": put * 1e6, "take_512_ms": take * 1e3}
    print(f"\nstand-in of {blocks:,} blocks ({blocks * BLOCK_TOKENS:,} tokens): index {size:,.0f} MiB, scored in {seconds * 1e3:.1f} ms "
          f"(24 query tokens); put {put * 1e6:.1f} µs a block, take of 512 blocks {take * 1e3:.2f} ms", flush=True)  # fmt: skip
    return made


def timed(work: Callable[[], object], device: torch.device) -> float:
    """Median seconds of three runs after one to warm up."""
    times = []
    for _ in range(4):
        wait_for(device)
        began = time.perf_counter()
        work()
        wait_for(device)
        times.append(time.perf_counter() - began)
    return sorted(times[1:])[1]


def wait_for(device: torch.device) -> None:
    """Until the device has done what it was given."""
    if device.type == "cuda":
        torch.cuda.synchronize()


if __name__ == "__main__":
    raise SystemExit(main())
