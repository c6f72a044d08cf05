"""The kept worlds of a folder, as a start page or a command line lists them. Loads no torch, takes no lock, changes nothing."""

from __future__ import annotations

import os
import sqlite3
from dataclasses import dataclass
from pathlib import Path

import platformdirs

from worldpager.engine.errors import InputError, WorldPagerError
from worldpager.engine.session.archive import INDEX, check_format, connect, read_about
from worldpager.engine.session.lock import in_use


@dataclass(frozen=True, slots=True)
class KeptWorld:
    """One kept world. ``thumbnail`` is the JPEG of its newest chunk; ``played`` in seconds since 1970; ``size`` in bytes on the drive.

    ``problem`` says in words why it can't be opened just now: damaged, of a newer format, being played. Empty when it can.
    """

    name: str
    folder: Path
    model: str = ""
    seed: int = 0
    chunks: int = 0
    branches: int = 0
    seconds: float = 0.0
    """Length of all chunks at the world's natural rate."""
    made: float = 0.0
    played: float = 0.0
    size: int = 0
    thumbnail: bytes = b""
    problem: str = ""


def worlds_folder() -> Path:
    """Where kept worlds lie unless another folder is named; ``WORLDPAGER_WORLDS_FOLDER`` moves it."""
    chosen = os.environ.get("WORLDPAGER_WORLDS_FOLDER")
    return Path(chosen).expanduser() if chosen else platformdirs.user_data_path("worldpager") / "worlds"


def find_world(name: str, folder: Path | None = None) -> Path:
    """The folder that ``name`` means: a path when it has a separator or is one, else a world of ``folder``. It need not exist.

    Raises `InputError` for a name that can't be one.
    """
    if not name.strip() or "\0" in name or name.strip() in (".", ".."):
        raise InputError(f"{name!r} is no name for a world.", "Write a word, or the path of a folder.")
    path = Path(name).expanduser()
    if os.sep in name or (path / INDEX).is_file():
        return path.absolute()
    return (folder or worlds_folder()) / name.strip()


def kept_worlds(folder: Path | None = None) -> list[KeptWorld]:
    """All worlds in ``folder`` (that of `worlds_folder` if not given), the one played last first. Never raises: see ``problem``."""
    root = folder or worlds_folder()
    try:
        folders = [path for path in root.iterdir() if (path / INDEX).exists()]
    except OSError:
        return []
    return sorted(map(describe, folders), key=lambda world: (-world.played, world.name))


def describe(folder: Path) -> KeptWorld:
    """One world. Never raises."""
    size = bytes_of(folder)
    try:
        db = connect(folder / INDEX, read_only=True)
        check_format(folder, db)
    except (sqlite3.Error, WorldPagerError, OSError) as error:
        return KeptWorld(folder.name, folder, size=size, problem=_words(error))
    try:
        about = read_about(db)
        chunks, = db.execute("SELECT count(*) FROM chunks").fetchone()
        branches, = db.execute("SELECT count(*) FROM branches").fetchone()
        picture = db.execute("SELECT jpeg FROM pictures WHERE chunk = ?", (about.get("head"),)).fetchone()
        picture = picture or db.execute("SELECT jpeg FROM pictures ORDER BY chunk DESC LIMIT 1").fetchone()
        problem = "being played" if in_use(folder) else ""
        return KeptWorld(
            folder.name, folder, str(about["model"]), int(about["seed"]), chunks, branches,
            chunks * float(about["frames_per_chunk"]) / float(about["rate"]), float(about["made"]), float(about["played"]), size,
            bytes(picture[0]) if picture else b"", problem,
        )  # fmt: skip
    except (sqlite3.Error, KeyError, TypeError, ValueError, ZeroDivisionError) as error:
        return KeptWorld(folder.name, folder, size=size, problem=_words(error))
    finally:
        db.close()


def bytes_of(folder: Path) -> int:
    """What a world's folder takes on the drive."""
    total = 0
    try:
        for path in folder.iterdir():
            if path.is_file():
                total += path.stat().st_blocks * 512
    except OSError:
        pass
    return total


def _words(error: Exception) -> str:
    if isinstance(error, WorldPagerError):
        return error.what
    return f"its index is damaged: {error}"
