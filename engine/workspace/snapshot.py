"""The frozen picture of a workspace that its panel draws."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from worldpager.engine.telemetry.snapshot import TierUse
from worldpager.engine.workspace.workspace import Workspace, index_of


@dataclass(frozen=True, slots=True)
class WorkspaceSnapshot:
    """Row i of ``ids``, ``tier`` and ``chosen`` is the i-th block in order of time.

    ``mass`` is the share of attention to the history outside sink and recent that the picked blocks capture, as the index reckons it; NaN
    where there is no index or no question yet. ``text_of`` and ``source_of`` take a row and may be called while no question is under way.
    """

    model: str
    policy: str
    tokens: int
    budget: int
    ids: NDArray[np.int64]
    tier: NDArray[np.uint8]
    chosen: NDArray[np.bool_]
    picked: tuple[int, ...]
    """Rows picked by score, best first."""
    tiers: tuple[TierUse, ...]
    mass: float
    view_tokens: int
    moved: int
    reused: int
    missed: int
    seconds: dict[str, float]
    answer_tokens: int
    degraded: tuple[str, ...]
    text_of: Callable[[int], str]
    source_of: Callable[[int], str]


def take_snapshot(workspace: Workspace) -> WorkspaceSnapshot:
    """The present state and the last question's."""
    street, repository = workspace.street, workspace.street.repository
    blocks, step = list(repository.blocks), street.last
    ids = np.array(blocks, np.int64)
    row = {number: place for place, number in enumerate(blocks)}
    chosen = np.isin(ids, step.selection.ids) if step else np.zeros(len(ids), bool)
    picked = tuple(row[number] for number in step.selection.picked if number in row) if step else ()

    def source(place: int) -> str:
        part = workspace.source_of(blocks[place])
        return part.name if part else ""

    return WorkspaceSnapshot(
        model=street.lm.model.config.name, policy=street.policy.name, tokens=len(repository.tokens), budget=street.config.budget, ids=ids,
        tier=workspace.store.tier_of(ids), chosen=chosen, picked=picked, tiers=workspace.store.tiers(), mass=_mass(workspace),
        view_tokens=step.view_tokens if step else 0, moved=step.moved if step else 0, reused=step.reused if step else 0,
        missed=len(step.missed) if step else 0, seconds=dict(step.seconds) if step else {}, answer_tokens=step.answer_tokens if step else 0,
        degraded=workspace.store.degraded(), text_of=lambda place: repository.text(blocks[place]), source_of=source,
    )  # fmt: skip


def _mass(workspace: Workspace) -> float:
    """What the last question's picks capture of the attention outside sink and recent."""
    step, index = workspace.street.last, index_of(workspace.street.policy)
    if step is None or step.query is None or index is None:
        return float("nan")
    ids, shares = index.shares(step.query.queries, set(step.selection.ids) - set(step.selection.picked))
    return float(shares[np.isin(ids, step.selection.picked)].sum())
