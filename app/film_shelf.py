"""The folder of films and screenshots: what lies there, and renaming and deleting that never leave it."""

from __future__ import annotations

import json
import logging
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from PySide6.QtCore import QFile

from worldpager.engine.errors import InputError, RecorderError, WorldPagerError
from worldpager.engine.recorder import FilmFacts, film_facts, read_metadata, thumbnail
from worldpager.engine.types import Frames

log = logging.getLogger(__name__)

FILMS = frozenset((".mp4",))
CLIPS = frozenset((".webp", ".gif"))
MOST_LISTED = 400
THUMBNAIL = (144, 96)
LONGEST_NAME = 120


@dataclass(frozen=True, slots=True)
class Reel:
    """A film or a clip of the folder."""

    path: Path
    size: int
    when: datetime

    @property
    def is_film(self) -> bool:
        """Whether it can be played here."""
        return self.path.suffix.lower() in FILMS


@dataclass(frozen=True, slots=True)
class Label:
    """What a film says of itself; ``facts`` None where it can't be read."""

    facts: FilmFacts | None
    about: dict[str, Any]
    picture: Frames | None
    problem: str = ""

    @property
    def words(self) -> str:
        """Model, world, length, sound in one line."""
        if self.facts is None:
            return self.problem
        minutes, seconds = divmod(round(self.facts.seconds), 60)
        parts = [f"{minutes}:{seconds:02d}", f"{self.facts.width}×{self.facts.height}"]
        if "model" in self.about:
            parts.insert(0, f"{self.about['model']} {self.about.get('seed', '')}".strip())
        return "  ·  ".join(parts + (["♪"] if self.facts.sound else []))


class FilmShelf:
    """Films in ``folder``. A path that does not lie directly in it is refused, links included."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def reels(self) -> list[Reel]:
        """Films and clips, newest first; empty where there is no such folder."""
        found = []
        try:
            for path in self.folder.iterdir():
                if path.suffix.lower() in FILMS | CLIPS and path.is_file() and not path.is_symlink():
                    about = path.stat()
                    found.append(Reel(path, about.st_size, datetime.fromtimestamp(about.st_mtime)))
        except OSError as error:
            log.info("films in %s can't be listed: %s", self.folder, error)
        return sorted(found, key=lambda reel: reel.when, reverse=True)[:MOST_LISTED]

    def label(self, reel: Reel) -> Label:
        """What ``reel`` says of itself. Takes a moment: for a thread."""
        if not reel.is_film:
            return Label(None, {}, None, reel.path.suffix.removeprefix("."))
        try:
            facts, comment = film_facts(reel.path), read_metadata(reel.path).get("comment", "")
        except (WorldPagerError, OSError) as error:
            return Label(None, {}, None, str(error))
        try:
            about = json.loads(comment) if comment else {}
        except ValueError:
            about = {}
        return Label(facts, about if isinstance(about, dict) else {}, thumbnail(reel.path, THUMBNAIL, facts.seconds / 3))

    def rename(self, path: Path, name: str) -> Path:
        """Give the film another name; its ending stays. Raises `InputError` for a name that can't be, `RecorderError` when it fails."""
        own = self._own(path)
        name = name.strip().removesuffix(own.suffix)
        if not name or name.startswith(".") or len(name) > LONGEST_NAME or any(sign in name for sign in '/\\:*?"<>|\0'):
            raise InputError(f"A film can't be called {name!r}.", "Leave out slashes and other special signs, and a dot at the start.")
        target = own.with_name(name + own.suffix)
        if target == own:
            return own
        if target.exists():
            raise InputError(f"There is a film called {target.name} already.", "Choose another name.")
        try:
            return own.rename(target)
        except OSError as error:
            raise RecorderError(f"{own.name} can't be renamed: {error.strerror}.") from error

    def delete(self, path: Path) -> bool:
        """Move the film into the system's trash, or remove it where there is none. True when it lies in the trash. Raises
        `RecorderError`.
        """
        own = self._own(path)
        if QFile.moveToTrash(str(own)):
            return True
        try:
            own.unlink()
        except OSError as error:
            raise RecorderError(f"{own.name} can't be deleted: {error.strerror}.") from error
        return False

    def _own(self, path: Path) -> Path:
        """``path`` if it is a file of this folder. Raises `InputError`."""
        inside = path.parent.resolve() == self.folder.resolve() and path.suffix.lower() in FILMS | CLIPS
        if not inside or path.is_symlink() or not path.is_file():
            raise InputError(f"{path} is no film in {self.folder}.", "Only films of that folder can be changed here.")
        return path
