"""The street of the LingBot-World bench: a paced walk whose memory spills to disk, and what fetching a block on demand would cost."""

from __future__ import annotations

import statistics
import time
from pathlib import Path

import torch

from worldpager.engine.build import make_policies
from worldpager.engine.config import CodecConfig, MemoryConfig, PlayConfig
from worldpager.engine.generator import WorldGenerator
from worldpager.engine.memory.codec import make_codec
from worldpager.engine.memory.store import BlockStore
from worldpager.engine.models.lingbot_world.adapter import LingBotWorld
from worldpager.engine.telemetry.snapshot import TIER_DISK
from worldpager.engine.types import Action, BlockId, Button, Pose

HOST, DISK, STAGED = 7, 48, 8
"""Blocks that main memory, the disk and the device's staging slots hold."""
CODEC = CodecConfig(4, 128, 128)
PUT, FETCHED = 14, 5
"""Blocks stored for the on-demand row, and of those on disk alone how many are fetched."""
PATIENCE = 20.0


def make_store(model: LingBotWorld, folder: Path) -> BlockStore:
    """A memory that spills after a few chunks."""
    record = make_codec(CODEC, model.spec.kv, model.spec.rotary).record_bytes
    config = MemoryConfig(CODEC, STAGED, HOST * record, folder, DISK * (record + 4096))
    return BlockStore(config, model.spec.kv, model.spec.rotary, model.device)


def on_demand(model: LingBotWorld, folder: Path) -> dict[str, object]:
    """Milliseconds from wanting a block that is on disk alone until it lies in the memory view: what a street without prefetch waits."""
    store = make_store(model, folder)
    try:
        kv = model.step([Pose(0, 0, 0.5, 0, 0)] * model.spec.frames_per_chunk, 0).kv
        blocks: list[BlockId] = []
        until = time.monotonic() + PATIENCE
        while len(blocks) < PUT and time.monotonic() < until:
            block = store.put(kv)
            blocks += [] if block is None else [block]
            store.poll()
            time.sleep(0.02 if block is not None else 0.1)
        on_disk = [block for block, tier in zip(blocks, store.tier_of(blocks), strict=True) if tier == TIER_DISK]
        waits = [_fetch(store, model, block) for block in on_disk[:FETCHED]]
        return {
            "what": "on demand", "block MB": store.tiers()[0].block_bytes / 1e6, "on disk alone": len(on_disk),
            "median ms": statistics.median(waits) * 1e3 if waits else 0.0, "longest ms": max(waits, default=0.0) * 1e3,
        }  # fmt: skip
    finally:
        store.close()


def _fetch(store: BlockStore, model: LingBotWorld, block: BlockId) -> float:
    """Seconds until ``block`` is placed."""
    began = time.perf_counter()
    store.request([block])
    while (working := store.take([block])).missed:
        store.poll()
        time.sleep(0.0002)
        if time.perf_counter() - began > PATIENCE:
            raise RuntimeError("a block didn't come from disk")
    store.place(working, model.memory_view, 0.0)
    if model.device.type == "cuda":
        torch.cuda.synchronize()
    return time.perf_counter() - began


def paced(model: LingBotWorld, folder: Path, policy: str, chunks: int) -> dict[str, object]:
    """A steady turn at the model's own rate (or slower, where it can't keep it): chunk times and every wait."""
    store = make_store(model, folder)
    config = PlayConfig(model=model.spec.name, policy=policy, rest_when_idle=False)
    street = WorldGenerator(model, store, make_policies(model.spec.view), config)
    try:
        times, began = [], time.perf_counter()
        street.step()
        for _ in range(chunks):
            street.mailbox.put_action(Action(Button.TURN_RIGHT))
            street.wait_turn()
            street.step()
            shown = street.mailbox.frames.newest()
            assert shown is not None
            times.append(shown.snapshot.chunk_ms)
            snapshot = shown.snapshot
        memory, wall = snapshot.memory, time.perf_counter() - began
        return {
            "what": f"paced, {policy}", "chunks": chunks, "median ms": statistics.median(times), "longest ms": max(times),
            "fps": 16 * chunks / wall, "wanted": memory.blocks_wanted, "missed": memory.blocks_missed, "stalls": memory.stalls_over_half_ms,
            "longest wait ms": memory.longest_wait_ms, "spilled": memory.spilled_blocks, "read back GB": memory.disk_read_bytes / 1e9,
            "refused": memory.blocks_refused, **{f"{name} ms": ms for name, ms in snapshot.stage_ms.items()},
        }  # fmt: skip
    finally:
        store.close()
