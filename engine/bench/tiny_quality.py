"""Quality of the tiny world model on worlds it was never trained on, against the true render.

``worldpager bench tiny-quality`` or ``python -m worldpager.engine.bench.tiny_quality --weights FILE``. PSNR in dB, sharpness = mean
|Laplacian| over that of the true render. Revisits: the first half of a 64-frame path is real and written to the KV, the way back is
generated.
"""

from __future__ import annotations

import argparse
import functools
import json
import time
from collections.abc import Callable
from pathlib import Path

import torch
from torch import Tensor
from torch.nn import functional as F

from worldpager.assets.models.tiny.data import held_out, rendered
from worldpager.engine.config import CodecConfig
from worldpager.engine.memory.codec import decode, make_codec
from worldpager.engine.models.base import BlockKV, KVShape, RotarySpec
from worldpager.engine.models.tiny.network import TinyConfig, TinyNetwork
from worldpager.engine.models.tiny.rollout import KV, PlayOptions, roll


def load_network(weights: Path, device: torch.device) -> TinyNetwork:
    """The network of ``weights`` (safetensors) with the configuration beside it."""
    from safetensors.torch import load_file
    network = TinyNetwork(TinyConfig(**json.loads(weights.with_suffix(".json").read_text())))
    network.load_state_dict({k: v.float() for k, v in load_file(str(weights)).items()})
    return network.to(device).eval()


def psnr(a: Tensor, b: Tensor) -> float:
    """Mean over chunks of the PSNR in dB of pictures in [-1, 1], shape [B, S, F, 3, h, w]."""
    mse = (a.clamp(-1, 1) - b).square().mean(dim=(3, 4, 5)).clamp_min(1e-8)
    return float((10 * torch.log10(4 / mse)).mean())


def sharpness(a: Tensor, truth: Tensor) -> float:
    """Mean |Laplacian| of ``a`` over that of ``truth``."""
    kernel = a.new_tensor([[0, 1, 0], [1, -4, 1], [0, 1, 0]])[None, None]

    def edges(x: Tensor) -> Tensor:
        grey = x.mean(3).flatten(0, 2)[:, None]
        return F.conv2d(grey, kernel).abs().mean()

    return float(edges(a) / edges(truth))


def int4(kv: KV) -> KV:
    """One layer's KV [B, N, H, 64] through the store's own codec and back."""
    keys, values = (x.float().cpu().clone() for x in kv)
    codec = make_codec(CodecConfig(), KVShape(1, *keys.shape[1:]), RotarySpec())
    record = torch.zeros(codec.record_bytes, dtype=torch.uint8)
    for i in range(len(keys)):
        codec.encode(BlockKV(keys[i:i + 1], values[i:i + 1]), record)
        decode(codec, record, keys[i:i + 1], values[i:i + 1], 0.0)
    return keys.to(kv[0]), values.to(kv[1])


def stale(retrieved: Tensor) -> Tensor:
    """Every chunk with the set that was meant for the one before."""
    last = torch.arange(retrieved.shape[1], device=retrieved.device)[:, None].sub(1).clamp_min(0)
    return torch.cat([retrieved[:, :1], retrieved[:, :-1]], 1).minimum(last)


@functools.lru_cache(maxsize=4)
def scenes(program: str, count: int, frames: int, device: torch.device) -> tuple[Tensor, Tensor, Tensor]:
    """Held-out (poses [B, S, F, 5], retrieved [B, S, k], truth [B, S, F, 3, h, w] in [-1, 1])."""
    batch = held_out(count, frames, program)
    truth = rendered(batch, device)[0].float() / 127.5 - 1
    return batch["poses"].to(device), batch["retrieved"].to(device), truth


def revisit(network: TinyNetwork, program: str, count: int, options: PlayOptions,
            change: Callable[[Tensor], Tensor] = lambda r: r) -> tuple[Tensor, Tensor]:
    """(played, truth) of the second half of ``count`` held-out paths."""
    device = next(network.parameters()).device
    poses, retrieved, truth = scenes(program, count, 64, device)
    half = truth.shape[1] // 2
    out = roll(network, poses, change(retrieved), truth[:, :half], options, torch.Generator(device).manual_seed(1))
    return out[:, half:], truth[:, half:]


