"""What the memory costs the street: the same passes of a transformer with the blocks resident, with memory, with memory and write-back.

The network has random weights and the model's shape; only its time matters. Three streets take turns, chunk by chunk in short runs, so that
a drift of the machine meets all of them.
"""

from __future__ import annotations

import statistics
import time
from dataclasses import dataclass, field
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import Tensor

from worldpager.engine.config import CodecConfig, MemoryConfig
from worldpager.engine.memory.codec import make_codec
from worldpager.engine.memory.store import BlockStore
from worldpager.engine.models.base import BlockKV, KVShape, MemoryView, RotarySpec
from worldpager.engine.types import BlockId

RETRIEVED, PASSES, ROUNDS = 3, 4, 6
"""Blocks in the view; passes a chunk (three that denoise, one that makes the KV); turns of the streets."""
LIVE = 40
"""Blocks that a street's world has; the oldest is dropped for each new one."""
HOST = 24
"""Of them in host memory where there is a disk."""
ROTARY = RotarySpec(0, tuple(10000 ** (-2 * pair / 44) for pair in range(22)))
CODEC = CodecConfig(4, 128, 128)


class Passes:
    """A network of the model's shape over a view of `RETRIEVED` blocks and the chunk's own tokens."""

    def __init__(self, kv: KVShape, device: torch.device) -> None:
        self.kv, self._dtype = kv, torch.bfloat16 if device.type == "cuda" else torch.float32
        width = kv.channels
        made = torch.Generator(device).manual_seed(1)

        def weights(rows: int, columns: int) -> Tensor:
            drawn = torch.randn(rows, columns, device=device, dtype=self._dtype, generator=made)
            return drawn.div_(columns**0.5)

        self._qkv, self._out = weights(3 * width, width), weights(width, width)
        self._up, self._down = weights(6 * width, width), weights(width, 6 * width)
        shape = (kv.layers, RETRIEVED + 1, kv.tokens, kv.heads, kv.head_dim)
        self._context = torch.randn(2, *shape, device=device, dtype=self._dtype, generator=made)
        self.view = MemoryView(self._context[0, :, :RETRIEVED], self._context[1, :, :RETRIEVED])
        self._noise = torch.randn(kv.tokens, width, device=device, dtype=self._dtype, generator=made)

    def run(self) -> BlockKV:
        """One chunk: all passes, the last one's keys and values."""
        for _ in range(PASSES):
            x = self._noise
            for layer in range(self.kv.layers):
                x = self._layer(x, layer)
        return BlockKV(self._context[0, :, RETRIEVED], self._context[1, :, RETRIEVED])

    def _layer(self, x: Tensor, layer: int) -> Tensor:
        q, k, v = F.linear(F.layer_norm(x, x.shape[-1:]), self._qkv).unflatten(-1, (3, self.kv.heads, -1)).unbind(1)
        keys, values = self._context[0, layer], self._context[1, layer]
        keys[RETRIEVED], values[RETRIEVED] = k, v
        seen = F.scaled_dot_product_attention(
            q.transpose(0, 1)[None], keys.flatten(0, 1).transpose(0, 1)[None], values.flatten(0, 1).transpose(0, 1)[None]
        )
        x = x + F.linear(seen[0].transpose(0, 1).flatten(1), self._out)
        return x + F.linear(F.gelu(F.linear(F.layer_norm(x, x.shape[-1:]), self._up)), self._down)


