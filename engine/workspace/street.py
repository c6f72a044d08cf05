"""The workspace street: one question, from its words to the answer's.

`ask` is the list of stages. The view is rebuilt once a question, after the question has been read and before the answer begins, and stays
as it is for the whole answer. Nothing is compacted into text.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor

from worldpager.engine.errors import InputError
from worldpager.engine.memory.store import BlockStore
from worldpager.engine.models.causal_lm.load import LoadedLM
from worldpager.engine.models.causal_lm.view import ExecutionView
from worldpager.engine.retrieval.text_query import Ranking, TextPolicy, TextQuery
from worldpager.engine.types import BlockId
from worldpager.engine.workspace.config import BLOCK_TOKENS, WorkspaceConfig
from worldpager.engine.workspace.fetch import Fetched
from worldpager.engine.workspace.placing import Placer
from worldpager.engine.workspace.repository import Mark, Repository
from worldpager.engine.workspace.selection import Kept, Selection, kept_blocks, select

SYSTEM = "You are a helpful assistant. Answer questions briefly, from the notes."
QUESTION = "\nQuestion: "
UNFINISHED = "\ufffd"
"""Stands for bytes that make no letter yet."""


@dataclass(slots=True)
class Step:
    """What one question did: the panel, the report and the measurements read it. Times in seconds."""

    question: str
    selection: Selection
    missed: tuple[BlockId, ...] = ()
    moved: int = 0
    reused: int = 0
    view_tokens: int = 0
    question_tokens: int = 0
    seconds: dict[str, float] = field(default_factory=dict)
    answer: str = ""
    answer_tokens: int = 0
    ranking: Ranking | None = None
    query: TextQuery | None = None
    first_logits: Tensor | None = None
    """Of the answer's first token, float32 [1, vocab]."""


