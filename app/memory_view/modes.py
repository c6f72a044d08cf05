"""The comparison of the paper, switched live: what a system remembers that has only a window, only main memory, or all tiers."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtGui import QColor

from worldpager.app import theme
from worldpager.app.words import later


@dataclass(frozen=True, slots=True)
class Mode:
    """One column of the comparison. ``policy`` is the retrieval policy that plays it."""

    policy: str
    name: str
    words: str
    colour: QColor


MODES = (
    Mode("none", later("Sliding window"), later("sees only the last chunks"), theme.GONE),
    Mode("host-only", later("Host only"), later("keeps what main memory holds"), theme.HOST),
    Mode("pose-overlap", later("Full system"), later("all tiers, read ahead of time"), theme.DEVICE),
)
BY_POLICY = {mode.policy: place for place, mode in enumerate(MODES)}


def mode_of(policy: str) -> int | None:
    """Place of the mode that ``policy`` plays; None for a policy outside the comparison."""
    return BY_POLICY.get(policy)
