"""kill -9 at random moments of a write-heavy run: ``python tests/engine/memory/kill.py --rounds 1000``.

A child writes blocks to a kept folder, drops some, closes and reopens it, and tells down a pipe what the store said was durable and what
it is about to drop. It is killed, and the folder opened: every block of the table is read and must hold its own bytes, all that was told to
be durable and not dropped must be there, and the arena must have no room that nobody owns. The folder stays for the next round.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import signal
import tempfile
import time
from pathlib import Path

import torch

from worldpager.engine.config import CodecConfig, MemoryConfig
from worldpager.engine.memory import tier as tier_module
from worldpager.engine.memory.codec import make_codec
from worldpager.engine.memory.kept_tier import ARENA
from worldpager.engine.memory.layout import PAGE, aligned_bytes
from worldpager.engine.memory.store import BlockStore
from worldpager.engine.models.base import BlockKV, KVShape, RotarySpec
from worldpager.engine.types import BlockId

KV = KVShape(2, 64, 2, 16)
CODEC = CodecConfig(16)
RECORD = make_codec(CODEC, KV, RotarySpec()).record_bytes
SLOT, HOST, MOST = RECORD + PAGE, 12, 40
"""Blocks of four pages, in parts of one; the world is cut back to half of ``MOST`` when it has so many."""
LONGEST = 0.12
"""Seconds until the kill, at most: mostly from the first durable block on, every fifth time from the child's start."""


def content(number: int) -> BlockKV:
    """KV that is told from every other."""
    made = torch.Generator().manual_seed(number)
    shape = (KV.layers, KV.tokens, KV.heads, KV.head_dim)
    return BlockKV(torch.randn(shape, generator=made), torch.randn(shape, generator=made))


def open_store(folder: Path) -> BlockStore:
    config = MemoryConfig(CODEC, device_slots=4, host_budget=HOST * RECORD, disk_dir=folder, disk_budget=2 * MOST * SLOT, keep=True)
    return BlockStore(config, KV, RotarySpec(), torch.device("cpu"))


def write_until_killed(folder: Path, held: dict[int, int], number: int, seed: int, pipe: int) -> None:
    """The child's life. ``held``: block to number. Lines on ``pipe``: D block number, X block."""
    torch.set_num_threads(1)
    dice, durable = random.Random(seed), dict(held)
    while True:
        store = open_store(folder)
        assert store.adopt({BlockId(block): 1 for block in durable}) == set()
        pending: dict[int, int] = {}
        for _ in range(dice.randrange(5, 60)):
            block = store.put(content(number))
            if block is not None:
                pending[block] = number
            number += 1
            store.poll()
            tell_durable(store, pending, durable, pipe)
            if len(durable) > MOST:
                for gone in dice.sample(sorted(durable), MOST // 2):
                    os.write(pipe, f"X {gone}\n".encode())
                    del durable[gone]
                    store.drop([BlockId(gone)])
        store.close(keep=dice.random() < 0.5)
        tell_durable(store, pending, durable, pipe)


def tell_durable(store: BlockStore, pending: dict[int, int], durable: dict[int, int], pipe: int) -> None:
    for block in store.take_durable():
        durable[block] = pending.pop(block)
        os.write(pipe, f"D {block} {durable[block]}\n".encode())


def one_round(folder: Path, held: dict[int, int], seed: int) -> tuple[dict[int, int], set[int]]:
    """Start a child, kill it, hear what it told. Returns what must be there, and what it was dropping (may be there or not)."""
    dice = random.Random(seed)
    readable, writable = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(readable)
            write_until_killed(folder, held, 1 + max(held.values(), default=0), seed, writable)
        finally:
            os._exit(3)
    os.close(writable)
    with os.fdopen(readable) as told:
        first = [told.readline().strip()] if dice.random() < 0.8 else []
        time.sleep(dice.uniform(0.0, LONGEST))
        os.kill(child, signal.SIGKILL)
        lines = first + told.read().splitlines()
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status), f"the child ended by itself with {status} after {lines[-3:]}"
    durable, dropping = dict(held), set()
    for line in lines:
        kind, block, *number = line.split()
        if kind == "D":
            durable[int(block)] = int(number[0])
        else:
            del durable[int(block)]
            dropping.add(int(block))
    return durable, dropping


def check(folder: Path, durable: dict[int, int]) -> tuple[int, int]:
    """AssertionError unless the folder keeps its word. Returns blocks verified, and blocks that nobody had been told of."""
    store = open_store(folder)
    kept = store._kept
    assert kept is not None
    known = dict(kept.known)
    assert set(durable) <= set(known), f"told durable but gone: {sorted(set(durable) - set(known))}"
    record, codec = aligned_bytes(RECORD), make_codec(CODEC, KV, RotarySpec())
    expected = torch.empty(RECORD, dtype=torch.uint8)
    for block, (slot, stamp) in known.items():
        kept.read(slot, record, stamp)  # raises unless header and every part are the block's
        if block in durable:
            codec.encode(content(durable[block]), expected)
            assert torch.equal(record, expected), f"block {block} holds other bytes"
    assert store.adopt({BlockId(block): 1 for block in durable}) == set()
    store.check()
    store.close()
    used, size = (folder / ARENA).stat().st_blocks * 512, (folder / ARENA).stat().st_size
    assert used <= len(durable) * SLOT + PAGE, f"{used} bytes on the drive for {len(durable)} blocks of {SLOT}"
    assert size <= 2 * MOST * SLOT
    assert {path.name for path in folder.iterdir()} <= {ARENA, "blocks.sqlite", "lock"}, f"leftovers: {list(folder.iterdir())}"
    return len(known), len(set(known) - set(durable))


def run(rounds: int, seed: int, folder: Path) -> dict[str, int]:
    """Kill ``rounds`` children one after the other. Returns counts for a person."""
    tier_module.PART = PAGE
    durable: dict[int, int] = {}
    verified = untold = told = 0
    for number in range(rounds):
        before = set(durable)
        durable, _ = one_round(folder, durable, seed + number)
        told += len(set(durable) - before)
        blocks, extra = check(folder, durable)
        verified, untold = verified + blocks, untold + extra
    return {"kills": rounds, "blocks told durable": told, "blocks verified": verified, "committed but not yet told": untold}


def main() -> None:
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--rounds", type=int, default=1000)
    p.add_argument("--seed", type=int, default=0)
    p.add_argument("--folder", type=Path, help="where the drive is to be tried (a temporary folder)")
    a = p.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="kill-", dir=a.folder))
    print(run(a.rounds, a.seed, folder))  # noqa: T201
    shutil.rmtree(folder)


if __name__ == "__main__":
    main()
