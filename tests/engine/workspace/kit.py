"""Workspaces of the tests: small models, all in main memory unless told otherwise."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import torch

from tests.helpers.tiny_lm import tiny_lm
from worldpager.engine.config import CodecConfig, MemoryConfig, MiB
from worldpager.engine.memory.store import BlockStore
from worldpager.engine.models.causal_lm.load import LoadedLM
from worldpager.engine.models.causal_lm.rotary import rotary_spec
from worldpager.engine.retrieval.mean_k import MeanK
from worldpager.engine.retrieval.mean_k_index import MeanKeyIndex
from worldpager.engine.retrieval.text_query import TextPolicy
from worldpager.engine.workspace.config import BLOCK_TOKENS, WorkspaceConfig
from worldpager.engine.workspace.street import WorkspaceStreet

CPU = torch.device("cpu")
RAW = CodecConfig(bits=16)


def settings(folder: Path | None = None, *, bits: int = 16, host: int = 4 * MiB, **changes: int) -> WorkspaceConfig:
    """Small budgets."""
    codec = RAW if bits == 16 else CodecConfig(bits=bits, key_group=32, value_group=8)
    memory = MemoryConfig(codec=codec, device_slots=64, host_budget=host, disk_dir=folder)
    sizes = {"budget": 256, "sink": 32, "recent": 32, "chunk": 48, "answer": 8} | changes
    return replace(WorkspaceConfig(**sizes), memory=memory)  # type: ignore[arg-type]


def mean_k(lm: LoadedLM, prototypes: int = 1) -> MeanK:
    """KVMem's policy for ``lm``."""
    c = lm.model.config
    return MeanK(MeanKeyIndex(c.layers, c.kv_heads, c.head_dim, prototypes=prototypes))


@contextmanager
def workspace(
    lm: LoadedLM | None = None, policy: TextPolicy | None = None, config: WorkspaceConfig | None = None
) -> Iterator[tuple[WorkspaceStreet, BlockStore]]:
    """A street and its store, checked and closed at the end."""
    lm, config = lm or tiny_lm(context=4096), config or settings()
    c = lm.model.config
    store = BlockStore(config.memory, c.block(BLOCK_TOKENS), rotary_spec(c.head_dim, c.rope_base, BLOCK_TOKENS), CPU)
    try:
        yield WorkspaceStreet(lm, store, mean_k(lm) if policy is None else policy, config), store
        store.check()
    finally:
        store.close()


def tokens(count: int, seed: int = 0) -> list[int]:
    """Random letters."""
    return torch.randint(0, 256, (count,), generator=torch.Generator().manual_seed(seed)).tolist()
