"""The training recipe of tiny: the graph is what is played, the optimiser is Muon, the gather has the right gradient."""

from __future__ import annotations

import torch

from worldpager.assets.models.tiny.graph import Gathered, Graph, layout
from worldpager.assets.models.tiny.muon import BatchedMuon
from worldpager.engine.models.tiny.network import TinyConfig, TinyNetwork, pose_features
from worldpager.engine.models.tiny.rollout import ContextCache, chunk_slots, run_pass, slot_offsets


def test_slots_are_gathered_with_the_right_gradient() -> None:
    x = torch.randn(2, 5, 3, 2, 4, dtype=torch.double, requires_grad=True)
    pick = torch.randint(0, 5, (2, 5, 3))
    assert torch.equal(Gathered.apply(x, pick)[1, 2, 0], x[1, pick[1, 2, 0]])  # type: ignore[no-untyped-call]
    assert torch.autograd.gradcheck(lambda x: Gathered.apply(x, pick), x)  # type: ignore[no-untyped-call]


def test_batched_muon_is_muon() -> None:
    start = [torch.randn(48, 16), torch.randn(48, 16), torch.randn(16, 48)]
    ours, theirs = ([torch.nn.Parameter(w.clone()) for w in start] for _ in range(2))
    optimisers = BatchedMuon(ours, lr=0.02), torch.optim.Muon(theirs, lr=0.02, momentum=0.95, weight_decay=0.0)
    for _ in range(3):
        for a, b in zip(ours, theirs, strict=True):
            a.grad = torch.randn_like(a)
            b.grad = a.grad.clone()
        for optimiser in optimisers:
            optimiser.step()
    for a, b, before in zip(ours, theirs, start, strict=True):
        assert not torch.equal(a, before)
        torch.testing.assert_close(a, b, rtol=0, atol=1e-5)


def test_training_graph_computes_what_play_computes() -> None:
    torch.manual_seed(3)
    network = TinyNetwork(TinyConfig(width=128, hidden=64, layers=2))
    for p in network.parameters():
        torch.nn.init.normal_(p, std=0.05)
    poses = torch.randn(1, 4, 4, 5) * 0.1
    retrieved = torch.tensor([[[0, 0], [0, 0], [0, 1], [1, 0]]])
    noisy, level = torch.randn(1, 4, 4, 3, 80, 120), torch.full((1, 4), 0.1)
    graph = Graph(network, "nothing")
    with torch.no_grad():
        tokens, _ = graph.context(noisy, level, layout(network, poses, retrieved))
        wanted = graph.pictures(tokens, noisy, level)[0]
        cache, before = ContextCache(2, 4), poses[:, 0, 0]
        for s in range(4):
            offsets = slot_offsets(2, 2, 4)
            slots = chunk_slots(s, 2, [retrieved[:, s, j] for j in range(2)])
            context = None if s == 0 else [cache.view(layer, slots, offsets, None) for layer in range(2)]
            turn = network.geometry.rotations(poses[:, s])
            picture, _, own = run_pass(network, noisy[:, s], level[:, s], pose_features(poses[:, s], before), turn, context, offsets)
            cache.write(s, own)
            before = poses[:, s, -1]
            torch.testing.assert_close(picture[0], wanted[s], rtol=0, atol=2e-4)
