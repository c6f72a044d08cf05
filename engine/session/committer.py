"""Commits a world's entries in the background, in order, each after the bytes that it speaks of: play never waits for the index.

An entry that waits for its block holds back those after it, so that what is committed is always a whole beginning of the history.
"""

from __future__ import annotations

import logging
import sqlite3
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable

from worldpager.engine.session.archive import Archive, Entry
from worldpager.engine.types import BlockId

log = logging.getLogger(__name__)

PAUSE = 1.0
"""Seconds until a commit that failed is tried again."""
MOST = 256
"""Entries of one transaction."""


class Committer:
    """Owns ``archive`` and one thread. `add`, `durable` and `note` may be called from any thread; none of them waits for the drive."""

    def __init__(self, archive: Archive, *, wait: Callable[[threading.Condition, float | None], object] | None = None) -> None:
        self._archive = archive
        self._changed = threading.Condition()
        self._queue: deque[Entry] = deque()
        self._durable: set[BlockId] = set()
        self._freed: list[BlockId] = []
        self._stop, self._failing, self._under_way = False, "", 0
        self._wait = wait or (lambda condition, seconds: condition.wait(seconds))
        self.commits, self.seconds, self.longest = 0, 0.0, 0.0
        self._thread = threading.Thread(target=self._run, name="world index", daemon=True)
        self._thread.start()

    def add(self, entry: Entry) -> None:
        """Queue an entry."""
        with self._changed:
            self._queue.append(entry)
            self._changed.notify_all()

    def durable(self, blocks: Iterable[BlockId]) -> None:
        """The bytes of ``blocks`` have arrived for good, or their blocks are no more."""
        with self._changed:
            self._durable.update(blocks)
            self._changed.notify_all()

    def take_freed(self) -> list[BlockId]:
        """Blocks that nothing needs since the last call."""
        with self._changed:
            freed, self._freed = self._freed, []
        return freed

    @property
    def waiting(self) -> int:
        """Entries not yet committed."""
        with self._changed:
            return len(self._queue) + self._under_way

    @property
    def note(self) -> str:
        """What is wrong, in words for the user."""
        return self._failing

    def flush(self, seconds: float) -> bool:
        """Wait until all that can be committed is, ``seconds`` at most. True when nothing is left that could be."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._under_way and not self._ready(), seconds)

    def close(self, seconds: float = 5.0) -> int:
        """Commit what can be, end the thread, close the archive. Returns how many entries are lost."""
        self.flush(seconds)
        with self._changed:
            self._stop = True
            self._changed.notify_all()
        self._thread.join(seconds)
        if not self._thread.is_alive():
            self._archive.close()
        return len(self._queue)

    def _ready(self) -> bool:
        return bool(self._queue) and (self._queue[0].block is None or self._queue[0].block in self._durable)

    def _run(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._stop or self._ready())
                if self._stop:
                    return
                batch = self._take()
                self._under_way = len(batch)
            done = self._commit(batch)
            with self._changed:
                self._under_way = 0
                if done:
                    self._freed += [block for entry in batch for block in entry.frees]
                else:
                    self._queue.extendleft(reversed(batch))
                    self._wait(self._changed, PAUSE)
                self._changed.notify_all()

    def _take(self) -> list[Entry]:
        """The entries at the front whose bytes are durable."""
        batch: list[Entry] = []
        while len(batch) < MOST and self._ready():
            batch.append(self._queue.popleft())
        return batch

    def _commit(self, batch: list[Entry]) -> bool:
        began = time.perf_counter()
        try:
            self._archive.commit(batch)
        except sqlite3.Error as error:
            log.warning("the world's index can't be written: %s", error)
            self._failing = f"world not saved: its index can't be written: {error}"
            return False
        except Exception as error:  # a worker never dies silently
            log.exception("the world's index can't be written")
            self._failing = f"world not saved: {type(error).__name__}: {error}"
            return False
        taken = time.perf_counter() - began
        self._failing = ""
        self.commits, self.seconds, self.longest = self.commits + 1, self.seconds + taken, max(self.longest, taken)
        self._durable.difference_update(entry.block for entry in batch if entry.block is not None)
        return True
