"""The execution view: rotated keys and values, packed from position 0, that a language model attends to."""

from __future__ import annotations

import torch

from worldpager.engine.models.base import MemoryView
from worldpager.engine.models.causal_lm.config import LMConfig


class ExecutionView:
    """``capacity`` tokens of ``config`` on ``device``; the first ``length`` are in use. Token i stands at position i.

    ``keys``, ``values`` [layers, capacity, kv_heads, head_dim].
    """

    def __init__(self, config: LMConfig, capacity: int, device: torch.device, dtype: torch.dtype) -> None:
        shape = (config.layers, capacity, config.kv_heads, config.head_dim)
        self.keys, self.values = torch.zeros(shape, device=device, dtype=dtype), torch.zeros(shape, device=device, dtype=dtype)
        self.capacity, self.length = capacity, 0

    def blocks(self, count: int, tokens: int) -> MemoryView:
        """The first ``count`` blocks of ``tokens`` tokens as the memory fills them."""
        used = count * tokens
        return MemoryView(self.keys[:, :used].unflatten(1, (count, tokens)), self.values[:, :used].unflatten(1, (count, tokens)))

    def truncate(self, length: int) -> None:
        """Forget all tokens from ``length`` on."""
        assert 0 <= length <= self.length
        self.length = length
