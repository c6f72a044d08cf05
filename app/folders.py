"""Where things are kept: the folders that a person chose, else the usual ones. And what a drive gives: room and speed."""

from __future__ import annotations

import mmap
import os
import shutil
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import platformdirs

from worldpager.app.settings import Settings
from worldpager.engine.errors import InputError

NAME = "WorldPager"
PIECE, PIECES = 8 << 20, 12
"""Bytes of one write of the measurement, and how many."""


def films_folder(settings: Settings) -> Path:
    """Where films go."""
    return Path(settings.films_folder) if settings.films_folder else platformdirs.user_videos_path() / NAME


def pictures_folder(settings: Settings) -> Path:
    """Where screenshots go."""
    return Path(settings.pictures_folder) if settings.pictures_folder else platformdirs.user_pictures_path() / NAME


def worlds_folder(settings: Settings) -> Path:
    """Where worlds that last are kept."""
    return Path(settings.worlds_folder) if settings.worlds_folder else platformdirs.user_data_path("worldpager") / "worlds"


def disk_folder(settings: Settings) -> Path:
    """Where the disk tier of a world that doesn't last is made."""
    large = Path("/var/tmp")
    if settings.disk_folder:
        return Path(settings.disk_folder)
    return large if large.is_dir() else Path(tempfile.gettempdir())


USUAL: dict[str, Callable[[Settings], Path]] = {
    "films_folder": films_folder, "pictures_folder": pictures_folder, "worlds_folder": worlds_folder, "disk_folder": disk_folder,
}  # fmt: skip
"""By the name of the setting."""


def free_bytes(folder: Path) -> int | None:
    """Room on the drive of ``folder``, which need not exist yet; None where it can't be asked."""
    there = next((place for place in (folder, *folder.parents) if place.exists()), None)
    try:
        return shutil.disk_usage(there).free if there else None
    except OSError:
        return None


@dataclass(frozen=True, slots=True)
class DriveSpeed:
    """Bytes a second; ``direct``: past the page cache, so that the drive itself was measured."""

    write: float
    read: float
    direct: bool


def measure_drive(folder: Path, wanted: Callable[[], bool] = lambda: True) -> DriveSpeed | None:
    """Write and read a file of about 100 MB in ``folder``, which is made if need be; the file is gone afterwards.

    None when ``wanted`` says no in between. Raises `InputError` where the folder can't be used.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        handle, direct = _open(folder)
        try:
            buffer = mmap.mmap(-1, PIECE)
            buffer.write(os.urandom(1 << 20) * (PIECE >> 20))
            write = _timed(lambda at: os.pwrite(handle, buffer, at), wanted, lambda: os.fsync(handle))
            if not direct and hasattr(os, "posix_fadvise"):
                os.posix_fadvise(handle, 0, 0, os.POSIX_FADV_DONTNEED)
            read = _timed(lambda at: os.preadv(handle, [buffer], at), wanted) if write else None
            buffer.close()
        finally:
            os.close(handle)
    except OSError as error:
        what = f"The folder {folder} can't be used: {error.strerror or error}."
        raise InputError(what, "Choose another one, or free some space.") from error
    return DriveSpeed(write, read, direct) if write and read else None


def _open(folder: Path) -> tuple[int, bool]:
    """A file without a name that lasts, open past the page cache where the file system does that."""
    handle, name = tempfile.mkstemp(dir=folder, prefix=".worldpager-speed-")
    try:
        if hasattr(os, "O_DIRECT"):
            try:
                direct = os.open(name, os.O_RDWR | os.O_DIRECT)
            except OSError:
                return handle, False
            os.close(handle)
            return direct, True
        return handle, False
    finally:
        Path(name).unlink()


def _timed(move: Callable[[int], int], wanted: Callable[[], bool], end: Callable[[], None] = lambda: None) -> float | None:
    begun = time.monotonic()
    for index in range(PIECES):
        if not wanted():
            return None
        move(index * PIECE)
    end()
    return PIECES * PIECE / max(1e-9, time.monotonic() - begun)
