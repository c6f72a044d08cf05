"""Bytes in motion on this machine. ``python -m worldpager.engine.bench.io``.

Every share is of a ceiling measured in the same run: the disk tier against raw requests on the same folder (block size x depth), host to
device against a plain pinned copy, the street with memory on against the same passes over blocks that never leave the device. Bytes are
checked on the way: every block read back must be the one that was written. A CPU runs a reduced shape.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import torch
from torch import Tensor

from worldpager.engine.bench.io_street import street_overheads
from worldpager.engine.build import scratch_folder
from worldpager.engine.config import CodecConfig, GiB, MiB
from worldpager.engine.memory.codec import make_codec
from worldpager.engine.memory.device_tier import DeviceTier
from worldpager.engine.memory.disk_tier import ArenaFacts, DiskTier, open_disk_tier
from worldpager.engine.memory.drive_probe import incompressible, raw_rates
from worldpager.engine.memory.host_tier import HostTier
from worldpager.engine.memory.layout import PAGE
from worldpager.engine.memory.tier import Purpose, Stamp, checksum
from worldpager.engine.models.base import KVShape, RotarySpec

CHUNK, REDUCED = KVShape(30, 2640, 12, 128), KVShape(2, 176, 2, 128)
"""A Matrix-Game 2.0 chunk, and what a CPU runs."""
REDUCED_RECORD = 32 * MiB
"""A CPU's block where only bytes are moved: several parts."""
CHUNK_SECONDS = 1.2
"""The paper's time of a chunk, for shares of a core."""
ROUNDS = 3

Row = dict[str, object]


def main(arguments: list[str] | None = None) -> int:
    """Measure, print the tables; with ``--json`` write them, too. 1 when bytes came back wrong."""
    p = argparse.ArgumentParser(prog="worldpager bench io", description=__doc__)
    p.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    p.add_argument("--folder", type=Path, default=scratch_folder(), help="where the disk is measured")
    p.add_argument("--disk-bytes", type=float, help="GiB moved in each disk measurement (1; on a CPU 0.125)")
    p.add_argument("--chunks", type=int, help="chunks of each street in each of its rounds")
    p.add_argument("--only", choices=("disk", "sums", "copies", "street"), action="append")
    p.add_argument("--json", type=Path)
    a = p.parse_args(arguments)
    device = torch.device(a.device)
    on_gpu = device.type == "cuda"
    kv = CHUNK if on_gpu else REDUCED
    record = make_codec(CodecConfig(4, 128, 128), kv, RotarySpec()).record_bytes if on_gpu else REDUCED_RECORD
    print(f"{torch.cuda.get_device_name(device) if on_gpu else 'CPU'}; a block of {record / 1e6:.1f} MB; folder {a.folder}")
    total = int((a.disk_bytes or (1.0 if on_gpu else 0.125)) * GiB)
    parts: dict[str, Callable[[], list[Row]]] = {
        "disk": partial(disk_shares, a.folder, record, total),
        "sums": partial(sum_costs, record),
        "copies": partial(copy_shares, record, device),
        "street": partial(street_overheads, kv, device, a.folder, a.chunks or (10 if on_gpu else 5)),
    }
    rows: dict[str, list[Row]] = {}
    for name, measure in parts.items():
        if not a.only or name in a.only:
            began = time.perf_counter()
            rows[name] = measure()
            _print(name, rows[name], time.perf_counter() - began)
    if a.json:
        a.json.write_text(json.dumps(rows, indent=1) + "\n")
    return 0


