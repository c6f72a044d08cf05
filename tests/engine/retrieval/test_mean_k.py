"""The index of mean keys: its score is the published one, however it is cut; warm is cold."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from torch import Tensor

from tests.engine.workspace.kit import mean_k, settings, tokens, workspace
from tests.helpers.tiny_lm import tiny_lm
from worldpager.engine.retrieval import mean_k_index
from worldpager.engine.retrieval.mean_k import MeanK
from worldpager.engine.retrieval.mean_k_index import MeanKeyIndex
from worldpager.engine.retrieval.mean_k_rescored import RescoredMeanK, exact_shares
from worldpager.engine.retrieval.text_baselines import AnyText, Bm25, NewestText
from worldpager.engine.retrieval.text_query import NewBlocks, Ranking, TextPolicy, TextQuery
from worldpager.engine.types import BlockId

LAYERS, KV, GROUP, D, TOKENS = 3, 2, 2, 8, 32


def some_keys(blocks: int, seed: int = 0) -> Tensor:
    return torch.randn(LAYERS, blocks, TOKENS, KV, D, generator=torch.Generator().manual_seed(seed)).to(torch.bfloat16)


def some_query(count: int = 5) -> Tensor:
    return 3 * torch.randn(LAYERS, count, KV * GROUP, D, generator=torch.Generator().manual_seed(99))


def numbered(count: int, first: int = 0) -> tuple[BlockId, ...]:
    return tuple(BlockId(number) for number in range(first, first + count))


def plain_shares(query: Tensor, keys: Tensor, prototypes: int, power: int = 1) -> Tensor:
    """The formula in loops."""
    total = torch.zeros(keys.shape[1], dtype=torch.float64)
    means = keys.float().unflatten(2, (prototypes, -1)).mean(3).half().double()
    for layer in range(LAYERS):
        for token in range(query.shape[1]):
            for head in range(KV * GROUP):
                dots = means[layer, :, :, head // GROUP] @ query[layer, token, head].double() / math.sqrt(D)
                total += dots.flatten().softmax(0).view(dots.shape).sum(1) ** power
    return total / (LAYERS * query.shape[1] * KV * GROUP)


@pytest.mark.parametrize("prototypes", [1, 4])
@pytest.mark.parametrize("piece", [100, 7, 1])
@pytest.mark.parametrize("kept", [1 << 20, 3000, 0])
def test_shares_are_the_published_score_however_tiled(prototypes: int, piece: int, kept: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mean_k_index, "KEPT_BYTES", kept)
    index, keys = MeanKeyIndex(LAYERS, KV, D, prototypes=prototypes, piece=piece), some_keys(23)
    index.add(numbered(23), index.means(keys))
    ids, shares = index.shares(some_query())
    assert ids.tolist() == list(range(23))
    np.testing.assert_allclose(shares, plain_shares(some_query(), keys, prototypes).numpy(), rtol=1e-4)
    assert abs(shares.sum() - 1) < 1e-5


@pytest.mark.parametrize("power", [1, 2])
def test_kept_blocks_can_be_left_out_and_shares_squared(power: int) -> None:
    index, keys = MeanKeyIndex(LAYERS, KV, D, prototypes=4, piece=5), some_keys(12)
    index.add(numbered(12), index.means(keys))
    ids, shares = index.shares(some_query(), [BlockId(0), BlockId(11), BlockId(77)], power)
    assert ids.tolist() == list(range(1, 11))
    np.testing.assert_allclose(shares, plain_shares(some_query(), keys[:, 1:11], 4, power).numpy(), rtol=1e-4)


def test_dropped_blocks_have_no_share_and_their_rows_are_used_again() -> None:
    index, keys = MeanKeyIndex(LAYERS, KV, D, piece=4), some_keys(10)
    index.add(numbered(10), index.means(keys))
    index.drop([BlockId(3), BlockId(7), BlockId(99)])
    index.add(numbered(2, 20), index.means(some_keys(2, 5)))
    size = index.host_bytes
    ids, shares = index.shares(some_query())
    expected = plain_shares(some_query(), torch.cat([keys[:, [0, 1, 2, 4, 5, 6, 8, 9]], some_keys(2, 5)], 1), 1)
    assert ids.tolist() == [0, 1, 2, 4, 5, 6, 8, 9, 20, 21]
    np.testing.assert_allclose(shares, expected.numpy(), rtol=1e-4)
    assert index.host_bytes == size


def test_a_block_is_indexed_once() -> None:
    index = MeanKeyIndex(LAYERS, KV, D)
    index.add(numbered(2), index.means(some_keys(2)))
    with pytest.raises(ValueError, match="already"):
        index.add(numbered(1), index.means(some_keys(1)))


def test_an_empty_index_answers() -> None:
    ids, shares = MeanKeyIndex(LAYERS, KV, D).shares(some_query())
    assert len(ids) == len(shares) == 0


@pytest.mark.parametrize("offset", range(32))
def test_warm_and_cold_index_are_equal_for_every_offset(offset: int) -> None:
    """Read in two pieces that part ``offset`` tokens into a block, or built anew from what the store holds."""
    lm = tiny_lm(context=4096)
    text = tokens(32 * 3 + offset + 70, seed=offset)
    warm = mean_k(lm, 4)
    with workspace(lm, warm, settings(chunk=256)) as (street, _):
        for piece in (text[: 32 * 3 + offset], text[32 * 3 + offset :]):
            for _ in street.read(piece):
                pass
        blocks = tuple(street.repository.blocks)
        assert len(blocks) == len(text) // 32 == len(warm)
        _, stored = street._placer.keys(blocks)
        cold = mean_k(lm, 4)
        cold.add(NewBlocks(blocks, stored, stored, ("",) * len(blocks)))
        for number in blocks:
            torch.testing.assert_close(warm.index.row(number), cold.index.row(number), rtol=0, atol=0)


def new_blocks(keys: Tensor, texts: list[str] | None = None) -> NewBlocks:
    count = keys.shape[1]
    return NewBlocks(numbered(count), keys, keys, tuple(texts or [""] * count))


def peaked() -> tuple[Tensor, Tensor]:
    """Keys of which one, in block 5, is what the query asks for, amid others that cancel it in the mean."""
    query, keys = some_query(1), some_keys(12).float() * 0.2
    wanted = query[:, 0].unflatten(1, (KV, GROUP)).mean(2) * 6
    keys[:, 5, 9], keys[:, 5, 10] = wanted, -wanted
    return query, keys


def test_rescoring_finds_what_a_mean_hides() -> None:
    query, keys = peaked()
    asked = TextQuery(query, "")

    def keys_of(ids: object) -> tuple[list[BlockId], Tensor]:
        listed = list(ids)  # type: ignore[call-overload]
        return listed, keys[:, listed]

    policies: dict[str, TextPolicy] = {
        "mean-k": MeanK(MeanKeyIndex(LAYERS, KV, D)), "rescored": RescoredMeanK(MeanKeyIndex(LAYERS, KV, D), shortlist=12),
        "focused": RescoredMeanK(MeanKeyIndex(LAYERS, KV, D), power=2, shortlist=12),
    }  # fmt: skip
    best = {}
    for name, policy in policies.items():
        policy.add(new_blocks(keys))
        best[name] = policy.rank(asked, 1, (), keys_of).best(1)
    assert best["rescored"] == best["focused"] == [5]
    assert best["mean-k"] != [5]


def test_exact_shares_are_attention() -> None:
    query, keys = some_query(2), some_keys(4).float()
    shares = exact_shares(query, keys)
    expected = plain_shares(query, keys.half().float(), TOKENS)
    torch.testing.assert_close(shares.double(), expected, rtol=2e-3, atol=1e-4)
    squared = plain_shares(query, keys.half().float(), TOKENS, 2)
    torch.testing.assert_close(exact_shares(query, keys, 2).double(), squared, rtol=2e-3, atol=1e-4)


def none(ids: object) -> tuple[list[BlockId], Tensor]:
    return [], torch.zeros(0)


def test_the_baselines_rank_as_they_say() -> None:
    texts = ["the cat sat", "a dog ran far away", "the cat and the fiddle", "nothing", "cat"]
    asked = TextQuery(some_query(), "Where is the fiddle?")
    cases: list[tuple[TextPolicy, list[int]]] = [(NewestText(), [4, 3]), (Bm25(), [2, 0])]
    for policy, expected in cases:
        policy.add(new_blocks(some_keys(5), texts))
        assert policy.rank(asked, 2, (), none).best(2) == expected
        assert policy.rank(asked, 2, (), none).best(2, [BlockId(expected[0])])[0] == expected[1]
        policy.drop([BlockId(expected[0])])
        assert expected[0] not in policy.rank(asked, 2, (), none).ids
    anything = AnyText()
    anything.add(new_blocks(some_keys(5)))
    first, other = (anything.rank(TextQuery(some_query(), text), 2, (), none).scores for text in ("a", "b"))
    assert (anything.rank(TextQuery(some_query(), "a"), 2, (), none).scores == first).all()
    assert (first != other).any()


def test_equal_scores_prefer_the_older_block() -> None:
    assert Ranking(np.array([4, 2, 9]), np.zeros(3, np.float32)).best(2) == [2, 4]
