"""Stage 1: learn pictures, depth and memory by teacher forcing."""

from __future__ import annotations

import time
from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from worldpager.assets.models.tiny.data import Ring
from worldpager.assets.models.tiny.graph import Compiled, Graph, layout
from worldpager.assets.models.tiny.muon import BatchedMuon
from worldpager.engine.models.tiny.network import TinyNetwork
from worldpager.engine.models.tiny.rollout import noise, noised

MEMORY_OFF = 0.12
CONTEXT_LEVEL = (0.02, 0.22)


class Average:
    """Exponential moving average of a network's parameters."""

    def __init__(self, network: nn.Module, decay: float) -> None:
        self.decay, self.network = decay, network
        self.shadow = [p.detach().clone().float() for p in network.parameters()]
        self.count = 0

    @torch.no_grad()
    def update(self) -> None:
        """Take in the present parameters; the first updates weigh more."""
        self.count += 1
        keep = min(self.decay, (1 + self.count) / (10 + self.count))
        torch._foreach_lerp_(self.shadow, [p.detach() for p in self.network.parameters()], 1 - keep)

    @torch.no_grad()
    def copy_to(self, network: nn.Module) -> None:
        """Write the average into ``network``."""
        for p, s in zip(network.parameters(), self.shadow, strict=True):
            p.copy_(s)


def clean(pictures: Tensor) -> Tensor:
    """uint8 to [-1, 1]."""
    return pictures.float() / 127.5 - 1


def roughened(pictures: Tensor) -> Tensor:
    """Context as play will see it: some chunks [B, S, F, 3, h, w] with a colour cast, some blurred."""
    batch, chunks = pictures.shape[:2]
    device = pictures.device

    def chance(p: float) -> Tensor:
        return (torch.rand(batch, chunks, 1, 1, 1, 1, device=device) < p).float()

    cast = 1 + 0.06 * torch.randn(batch, chunks, 1, 3, 1, 1, device=device), 0.05 * torch.randn(batch, chunks, 1, 3, 1, 1, device=device)
    x = pictures + chance(0.3) * (pictures * cast[0] + cast[1] - pictures)
    flat = F.pad(x.flatten(0, 2), (1, 1, 1, 1), mode="replicate")
    soft = F.avg_pool2d(flat, 3, 1).view_as(x)
    return x + chance(0.2) * (soft - x)


def picture_loss(guess: Tensor, truth: Tensor, level: Tensor) -> Tensor:
    """Mean squared error per chunk [B, S], weighted by noise level."""
    return (guess - truth).square().mean(dim=(2, 3, 4, 5)) / (level.square() + 0.04)


def edge_loss(guess: Tensor, truth: Tensor) -> Tensor:
    """L1 of horizontal and vertical differences."""
    d = guess - truth
    return d.diff(dim=-1).abs().mean() + d.diff(dim=-2).abs().mean()


def small_depth(depth: Tensor) -> Tensor:
    """Inverse depth [B, S, F, h, w] at the head's resolution, as float."""
    return F.avg_pool2d(depth.float().flatten(0, 2)[:, None], 5).squeeze(1).unflatten(0, depth.shape[:3])


def optimisers(network: TinyNetwork, rate: float) -> list[torch.optim.Optimizer]:
    """Muon for the layers' matrices, AdamW for the rest."""
    matrices = [p for layer in network.layers for p in layer.parameters() if p.ndim == 2]
    chosen = {id(p) for p in matrices}
    rest = [p for p in network.parameters() if id(p) not in chosen]
    return [BatchedMuon(matrices, lr=0.02 * rate),
            torch.optim.AdamW(rest, lr=1.5e-3 * rate, betas=(0.9, 0.97), weight_decay=0.0, fused=rest[0].is_cuda)]


def rate_at(done: float, step: int, decay_from: float = 0.4) -> float:
    """Learning-rate factor at ``done`` of the time budget."""
    return min(1.0, (step + 1) / 60) * min(1.0, max(0.0, (1 - done) / (1 - decay_from)))


def noisy(x: Tensor, level: Tensor, patch: int) -> Tensor:
    """``x`` [B, S, F, 3, h, w] at noise ``level`` [B, S]."""
    flat = x.flatten(0, 1)
    return noised(flat, level.flatten(), *noise(flat, patch)).view_as(x)


def exercise(pictures: Tensor, replaced: Tensor | None, patch: int) -> tuple[Tensor, ...]:
    """A batch's inputs from its ``pictures`` (uint8): truth, context, what the C stream sees and its level, the same of the T stream."""
    truth = clean(pictures)
    size, device = truth.shape[:2], truth.device
    low = torch.empty(size, device=device).uniform_(*CONTEXT_LEVEL)
    high = torch.where(torch.rand(size, device=device) < 0.45, 1.0, torch.empty(size, device=device).uniform_(0.15, 1.0))
    context = roughened(truth) if replaced is None else replaced
    return truth, context, noisy(context, low, patch), low, noisy(truth, high, patch), high


