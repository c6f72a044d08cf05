"""What must hold whatever the model says: views, budgets, movement."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest
import torch

from tests.engine.workspace.kit import mean_k, settings, tokens, workspace
from tests.helpers.lookup_lm import lookup_lm
from tests.helpers.tiny_lm import tiny_lm
from worldpager.engine.config import MiB
from worldpager.engine.errors import InputError
from worldpager.engine.models.causal_lm.rotary import rotated
from worldpager.engine.retrieval.text_query import KeysOf, Ranking, TextQuery
from worldpager.engine.types import BlockId
from worldpager.engine.workspace.street import WorkspaceStreet


def read(street: WorkspaceStreet, count: int, seed: int = 0) -> None:
    street.begin()
    for _ in street.read(tokens(count, seed)):
        pass


def test_a_budget_for_all_blocks_is_plain_decoding() -> None:
    lm = tiny_lm(context=4096)
    with workspace(lm, config=settings(budget=1024, chunk=600)) as (street, _):
        history = [*street.opening, *tokens(300)]
        for _ in street.read(history):
            pass
        said = "".join(street.ask("why?"))
        plain = lm.model.new_view(1200)
        lm.model.forward(torch.tensor(history), plain, logits="none")
        asked = [*lm.tokenizer.encode("\nQuestion: why?"), *street._frame.ask]
        logits = lm.model.forward(torch.tensor(asked), plain).logits
        assert logits is not None
        kept = len(history) + len(asked)
        torch.testing.assert_close(street._view.keys[:, :kept], plain.keys[:, :kept], rtol=0, atol=0)
        torch.testing.assert_close(street._view.values[:, :kept], plain.values[:, :kept], rtol=0, atol=0)
        expected = []
        for _ in range(8):
            expected.append(int(logits[-1].argmax()))
            logits = lm.model.forward(torch.tensor([expected[-1]]), plain).logits
            assert logits is not None
        assert said == lm.tokenizer.decode(expected)


def test_a_block_placed_elsewhere_is_a_block_baked_there() -> None:
    lm = tiny_lm(context=4096)
    with workspace(lm) as (street, _):
        read(street, 400)
        blocks = list(street.repository.blocks)
        chosen = [blocks[0], blocks[5], blocks[9]]
        view = lm.model.new_view(128)
        street._placer.fill(view, chosen, None)
        _, raw = street._placer.keys(chosen)
        baked = torch.stack([rotated(layer, lm.model.turns.at(0, 96)) for layer in raw.flatten(1, 2)])
        torch.testing.assert_close(view.keys[:, :96], baked, rtol=0, atol=0)


def test_choosing_what_is_there_moves_nothing(tmp_path: Path) -> None:
    config = settings(tmp_path, host=MiB // 4)  # room for some 60 blocks of 100
    with workspace(config=config) as (street, store):
        read(street, 3200)
        query = street._listen(tokens(9), "q")
        chosen = street._choose(query, 9).selection.ids
        street._placer.fill(street._view, chosen, None)
        again = street._placer.fill(street._view, chosen, None)
        assert len(again.ids) == len(chosen)
        assert again.moved == 0
        assert not again.missed
        assert store.counters().spilled_blocks > 0


def test_blocks_come_back_from_disk(tmp_path: Path) -> None:
    config = settings(tmp_path, host=MiB // 4, budget=1024, answer=4)
    with workspace(config=config) as (street, store):
        read(street, 3200)
        oldest = list(street.repository.blocks)[:20]
        assert (store.tier_of(np.array(oldest)) == 2).any()
        got = street._placer.fill(street._view, oldest, None)
        assert got.ids == tuple(oldest)
        assert got.moved > 0


@pytest.mark.parametrize("asked", ["a", "a longer question than that"])
def test_the_question_counts_inside_the_budget(asked: str) -> None:
    with workspace() as (street, _):
        read(street, 900)
        list(street.ask(asked))
        assert street.last is not None
        step = street.last
        length = step.view_tokens + step.question_tokens + len(street._frame.ask)
        assert street.config.budget - 32 < length <= street.config.budget


def test_views_hold_sink_and_recent_in_order_of_time() -> None:
    with workspace() as (street, _):
        read(street, 900)
        before = list(street.repository.blocks)
        list(street.ask("x"))
        assert street.last is not None
        ids = street.last.selection.ids
        assert list(ids) == sorted(set(ids))
        assert {before[0], before[-1]} <= set(ids)


def test_the_view_is_frozen_while_the_answer_grows() -> None:
    with workspace() as (street, _):
        read(street, 900)
        answer = street.ask("x")
        next(answer)
        assert street.last is not None
        length = street.last.view_tokens
        frozen = street._view.keys[:, :length].clone()
        list(answer)
        torch.testing.assert_close(street._view.keys[:, :length], frozen, rtol=0, atol=0)


def test_a_question_that_does_not_fit_is_refused_before_anything_happens() -> None:
    with workspace() as (street, _):
        read(street, 300)
        count = len(street.repository.tokens)
        with pytest.raises(InputError, match="tokens"):
            list(street.ask("x" * 500))
        assert len(street.repository.tokens) == count


def test_a_view_beyond_the_trained_positions_is_refused() -> None:
    with pytest.raises(InputError, match="trained on"), workspace(tiny_lm(context=128)):
        pass


class Hiding:
    """A policy that never picks some blocks."""

    name = "hiding"

    def __init__(self, inner: object, hidden: set[BlockId]) -> None:
        self.inner, self.hidden = inner, hidden

    def __getattr__(self, name: str) -> object:
        return getattr(self.inner, name)

    def rank(self, query: TextQuery, wanted: int, exclude: Iterable[BlockId], keys_of: KeysOf) -> Ranking:
        ranked: Ranking = self.inner.rank(query, wanted, exclude, keys_of)  # type: ignore[attr-defined]
        keep = ~np.isin(ranked.ids, list(self.hidden))
        return Ranking(ranked.ids[keep], ranked.scores[keep])


def test_recall_needs_the_block_of_the_needle() -> None:
    lm = lookup_lm()
    hiding = Hiding(mean_k(lm), set())
    with workspace(lm, hiding) as (street, _):  # type: ignore[arg-type]
        street.read_text("some words that say nothing at all; " * 20 + "7" + " and some more that say nothing" * 30)
        needle = next(number for number in street.repository.blocks if "7" in street.repository.text(number))
        assert "".join(street.ask("which digit")) == "7"
        assert street.last is not None
        assert needle in street.last.selection.picked
    hiding = Hiding(mean_k(lm), {needle})
    with workspace(lm, hiding) as (street, _):  # type: ignore[arg-type]
        street.read_text("some words that say nothing at all; " * 20 + "7" + " and some more that say nothing" * 30)
        assert "7" not in "".join(street.ask("which digit"))


def test_the_turn_joins_the_workspace() -> None:
    with workspace(lookup_lm()) as (street, _):
        street.read_text("the digit is 4" + " and some more that say nothing" * 30)
        list(street.ask("which digit"))
        text = street.lm.tokenizer.decode(street.repository.tokens[-40:])
        assert text.endswith("Question: which digit?4;")


def test_an_answer_that_is_broken_off_leaves_a_whole_turn() -> None:
    with workspace() as (street, _):
        read(street, 300)
        answer = street.ask("x")
        next(answer)
        answer.close()
        end = street.repository.tokens[-len(street._frame.reopen) :]
        assert list(end) == list(street._frame.reopen)


def test_a_full_memory_gives_up_keys_and_goes_on() -> None:
    config = settings(host=MiB // 4)  # no disk: about 60 blocks
    with workspace(config=config) as (street, _):
        read(street, 4000)
        assert street.repository.given_up
        first = street.repository.given_up[0]
        assert street.repository.text_of(street.repository.tokens[first : first + 32])
        assert "".join(street.ask("x")) is not None
        assert len(street.policy) == len(street.repository.blocks)


def test_a_turn_can_be_taken_back() -> None:
    with workspace() as (street, store):
        read(street, 900)
        blocks, count, stored = list(street.repository.blocks), len(street.repository.tokens), store.counters().blocks
        mark = street.mark()
        first = "".join(street.ask("one question that is long enough to seal a block"))
        assert len(street.repository.blocks) > len(blocks)
        street.rewind(mark)
        assert list(street.repository.blocks) == blocks
        assert len(street.repository.tokens) == count
        assert store.counters().blocks == stored == len(street.policy)
        assert "".join(street.ask("one question that is long enough to seal a block")) == first