def unseen(network: TinyNetwork, program: str, count: int, frames: int, passes: int) -> tuple[Tensor, Tensor]:
    """(played, truth) of ``frames`` frames from one real chunk into places that nobody has seen."""
    device = next(network.parameters()).device
    poses, retrieved, truth = scenes(program, count, frames, device)
    out = roll(network, poses, retrieved, truth[:, :1], PlayOptions(passes), torch.Generator(device).manual_seed(1))
    return out, truth


def figures(network: TinyNetwork, count: int, long_frames: int, long_count: int, tell: Callable[[str], None]) -> dict[str, float]:
    """All figures of the card."""
    out: dict[str, float] = {}

    def note(name: str, value: float) -> None:
        out[name] = round(value, 3)
        tell(f"{name:38s} {value:8.3f}")

    for program in ("look", "walk"):
        for name, options, change in (
            *((f"memory, {n} passes", PlayOptions(n), None) for n in (2, 3, 4)),
            ("memory, window 1", PlayOptions(3, window=1), None),
            ("no memory", PlayOptions(3, memory=False), None),
            ("int4", PlayOptions(3, coded=int4), None),
            ("stale", PlayOptions(3), stale),
        ):
            played, truth = revisit(network, program, count, options, change or (lambda r: r))
            note(f"{program}: {name}", psnr(played, truth))
            if change is None and options.coded is None:
                note(f"{program}: {name}, sharpness", sharpness(played, truth))
    for passes in (2, 3, 4):
        played, truth = unseen(network, "spin", count, 64, passes)
        note(f"spin from one chunk, {passes} passes, sharpness", sharpness(played[:, 4:], truth[:, 4:]))
    for passes in (2, 3, 4) if long_frames else ():
        played, truth = unseen(network, "free", long_count, long_frames, passes)
        for i in range(0, played.shape[1], 15):
            note(f"free walk, {passes} passes, sharpness from {i * 4}", sharpness(played[:, i:i + 15], truth[:, i:i + 15]))
        note(f"free walk, {passes} passes, level first 60", float(played[:, :15].mean() - truth[:, :15].mean()) * 127.5)
        note(f"free walk, {passes} passes, level last 60", float(played[:, -15:].mean() - truth[:, -15:].mean()) * 127.5)
    return out


def strip(network: TinyNetwork, path: Path, passes: int = 3, count: int = 3) -> None:
    """A picture to look at: look, walk, spin and free walk; per world a row of truth and a row of play."""
    from imageio.v3 import imwrite
    rows = []
    for program in ("look", "walk", "spin", "free"):
        if program in ("look", "walk"):
            played, truth = revisit(network, program, count, PlayOptions(passes))
        else:
            played, truth = unseen(network, program, count, 64 if program == "spin" else 128, passes)
        step = max(1, played.shape[1] // 8)
        for i in range(count):
            rows += [torch.cat(list(x[i, ::step, 0][:8]), -1) for x in (truth, played.clamp(-1, 1))]
    picture = ((torch.cat(rows, 1) + 1) * 127.5).round().to(torch.uint8).permute(1, 2, 0).cpu().numpy()
    imwrite(path, picture)


@torch.no_grad()
def main(arguments: list[str] | None = None) -> int:
    """Run, print, and write JSON and a strip if asked."""
    p = argparse.ArgumentParser(prog="worldpager bench tiny-quality", description=__doc__)
    p.add_argument("--weights", type=Path, required=True)
    p.add_argument("--worlds", type=int, default=24)
    p.add_argument("--long-frames", type=int, default=480)
    p.add_argument("--long-worlds", type=int, default=12)
    p.add_argument("--json", type=Path)
    p.add_argument("--strip", type=Path)
    p.add_argument("--strip-only", action="store_true")
    a = p.parse_args(arguments)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    network = load_network(a.weights, device)
    began = time.monotonic()
    with torch.autocast(device.type, torch.bfloat16, enabled=device.type == "cuda"):
        if a.strip:
            strip(network, a.strip)
        result = {} if a.strip_only else figures(network, a.worlds, a.long_frames, a.long_worlds, lambda t: print(t, flush=True))
    print(f"{time.monotonic() - began:.0f} s on {device}")
    if a.json:
        a.json.write_text(json.dumps(result, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
