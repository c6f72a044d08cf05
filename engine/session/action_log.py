"""What happened, in order: every chunk with the action that made it and the memory that it saw, and every move between branches.

The log is append-only. With the world's seed and settings it is enough to play the same again: see `replay`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from worldpager.engine.types import Action, Button

CHUNK, OPENING, STAND, RECALL, DELETE = "chunk", "opening", "stand", "recall", "delete"
REOPENED, REBUILT = "reopened", "rebuilt"
"""A closed world was taken up again, its window to the bit, or from int4 blocks."""


class Event(NamedTuple):
    """One line of the log."""

    kind: str
    body: Mapping[str, Any]


def made(chunk: int, action: Action, used: Sequence[int | None]) -> Event:
    """A chunk was made under ``action`` with the blocks of the chunks ``used`` in the memory view."""
    return Event(CHUNK, {"chunk": chunk, "buttons": int(action.buttons), "turn": action.turn, "look": action.look, "used": list(used)})


def opened(chunk: int) -> Event:
    """The model gave a chunk of a world's opening."""
    return Event(OPENING, {"chunk": chunk})


def stood(chunk: int) -> Event:
    """Play went to another chunk: back, or to another branch."""
    return Event(STAND, {"chunk": chunk})


def recalled(chunk: int) -> Event:
    """The camera went to the place of a remembered chunk."""
    return Event(RECALL, {"chunk": chunk})


def action_of(body: Mapping[str, Any]) -> Action:
    """The action of a `CHUNK` line. Raises KeyError, TypeError or ValueError when it is none."""
    return Action(Button(int(body["buttons"])), float(body["turn"]), float(body["look"]))


def lines(events: Iterable[tuple[str, Mapping[str, Any]]]) -> Iterable[dict[str, Any]]:
    """Events as one flat dictionary each, as they are exported."""
    for kind, body in events:
        yield {"kind": kind, **body}
