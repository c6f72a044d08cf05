"""Make the tiny world model from nothing: ``python train.py --out DIR`` on one GPU.

Two stages (`base`, `sharpen`), a blend of their weights, and the export to ``model.safetensors`` + ``config.json``. Each stage leaves its
weights in DIR, and ``--base FILE`` / ``--sharp FILE`` start from such a file instead of from nothing.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import time
from collections.abc import Callable
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file
from torch.nn.attention import SDPBackend, sdpa_kernel

from worldpager.assets.models.tiny.base import train_base
from worldpager.assets.models.tiny.data import FRAMES, Ring
from worldpager.assets.models.tiny.sharpen import train_sharp
from worldpager.engine.models.tiny import render
from worldpager.engine.models.tiny.network import TinyConfig, TinyNetwork


def save(network: TinyNetwork, path: Path) -> None:
    """Weights as float16, geometry as float32."""
    tensors = {k: (v if k.startswith("geometry.") else v.half()).contiguous().cpu() for k, v in network.state_dict().items()}
    save_file(tensors, str(path))
    path.with_suffix(".json").write_text(json.dumps(dataclasses.asdict(network.config), indent=1) + "\n")


def load(network: TinyNetwork, path: Path) -> None:
    """Weights from a file that `save` wrote."""
    network.load_state_dict({k: v.float() for k, v in load_file(str(path)).items()})


def blend(a: Path, b: Path, share: float, out: Path, config: TinyConfig) -> None:
    """``share`` of ``b`` and the rest of ``a``."""
    x, y = load_file(str(a)), load_file(str(b))
    network = TinyNetwork(config)
    network.load_state_dict({k: (1 - share) * x[k].float() + share * y[k].float() for k in x})
    save(network, out)


def compile_renderer() -> None:
    """Fuse the renderer's pieces on a GPU; one shape only, since every new one compiles again."""
    for name in ("_advance", "_surface", "_light", "_sky_colour"):
        setattr(render, name, torch.compile(getattr(render, name), dynamic=False))


def profile(network: TinyNetwork, ring: Ring, batch: int, renew_every: int, tell: Callable[[str], None]) -> None:
    """Say what a renewal costs, and the operations that a second of base steps spends its time in."""
    train_base(network, ring, 20.0, batch, renew_every, tell=tell)
    torch.cuda.synchronize()
    began = time.monotonic()
    for _ in range(5):
        ring.renew()
    torch.cuda.synchronize()
    tell(f"renewal of {ring.batch} sequences: {(time.monotonic() - began) / 5 * 1e3:.0f} ms")
    kinds = [torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA]
    with torch.profiler.profile(activities=kinds) as seen:
        train_base(network, ring, 1.0, batch, renew_every, tell=tell)
    for key in ("self_device_time_total", "self_cpu_time_total"):
        print(seen.key_averages().table(sort_by=key, row_limit=32, max_name_column_width=70))


def main() -> None:
    """Train, blend, export."""
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--out", type=Path, required=True)
    p.add_argument("--base", type=Path, help="start from these weights and skip stage 1 (or train them further with --base-seconds)")
    p.add_argument("--sharp", type=Path)
    p.add_argument("--base-seconds", type=float, default=780)
    p.add_argument("--sharp-seconds", type=float, default=480)
    p.add_argument("--chunks", type=int, default=16)
    p.add_argument("--batch", type=int, default=16)
    p.add_argument("--ring", type=int, default=1536)
    p.add_argument("--renew-every", type=int, default=4)
    p.add_argument("--workers", type=int, default=12)
    p.add_argument("--width", type=int, default=448)
    p.add_argument("--hidden", type=int, default=1568)
    p.add_argument("--layers", type=int, default=6)
    p.add_argument("--pair", type=int, default=2)
    p.add_argument("--share", type=float, default=0.5)
    p.add_argument("--cap", type=float, default=0.35)
    p.add_argument("--rate", type=float, default=1.0)
    p.add_argument("--compiled", choices=("nothing", "layers", "all"), default="all")
    p.add_argument("--seconds", type=float, default=float("inf"), help="in all, from the start; what is left bounds stage 2")
    p.add_argument("--profile", action="store_true", help="only say where the time of a base step goes")
    a = p.parse_args()
    a.out.mkdir(parents=True, exist_ok=True)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    torch.manual_seed(20261201)
    torch.backends.cuda.matmul.allow_tf32 = False
    began = time.monotonic()

    def tell(text: str) -> None:
        print(f"[{time.monotonic() - began:7.1f}] {text}", flush=True)

    if a.compiled != "nothing" and device.type == "cuda":
        compile_renderer()
    if device.type == "cuda":
        attention = sdpa_kernel([SDPBackend.CUDNN_ATTENTION, SDPBackend.FLASH_ATTENTION, SDPBackend.MATH], set_priority=True)
        attention.__enter__()  # for the whole run: cuDNN's backward took 0.8 ms a layer where the default took 1.8 on an H200
    config = TinyConfig(width=a.width, hidden=a.hidden, layers=a.layers, pair=a.pair)
    network = TinyNetwork(config).to(device)
    tell(f"{sum(p.numel() for p in network.parameters()) / 1e6:.2f}M parameters, {config.tokens} tokens a chunk, device {device}")
    ring = Ring(a.chunks * FRAMES, a.ring, a.batch, device, a.workers, int(time.time()))
    if a.profile:
        profile(network, ring, a.batch, a.renew_every, tell)
        return
    if a.base:
        load(network, a.base)
    if a.base_seconds > 0:
        train_base(network, ring, a.base_seconds, a.batch, a.renew_every, tell=tell, rate=a.rate, compiled=a.compiled).copy_to(network)
        save(network, a.out / "base.safetensors")
    if a.sharp:
        load(network, a.sharp)
    if a.sharp_seconds > 0:
        train_sharp(network, ring, a.sharp_seconds, a.batch, 12, tell=tell, cap=a.cap, compiled=a.compiled,
                    end=began + a.seconds).copy_to(network)
        save(network, a.out / "sharp.safetensors")
        first = a.out / "base.safetensors" if a.base_seconds > 0 else a.base
        blend(first, a.out / "sharp.safetensors", a.share, a.out / "model.safetensors", config)
    tell(f"peak GPU memory {torch.cuda.max_memory_allocated() / 2**30 if device.type == 'cuda' else 0:.1f} GiB")


if __name__ == "__main__":
    main()
