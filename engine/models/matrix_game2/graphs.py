"""Passes of the network as CUDA graphs: recorded once for each state of the windows, then replayed with a single launch.

What a pass reads and writes lies in buffers that stay in place (`Rollout`), so a recording is good for the model's life. All recordings
share one pool of memory, as only one runs at a time.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from worldpager.engine.models.matrix_game2.rollout import PassKey

WARM_UPS = 2
"""Plain runs before a recording: libraries choose their kernels in them."""


class PassGraphs:
    """A `Runner` that records."""

    def __init__(self, device: torch.device) -> None:
        self._device = device
        self._graphs: dict[PassKey, tuple[torch.cuda.CUDAGraph, Tensor]] = {}
        self._pool = torch.cuda.graph_pool_handle()
        self._seen: dict[PassKey, int] = {}

    def __call__(self, key: PassKey, run: Callable[[], Tensor]) -> Tensor:
        """The answer of ``run``; it lies in the same place every time."""
        if key not in self._graphs:
            self._seen[key] = self._seen.get(key, 0) + 1
            if self._seen[key] <= WARM_UPS:
                return run()
            self._record(key, run)
        graph, answer = self._graphs[key]
        graph.replay()
        return answer

    def _record(self, key: PassKey, run: Callable[[], Tensor]) -> None:
        torch.cuda.synchronize(self._device)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, pool=self._pool, capture_error_mode="thread_local"):
            answer = run()
        self._graphs[key] = (graph, answer)
