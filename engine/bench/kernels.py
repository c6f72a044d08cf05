"""The kernels on this machine: right, and how near to the memory's own speed. ``python -m worldpager.engine.bench.kernels``.

First every kernel against its plain twin: packed bytes equal, unpacked numbers against the twin in float64. Then times at the shape of a
Matrix-Game 2.0 chunk, with several sizes of program tried, and the share of the bandwidth of a plain copy of as many bytes in the same run.
Host time is what a call costs the thread that makes it. A CPU runs a reduced shape with the plain twins, or with the Triton kernels
interpreted (``--twin triton`` and TRITON_INTERPRET=1).
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from worldpager.kernels.dispatch import forced
from worldpager.kernels.pack import pack
from worldpager.kernels.record import PackedLayout
from worldpager.kernels.unpack_rotate import rotation, unpack

FREQUENCIES = tuple(10000 ** (-2 * pair / 44) for pair in range(22))
"""The frame's share of Matrix-Game 2.0's rotary pairs: channels 0 to 43 of 128."""
CHUNK = PackedLayout(30, 2640, 12, 128, 4, 128, 128)
REDUCED = PackedLayout(1, 70, 2, 128, 4, 32, 64)
TEXT = PackedLayout(30, 32, 3, 64, 4, 32, 64)
"""A block of SmolLM2-135M: 32 tokens."""
CODINGS = {"int4": (4, 128, 128, False), "int4, 64 x 64": (4, 64, 64, False), "int3": (3, 64, 64, False), "int2": (2, 32, 64, False),
           "int2 symmetric": (2, 32, 64, True), "int8": (8, 128, 128, False)}  # fmt: skip
UNPACK_TILES = [(4096, 8, 4, 8), (4096, 4, 4, 8), (4096, 2, 4, 8), (8192, 4, 8, 8), (2048, 2, 2, 8), (1024, 2, 1, 8), (4096, 16, 4, 16)]
PACK_TILES = [(2048, 128, 4), (4096, 256, 4), (4096, 64, 4), (2048, 256, 2), (2048, 128, 2), (1024, 128, 1), (2048, 16, 1), (8192, 256, 8)]


@dataclass(frozen=True, slots=True)
class Machine:
    """Where it runs and how time is taken."""

    device: torch.device
    repeats: int

    def seconds(self, work: Callable[[], object]) -> float:
        """Median time of one call, after three to warm up."""
        for _ in range(3 if self.device.type == "cuda" else 1):
            work()
        if self.device.type != "cuda":
            return statistics.median(_timed(work) for _ in range(self.repeats))
        marks = [(torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)) for _ in range(self.repeats)]
        torch.cuda.synchronize()
        torch.cuda._sleep(100_000_000)  # 50 ms of cycles: meanwhile the calls queue up, so that none waits for the host
        for begin, end in marks:
            begin.record()
            work()
            end.record()
        torch.cuda.synchronize()
        return float(statistics.median(begin.elapsed_time(end) for begin, end in marks)) / 1e3

    def host_seconds(self, work: Callable[[], object]) -> float:
        """Median time until a call returns, which on a GPU is before its work is done."""
        seconds = []
        for _ in range(self.repeats):
            if self.device.type == "cuda":
                torch.cuda.synchronize()
            seconds.append(_timed(work))
        return statistics.median(seconds)


def _timed(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def main(arguments: list[str] | None = None) -> int:
    """Check, measure, print; JSON if asked. 1 when a kernel is wrong."""
    p = argparse.ArgumentParser(prog="worldpager bench kernels", description=__doc__)
    p.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    p.add_argument("--twin", choices=("plain", "triton"), help="instead of the one that fits the device")
    p.add_argument("--repeats", type=int)
    p.add_argument("--no-tuning", action="store_true", help="only the sizes of program that are in use")
    p.add_argument("--only", choices=("check", "pack", "unpack"), help="one part")
    p.add_argument("--json", type=Path)
    a = p.parse_args(arguments)
    device = torch.device(a.device)
    on_gpu = device.type == "cuda"
    machine = Machine(device, a.repeats or (20 if on_gpu else 3))
    chunk = CHUNK if on_gpu else REDUCED
    print(f"{torch.cuda.get_device_name() if on_gpu else 'CPU'}, torch {torch.__version__}; {chunk}")
    with forced(a.twin) if a.twin else nullcontext():
        wrong = check(device, replace(chunk, layers=min(chunk.layers, 3))) if a.only in (None, "check") else []
        rows = measure(machine, chunk, a.only, tuning=on_gpu and not a.no_tuning) if a.only != "check" else {}
    if a.json:
        a.json.write_text(json.dumps(rows, indent=1) + "\n")
    print("all kernels right" if not wrong else f"WRONG: {', '.join(wrong)}")
    return 1 if wrong else 0


# Right


def check(device: torch.device, chunk: PackedLayout) -> list[str]:
    """Names of what differs from its twin."""
    wrong = []
    for name, (bits, key_group, value_group, symmetric) in CODINGS.items():
        layout = replace(chunk, bits=bits, key_group=key_group, value_group=value_group, symmetric=symmetric)
        wrong += [f"{name}: {what}" for what in differences(device, layout, 3, name)]
    return wrong + [f"text: {what}" for what in differences(device, replace(TEXT, layers=min(TEXT.layers, chunk.layers)), 5, "text blocks")]


def differences(device: torch.device, layout: PackedLayout, blocks: int, name: str) -> list[str]:
    """What is wrong, with NaN and infinities planted; figures printed."""
    keys, values = made(layout, blocks, device)
    keys[0, 0, 3, 0, 1], keys[0, 1, 0, -1, 0], values[-1, -1, -1, 0, 5] = float("nan"), float("inf"), float("-inf")
    mine, plain = records_for(layout, blocks, device), records_for(layout, blocks, device)
    pack(layout, keys, values, mine)
    with forced("plain"):
        pack(layout, keys, values, plain)
    unequal = sum(int((a != b).sum()) for a, b in zip(mine, plain, strict=True))
    positions = torch.arange(blocks, dtype=torch.float64)[:, None] * -37.0 + 5.0
    if name == "text blocks":
        positions = positions + torch.arange(layout.tokens)
    types = [torch.float32] * (name == "int4" or device.type == "cpu") + [torch.bfloat16] * (device.type == "cuda")
    worst = max(worst_error(layout, plain, positions, dtype) for dtype in types)
    mended = sum(int(layout.mended(record).sum()) for record in mine)
    print(f"  {name:16} {unequal} packed bytes differ; mended {mended} of 3; largest error unpacked: {worst:.2f} of what rounding explains")
    return ["packed bytes"] * (unequal > 0) + ["mended"] * (mended != 3) + ["unpacked numbers"] * (not worst <= 1)


def worst_error(layout: PackedLayout, records: Sequence[Tensor], positions: Tensor, dtype: torch.dtype) -> float:
    """Largest error of unpacked numbers as a share of half a unit in the last place plus float32's own errors before rounding."""
    device = records[0].device
    views = {kind: view_for(layout, len(records), device, kind) for kind in (dtype, torch.float64)}
    for kind, (keys, values) in views.items():
        turn = rotation(FREQUENCIES, positions, device, torch.float64 if kind == torch.float64 else torch.float32)
        with forced("plain") if kind == torch.float64 else nullcontext():
            unpack(layout, records, keys, values, list(range(len(records)))[::-1], turn, 0)
    half = 2.0**-8 if dtype == torch.bfloat16 else 0.0
    worst = 0.0
    for got, judge in zip(views[dtype], views[torch.float64], strict=True):
        bound = judge.abs() * half * 1.01 + judge.abs().amax() * 2**-21
        worst = max(worst, float(((got.double() - judge).abs() / bound).nan_to_num(nan=9e9).max()))
    return worst


