"""The policy and the memory of a workspace, by their names and settings."""

from __future__ import annotations

import torch

from worldpager.engine.errors import InputError
from worldpager.engine.memory.store import BlockStore
from worldpager.engine.models.causal_lm.config import LMConfig
from worldpager.engine.models.causal_lm.rotary import rotary_spec
from worldpager.engine.retrieval.mean_k import MeanK
from worldpager.engine.retrieval.mean_k_index import MeanKeyIndex
from worldpager.engine.retrieval.mean_k_rescored import RescoredMeanK
from worldpager.engine.retrieval.text_baselines import AnyText, Bm25, NewestText
from worldpager.engine.retrieval.text_query import TextPolicy
from worldpager.engine.workspace.config import BLOCK_TOKENS, WorkspaceConfig

POLICIES = ("focused", "rescored", "prototypes", "mean-k", "bm25", "recency", "random")
PROTOTYPES = 4


def make_policy(name: str, lm: LMConfig, device: torch.device) -> TextPolicy:
    """The policy of a name. Raises `InputError` for an unknown one."""

    def index(prototypes: int) -> MeanKeyIndex:
        return MeanKeyIndex(lm.layers, lm.kv_heads, lm.head_dim, prototypes=prototypes, device=device)

    if name in ("mean-k", "prototypes"):
        return MeanK(index(1 if name == "mean-k" else PROTOTYPES))
    if name in ("focused", "rescored"):
        return RescoredMeanK(index(PROTOTYPES), power=2 if name == "focused" else 1)
    plain: dict[str, type[NewestText | Bm25]] = {"recency": NewestText, "random": AnyText, "bm25": Bm25}
    if name not in plain:
        raise InputError(f"There is no policy {name!r}.", f"Known: {', '.join(POLICIES)}.")
    return plain[name]()


def make_store(lm: LMConfig, config: WorkspaceConfig, device: torch.device) -> BlockStore:
    """The memory for a model's blocks."""
    return BlockStore(config.memory, lm.block(BLOCK_TOKENS), rotary_spec(lm.head_dim, lm.rope_base, BLOCK_TOKENS), device)
