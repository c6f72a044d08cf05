"""The log: a file in the user's log folder that is turned over when it is large, and warnings on the terminal."""

from __future__ import annotations

import logging
import logging.handlers
from pathlib import Path

import platformdirs

LOG_BYTES, LOG_FILES = 1 << 20, 3


def start_log() -> Path:
    """Log to a file in the user's log folder, and warnings to the terminal. Returns the file's path; no file where none can be made."""
    path = platformdirs.user_log_path("worldpager") / "worldpager.log"
    root = logging.getLogger("worldpager")
    if root.handlers:
        return path
    root.setLevel(logging.INFO)
    terminal = logging.StreamHandler()
    terminal.setLevel(logging.WARNING)
    root.addHandler(terminal)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = logging.handlers.RotatingFileHandler(path, maxBytes=LOG_BYTES, backupCount=LOG_FILES, encoding="utf-8")
    except OSError as error:
        root.warning("no log file: %s", error)
        return path
    file.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    root.addHandler(file)
    return path