class WorkspaceStreet:
    """A language model over the whole history of a workspace. One thread."""

    def __init__(
        self,
        lm: LoadedLM,
        store: BlockStore,
        policy: TextPolicy,
        config: WorkspaceConfig,
        *,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        if config.capacity > lm.model.config.context:
            raise InputError(
                f"A view of {config.capacity} tokens is longer than the {lm.model.config.context} that this model was trained on.",
                "Choose a smaller budget (--budget).",
            )
        self.lm, self.config, self._store, self._clock = lm, config, store, clock
        self.policy = policy
        self.repository = Repository(store, policy, lm.tokenizer.decode)
        self._placer = Placer(store, lm.model, config.patience, max(1, config.memory.device_slots // 2))
        self._frame = lm.tokenizer.frame(SYSTEM)
        self._view = lm.model.new_view(config.capacity)
        self._read_until = -1
        self.last: Step | None = None

    @property
    def opening(self) -> tuple[int, ...]:
        """The first tokens of every workspace."""
        return self._frame.opening

    # Reading

    def read(self, tokens: Sequence[int]) -> Iterator[int]:
        """Read tokens in at the end; yields after each chunk how many are in. A chunk sees the sink and what is recent."""
        done = 0
        while done < len(tokens):
            part = tokens[done : done + self.config.chunk]
            if self._read_until != len(self.repository.tokens) or self._view.length + len(part) > self.config.capacity:
                self._look_back()
            self._append(part)
            self._read_until = len(self.repository.tokens)
            done += len(part)
            yield done

    def read_text(self, text: str) -> None:
        """`read` plain text to its end."""
        for _ in self.read(self.lm.tokenizer.encode(text)):
            pass

    def begin(self) -> None:
        """Read the opening of an empty workspace."""
        if not self.repository.tokens:
            for _ in self.read(self.opening):
                pass

    def _look_back(self) -> None:
        """Fill the view with the sink and what is recent, up to half of the budget."""
        room = self.config.budget // 2 // BLOCK_TOKENS
        kept = self._kept(max(1, room - self.config.sink_blocks))
        self._placer.fill(self._view, kept.ids, self.repository.tail)

    def _append(self, tokens: Sequence[int], logits: str = "none") -> Tensor | None:
        """Run ``tokens`` in the view and keep their keys and values."""
        made = self.lm.model.forward(torch.tensor(list(tokens)), self._view, logits=logits, keep=True)
        assert made.keys is not None
        assert made.values is not None
        self.repository.append(tokens, made.keys, made.values, self.config.sink_blocks)
        return made.logits

    def _kept(self, recent: int) -> Kept:
        return kept_blocks(list(self.repository.blocks), self.config.sink_blocks, recent)

    def keys(self, blocks: Sequence[BlockId]) -> tuple[list[BlockId], Tensor]:
        """Blocks that can be had and their keys without positions: see `KeysOf`."""
        return self._placer.keys(blocks)

    def mark(self) -> Mark:
        """The present end, to come back to."""
        return self.repository.mark()

    def rewind(self, mark: Mark) -> None:
        """Forget what was read and said since ``mark``."""
        self.repository.rewind(mark)
        self._read_until = -1

    def fill(self, view: ExecutionView, blocks: Sequence[BlockId]) -> Fetched:
        """Place ``blocks``, which are in order of time, into ``view`` from its beginning."""
        return self._placer.fill(view, blocks, None)

    # Asking

    def ask(self, question: str) -> Generator[str]:
        """Answer ``question``; yields the answer's pieces. The turn joins the workspace. Raises `InputError` when it doesn't fit."""
        self.begin()
        tokens = self.lm.tokenizer.encode(QUESTION + question)
        self._check_fits(tokens)
        clock, marks = self._clock, [self._clock()]
        query = self._listen(tokens, question)
        marks.append(clock())
        step = self._choose(query, len(tokens))
        marks.append(clock())
        self._build(step)
        marks.append(clock())
        logits = self._append([*tokens, *self._frame.ask], "last")
        marks.append(clock())
        step.question_tokens = len(tokens)
        names = ("listen", "select", "build", "replay")
        step.seconds = {name: after - before for name, before, after in zip(names, marks, marks[1:], strict=False)}
        self.last = step
        assert logits is not None
        step.first_logits = logits
        yield from self._answer(step, logits)

    def _listen(self, tokens: Sequence[int], question: str) -> TextQuery:
        """Read the question under the sink and what is recent, take its queries, and forget it again."""
        kept = self._kept(self.config.recent_blocks)
        self._placer.fill(self._view, kept.ids, self.repository.tail)
        made = self.lm.model.forward(torch.tensor(list(tokens)), self._view, logits="none", queries=True)
        assert made.queries is not None
        return TextQuery(made.queries, question)

    def _choose(self, query: TextQuery, asked: int) -> Step:
        """Sink, recent and the policy's best of the rest, as many as the budget holds beside the tail and the question."""
        kept = self._kept(self.config.recent_blocks)
        taken = self.repository.tail_length + asked + len(self._frame.ask)
        room = max(0, (self.config.budget - taken) // BLOCK_TOKENS - len(kept.ids))
        ranking = self.policy.rank(query, room, kept.ids, self._placer.keys)
        selection = select(ranking, kept, room)
        for number in selection.picked:
            self.repository.blocks[number].recalls += 1
        return Step(query.text, selection, ranking=ranking, query=query)

    def _build(self, step: Step) -> None:
        """The execution view of the selection."""
        got = self._placer.fill(self._view, step.selection.ids, self.repository.tail)
        step.missed, step.moved, step.reused = got.missed, got.moved, len(got.ids) - got.moved
        step.view_tokens = self._view.length

    def _answer(self, step: Step, logits: Tensor) -> Generator[str]:
        """Greedy decoding in the frozen view; the turn's last tokens are read in, too."""
        began, made, said = self._clock(), [], ""
        stops = self.lm.tokenizer.stops
        try:
            for _ in range(self.config.answer):
                token = int(logits[-1].argmax())
                if token in stops or self._view.length + 1 + len(self._frame.reopen) > self._view.capacity:
                    break
                made.append(token)
                following = self._append([token], "last")
                assert following is not None
                logits = following
                text = self.lm.tokenizer.decode(made)
                if not text.endswith(UNFINISHED):
                    yield text[len(said) :]
                    said = text
            rest = self.lm.tokenizer.decode(made)[len(said) :]
            if rest:
                yield rest
        finally:
            step.seconds["answer"] = self._clock() - began
            step.answer, step.answer_tokens = self.lm.tokenizer.decode(made), len(made)
            self._append(self._frame.reopen)

    def _check_fits(self, tokens: Sequence[int]) -> None:
        least = self.config.sink + self.config.recent + 3 * BLOCK_TOKENS + len(self._frame.ask)
        room = self.config.budget - least
        if not tokens or len(tokens) > room:
            what = f"The question has {len(tokens)} tokens; the budget leaves {room}."
            raise InputError(what, "Shorten it, or raise --budget; add long texts as sources.")