@dataclass
class Street:
    """The passes with what a store adds before and after them; without a store the blocks are resident."""

    passes: Passes
    device: torch.device
    store: BlockStore | None = None
    live: list[BlockId] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    host_ms: dict[str, list[float]] = field(default_factory=dict)
    turn: int = 0

    def fill(self) -> None:
        """Until the world has its blocks, and the drive has written what it has to."""
        assert self.store
        kv = self.passes.run()
        while len(self.live) < LIVE:
            block = self.store.put(kv)
            if block is not None:
                self.live.append(block)
            self.store.poll()
            time.sleep(0.002)

    def wanted(self, turn: int) -> list[BlockId]:
        """Two blocks of the last set and a new one, every fourth time an old one that is on disk alone."""
        recent = [self.live[-2 - (turn + at) % (HOST // 2)] for at in range(RETRIEVED)]
        return [*recent[1:], self.live[4 + turn % 8]] if turn % 4 == 3 else recent

    def chunk(self) -> None:
        """One chunk, timed until its last kernel has ended."""
        self._await_device()
        began = time.perf_counter()
        if self.store is None:
            self.passes.run()
        else:
            self._remembering(self.store)
        self._await_device()
        self.seconds.append(time.perf_counter() - began)

    def _remembering(self, store: BlockStore) -> None:
        marks = [time.perf_counter()]
        store.poll()
        working = store.take(self.wanted(self.turn))
        self.turn += 1
        store.request(self.wanted(self.turn))
        store.place(working, self.passes.view, -3.0)
        marks.append(time.perf_counter())
        kv = self.passes.run()
        marks.append(time.perf_counter())
        block = store.put(kv)
        if block is not None:
            self.live.append(block)
            store.drop([self.live.pop(0)])
        marks.append(time.perf_counter())
        for name, first in (("before", 0), ("after", 2)):
            self.host_ms.setdefault(name, []).append((marks[first + 1] - marks[first]) * 1e3)

    def _await_device(self) -> None:
        if self.device.type == "cuda":
            torch.cuda.current_stream().synchronize()  # as a street that waits for its frames; copies of other streams go on


def street_overheads(kv: KVShape, device: torch.device, folder: Path, chunks: int) -> list[dict[str, object]]:
    """Milliseconds a chunk of the three streets, and what each adds to the one before."""
    record = make_codec(CODEC, kv, ROTARY).record_bytes
    passes = Passes(kv, device)
    without = MemoryConfig(CODEC, device_slots=12, host_budget=(LIVE + 6) * record)
    with_disk = MemoryConfig(CODEC, device_slots=12, host_budget=HOST * record, disk_dir=folder, disk_budget=(LIVE + 10) * (record + 4096))
    streets = {
        "resident": Street(passes, device),
        "memory": Street(passes, device, BlockStore(without, kv, ROTARY, device)),
        "memory, write-back": Street(passes, device, BlockStore(with_disk, kv, ROTARY, device)),
    }
    try:
        with torch.no_grad():
            for street in streets.values():
                if street.store:
                    street.fill()
                for _ in range(3):
                    street.chunk()
                street.seconds.clear()
                street.host_ms.clear()
            for _ in range(ROUNDS):
                for street in streets.values():
                    for _ in range(chunks):
                        street.chunk()
        return _rows(streets, chunks)
    finally:
        for street in streets.values():
            if street.store:
                street.store.close()


def _rows(streets: dict[str, Street], chunks: int) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = []
    before: Street | None = None
    for name, street in streets.items():
        row: dict[str, object] = {"what": name, "ms a chunk": statistics.median(street.seconds) * 1e3}
        if before is not None:
            turns = [slice(first, first + chunks) for first in range(0, len(street.seconds), chunks)]
            added = [statistics.median(street.seconds[turn]) / statistics.median(before.seconds[turn]) - 1 for turn in turns]
            row["added to the one before"] = statistics.median(added)
            row |= {f"host ms {part}": statistics.median(times) for part, times in street.host_ms.items()}
        if street.store:
            counters = street.store.counters()
            row |= {"wanted": counters.blocks_wanted, "missed": counters.blocks_missed, "refused": counters.blocks_refused}
            row |= {"spilled": counters.spilled_blocks, "read back GB": counters.disk_read_bytes / 1e9}
            row |= {"stalls": counters.stalls_over_half_ms, "longest wait ms": counters.longest_wait_ms}
        rows.append(row)
        before = street
    return rows
