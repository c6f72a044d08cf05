"""How well a workspace recalls: ``python -m worldpager.engine.bench.workspace --weights PATH [--json FILE]``.

Needles and made-up dated chats (single fact, update, order, facts of two sessions) at several lengths, answered by one model under several
ways to choose what it sees: everything (full), the newest tokens (recency), compaction to a summary of the model's own (compact), the same
with BM25 (compact+bm25), random blocks, BM25 blocks, KVMem's mean keys, several prototypes, exact rescoring, and focused. All but full and
the compacting ones share one reading of the history and one budget. Scores are exact strings; intervals are Wilson's at 95 %. Also: the
attention mass that the chosen blocks capture, the divergence of the next token from full context (nats), and how attention shifts within a
step and across steps.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from worldpager.engine.bench._workspace_tasks import Task, needle, passkey, sessions
from worldpager.engine.config import CodecConfig, GiB, MemoryConfig
from worldpager.engine.models.causal_lm.load import LoadedLM, greedy, load_lm
from worldpager.engine.models.causal_lm.rotary import rotated
from worldpager.engine.retrieval.mean_k_rescored import exact_shares
from worldpager.engine.retrieval.text_baselines import Bm25
from worldpager.engine.retrieval.text_query import NewBlocks, TextPolicy, TextQuery
from worldpager.engine.types import BlockId
from worldpager.engine.workspace.config import BLOCK_TOKENS, WorkspaceConfig
from worldpager.engine.workspace.parts import make_policy, make_store
from worldpager.engine.workspace.street import QUESTION, SYSTEM, WorkspaceStreet

POLICIES = ("recency", "random", "bm25", "mean-k", "prototypes", "rescored", "focused")
TEXT_WAYS = ("compact", "compact+bm25")
KINDS = ("needle", "distracted", "passkey", "single", "update", "order", "multi")
SUMMARY = 64
"""Tokens of a compaction's summary."""


@dataclass(frozen=True, slots=True)
class Trial:
    """One answer. ``mass`` is the share of full attention to the history that the view captures, ``divergence`` in nats."""

    way: str
    kind: str
    length: int
    right: bool
    mass: float
    divergence: float
    gold: float
    seconds: float


def main(arguments: list[str] | None = None) -> int:
    """Measure, print, write JSON if asked."""
    p = argparse.ArgumentParser(prog="worldpager bench workspace", description=__doc__)
    p.add_argument("--weights", type=Path, required=True, help="a GGUF file or a folder of safetensors")
    p.add_argument("--lengths", type=int, nargs="+", default=[1024, 2048, 4096, 7168], help="tokens of history")
    p.add_argument("--tasks", type=int, default=12, help="tasks of each kind and length")
    p.add_argument("--kinds", nargs="+", default=list(KINDS), choices=KINDS)
    p.add_argument("--ways", nargs="+", default=["full", *TEXT_WAYS, *POLICIES])
    p.add_argument("--budget", type=int, default=512, help="tokens of a view, the question included")
    p.add_argument("--bits", type=int, nargs="+", default=[8], help="how finely blocks are kept; all but the first for focused alone")
    p.add_argument("--text-tasks", type=int, default=3, help="tasks of each kind and length for the ways that compact")
    p.add_argument("--seconds", type=float, default=1e9, help="end after this time with what there is")
    p.add_argument("--json", type=Path)
    a = p.parse_args(arguments)
    lm = load_lm(a.weights, torch.device("cuda" if torch.cuda.is_available() else "cpu"))
    parameters = lm.model.config.parameters / 1e6
    name, where = lm.model.config.name, lm.model.device
    print(f"{name}: {parameters:.1f} M parameters on {where}; view {a.budget} tokens, {a.bits[0]} bits", flush=True)
    trials: list[Trial] = []
    deadline = time.monotonic() + a.seconds
    for number in range(a.tasks):  # all kinds and lengths at every stage, so that an early end is a fair sample
        for length in a.lengths:
            for kind in a.kinds:
                if time.monotonic() < deadline:
                    ways = [way for way in a.ways if way not in TEXT_WAYS or number < a.text_tasks]
                    trials += run_task(lm, make_task(lm, kind, number, length, a.tasks), length, ways, a.budget, a.bits)
    table(trials)
    shift = attention_shift(lm) if time.monotonic() < deadline else {}
    if a.json:
        rows = [{name: getattr(trial, name) for name in Trial.__slots__} for trial in trials]
        a.json.write_text(json.dumps({"model": lm.model.config.name, "trials": rows, "shift": shift}) + "\n")
    return 0


