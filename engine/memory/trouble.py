"""What doesn't work as it should, kept until it does, in words for the user."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

HANG_SECONDS = 10.0
"""A move that takes longer is named."""


@dataclass(slots=True)
class Trouble:
    """What the store has noticed. Numbers are totals."""

    full: bool = False
    """The newest block found no room."""
    read_failure: str = ""
    lost: int = 0
    repaired: int = 0

    def notes(self, others: Iterable[str], host_blocks: int, oldest_move: float | None, now: float) -> tuple[str, ...]:
        """Every trouble in force. ``others`` are what the parts say themselves; ``oldest_move`` when the longest move began."""
        notes = [note for note in others if note]
        if self.full:
            notes.append(f"memory full: none of {host_blocks} blocks in main memory can go, so new ones aren't kept")
        if self.read_failure:
            notes.append(f"disk not read: {self.read_failure}")
        if self.lost:
            notes.append(f"{self.lost} blocks lost: their bytes on disk are damaged")
        if self.repaired:
            notes.append(f"{self.repaired} blocks held numbers that aren't finite; stored as 0 or the largest size")
        if oldest_move is not None and now - oldest_move > HANG_SECONDS:
            notes.append(f"disk slow: a move has been under way for {now - oldest_move:.0f} s")
        return tuple(notes)
