"""The repository view: all tokens of a workspace, and their keys and values in sealed blocks of 32 without positions.

The last tokens that don't fill a block yet, the tail, stay unsealed beside the store and belong to every view.
"""

from __future__ import annotations

import time
from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor

from worldpager.engine.memory.store import BlockStore
from worldpager.engine.models.base import BlockKV
from worldpager.engine.retrieval.text_query import NewBlocks, TextPolicy
from worldpager.engine.telemetry.snapshot import TierUse
from worldpager.engine.types import BlockId
from worldpager.engine.workspace.config import BLOCK_TOKENS

ROOM_SECONDS = 30.0
"""Longest wait for a write that would make room in main memory."""
GIVEN_UP = 16
"""Blocks whose keys and values are given up at once when every tier is full."""


@dataclass(slots=True)
class Sealed:
    """A block of the repository: ``first`` is the number of its first token, ``recalls`` how often a question picked it."""

    first: int
    recalls: int = 0


@dataclass(frozen=True, slots=True)
class Mark:
    """An end that a repository had: its tokens, and the unsealed keys and values."""

    length: int
    tail: tuple[Tensor, Tensor] | None


@dataclass(slots=True)
class Repository:
    """``tokens`` are all of the workspace; ``blocks`` those with keys and values, in order of time."""

    store: BlockStore
    policy: TextPolicy
    text_of: Callable[[Sequence[int]], str]
    pause: Callable[[float], object] = time.sleep
    tokens: array[int] = field(default_factory=lambda: array("i"))
    blocks: dict[BlockId, Sealed] = field(default_factory=dict)
    given_up: list[int] = field(default_factory=list)
    """First tokens of blocks whose keys and values had no room; their words remain."""
    fresh: list[BlockId] = field(default_factory=list)
    """Sealed since the last `take_fresh`."""
    _tail: tuple[Tensor, Tensor] | None = None

    @property
    def tail(self) -> tuple[Tensor, Tensor] | None:
        """Keys and values of the unsealed tokens, [layers, n, kv_heads, head_dim]; None when there are none."""
        return self._tail

    @property
    def tail_length(self) -> int:
        """Unsealed tokens."""
        return 0 if self._tail is None else int(self._tail[0].shape[1])

    def append(self, tokens: Sequence[int], keys: Tensor, values: Tensor, protected: int = 1) -> list[BlockId]:
        """Add ``tokens`` with their ``keys``, ``values`` [layers, n, kv_heads, head_dim]; returns the blocks sealed by it.

        The first ``protected`` blocks are never given up for room.
        """
        if self._tail is not None:
            keys, values = torch.cat([self._tail[0], keys], 1), torch.cat([self._tail[1], values], 1)
        first = len(self.tokens) - self.tail_length
        self.tokens.extend(tokens)
        whole = keys.shape[1] // BLOCK_TOKENS
        sealed, rows = [], []
        for row in range(whole):
            at = slice(row * BLOCK_TOKENS, (row + 1) * BLOCK_TOKENS)
            number = self._put(BlockKV(keys[:, at], values[:, at]), protected)
            if number is None:
                self.given_up.append(first + at.start)
            else:
                self.blocks[number] = Sealed(first + at.start)
                sealed.append(number)
                rows.append(row)
        if sealed:
            kept = [x[:, : whole * BLOCK_TOKENS].unflatten(1, (whole, BLOCK_TOKENS))[:, rows] for x in (keys, values)]
            self.policy.add(NewBlocks(tuple(sealed), kept[0], kept[1], tuple(self.text(number) for number in sealed)))
        rest = slice(whole * BLOCK_TOKENS, None)
        self._tail = (keys[:, rest].clone(), values[:, rest].clone()) if keys.shape[1] % BLOCK_TOKENS else None
        self.fresh += sealed
        self.store.poll()
        return sealed

    def take_fresh(self) -> list[BlockId]:
        """Blocks sealed since the last call."""
        fresh, self.fresh = self.fresh, []
        return fresh

    def mark(self) -> Mark:
        """The present end, to come back to."""
        return Mark(len(self.tokens), self._tail)

    def rewind(self, mark: Mark) -> None:
        """Forget everything after ``mark``: blocks sealed since, and tokens."""
        sealed = mark.length - (0 if mark.tail is None else int(mark.tail[0].shape[1]))
        gone = [number for number, block in self.blocks.items() if block.first >= sealed]
        self.policy.drop(gone)
        for number in gone:
            del self.blocks[number]
        self.store.drop(gone)
        self.fresh = [number for number in self.fresh if number in self.blocks]
        self.given_up = [first for first in self.given_up if first < sealed]
        del self.tokens[mark.length :]
        self._tail = mark.tail

    def text(self, number: BlockId) -> str:
        """The words of a block."""
        first = self.blocks[number].first
        return self.text_of(self.tokens[first : first + BLOCK_TOKENS])

    def give_up(self, blocks: Sequence[BlockId]) -> None:
        """Let go of keys and values; the words remain."""
        self.policy.drop(blocks)
        for number in blocks:
            self.given_up.append(self.blocks.pop(number).first)
        self.store.drop(blocks)

    def _put(self, kv: BlockKV, protected: int) -> BlockId | None:
        """Store a block. A full host tier is waited for while it is being written back; full tiers give up what was least recalled."""
        number = self.store.put(kv)
        if number is None and self._await_room():
            number = self.store.put(kv)
        if number is None and (least := self._least_wanted(protected)):
            self.give_up(least)
            self._await_room()
            number = self.store.put(kv)
        return number

    def _await_room(self) -> bool:
        """Wait until a write ends. False when none is under way."""
        waited = 0.0
        while waited < ROOM_SECONDS:
            self.store.poll()
            host, disk = self._use("host"), self._use("disk")
            if disk is None or host is None or host.dirty < host.used or host.used < host.capacity:
                return disk is not None
            if disk.used >= disk.capacity and host.dirty == host.used:
                return False
            self.pause(0.001)
            waited += 0.001
        return False

    def _use(self, name: str) -> TierUse | None:
        return next((tier for tier in self.store.tiers() if tier.name == name and tier.capacity), None)

    def _least_wanted(self, protected: int) -> list[BlockId]:
        """The least recalled blocks, older ones first, beside the protected and the newest ones."""
        middle = list(self.blocks)[protected:-GIVEN_UP]
        return sorted(middle, key=lambda number: (self.blocks[number].recalls, number))[:GIVEN_UP]
