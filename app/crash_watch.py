"""What is left of a run that died: a mark while it runs, and the stacks of all threads where a fault in native code ended it."""

from __future__ import annotations

import faulthandler
import json
import logging
import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import platformdirs
import psutil

log = logging.getLogger(__name__)

MOST_BYTES = 200_000
"""Of a stack file that is read."""


@dataclass(frozen=True, slots=True)
class CrashNote:
    """A run that did not end by itself: when it began, and what its stack file says (empty when it was killed)."""

    began: str
    stacks: str


class CrashWatch:
    """``folder`` holds a mark and a stack file for each running process."""

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder or platformdirs.user_state_path("worldpager") / "running"
        self._mark = self._folder / f"{os.getpid()}.json"
        self._stacks = self._folder / f"{os.getpid()}.stacks"
        self._file: IO[str] | None = None
        self.found: list[CrashNote] = []
        """Runs that died since the last start."""

    def begin(self) -> None:
        """Collect what dead runs left, mark this one, and have faults in native code written down. Never raises."""
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            self._collect()
            about = {"began": time.strftime("%Y-%m-%d %H:%M:%S"), "created": psutil.Process().create_time()}
            self._mark.write_text(json.dumps(about), encoding="utf-8")
            self._file = self._stacks.open("w", encoding="utf-8")
            faulthandler.enable(self._file)
        except OSError as error:
            log.warning("crashes will leave no trace: %s", error)

    def dump(self) -> None:
        """Write the stacks of all threads now, into the log's folder."""
        if self._file is not None:
            faulthandler.dump_traceback(self._file)
            self._file.flush()

    def end(self) -> None:
        """The run has ended by itself."""
        if self._file is not None:
            faulthandler.disable()
            self._file.close()
            self._file = None
        for path in (self._mark, self._stacks):
            path.unlink(missing_ok=True)

    def _collect(self) -> None:
        for mark in self._folder.glob("*.json"):
            about = _read(mark)
            if _lives(mark.stem, about.get("created")):
                continue
            stacks = mark.with_suffix(".stacks")
            text = stacks.read_text(encoding="utf-8", errors="replace")[-MOST_BYTES:] if stacks.exists() else ""
            self.found.append(CrashNote(str(about.get("began", "")), text))
            log.warning("a run that began at %s did not end by itself\n%s", about.get("began"), text)
            mark.unlink(missing_ok=True)
            stacks.unlink(missing_ok=True)


def _read(mark: Path) -> dict[str, object]:
    try:
        table = json.loads(mark.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return table if isinstance(table, dict) else {}


def _lives(pid: str, created: object) -> bool:
    """Whether the process that made a mark still runs; another one may have its number by now."""
    try:
        return bool(abs(psutil.Process(int(pid)).create_time() - float(str(created))) < 1.0)
    except (psutil.Error, ValueError):
        return False