def make_task(lm: LoadedLM, kind: str, number: int, length: int, tasks: int) -> Task:
    """The task of a kind, its history cut to ``length`` tokens; needles at graded depths."""
    depth, characters = (number + 0.5) / tasks, round(length * 3.6)
    if kind in ("needle", "distracted"):
        made = needle(number, characters, depth, 3 if kind == "distracted" else 0)
    elif kind == "passkey":
        made = passkey(number, characters, depth)
    else:
        made = sessions(number, round(length * 4.4), kind)
    gold = set(made.gold)
    pieces, room = list(made.pieces), length
    counts = [len(lm.tokenizer.encode(piece)) for piece in pieces]
    while sum(counts) > room:  # drop whole pieces that carry nothing, from the end
        at = next((i for i in reversed(range(len(pieces))) if not any(fact in pieces[i] for fact in gold)), None)
        if at is None:
            break
        del pieces[at], counts[at]
    return replace(made, kind=kind, pieces=tuple(pieces))


def run_task(lm: LoadedLM, task: Task, length: int, ways: Sequence[str], budget: int, bits: Sequence[int]) -> list[Trial]:
    """All ways on one task."""
    trials, full = [], Full(lm, task)
    if "full" in ways:
        trials.append(Trial("full", task.kind, length, task.right(full.answer), 1.0, 0.0, 1.0, full.seconds))
    summary = summarized(lm, task, budget) if set(ways) & set(TEXT_WAYS) else None
    for way in (way for way in ways if summary and way in TEXT_WAYS):
        assert summary
        began = time.monotonic()
        said, logits = compacted(lm, task, budget, way, summary)
        spent = time.monotonic() - began + summary.seconds
        trials.append(Trial(way, task.kind, length, task.right(said), math.nan, full.divergence(logits), math.nan, spent))
    for number, kept in enumerate(bits):
        chosen = [way for way in ways if way in POLICIES] if number == 0 else ["focused"]
        trials += selected(lm, task, length, chosen, budget, kept, full, "" if number == 0 else f" {kept} bits")
    return trials


class Full:
    """The model with the whole history in sight: its answer, its next token, where it looks."""

    def __init__(self, lm: LoadedLM, task: Task) -> None:
        frame = lm.tokenizer.frame(SYSTEM)
        history = [*frame.opening, *(token for piece in task.pieces for token in lm.tokenizer.encode(piece))]
        asked = lm.tokenizer.encode(QUESTION + task.question)
        began = time.monotonic()
        view = lm.model.new_view(len(history) + len(asked) + len(frame.ask) + 40)
        for first in range(0, len(history), 1024):
            lm.model.forward(torch.tensor(history[first : first + 1024]), view, logits="none")
        start, made = view.length, lm.model.forward(torch.tensor(asked), view, logits="none", queries=True)
        assert made.queries is not None
        turned = [turned_queries(lm, made.queries[layer], start) for layer in range(lm.model.config.layers)]
        whole = start // BLOCK_TOKENS
        keys = view.keys[:, : whole * BLOCK_TOKENS].unflatten(1, (whole, BLOCK_TOKENS))
        self.mass = exact_shares(torch.stack(turned), keys)
        logits = lm.model.forward(torch.tensor(frame.ask), view).logits
        assert logits is not None
        self.log_probabilities = logits[-1].log_softmax(-1)
        self.answer = lm.tokenizer.decode(list(greedy(lm.model, view, logits, lm.tokenizer.stops, 24)))
        self.seconds = time.monotonic() - began

    def divergence(self, logits: Tensor) -> float:
        """Of the next token under another view, from this one: nats."""
        other = logits[-1].log_softmax(-1)
        return float((self.log_probabilities.exp() * (self.log_probabilities - other)).sum())


def turned_queries(lm: LoadedLM, queries: Tensor, start: int) -> Tensor:
    """Queries [n, heads, head_dim] at their own positions."""
    return rotated(queries, lm.model.turns.at(start, len(queries)))