def score(truth: Tensor, context: Tensor, low: Tensor, high: Tensor, guess_c: Tensor, guess_t: Tensor, depth_t: Tensor,
          depth: Tensor) -> tuple[Tensor, Tensor, dict[str, Tensor]]:
    """Loss of the streams' guesses, the pictures that stand in for the context the next time, and figures."""
    later = slice(1, None)  # a target in chunk 0 would see its own clean copy
    loss_t = picture_loss(guess_t[:, later], truth[:, later], high[:, later]).mean()
    loss_c = picture_loss(guess_c, truth, low).mean()
    loss_d = (depth_t[:, later] - small_depth(depth)[:, later]).abs().mean()
    loss = loss_t + 0.35 * loss_c + 0.15 * edge_loss(guess_t[:, later], truth[:, later]) + 0.5 * loss_d
    first = (high[:, later] == 1).float()
    error = (guess_t[:, later] - truth[:, later]).square().mean(dim=(2, 3, 4, 5))
    figures = {"t": loss_t, "c": loss_c, "depth": loss_d, "mse_at_1": (error * first).sum() / first.sum().clamp_min(1)}
    own = torch.where((high < 0.97)[..., None, None, None, None], guess_t.detach().clamp(-1, 1), context)
    keep = torch.rand(*truth.shape[:2], 1, 1, 1, 1, device=truth.device) < 0.2
    own = torch.where(keep, context, own)
    return loss, torch.cat([context[:, :1], own[:, later]], 1), figures


def losses(graph: Graph, batch: dict[str, Tensor], replaced: Tensor | None) -> tuple[Tensor, Tensor, dict[str, Tensor]]:
    """Loss of one batch, the model's own pictures of it, and figures. ``replaced`` stands in for the context's pictures."""
    pictures = batch["pictures"]
    off = torch.rand(*pictures.shape[:2], 1, device=pictures.device) < MEMORY_OFF
    plan = layout(graph.network, batch["poses"], batch["retrieved"].masked_fill(off, 0))
    truth, context, seen, low, wanted, high = graph.wrap(exercise)(pictures, replaced, graph.network.config.patch)
    with torch.autocast(pictures.device.type, torch.bfloat16, enabled=pictures.is_cuda):
        x_c, kept = graph.context(seen, low, plan)
        x_t = graph.target(wanted, high, plan, kept)
        guess_c, guess_t, depth_t = graph.pictures(x_c, seen, low), graph.pictures(x_t, wanted, high), graph.depth(x_t)
    loss, own, figures = graph.wrap(score)(truth, context, low, high, guess_c, guess_t, depth_t, batch["depth"])
    return loss, own, figures


def train_base(network: TinyNetwork, ring: Ring, seconds: float, batch: int, renew_every: int, *,
               tell: Callable[[str], None] = print, rate: float = 1.0, compiled: Compiled = "all") -> Average:
    """Train for ``seconds``; returns the average of the weights."""
    graph, average = Graph(network, compiled), Average(network, 0.997)
    chosen = optimisers(network, rate)
    base = [group["lr"] for o in chosen for group in o.param_groups]
    while ring.made < min(ring.size, 4 * ring.batch):
        ring.renew()
    started = mark = time.monotonic()
    step, done, own = 0, 0.0, None
    rows: dict[str, Tensor] = {}
    while done < 1:
        done = (time.monotonic() - started) / seconds
        if step % renew_every == 0:
            ring.renew()
        second = done > 0.45 and step % 2 == 1 and own is not None
        rows = rows if second else ring.draw(batch)
        loss, own, figures = losses(graph, rows, own if second else None)
        for o in chosen:
            o.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        scale = iter(base)
        for o in chosen:
            for group in o.param_groups:
                group["lr"] = next(scale) * rate_at(done, step)
            o.step()
        average.update()
        if step == 20:
            started = time.monotonic()  # the clock starts when everything is compiled
        if step % 100 == 0:
            now = time.monotonic()
            tell(f"base step {step} done {done:.3f} {(now - mark) / 100 * 1e3:.0f} ms/step loss {float(loss.detach()):.4f} "
                 + " ".join(f"{k} {float(v.detach()):.4f}" for k, v in figures.items()) + f" sequences {ring.made}")
            mark = now
        step += 1
    tell(f"base ended at step {step}, {ring.made} sequences")
    return average
