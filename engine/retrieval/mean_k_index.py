"""Mean keys of blocks in host memory, and the share of attention that they promise (KVMem).

A block of t tokens is stood for by m prototypes, each the mean of t / m neighbouring keys, before any position, per layer and KV head, in
float16. A question's share for a block: for every query token, layer and head, softmax over all prototypes of query · mean / √d, summed
within the block; then summed over query tokens and averaged over layers and heads. Only one layer's tile of prototypes and logits is on the
device at a time, and tiles change no result: the softmax's denominator is reckoned over all of them first.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from worldpager.engine.types import BlockId

PIECE = 4096
"""Blocks of a piece of host memory, which is also a tile."""
KEPT_BYTES = 256 << 20
"""Logits of a layer that stay on the device between the two looks; beyond, tiles are reckoned a second time."""


class MeanKeyIndex:
    """Prototypes of blocks for a model of ``layers``, ``kv_heads``, ``head_dim``; ``prototypes`` a block. Scored on ``device``."""

    def __init__(
        self, layers: int, kv_heads: int, head_dim: int, *, prototypes: int = 1, device: torch.device | None = None, piece: int = PIECE
    ) -> None:
        self._layers, self._kv_heads, self._head_dim, self.prototypes = layers, kv_heads, head_dim, prototypes
        self._device, self._piece = device or torch.device("cpu"), piece
        self._pieces: list[Tensor] = []
        self._rows: dict[BlockId, int] = {}
        self._free: list[int] = []
        self._end = 0

    def __len__(self) -> int:
        return len(self._rows)

    @property
    def row_bytes(self) -> int:
        """Bytes that a block takes in the index."""
        return 2 * self._layers * self.prototypes * self._kv_heads * self._head_dim

    @property
    def host_bytes(self) -> int:
        """Host memory of the index."""
        return sum(piece.numel() * piece.element_size() for piece in self._pieces)

    def means(self, keys: Tensor) -> Tensor:
        """Prototypes of ``keys`` [layers, blocks, tokens, kv_heads, head_dim]: float16 [layers, blocks, prototypes, kv_heads, head_dim]."""
        made: Tensor = keys.float().unflatten(2, (self.prototypes, -1)).mean(3).half()
        return made

    def add(self, ids: Sequence[BlockId], means: Tensor) -> None:
        """Add blocks with their `means`. Raises ValueError for a block that is there already."""
        if any(number in self._rows for number in ids):
            raise ValueError(f"blocks {[number for number in ids if number in self._rows]} are in the index already")
        means = means.to("cpu")
        for place, number in enumerate(ids):
            row = self._row()
            self._rows[number] = row
            self._pieces[row // self._piece][:, row % self._piece] = means[:, place]

    def drop(self, blocks: Iterable[BlockId]) -> None:
        """Forget blocks; unknown ones are ignored. Their rows are used again."""
        for number in blocks:
            row = self._rows.pop(number, None)
            if row is not None:
                self._free.append(row)

    def restore(self, number: BlockId, row: bytes) -> bool:
        """Add a block from the bytes that `saved` gave. False when they are of another index."""
        if len(row) != self.row_bytes:
            return False
        numbers = torch.frombuffer(bytearray(row), dtype=torch.float16)
        self.add([number], numbers.view(self._layers, 1, self.prototypes, self._kv_heads, self._head_dim))
        return True

    def saved(self, number: BlockId) -> bytes:
        """The prototypes of a block as bytes."""
        return self.row(number).contiguous().numpy().tobytes()

    def row(self, number: BlockId) -> Tensor:
        """The prototypes of a block: float16 [layers, prototypes, kv_heads, head_dim]."""
        row = self._rows[number]
        return self._pieces[row // self._piece][:, row % self._piece]

    @torch.inference_mode()
    def shares(
        self, queries: Tensor, exclude: Iterable[BlockId] = (), power: int = 1
    ) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """Ids of the blocks outside ``exclude`` and the share of each for ``queries`` [layers, tokens, heads, head_dim]; shares sum to 1.

        With ``power`` 2 the shares of each query token, layer and head are squared before they are averaged: heads that look at one place
        count, heads that look everywhere don't.
        """
        known = self._rows.keys() - set(exclude)
        ids = np.array(sorted(known), np.int64)
        rows = np.array([self._rows[BlockId(number)] for number in ids.tolist()], np.int64)
        if not len(ids):
            return ids, np.zeros(0, np.float32)
        dead = self._dead(rows)
        total = torch.zeros(self._end, dtype=torch.float64, device=self._device)
        for layer in range(self._layers):
            total += self._layer_mass(layer, queries[layer].to(self._device, torch.float32), dead, power)
        tokens, heads = queries.shape[1:3]
        mass = (total / (self._layers * tokens * heads)).cpu().numpy()
        return ids, mass[rows].astype(np.float32)

    def _layer_mass(self, layer: int, queries: Tensor, dead: Tensor, power: int) -> Tensor:
        """Sum over query tokens and heads of the softmax over blocks, to the ``power``: float64 [rows]."""
        d = self._head_dim
        rows = queries.unflatten(1, (self._kv_heads, -1)).permute(1, 0, 2, 3).reshape(self._kv_heads, -1, d) / math.sqrt(d)
        kept: list[Tensor | None] = []
        room = KEPT_BYTES
        log_sum = torch.full((self._kv_heads, rows.shape[1]), -math.inf, device=self._device)
        for logits in self._tiles(layer, rows, dead):
            log_sum = torch.logaddexp(log_sum, logits.logsumexp(-1))
            room -= logits.numel() * 4
            kept.append(logits if room >= 0 else None)
        whole = [logits for logits in kept if logits is not None]
        tiles = iter(whole) if len(whole) == len(kept) else self._tiles(layer, rows, dead)
        shares = (tile.sub(log_sum[..., None]).exp_().unflatten(-1, (-1, self.prototypes)).sum(-1) for tile in tiles)
        return torch.cat([(share if power == 1 else share.pow_(power)).sum((0, 1)) for share in shares]).double()

    def _tiles(self, layer: int, rows: Tensor, dead: Tensor) -> Iterator[Tensor]:
        """Logits of one piece after another: [kv_heads, rows of queries, prototypes of the piece]."""
        for number, piece in enumerate(self._pieces):
            used = min(self._piece, self._end - number * self._piece)
            means = piece[layer, :used].to(self._device, non_blocking=True).flatten(0, 1).permute(1, 2, 0)
            logits = torch.matmul(rows, means.float())
            gone = dead[number * self._piece : number * self._piece + used]
            yield logits.masked_fill_(gone.repeat_interleave(self.prototypes), -math.inf)

    def _dead(self, rows: NDArray[np.int64]) -> Tensor:
        """Which rows hold no block: bool [rows]."""
        dead = torch.ones(self._end, dtype=torch.bool)
        dead[torch.from_numpy(rows)] = False
        return dead.to(self._device)

    def _row(self) -> int:
        if self._free:
            return self._free.pop()
        if self._end == len(self._pieces) * self._piece:
            shape = (self._layers, self._piece, self.prototypes, self._kv_heads, self._head_dim)
            self._pieces.append(torch.zeros(shape, dtype=torch.float16, pin_memory=self._device.type == "cuda"))
        self._end += 1
        return self._end - 1