def made(layout: PackedLayout, blocks: int, device: torch.device) -> tuple[Tensor, Tensor]:
    """Keys and values [layers, blocks, tokens, heads, head_dim] in bfloat16; keys with channels of unlike size, as real ones have."""
    seed = torch.Generator(device).manual_seed(3)
    shape = (layout.layers, blocks, layout.tokens, layout.heads, layout.head_dim)
    keys, values = (torch.randn(shape, generator=seed, device=device, dtype=torch.bfloat16) for _ in range(2))
    return keys * torch.linspace(0.1, 4, layout.head_dim, device=device).bfloat16() + 0.5, values


def records_for(layout: PackedLayout, blocks: int, device: torch.device) -> list[Tensor]:
    """Rows of one slab, as slots are."""
    return list(torch.zeros(blocks, layout.record_bytes, dtype=torch.uint8, device=device))


def view_for(layout: PackedLayout, blocks: int, device: torch.device, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
    """A memory view as Matrix-Game 2.0's: keys and values [layers, blocks, tokens, heads, head_dim]."""
    shape = (layout.layers, blocks, layout.tokens, layout.heads, layout.head_dim)
    return torch.zeros(shape, dtype=dtype, device=device), torch.zeros(shape, dtype=dtype, device=device)


# Fast


def measure(machine: Machine, chunk: PackedLayout, only: str | None, tuning: bool) -> dict[str, dict[str, Any]]:
    """All rows, printed as they come; what is in use first, other sizes of program last."""
    rows: dict[str, dict[str, Any]] = {}
    keys, values = made(chunk, 1, machine.device)
    for name, (bits, key_group, value_group, symmetric) in CODINGS.items():
        layout = replace(chunk, bits=bits, key_group=key_group, value_group=value_group, symmetric=symmetric)
        if only != "unpack":
            rows |= measure_pack(machine, layout, keys, values, name, ())
        if only != "pack":
            rows |= measure_unpack(machine, layout, packed(layout, keys, values), f"three blocks, {name}", ())
    if only != "pack":
        text = TEXT if machine.device.type == "cuda" else replace(TEXT, layers=1)
        blocks = 256 if machine.device.type == "cuda" else 4
        slab = records_for(text, blocks, machine.device)
        pack(text, *made(text, blocks, machine.device), slab)
        rows |= measure_unpack(machine, text, slab, f"{blocks} text blocks", ())
    if tuning and only != "unpack":
        rows |= measure_pack(machine, chunk, keys, values, "int4", PACK_TILES)
    if tuning and only != "pack":
        rows |= measure_unpack(machine, chunk, packed(chunk, keys, values), "three blocks, int4", UNPACK_TILES)
    return rows


def packed(layout: PackedLayout, keys: Tensor, values: Tensor) -> list[Tensor]:
    """Three blocks that happen to be equal."""
    records = records_for(layout, 3, keys.device)
    for record in records:
        pack(layout, keys, values, [record])
    return records


def measure_pack(
    machine: Machine, layout: PackedLayout, keys: Tensor, values: Tensor, name: str, tried: Sequence[tuple[int, ...]]
) -> dict[str, dict[str, Any]]:
    """Quantise + pack of one block: as it is in use, or ``tried`` sizes of program."""
    record = records_for(layout, 1, machine.device)
    moved = keys.nbytes + values.nbytes + layout.layers * layout.layer_bytes
    work: dict[str, Callable[[], object]] = {} if tried else {"": lambda: pack(layout, keys, values, record)}
    for tiles in tried:
        kernel = import_module("worldpager.kernels.pack.kernel")
        work[str(tiles)] = partial(kernel.pack, layout, keys, values, record, kernel.Tiles(*tiles))
    return report(machine, f"pack, {name}", moved, work)


def measure_unpack(
    machine: Machine, layout: PackedLayout, records: Sequence[Tensor], name: str, tried: Sequence[tuple[int, ...]]
) -> dict[str, dict[str, Any]]:
    """Unpack + rotate into the view: as it is in use, or ``tried`` sizes of program and, to see what it costs, without turning."""
    keys, values = view_for(layout, len(records), machine.device, torch.bfloat16)
    moved = keys.nbytes + values.nbytes + len(records) * layout.layers * layout.layer_bytes
    positions = torch.arange(len(records), dtype=torch.float64)[:, None] - 40.0
    if name.endswith("text blocks"):
        positions = positions * layout.tokens + torch.arange(layout.tokens)
    turn = rotation(FREQUENCIES, positions, machine.device)
    work: dict[str, Callable[[], object]] = {} if tried else {"": lambda: unpack(layout, records, keys, values, None, turn, 0)}
    for tiles in tried:
        kernel = import_module("worldpager.kernels.unpack_rotate.kernel")
        work[str(tiles)] = partial(kernel.unpack, layout, records, keys, values, range(len(records)), turn, 0, kernel.Tiles(*tiles))
    if tried:
        work["without turning"] = lambda: unpack(layout, records, keys, values)
    return report(machine, f"unpack + rotate, {name}", moved, work)


def report(machine: Machine, name: str, moved: int, work: dict[str, Callable[[], object]]) -> dict[str, dict[str, Any]]:
    """A line for each way to do the same; ``moved`` bytes read and written."""
    ceiling, rows = copy_rate(machine, moved), {}
    for way, call in work.items():
        row = f"{name} {way}".rstrip()
        try:
            seconds = machine.seconds(call)
        except Exception as error:  # a size that the compiler or the card refuses
            print(f"  {row:64} {type(error).__name__}: {str(error)[:120]}")
            continue
        rate, host = moved / seconds, machine.host_seconds(call)
        rows[row] = {"ms": seconds * 1e3, "bytes": moved, "GB/s": rate / 1e9, "copy GB/s": ceiling / 1e9, "host ms": host * 1e3}
        share = f"{rate / 1e9:7.1f} GB/s, {rate / ceiling:6.1%} of a copy's {ceiling / 1e9:.0f}"
        print(f"  {row:52} {seconds * 1e3:9.3f} ms {moved / 1e6:8.1f} MB {share}; host {host * 1e3:.3f} ms", flush=True)
    return rows


def copy_rate(machine: Machine, moved: int) -> float:
    """Bytes a second, read and written, of a copy that moves ``moved`` bytes in all."""
    source = torch.zeros(moved // 2, dtype=torch.uint8, device=machine.device)
    target = torch.empty_like(source)
    return moved / machine.seconds(lambda: target.copy_(source))


if __name__ == "__main__":
    raise SystemExit(main())
