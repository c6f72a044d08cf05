"""Waits for blocks. A question, unlike a frame, is worth a few milliseconds: what can be had is waited for, and what can't is counted."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from worldpager.engine.memory.store import BlockStore
from worldpager.engine.telemetry.snapshot import TIER_DEVICE, TIER_DISK, TIER_HOST
from worldpager.engine.types import BlockId

PAUSE = 0.0005
"""Seconds between looks."""
PATIENT_LOOKS = 40
"""Looks without news after which reads are asked for again: one that failed isn't repeated by itself."""


@dataclass(frozen=True, slots=True)
class Fetched:
    """``ids`` at hand, in the order asked for; ``missed`` can't be had; ``moved`` weren't at hand before; ``seconds`` waited."""

    ids: tuple[BlockId, ...]
    missed: tuple[BlockId, ...]
    moved: int
    seconds: float


def fetch(
    store: BlockStore, ids: Sequence[BlockId], patience: float, *, stage_hosted: bool,
    clock: Callable[[], float] = time.monotonic, pause: Callable[[float], object] = time.sleep,
) -> Fetched:  # fmt: skip
    """Bring ``ids`` to hand: out of the disk tier, and with ``stage_hosted`` (a GPU) also from main memory to the staging slots, as far as
    there are slots.
    """
    asked = list(dict.fromkeys(ids))
    began, numbers = clock(), np.array(asked, np.int64)
    near = (TIER_DEVICE,) if stage_hosted else (TIER_DEVICE, TIER_HOST)
    at_first = tiers = store.tier_of(numbers)
    looks = 0
    while clock() - began < patience:
        far = _far(tiers, near)
        if not far.any() or (looks >= PATIENT_LOOKS and not (tiers == TIER_DISK).any()):
            break
        if looks % PATIENT_LOOKS == 0:
            store.request(asked)
        pause(PAUSE)
        store.poll()
        before, tiers = tiers, store.tier_of(numbers)
        looks = 1 if (before != tiers).any() else looks + 1
    got = (tiers == TIER_DEVICE) | (tiers == TIER_HOST)
    at_hand = [number for number, good in zip(asked, got, strict=True) if good]
    missed = tuple(number for number, good in zip(asked, got, strict=True) if not good)
    moved = int((_far(at_first, near) & got).sum())
    return Fetched(tuple(at_hand), missed, moved, clock() - began)


def _far(tiers: np.ndarray[tuple[int], np.dtype[np.uint8]], near: tuple[int, ...]) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Which blocks some tier has, but none of the near ones."""
    return ~np.isin(tiers, near) & (tiers <= TIER_DISK)
