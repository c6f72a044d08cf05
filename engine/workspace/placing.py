"""Builds the execution view: blocks in order of time, packed from position 0, keys turned once to where they now stand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from torch import Tensor

from worldpager.engine.memory.store import BlockStore
from worldpager.engine.models.base import MemoryView
from worldpager.engine.models.causal_lm.network import CausalLM
from worldpager.engine.models.causal_lm.rotary import rotated
from worldpager.engine.models.causal_lm.view import ExecutionView
from worldpager.engine.types import BlockId
from worldpager.engine.workspace.config import BLOCK_TOKENS
from worldpager.engine.workspace.fetch import Fetched, fetch


@dataclass(frozen=True, slots=True)
class Placer:
    """Fills views of ``model`` from ``store``; waits up to ``patience`` seconds for blocks."""

    store: BlockStore
    model: CausalLM
    patience: float
    batch: int
    """Blocks that are fetched at once for a look at their keys."""

    @property
    def on_gpu(self) -> bool:
        """Whether blocks in main memory must be staged."""
        return self.model.device.type == "cuda"

    def fill(self, view: ExecutionView, ids: Sequence[BlockId], tail: tuple[Tensor, Tensor] | None) -> Fetched:
        """Fill ``view`` from its beginning with ``ids``, which are in order of time, and the unsealed ``tail``."""
        got = self.fetch(ids)
        count = len(got.ids)
        if count:
            places = [float(place * BLOCK_TOKENS) for place in range(count)]
            self.store.place(self.store.take(got.ids), view.blocks(count, BLOCK_TOKENS), places)
        view.length = count * BLOCK_TOKENS
        if tail is not None:
            keys, values = tail
            n, start = keys.shape[1], view.length
            for layer, stored in zip(view.keys[:, start : start + n], keys, strict=True):
                layer.copy_(rotated(stored, self.model.turns.at(start, n)))
            view.values[:, start : start + n] = values
            view.length = start + n
        return got

    def fetch(self, ids: Sequence[BlockId]) -> Fetched:
        """Bring blocks to hand."""
        return fetch(self.store, ids, self.patience, stage_hosted=self.on_gpu)

    def keys(self, ids: Sequence[BlockId]) -> tuple[list[BlockId], Tensor]:
        """Blocks that can be had and their keys without positions: see `KeysOf`. Blocks in main memory aren't staged for it."""
        got: list[BlockId] = []
        raw = self.model.new_view(len(ids) * BLOCK_TOKENS)
        for first in range(0, len(ids), self.batch):
            part = fetch(self.store, ids[first : first + self.batch], self.patience, stage_hosted=False).ids
            if part:
                target = raw.blocks(len(ids), BLOCK_TOKENS)
                at = slice(len(got), len(got) + len(part))
                self.store.place(self.store.take(part), MemoryView(target.keys[:, at], target.values[:, at]), None)
                got += part
        return got, raw.blocks(len(got), BLOCK_TOKENS).keys
