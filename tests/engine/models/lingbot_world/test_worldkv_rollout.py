"""WorldKV on this model: what the long-term store holds, how the window is put together, and what each variant makes of it."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from tests.engine.models.lingbot_world.test_rollout import CLOSE, rollout_of
from tests.helpers.golden import difference
from worldpager.engine.models.base import BlockKV
from worldpager.engine.models.lingbot_world.rollout import Rollout
from worldpager.engine.models.wan.pruning import pruned
from worldpager.engine.models.wan.rope import rotary_spec
from worldpager.engine.positions.rope import turned
from worldpager.engine.retrieval.worldkv import WorldKv
from worldpager.engine.types import BlockId

CHUNK, SINK, RECENT, K = 3, 3, 3, 2
SPEC = rotary_spec(64)


def place(rollout: Rollout, slot: int, kv: BlockKV, frame: int) -> None:
    view = rollout.context.view
    view.keys[:, slot], view.values[:, slot] = turned(kv.keys, SPEC, frame), kv.values


class Played:
    """The recorded rollout up to the first pass of its last chunk."""

    def __init__(self, chunks: int = 8) -> None:
        self.rollout, self.v, _ = rollout_of("rollout_worldkv", 15, SINK, K)
        self.bank: dict[int, BlockKV] = {}
        self.policy = WorldKv()
        self.latents: list[Tensor] = []
        for i in range(chunks - 1):
            self.step(i)

    def cameras(self, chunk: int) -> Tensor:
        return self.v["in.latent_poses_abs"][chunk * CHUNK : (chunk + 1) * CHUNK].double()

    def chosen(self, chunk: int) -> list[BlockId]:
        seen_anyway = [BlockId(b) for b in {0, chunk - 1, chunk - 2}]
        return self.policy.nearest(self.cameras(chunk).numpy(), K, seen_anyway)

    def step(self, i: int) -> None:
        rollout, v, here = self.rollout, self.v, slice(i * CHUNK, (i + 1) * CHUNK)
        chosen = self.chosen(i)
        assert chosen == (v[f"chunk{i}.retrieval.selected"].tolist() if i >= 4 else [])
        for slot, block in enumerate(chosen):
            place(rollout, slot, self.bank[block], block * CHUNK)
        step = rollout.prepare(v["in.plucker"][:, here], len(chosen), RECENT if chosen else None)
        eps = iter([v[f"chunk{i}.step0.renoise_eps"]])
        self.latents.append(rollout.denoise(v["in.noise"][:, here], v["in.y"][:, here], eps.__next__, step))
        self.bank[i] = rollout.finish(self.latents[-1], v["in.y"][:, here], step)
        self.policy.add_cameras(BlockId(i), self.cameras(i).numpy())
        rollout.advance()

    def first_flow_of_chunk_7(self, recent: int | None = RECENT) -> Tensor:
        here = slice(21, 24)
        step = self.rollout.prepare(self.v["in.plucker"][:, here], 0 if recent is None else K, recent)
        flow: Tensor = self.rollout.network(self.v["in.noise"][:, here], self.v["in.y"][:, here], self.rollout.steps[0].timestep, step)
        return flow


@pytest.fixture(scope="module")
def played() -> Played:
    return Played()


def test_the_whole_rollout_with_its_decisions_equals_the_vectors() -> None:
    played = Played(9)
    assert difference(torch.cat(played.latents, dim=1), played.v["out.latents"]) < CLOSE


def test_the_memory_holds_the_published_keys_turned_to_the_beginning(played: Played) -> None:
    for chunk in range(1, 5):
        for i in range(3):
            keys = turned(played.bank[chunk].keys[i], SPEC, chunk * CHUNK)
            assert difference(keys, played.v[f"bank.chunk{chunk}.layer{i}.k"][0]) < CLOSE
            assert difference(played.bank[chunk].values[i], played.v[f"bank.chunk{chunk}.layer{i}.v"][0]) < CLOSE


def test_without_retrieval_the_whole_window_is_seen(played: Played) -> None:
    assert difference(played.first_flow_of_chunk_7(None), played.v["variant.none.flow"]) < CLOSE


def turned_places(chosen: list[BlockId]) -> list[int]:
    """First frames of re-placed chunks: right before the recent part, the nearest chunk farthest back."""
    recent_start = 7 * CHUNK - RECENT
    return [recent_start - (len(chosen) - j) * CHUNK for j in range(len(chosen))]


@pytest.mark.parametrize("name", ["plain", "rerotated"])
def test_stored_and_turned_keys_equal_the_vectors(played: Played, name: str) -> None:
    chosen = played.chosen(7)
    frames = [block * CHUNK for block in chosen] if name == "plain" else turned_places(chosen)
    for slot, (block, frame) in enumerate(zip(chosen, frames, strict=True)):
        place(played.rollout, slot, played.bank[block], frame)
    assert difference(played.first_flow_of_chunk_7(), played.v[f"variant.{name}.flow"]) < CLOSE
    expected = played.v[f"variant.{name}.layer0.window_k"][0][SINK * 12 : (SINK + 6) * 12]
    assert difference(played.rollout.context.view.keys[0].flatten(0, 1), expected) < CLOSE


@pytest.mark.parametrize(
    ("name", "turn", "pooled", "rotating"),
    [
        ("pruned_at_read", False, False, False),
        ("pruned_at_store", False, False, False),
        ("pruned_at_read_rotating_anchor", False, False, True),
        ("rerotated_pruned_at_read", True, False, False),
        ("pruned_at_store_pooled", False, True, False),
        ("rerotated_pruned_at_store_pooled", True, True, False),
    ],
)
def test_pruned_variants_equal_the_vectors(played: Played, name: str, turn: bool, pooled: bool, rotating: bool) -> None:
    chosen = played.chosen(7)
    small, v, _ = rollout_of("rollout_worldkv", 15, SINK, K)
    context = Rollout(small.network, 6, 8, K, keep=0.5).context
    full = played.rollout.context
    context.sinks, context.recent = full.sinks, full.recent
    context.keys[:, : 15 * 12], context.values[:, : 15 * 12] = full.keys[:, : 15 * 12], full.values[:, : 15 * 12]
    frames = turned_places(chosen) if turn else [block * CHUNK for block in chosen]
    for slot, (block, frame) in enumerate(zip(chosen, frames, strict=True)):
        kv = pruned(played.bank[block], CHUNK, 0.5, anchor=slot % CHUNK if rotating else 0, pooled=pooled)
        context.view.keys[:, slot], context.view.values[:, slot] = turned(kv.keys, SPEC, frame), kv.values
    step = played.rollout.prepare(v["in.plucker"][:, 21:24])
    seen = context.seen(K, RECENT)
    assert seen.stop - seen.start == int(v[f"variant.{name}.window_tokens"])
    pass_ = type(step)(step.placed, step.stored, step.camera, step.text, context, seen)
    flow = small.network(v["in.noise"][:, 21:24], v["in.y"][:, 21:24], played.rollout.steps[0].timestep, pass_)
    assert difference(flow, v[f"variant.{name}.flow"]) < CLOSE


@pytest.mark.parametrize(("name", "pooled"), [("pruned", False), ("pruned_pooled", True)])
def test_pruned_keys_equal_the_vectors(played: Played, name: str, pooled: bool) -> None:
    for chunk in (3, 4):
        kv = pruned(played.bank[chunk], CHUNK, 0.5, pooled=pooled)
        assert difference(turned(kv.keys[0], SPEC, chunk * CHUNK), played.v[f"{name}.chunk{chunk}.layer0.k"][0]) < CLOSE
