"""Which published weights this user has: one small file for each model, beside files that were converted once.

Published files stay where they are; the library remembers their places, sizes and SHA-256 sums (the sums that hubs show, too).
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from worldpager.engine.errors import WeightsError

FORMAT = 1
PIECE = 1 << 22
ADD_AGAIN = "Add the model again with `worldpager models add FOLDER`."
FOLDER_VARIABLE = "WORLDPAGER_MODELS"
"""Names another folder for the library."""

Progress = Callable[[str, float], None]
"""Hears (what is going on, share done from 0 to 1)."""


@dataclass(frozen=True, slots=True)
class KnownFile:
    """A file as it was when it was added. ``source`` is the published file where ``path`` was converted from it."""

    path: str
    bytes: int
    sha256: str
    source: str = ""


@dataclass(frozen=True, slots=True)
class Added:
    """A model that can be played: its files by their part, and the configuration as published."""

    model: str
    config: dict[str, Any]
    files: dict[str, KnownFile]

    def paths(self) -> dict[str, Path]:
        """Where the parts are. Raises `WeightsError` when one is gone or has another size than when it was added."""
        for part, file in self.files.items():
            path = Path(file.path)
            if not path.is_file():
                raise WeightsError(f"{path} ({part} of {self.model}) is gone.", ADD_AGAIN)
            if path.stat().st_size != file.bytes:
                changed = f"{path.stat().st_size} bytes, not {file.bytes}"
                raise WeightsError(f"{path} ({part} of {self.model}) has changed: {changed}.", ADD_AGAIN)
        return {part: Path(file.path) for part, file in self.files.items()}

    @property
    def bytes(self) -> int:
        """Of all files."""
        return sum(file.bytes for file in self.files.values())


class Library:
    """The models added by this user, below ``root``."""

    def __init__(self, root: Path | None = None) -> None:
        chosen = os.environ.get(FOLDER_VARIABLE)
        self.root = root or (Path(chosen) if chosen else _usual_folder())

    def __iter__(self) -> Iterator[Added]:
        for path in sorted(self.root.glob("*.json")):
            found = self.find(path.stem)
            if found is not None:
                yield found

    def find(self, model: str) -> Added | None:
        """The model if it was added. Raises `WeightsError` when what was noted about it is damaged."""
        path = self._note(model)
        try:
            values = json.loads(path.read_text())
            if values.get("format") != FORMAT:
                raise WeightsError(f"{path} was written by another version of WorldPager.", ADD_AGAIN)
            files = {part: KnownFile(**file) for part, file in values["files"].items()}
            return Added(values["model"], values["config"], files)
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise WeightsError(f"{path} is damaged.", ADD_AGAIN) from error

    def add(self, model: str, config: Mapping[str, Any], files: Mapping[str, tuple[Path, str]], progress: Progress) -> Added:
        """Note ``model`` with ``files``: for each part its path and, where it was converted, the published path."""
        known = {}
        for part, (path, source) in files.items():
            path = path.resolve()
            known[part] = KnownFile(str(path), path.stat().st_size, sha256(path, progress), source)
        added = Added(model, dict(config), known)
        self._write(added)
        return added

    def remove(self, model: str) -> list[Path]:
        """Forget ``model``. Converted files that no other model uses are deleted and returned; published files stay."""
        added = self.find(model)
        if added is None:
            raise WeightsError(f"The model {model} was not added.", "See `worldpager models list`.")
        self._note(model).unlink()
        used = {file.path for other in self for file in other.files.values()}
        gone = []
        for file in added.files.values():
            path = Path(file.path)
            if file.path not in used and self.converted in path.parents:
                path.unlink(missing_ok=True)
                gone.append(path)
        return gone

    def verify(self, added: Added, progress: Progress) -> list[str]:
        """What is wrong with the files of ``added``, reading all of them; empty when all is as it was."""
        wrong = []
        for part, file in added.files.items():
            path = Path(file.path)
            if not path.is_file():
                wrong.append(f"{part}: {path} is gone")
            elif path.stat().st_size != file.bytes:
                wrong.append(f"{part}: {path} has {path.stat().st_size} bytes instead of {file.bytes}")
            elif sha256(path, progress) != file.sha256:
                wrong.append(f"{part}: {path} has other bytes than when it was added")
        return wrong

    @property
    def converted(self) -> Path:
        """Where converted files go."""
        return self.root / "converted"

    def _note(self, model: str) -> Path:
        if not model or not set(model) <= set("abcdefghijklmnopqrstuvwxyz0123456789-."):
            raise WeightsError(f"{model!r} is no name of a model.", "See `worldpager models list`.")
        return self.root / f"{model}.json"

    def _write(self, added: Added) -> None:
        path = self._note(added.model)
        unfinished = path.with_suffix(".unfinished")
        try:
            self.root.mkdir(parents=True, exist_ok=True)
            unfinished.write_text(json.dumps({"format": FORMAT, **asdict(added)}, indent=1))
            unfinished.replace(path)
        except OSError as error:
            raise WeightsError(f"{path} can't be written: {error.strerror}.", f"Choose another folder with {FOLDER_VARIABLE}.") from error


def _usual_folder() -> Path:
    """In the user's data folder. Asked for only here, so that trials with random numbers need less."""
    from platformdirs import user_data_path

    return user_data_path("worldpager") / "models"


def sha256(path: Path, progress: Progress) -> str:
    """The sum of a file's bytes, told as it goes."""
    code, size, done = hashlib.sha256(), path.stat().st_size, 0
    with path.open("rb") as file:
        while piece := file.read(PIECE):
            code.update(piece)
            done += len(piece)
            progress(f"Reading {path.name}", done / max(1, size))
    return code.hexdigest()