def selected(
    lm: LoadedLM, task: Task, length: int, ways: Sequence[str], budget: int, bits: int, full: Full, suffix: str
) -> list[Trial]:
    """The history read in once; every policy asked in turn, the turn forgotten again."""
    c = lm.model.config
    memory = MemoryConfig(codec=CodecConfig(bits=bits, key_group=BLOCK_TOKENS, value_group=32), device_slots=512, host_budget=GiB)
    config = WorkspaceConfig(budget=budget, sink=32, recent=max(32, budget * 8 // 100), chunk=512, answer=24, memory=memory)
    policies = {way: make_policy(way, c, lm.model.device) for way in ways}
    store = make_store(c, config, lm.model.device)
    both = Together(list(policies.values()))
    street = WorkspaceStreet(lm, store, both, config)
    trials = []
    try:
        street.begin()
        for piece in task.pieces:
            street.read_text(piece)
        blocks = list(street.repository.blocks)
        gold = {number for number in blocks if any(near(fact, street, number) for fact in task.gold)}
        for way, policy in policies.items():
            both.ranking = policy
            began = time.monotonic()
            mark = street.mark()
            said = "".join(street.ask(task.question))
            step = street.last
            assert step is not None
            assert step.first_logits is not None
            chosen = set(step.selection.ids)
            rows = [row for row, number in enumerate(blocks) if number in chosen and row < len(full.mass)]
            found = len(gold & chosen) / len(gold) if gold else math.nan
            trials.append(
                Trial(way + suffix, task.kind, length, task.right(said), float(full.mass[rows].sum()), full.divergence(step.first_logits),
                      found, time.monotonic() - began)
            )  # fmt: skip
            street.rewind(mark)
    finally:
        store.close()
    return trials


def near(fact: str, street: WorkspaceStreet, number: BlockId) -> bool:
    """Whether a block holds a good part of a fact's end, where the answer stands."""
    return fact.rstrip(".").split()[-1] in street.repository.text(number)


class Together:
    """Several policies that index the same blocks; ``ranking`` answers."""

    name = "together"

    def __init__(self, policies: list[TextPolicy]) -> None:
        self._policies, self.ranking = policies, policies[0]

    def __len__(self) -> int:
        return len(self.ranking)

    def add(self, blocks: NewBlocks) -> None:
        """To all."""
        for policy in self._policies:
            policy.add(blocks)

    def drop(self, blocks: Any) -> None:
        """From all."""
        gone = list(blocks)
        for policy in self._policies:
            policy.drop(gone)

    def rank(self, query: TextQuery, wanted: int, exclude: Any, keys_of: Any) -> Any:
        """By the one that ranks."""
        return self.ranking.rank(query, wanted, exclude, keys_of)


@dataclass(frozen=True, slots=True)
class Summary:
    """A compaction: the model's running summary, and the tokens since."""

    said: list[int]
    fresh: list[int]
    seconds: float


def summarized(lm: LoadedLM, task: Task, budget: int) -> Summary:
    """The history, compacted each time it fills the window."""
    frame, words, began = lm.tokenizer.frame(SYSTEM), lm.tokenizer, time.monotonic()
    please = [*words.encode("\nSummarize the facts above, names and numbers included."), *frame.ask]
    window = budget - SUMMARY - len(frame.opening) - len(please)
    summary: list[int] = []
    fresh: list[int] = []
    for piece in task.pieces:
        fresh += words.encode(piece)
        while len(fresh) > window:
            part, fresh = fresh[:window], fresh[window:]
            summary = say(lm, [*frame.opening, *summary, *part, *please], SUMMARY)[0]
    return Summary(summary, fresh, time.monotonic() - began)


def compacted(lm: LoadedLM, task: Task, budget: int, way: str, compaction: Summary) -> tuple[str, Tensor]:
    """An answer from the summary and the newest text; with BM25 also from snippets that share words with the question."""
    frame, words = lm.tokenizer.frame(SYSTEM), lm.tokenizer
    asked = [*words.encode(QUESTION + task.question), *frame.ask]
    summary, fresh, snippets = compaction.said, compaction.fresh, []
    room = budget - len(frame.opening) - len(asked) - len(summary)
    if way.endswith("bm25"):
        history = [token for piece in task.pieces for token in words.encode(piece)]
        texts = [words.decode(history[at : at + BLOCK_TOKENS]) for at in range(0, len(history), BLOCK_TOKENS)]
        index, nothing = Bm25(), torch.zeros(0)
        index.add(NewBlocks(tuple(BlockId(i) for i in range(len(texts))), nothing, nothing, tuple(texts)))
        best = index.rank(TextQuery(nothing, task.question), 0, (), lambda ids: ([], nothing)).best(max(0, room // 2 // BLOCK_TOKENS))
        snippets = [token for number in sorted(best) for token in words.encode(texts[number] + "\n")][: max(0, room // 2)]
    newest = fresh[-max(1, room - len(snippets)) :]
    said, logits = say(lm, [*frame.opening, *summary, *words.encode("\n"), *snippets, *newest, *asked], 24)
    return words.decode(said), logits


def say(lm: LoadedLM, prompt: list[int], limit: int) -> tuple[list[int], Tensor]:
    """A greedy answer, and the logits of its first token."""
    view = lm.model.new_view(len(prompt) + limit)
    logits = lm.model.forward(torch.tensor(prompt), view).logits
    assert logits is not None
    return list(greedy(lm.model, view, logits, lm.tokenizer.stops, limit)), logits


def table(trials: list[Trial]) -> None:
    """By way and kind, by way and length, and what is continuous."""
    ways = list(dict.fromkeys(trial.way for trial in trials))
    for title, key in (("kind", lambda trial: trial.kind), ("length", lambda trial: str(trial.length))):
        names = list(dict.fromkeys(map(key, trials)))
        print(f"\nright answers by {title}\n| way | " + " | ".join(names) + " | all |\n|" + " --- |" * (len(names) + 2))
        for way in ways:
            own = [trial for trial in trials if trial.way == way]
            cells = [share([trial.right for trial in own if key(trial) == name]) for name in names]
            print(f"| {way} | " + " | ".join(cells) + f" | {share([trial.right for trial in own], interval=True)} |")
    print("\n| way | gold blocks in view | attention mass captured | next-token divergence, nats | seconds |\n|" + " --- |" * 5)
    grouped: dict[str, list[Trial]] = defaultdict(list)
    for trial in trials:
        grouped[trial.way].append(trial)
    for way, own in grouped.items():
        cells = [mean([getattr(trial, name) for trial in own]) for name in ("gold", "mass", "divergence", "seconds")]
        print(f"| {way} | " + " | ".join(cells) + " |", flush=True)


def share(right: list[bool], *, interval: bool = False) -> str:
    """Right of all, with Wilson's interval."""
    n = len(right)
    if not n:
        return "-"
    part, z = sum(right) / n, 1.96
    middle, half = part + z * z / 2 / n, z * math.sqrt(part * (1 - part) / n + z * z / 4 / n / n)
    low, high = (middle - half) / (1 + z * z / n), (middle + half) / (1 + z * z / n)
    return f"{sum(right)}/{n} = {part:.0%} ({low:.0%}-{high:.0%})" if interval else f"{sum(right)}/{n}"


def mean(values: list[float]) -> str:
    """Mean and its standard error of the numbers that are numbers."""
    real = [value for value in values if not math.isnan(value)]
    if not real:
        return "-"
    middle = sum(real) / len(real)
    error = math.sqrt(sum((value - middle) ** 2 for value in real) / max(1, len(real) - 1) / len(real))
    return f"{middle:.3f} ± {error:.3f}"


def attention_shift(lm: LoadedLM, steps: int = 5) -> dict[str, float]:
    """How far attention over blocks moves: windows of 128 tokens, stride 32, sink dropped, bits, within a step and across a boundary.

    A step is a question of its own kind over one long history, and what the model writes about it.
    """
    text = "".join(piece for number in range(3) for piece in sessions(number, 6000, "single").pieces)
    history, frame = lm.tokenizer.encode(text)[:3072], lm.tokenizer.frame(SYSTEM)
    shares: list[Tensor] = []
    borders: list[int] = []
    view = lm.model.new_view(len(history) + steps * 400)
    lm.model.forward(torch.tensor([*frame.opening, *history]), view, logits="none")
    whole = view.length // BLOCK_TOKENS
    keys = view.keys[:, : whole * BLOCK_TOKENS].unflatten(1, (whole, BLOCK_TOKENS)).clone()
    for step in range(steps):
        task = sessions(step % 3, 6000, "single")
        text = f"\nQuestion: {task.question} Then tell me about {('bees', 'bread', 'tea', 'the sky', 'hikes')[step % 5]}."
        start = view.length
        prompt = torch.tensor([*lm.tokenizer.encode(text), *frame.ask])
        made = lm.model.forward(prompt, view, queries=True)
        assert made.logits is not None
        assert made.queries is not None
        queries, logits = [made.queries], made.logits
        while sum(q.shape[1] for q in queries) < 224:
            following = lm.model.forward(logits[-1].argmax()[None].cpu(), view, queries=True)
            assert following.logits is not None
            assert following.queries is not None
            queries.append(following.queries)
            logits = following.logits
        joined = torch.cat(queries, 1)
        turned = torch.stack([turned_queries(lm, layer, start) for layer in joined])
        borders.append(len(shares))
        for first in range(0, joined.shape[1] - 127, 32):
            mass = exact_shares(turned[:, first : first + 128], keys)[1:] + 1e-9
            shares.append(mass / mass.sum())
    bits = [float((b * (b / a).log2()).sum()) for a, b in pairwise(shares)]
    across = [bits[border - 1] for border in borders[1:]]
    within = [value for number, value in enumerate(bits) if number + 1 not in borders]
    sorted_mass = torch.stack(shares).sort(1, descending=True).values
    still, jump = sum(within) / len(within), sum(across) / len(across)
    top8, top16 = (float(sorted_mass[:, :count].sum(1).mean()) for count in (8, 16))
    print(f"\nattention shift: {still:.4f} bits within a step, {jump:.4f} across a boundary ({jump / still:.1f} times); the best 8 of "
          f"{whole} blocks hold {top8:.1%} of the mass, 16 {top16:.1%}", flush=True)  # fmt: skip
    return {"within_bits": still, "across_bits": jump, "top8": top8, "top16": top16, "blocks": float(whole)}


if __name__ == "__main__":
    raise SystemExit(main())
