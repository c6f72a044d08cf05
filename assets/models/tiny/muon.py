"""Muon for many matrices of few shapes: one batched Newton-Schulz per shape.

The same rule as `torch.optim.Muon`, which takes the matrices one by one: with 24 of them its launches took 25 ms of a step's processor
time, about as long as the card took for a third of the step.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

import torch
from torch import Tensor

QUINTIC = (3.4445, -4.7750, 2.0315)


def orthogonalised(x: Tensor, rounds: int = 5) -> Tensor:
    """Matrices [M, a, b] with their singular values brought near 1, in bfloat16."""
    x = x.bfloat16()
    tall = x.shape[1] > x.shape[2]
    x = x.mT if tall else x
    x = x / x.norm(dim=(1, 2), keepdim=True).clamp_min(1e-7)
    a, b, c = QUINTIC
    for _ in range(rounds):
        gram = x @ x.mT
        x = torch.baddbmm(x, torch.baddbmm(gram, gram, gram, beta=b, alpha=c), x, beta=a)
    return x.mT if tall else x


class BatchedMuon(torch.optim.Optimizer):
    """Momentum with Nesterov's look-ahead, then the orthogonalised step; ``params`` are matrices."""

    def __init__(self, params: Iterable[Tensor], lr: float, momentum: float = 0.95) -> None:
        super().__init__(params, {"lr": lr, "momentum": momentum})

    @torch.no_grad()
    def step(self, closure: None = None) -> None:  # type: ignore[override]
        """One update of all matrices that have a gradient."""
        for group in self.param_groups:
            shapes: dict[torch.Size, list[Tensor]] = defaultdict(list)
            for p in group["params"]:
                if p.grad is not None:
                    shapes[p.shape].append(p)
            for shape, matrices in shapes.items():
                self._update(matrices, shape, group["lr"], group["momentum"])

    def _update(self, matrices: list[Tensor], shape: torch.Size, lr: float, momentum: float) -> None:
        grads = torch.stack([p.grad for p in matrices if p.grad is not None])
        state = self.state[matrices[0]]
        speed = state.setdefault("speed", torch.zeros_like(grads))
        speed.lerp_(grads, 1 - momentum)
        ahead = grads.lerp(speed, momentum)
        scale = lr * max(1.0, shape[0] / shape[1]) ** 0.5
        torch._foreach_add_(matrices, list(orthogonalised(ahead).to(matrices[0].dtype).unbind(0)), alpha=-scale)
