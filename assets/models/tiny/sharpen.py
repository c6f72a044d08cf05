"""Stage 2: make what nobody has seen yet crisp, by an adversary on the uncovered parts of play's own pictures."""

from __future__ import annotations

import random
import time
from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from worldpager.assets.models.tiny.base import CONTEXT_LEVEL, Average, clean, edge_loss, picture_loss, roughened, small_depth
from worldpager.assets.models.tiny.data import Ring
from worldpager.assets.models.tiny.graph import Compiled, Graph, Layout, layout, slot_table
from worldpager.engine.models.tiny.network import TinyNetwork
from worldpager.engine.models.tiny.render import FOV_X
from worldpager.engine.models.tiny.rollout import SCHEDULES, PlayOptions, noise, noised, roll

LEARNT_SCHEDULES = (2, 3, 3, 4)


class Critic(nn.Module):
    """Judges a chunk: its frames, the frame before and the inverse depth; logits on a fine and a coarse grid."""

    def __init__(self, frames: int) -> None:
        super().__init__()

        def conv(a: int, b: int, stride: int) -> nn.Module:
            return nn.Sequential(nn.Conv2d(a, b, 3 if stride == 1 else 4, stride, 1), nn.LeakyReLU(0.2))

        self.full = nn.Sequential(conv(3 * frames + 3, 64, 2), conv(64, 96, 1), conv(96, 128, 2))
        self.rough = nn.Sequential(conv(3 * frames + 3, 64, 1), conv(64, 64, 2))
        self.middle = nn.Sequential(conv(128 + 64 + frames, 256, 1), conv(256, 256, 2))
        self.fine = nn.Conv2d(256, 1, 1)
        self.deep = nn.Sequential(conv(256, 384, 2), conv(384, 384, 1))
        self.coarse = nn.Conv2d(384, 1, 1)

    def forward(self, frames: Tensor, before: Tensor, depth: Tensor) -> Tensor:
        """Logits [B, n] of ``frames`` [B, F, 3, h, w], ``before`` [B, 3, h, w], ``depth`` [B, F, 16, 24]."""
        x = torch.cat([frames.flatten(1, 2), before], 1)
        far = F.interpolate(depth, size=(x.shape[2] // 4, x.shape[3] // 4), mode="bilinear")
        y = torch.cat([self.full(x), self.rough(F.avg_pool2d(x, 2)), far.to(x.dtype)], 1)
        y = self.middle(y)
        return torch.cat([self.fine(y).flatten(1), self.coarse(self.deep(y)).flatten(1)], 1)


@torch.no_grad()
def coverage(batch: dict[str, Tensor], slots: Tensor, real: Tensor) -> Tensor:
    """Share [B, S, F, 16, 24] in 0..1 of each 5x5 block's point that some context chunk has seen, by true depth.

    ``slots`` [B, S, n] chunks behind the slots; ``real`` [B, S] chunks whose pictures are the true ones.
    A point counts if it lies inside a slot's frame and is not hidden there; it counts less where it was seen from much farther away.
    """
    poses = batch["poses"]
    depth = small_depth(batch["depth"])
    B, S, T = poses.shape[:3]
    focal = 1 / torch.tan(torch.tensor(FOV_X / 2, device=poses.device))
    h, w = depth.shape[-2:]
    rows, columns = ((torch.arange(n, device=poses.device) + 0.5) / n * 2 - 1 for n in (h, w))
    v, u = torch.meshgrid(rows, columns, indexing="ij")
    ray = torch.stack([torch.ones_like(u), -u / focal, -v / focal / 1.5], -1)
    norm = ray.norm(dim=-1)
    distance = 1 / depth.clamp_min(1 / 60)
    yaw, pitch = poses[..., 3, None, None], poses[..., 4, None, None]
    fx = ray[..., 0] * pitch.cos() - ray[..., 2] * pitch.sin()
    fz = ray[..., 0] * pitch.sin() + ray[..., 2] * pitch.cos()
    world = torch.stack([fx * yaw.cos() - ray[..., 1] * yaw.sin(), fx * yaw.sin() + ray[..., 1] * yaw.cos(), fz], -1)
    point = poses[..., None, None, :3] + world / norm[..., None] * distance[..., None]       # [B, S, T, h, w, 3]
    best = torch.zeros_like(depth)
    rows = torch.arange(B, device=poses.device)[:, None]
    for j in range(slots.shape[-1]):
        chunk = slots[..., j]
        counts = real[rows, chunk] & (chunk < torch.arange(S, device=poses.device))
        for f in (0, T - 1):
            eye = poses[rows, chunk, f][:, :, None, None, None]                              # [B, S, 1, 1, 1, 5]
            d = point - eye[..., :3]
            cy, sy, cp, sp = eye[..., 3].cos(), eye[..., 3].sin(), eye[..., 4].cos(), eye[..., 4].sin()
            ahead, left = d[..., 0] * cy + d[..., 1] * sy, d[..., 1] * cy - d[..., 0] * sy
            front, up = ahead * cp + d[..., 2] * sp, d[..., 2] * cp - ahead * sp
            pu, pv = -left / front.clamp_min(1e-3) * focal, -up / front.clamp_min(1e-3) * focal * 1.5
            inside = (front > 0.05) & (pu.abs() < 1) & (pv.abs() < 1)
            grid = torch.stack([pu, pv], -1).flatten(0, 1).flatten(1, 2)                     # [B*S, T*h, w, 2]
            there = F.grid_sample(depth[rows, chunk, f].flatten(0, 1)[:, None], grid, align_corners=False, padding_mode="border")
            there = there.view_as(pu)
            mine = 1 / d.norm(dim=-1).clamp_min(0.05)
            open_to = (there < mine * 1.25 + 0.03)
            nearness = (mine / depth.clamp_min(1 / 60)).clamp(0, 1).sqrt()
            best = torch.maximum(best, (inside & open_to & counts[:, :, None, None, None]).float() * nearness)
    return best


class Rollouts:
    """Sequences whose context the present model made itself, renewed now and then."""

    def __init__(self, ring: Ring, count: int) -> None:
        self.ring, self.count = ring, count
        self.rows: dict[str, Tensor] = {}

    @torch.no_grad()
    def renew(self, network: TinyNetwork) -> None:
        """Play all sequences again from 1 to 8 real chunks."""
        rows = self.ring.draw(self.count)
        primed = random.choice((1, 1, 2, 4, 8))
        with torch.autocast(rows["poses"].device.type, torch.bfloat16, enabled=rows["poses"].is_cuda):
            played = [roll(network, part["poses"], part["retrieved"], clean(part["pictures"][:, :primed]),
                           PlayOptions(random.choice(LEARNT_SCHEDULES)))
                      for part in ({k: v[i:i + 64] for k, v in rows.items()} for i in range(0, self.count, 64))]
        rows["played"] = torch.cat(played).half()
        rows["real"] = torch.arange(rows["poses"].shape[1], device=rows["poses"].device).expand(self.count, -1) < primed
        self.rows = rows

    def draw(self, count: int) -> dict[str, Tensor]:
        """``count`` random ones."""
        pick = torch.randint(0, self.count, (count,), device=self.rows["poses"].device)
        return {k: v[pick] for k, v in self.rows.items()}


def _mixed(ring: Ring, rollouts: Rollouts, count: int) -> dict[str, Tensor]:
    """Half true context, half the model's own."""
    true, own = ring.draw(count - count // 2), rollouts.draw(count // 2)
    true["played"] = clean(true["pictures"]).half()
    true["real"] = torch.ones(true["poses"].shape[:2], dtype=torch.bool, device=true["poses"].device)
    return {k: torch.cat([true[k], own[k]]) for k in true}


def _play_to(graph: Graph, plan: Layout, kept: list[tuple[Tensor, Tensor]], shape: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Unroll a random schedule to a random pass without gradient: (what that pass sees, its level [B, S], noise-free start)."""
    levels = SCHEDULES[random.choice(LEARNT_SCHEDULES)]
    last = random.randrange(len(levels))
    flat = shape.flatten(0, 1)
    white, coarse = noise(flat, graph.network.config.patch)
    frozen = [(k.detach(), v.detach()) for k, v in kept]
    picture = torch.zeros_like(flat)
    for index in range(last + 1):
        level = torch.full(shape.shape[:2], levels[index], device=shape.device)
        seen = noised(picture, level.flatten(), white, coarse).view_as(shape)
        if index == last:
            return seen, level, picture
        with torch.no_grad():
            picture = graph.pictures(graph.target(seen, level, plan, frozen), seen, level).clamp(-1.05, 1.05).flatten(0, 1)
    raise AssertionError("a schedule has at least one pass")


def _critic_inputs(frames: Tensor, batch: dict[str, Tensor], depth: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Chunks 1.. of ``frames`` with the true frame before (blank where the context is not real)."""
    before = clean(batch["pictures"][:, :-1, -1]) * batch["real"][:, 1:, None, None, None]
    return frames[:, 1:].flatten(0, 1), before.flatten(0, 1), depth[:, 1:].flatten(0, 1)


def critic_step(critic: Critic, optimiser: torch.optim.Optimizer, real: tuple[Tensor, Tensor, Tensor], fake: tuple[Tensor, Tensor, Tensor],
                smooth: float) -> dict[str, float | Tensor]:
    """One relativistic step with a finite-difference gradient penalty on both sides (R1 and R2)."""
    device = real[0].device.type
    sigma = 0.05
    with torch.autocast(device, torch.bfloat16, enabled=device == "cuda"):
        def both(x: tuple[Tensor, Tensor, Tensor]) -> tuple[Tensor, Tensor]:
            a = critic(*x).float()
            b = critic(x[0] + sigma * torch.randn_like(x[0]), x[1], x[2]).float()
            return a, ((a - b) / sigma).square().mean()
        on_real, r1 = both(real)
        on_fake, r2 = both(fake)
    loss = F.softplus(on_fake - on_real).mean()
    optimiser.zero_grad(set_to_none=True)
    (loss + 0.5 * smooth * (r1 + r2)).backward()
    nn.utils.clip_grad_norm_(critic.parameters(), 5.0)
    optimiser.step()
    return {"critic": loss.detach(), "slope": (r1 + r2).detach() / 2}


def train_sharp(network: TinyNetwork, ring: Ring, seconds: float, batch: int, renew_every: int, *, tell: Callable[[str], None] = print,
                rate: float = 2e-4, cap: float = 0.35, unseen: float = 0.04, colour: float = 0.5, smooth: float = 4.0, warm: int = 60,
                compiled: Compiled = "all", end: float = float("inf")) -> Average:
    """Train for ``seconds``, at most until ``time.monotonic()`` reaches ``end``; returns the average of the weights.

    ``cap`` bounds the adversary's share of the picture's gradient.
    """
    device = ring.device
    graph, average, critic = Graph(network, compiled), Average(network, 0.995), Critic(network.config.frames).to(device)
    fused = device.type == "cuda"
    gen_opt = torch.optim.AdamW(network.parameters(), lr=rate, betas=(0.5, 0.98), weight_decay=0.0, fused=fused)
    critic_opt = torch.optim.AdamW(critic.parameters(), lr=1.5e-4, betas=(0.0, 0.99), weight_decay=0.0, fused=fused)
    critic.forward = graph.wrap(critic.forward)  # type: ignore[method-assign]
    rollouts = Rollouts(ring, 4 * batch)
    while ring.made < min(ring.size, 4 * ring.batch):
        ring.renew()
    started = mark = time.monotonic()
    step, done = 0, 0.0
    while done < 1:
        done = (time.monotonic() - started) / seconds
        if step % renew_every == 0:
            ring.renew()
        if step % 40 == 0:
            rollouts.renew(network)
        rows = _mixed(ring, rollouts, batch)
        figures = _sharp_step(graph, critic, critic_opt, gen_opt, rows, cap if step >= warm else 0.0, unseen, colour, smooth)
        for group in gen_opt.param_groups:
            group["lr"] = rate * min(1.0, (step + 1) / 30) * min(1.0, max(0.02, (1 - done) / 0.35))
        average.update()
        if step == 12:
            started = time.monotonic()
            seconds = min(seconds, end - started)
        if step % 50 == 0:
            now = time.monotonic()
            told = " ".join(f"{k} {float(v):.4f}" for k, v in figures.items())
            tell(f"sharp step {step} done {done:.3f} {(now - mark) / 50 * 1e3:.0f} ms/step {told}")
            mark = now
        step += 1
    tell(f"sharp ended at step {step}, {ring.made} sequences")
    return average


def _sharp_step(graph: Graph, critic: Critic, critic_opt: torch.optim.Optimizer, gen_opt: torch.optim.Optimizer, rows: dict[str, Tensor],
                cap: float, unseen: float, colour: float, smooth: float) -> dict[str, float | Tensor]:
    truth, played = clean(rows["pictures"]), rows["played"].float()
    size, device = truth.shape[:2], truth.device
    plan = layout(graph.network, rows["poses"], rows["retrieved"])
    seen_block = graph.wrap(coverage)(rows, slot_table(rows["retrieved"]), rows["real"])
    seen = F.interpolate(seen_block.flatten(0, 2)[:, None], scale_factor=5, mode="bilinear").view(*size, -1, 1, *truth.shape[-2:])
    low = torch.empty(size, device=device).uniform_(*CONTEXT_LEVEL)
    source = torch.where(rows["real"][..., None, None, None, None], roughened(truth), played)
    flat = source.flatten(0, 1)
    seen_c = noised(flat, low.flatten(), *noise(flat, graph.network.config.patch)).view_as(source)
    with torch.autocast(device.type, torch.bfloat16, enabled=device.type == "cuda"):
        x_c, kept = graph.context(seen_c, low, plan)
        wanted, level, _ = _play_to(graph, plan, kept, truth)
        x_t = graph.target(wanted, level, plan, kept)
        guess_c, guess, depth = graph.pictures(x_c, seen_c, low), graph.pictures(x_t, wanted, level), graph.depth(x_t)
    own_source = torch.where(rows["real"][..., None, None, None, None], truth, played)
    far_off = (depth - small_depth(rows["depth"])).abs() * rows["real"][..., None, None, None]
    side = 0.35 * picture_loss(guess_c, own_source, low).mean() + 0.5 * far_off[:, 1:].mean()
    weight = unseen + (1 - unseen) * seen
    error = (guess - truth)[:, 1:]
    rec = ((error.square() * weight[:, 1:]).mean(dim=(2, 3, 4, 5)) / (level[:, 1:].square() + 0.04)).mean()
    rec = rec + 0.15 * edge_loss(guess[:, 1:] * weight[:, 1:], truth[:, 1:] * weight[:, 1:])
    rec = rec + colour * F.avg_pool2d(error.flatten(0, 2), 20).square().mean()
    g_rec = torch.autograd.grad(rec, guess, retain_graph=True)[0]
    true_depth = small_depth(rows["depth"])
    real_in, fake_in = _critic_inputs(truth, rows, true_depth), _critic_inputs(guess.detach(), rows, depth.detach())
    figures = critic_step(critic, critic_opt, real_in, fake_in, smooth)
    leaf, leaf_depth = guess.detach().requires_grad_(), depth.detach().requires_grad_()
    with torch.autocast(device.type, torch.bfloat16, enabled=device.type == "cuda"):
        adverse = F.softplus(critic(*real_in).detach() - critic(*_critic_inputs(leaf, rows, leaf_depth))).float().mean()
    g_adv, g_depth = torch.autograd.grad(adverse, (leaf, leaf_depth))
    g_adv = g_adv * (1 - 0.7 * seen)
    scale = (g_rec.norm() / g_adv.norm().clamp_min(1e-12))
    gain = cap * scale
    gen_opt.zero_grad(set_to_none=True)
    torch.autograd.backward([guess, depth, side], [g_rec + gain * g_adv, gain * g_depth, torch.ones_like(side)])
    nn.utils.clip_grad_norm_(graph.network.parameters(), 1.0)
    gen_opt.step()
    return {**figures, "adverse": adverse.detach(), "rec": rec.detach(), "gain": gain, "seen": seen.mean()}
