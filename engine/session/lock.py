"""One program at a time plays a kept world: an advisory lock on a file in its folder, which the system frees when its holder dies."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import socket
from pathlib import Path

from worldpager.engine.errors import InputError, TierError

LOCK = "world.lock"


class WorldLock:
    """Held from making to `release`. Raises `InputError` when another program (or window) has it, `TierError` where it can't be made."""

    def __init__(self, folder: Path) -> None:
        path = folder / LOCK
        try:
            self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise TierError(f"{folder} can't be written: {error.strerror}.", "Copy the world to a folder of your own.") from error
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            holder = os.read(self._descriptor, 200).decode(errors="replace").strip()
            os.close(self._descriptor)
            self._descriptor = -1
            if error.errno in (errno.EWOULDBLOCK, errno.EACCES):
                who = f" ({holder})" if holder else ""
                raise InputError(f"The world in {folder} is being played already{who}.", "Close it there first.") from error
            raise TierError(f"{folder} can't be locked: {error.strerror}.", "Copy the world to a local drive.") from error
        with contextlib.suppress(OSError):  # a full drive keeps nobody from playing
            os.ftruncate(self._descriptor, 0)
            os.pwrite(self._descriptor, f"process {os.getpid()} on {socket.gethostname()}\n".encode(), 0)

    def release(self) -> None:
        """Let others in. A second call does nothing."""
        if self._descriptor >= 0:
            descriptor, self._descriptor = self._descriptor, -1
            os.close(descriptor)


def in_use(folder: Path) -> bool:
    """Whether somebody holds the lock of ``folder`` at this moment. Takes nothing, makes nothing."""
    try:
        descriptor = os.open(folder / LOCK, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError as error:
        return error.errno == errno.EWOULDBLOCK
    finally:
        os.close(descriptor)
    return False