def disk_shares(folder: Path, record: int, total: int) -> list[Row]:
    """Raw rates by size and depth, then the tier's, in turns with the best raw ones."""
    rows: list[Row] = []
    sweep = raw_rates(folder, total, [MiB, 4 * MiB, 8 * MiB], [1, 4, 8])
    rows += [
        {"what": f"raw, {rate.size // MiB} MiB x {rate.depth}", "write GB/s": rate.write / 1e9, "read GB/s": rate.read / 1e9}
        for rate in sweep
    ]
    count = max(2, total // record)
    tier = open_disk_tier(folder, (count + 1) * (record + PAGE), ArenaFacts(1, 1, record))
    best_write, best_read = max(sweep, key=lambda rate: rate.write), max(sweep, key=lambda rate: rate.read)
    writes, reads = [], []
    for _ in range(ROUNDS):
        raw = raw_rates(folder, total, [best_write.size], [best_write.depth])[0].write
        written, read = _tier_rates(tier, record, count)
        again = raw_rates(folder, total, [best_read.size], [best_read.depth])[0].read
        writes.append((written, raw))
        reads.append((read, again))
    tier.close()
    for name, pairs in (("write", writes), ("read", reads)):
        mine, raw = (statistics.median(column) for column in zip(*pairs, strict=True))
        share = statistics.median(one / other for one, other in pairs)
        rows.append({"what": f"tier, {name}", f"{name} GB/s": mine / 1e9, "raw GB/s": raw / 1e9, "share": share})
    rows.append({"what": f"mode: {tier.note}; {count} blocks a round, {ROUNDS} rounds in turns"})
    return rows


def _tier_rates(tier: DiskTier, record: int, count: int) -> tuple[float, float]:
    """Bytes a second written by one worker and read by two, as the store has them; every block checked against its sums by the tier."""
    sources = [incompressible(record, seed) for seed in range(2)]
    slots = [slot for _ in range(count) if (slot := tier.allocate()) is not None]
    began = time.perf_counter()
    stamps = [tier.write(slot, sources[slot % 2], Stamp(slot, 1, b"")) for slot in slots]
    written = len(slots) * record / (time.perf_counter() - began)
    lanes = [incompressible(record, 9), incompressible(record, 10)]

    def lane(number: int) -> None:
        for slot, stamp in list(zip(slots, stamps, strict=True))[number::2]:
            tier.read(slot, lanes[number], stamp, Purpose.AHEAD)
            if stamp.checksum != checksum(sources[slot % 2])[: len(stamp.checksum)]:
                raise SystemExit(f"block {slot} came back with other bytes")

    began = time.perf_counter()
    with ThreadPoolExecutor(2) as threads:
        list(threads.map(lane, range(2)))
    read = len(slots) * record / (time.perf_counter() - began)
    for slot in slots:
        tier.free(slot)
    return written, read


def sum_costs(record: int) -> list[Row]:
    """xxh3 of a block: rate, time, share of one core at a chunk every `CHUNK_SECONDS`, one write and one read each."""
    block = incompressible(record)
    seconds = statistics.median(_timed(lambda: checksum(block)) for _ in range(7))
    return [{"what": "xxh3-64, one thread", "GB/s": record / seconds / 1e9, "ms a block": seconds * 1e3,
             "share of a core": 2 * seconds / CHUNK_SECONDS}]  # fmt: skip


def copy_shares(record: int, device: torch.device) -> list[Row]:
    """Host tier to device tier as a worker does it, against a plain copy between buffers of the same kind, in turns."""
    on_gpu = device.type == "cuda"
    host, tier = HostTier(2, record, pinned=on_gpu), DeviceTier(2, record, device)
    slots = host.allocate(), tier.allocate()
    assert slots[0] is not None
    assert slots[1] is not None
    source = host.bytes_of(slots[0])
    source.copy_(incompressible(record))
    plain = torch.empty(record, dtype=torch.uint8, pin_memory=on_gpu)
    there = torch.empty(record, dtype=torch.uint8, device=device)
    stamp = Stamp(0, 0, b"")
    pairs = [(_timed(partial(tier.write, slots[1], source, stamp)), _timed(partial(_plain_copy, plain, there))) for _ in range(20)][3:]
    if not torch.equal(tier.bytes_of(slots[1]).cpu(), source):
        raise SystemExit("the staged bytes are others than those of the host slot")
    back = [_timed(partial(_plain_copy, there, plain)) for _ in range(10)]
    note = host.note
    rows: list[Row] = [
        {"what": f"host slot to staging slot ({note or 'pageable'})", "GB/s": record / statistics.median(one for one, _ in pairs) / 1e9,
         "plain GB/s": record / statistics.median(other for _, other in pairs) / 1e9,
         "share": statistics.median(other / one for one, other in pairs)},
        {"what": "plain copy back", "GB/s": record / statistics.median(back) / 1e9},
    ]  # fmt: skip
    host.close()
    tier.close()
    return rows


def _plain_copy(source: Tensor, target: Tensor) -> None:
    target.copy_(source, non_blocking=True)
    if source.is_cuda or target.is_cuda:
        torch.cuda.current_stream().synchronize()


def _timed(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def _print(name: str, rows: list[Row], seconds: float) -> None:
    print(f"\n{name} ({seconds:.1f} s)")
    for row in rows:
        figures = [f"{key} {value:.3f}" if isinstance(value, float) else f"{key} {value}" for key, value in row.items() if key != "what"]
        print(f"  {row['what']:<48} " + "  ".join(figures))


if __name__ == "__main__":
    raise SystemExit(main())
