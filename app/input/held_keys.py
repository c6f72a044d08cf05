"""The set of keys that are really held, told from events that X11 mixes with its auto-repeat.

X11 sends a repeat as a release and a press with the same time stamp, and Qt does not always flag them. So a release is put aside for a
moment: a press of the same key with the same time stamp takes it back.
"""

from __future__ import annotations

from collections.abc import Iterator

SAME_STAMP_MS = 1
PUT_ASIDE_SECONDS = 0.010


class HeldKeys:
    """Keys by any number that names them. Event stamps in the window system's milliseconds, ``now`` in seconds of our clock."""

    def __init__(self) -> None:
        self._held: dict[int, None] = {}
        self._releases: dict[int, tuple[int, float]] = {}

    def __iter__(self) -> Iterator[int]:
        return iter(self._held)

    def __len__(self) -> int:
        return len(self._held)

    def press(self, key: int, stamp: int, repeat: bool = False) -> bool:
        """A press came, flagged as ``repeat`` or not. True when the key is held anew."""
        release = self._releases.get(key)
        if release is not None and abs(stamp - release[0]) <= SAME_STAMP_MS:
            del self._releases[key]
            return False
        if repeat:
            return False
        self._releases.pop(key, None)
        anew = key not in self._held or release is not None
        self._held[key] = None
        return anew

    def release(self, key: int, stamp: int, now: float, repeat: bool = False) -> None:
        """A release came; it counts at the first `settle` more than `PUT_ASIDE_SECONDS` later."""
        if key in self._held and not repeat:
            self._releases[key] = (stamp, now)

    def settle(self, now: float) -> bool:
        """Apply the releases that no press took back. True when a key went up."""
        over = [key for key, (_, since) in self._releases.items() if now - since > PUT_ASIDE_SECONDS]
        for key in over:
            del self._releases[key]
            self._held.pop(key, None)
        return bool(over)

    def clear(self) -> bool:
        """Let go of everything. True when something was held."""
        had = bool(self._held)
        self._held.clear()
        self._releases.clear()
        return had
