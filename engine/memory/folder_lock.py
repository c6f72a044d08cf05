"""One program at a time in a kept folder. The system's lock on a file decides; beside it lies who holds it, for the next one's message."""

from __future__ import annotations

import json
import os
from pathlib import Path

from filelock import FileLock, Timeout

from worldpager.engine.errors import TierError
from worldpager.engine.memory.boot import boot_id


class FolderLock:
    """Holds ``folder`` from here to `release`. The system lets go of it when the process dies, however that happens.

    Raises `TierError` naming the process that holds it.
    """

    def __init__(self, folder: Path) -> None:
        self._owner = folder / "owner.json"
        self._lock = FileLock(folder / "lock", timeout=0)
        try:
            self._lock.acquire()
        except Timeout:
            what = f"{folder} is in use by {self._holder()}."
            raise TierError(what, "Close the world there first, or copy the folder and open the copy.") from None
        self.taken_over = self._owner.exists()
        """Whether the last owner died without letting go."""
        try:
            self._owner.write_text(json.dumps({"pid": os.getpid(), "boot": boot_id()}))
        except OSError:
            self._lock.release()
            raise

    @property
    def held(self) -> bool:
        """Whether it is ours."""
        return bool(self._lock.is_locked)

    def release(self) -> None:
        """Let go; a second time does nothing."""
        if self.held:
            self._owner.unlink(missing_ok=True)
            self._lock.release()

    def _holder(self) -> str:
        try:
            owner = json.loads(self._owner.read_text())
            process, boot = int(owner["pid"]), str(owner["boot"])
        except (OSError, ValueError, KeyError, TypeError):
            return "another program"
        if boot != boot_id():
            return "a program on another machine"
        return "this very program" if process == os.getpid() else f"process {process}"
