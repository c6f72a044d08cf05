"""Several takers of every new chunk behind the one that the street hands it to: the film, the replay buffer."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

from worldpager.engine.mailbox import PublishedChunk

log = logging.getLogger(__name__)

Take = Callable[[PublishedChunk], object]


class Taps:
    """``take`` is for the street's `Record` command. A taker that fails is let go alone."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._takers: dict[str, Take] = {}

    @property
    def names(self) -> list[str]:
        """Who takes."""
        with self._lock:
            return list(self._takers)

    def add(self, name: str, take: Take) -> None:
        """Have ``take`` handed every new chunk from now on."""
        with self._lock:
            self._takers[name] = take

    def remove(self, name: str) -> None:
        """No more for ``name``; unknown ones are ignored."""
        with self._lock:
            self._takers.pop(name, None)

    def take(self, chunk: PublishedChunk) -> None:
        """Hand ``chunk`` on; called on the street's thread."""
        with self._lock:
            takers = list(self._takers.items())
        for name, take in takers:
            try:
                take(chunk)
            except Exception as error:
                log.warning("%s takes no more chunks: %s", name, error)
                self.remove(name)
