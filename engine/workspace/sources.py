"""Files that a workspace takes in: text, code, logs. What isn't text is named and left out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from worldpager.engine.errors import InputError

LARGEST = 8 << 20
"""Bytes of a file; larger ones are refused rather than read for hours."""
SKIPPED = frozenset({"__pycache__", "node_modules", "build", "dist", "out"})
TEXT_ENDINGS = frozenset(
    f".{ending}"
    for ending in (
        *("txt", "md", "rst", "tex", "log", "csv", "tsv", "json", "toml", "yaml", "yml", "ini", "cfg", "xml", "html", "css", "desktop"),
        *("py", "pyi", "sh", "bash", "c", "h", "cpp", "hpp", "cu", "rs", "go", "js", "ts", "java", "kt", "rb", "lua", "sql", "vert"),
    )
)
"""Files of a folder that are taken; a file that is named itself is taken whatever its ending."""


@dataclass(frozen=True, slots=True)
class Source:
    """A text with its name."""

    name: str
    text: str


def sources_in(paths: Sequence[Path]) -> Iterator[Path]:
    """All files that ``paths`` mean, folders walked in order of names. Raises `InputError` for a path that isn't there."""
    for path in paths:
        if path.is_dir():
            yield from (found for found in sorted(path.rglob("*")) if found.suffix.lower() in TEXT_ENDINGS and _wanted(found, path))
        elif path.is_file():
            yield path
        else:
            raise InputError(f"There is no file {path}.", "Check the path.")


def load_source(path: Path) -> Source:
    """A file's text; bytes that aren't UTF-8 become replacement letters. Raises `InputError` for a file that isn't text or is too large."""
    try:
        size = path.stat().st_size
        if size > LARGEST:
            raise InputError(f"{path} has {size >> 20} MiB.", f"Split it into files of up to {LARGEST >> 20} MiB.")
        raw = path.read_bytes()
    except OSError as error:
        raise InputError(f"{path} can't be read: {error.strerror}.", "Check its permissions.") from error
    if b"\0" in raw[:8192]:
        raise InputError(f"{path} isn't text.", "Add text, code or logs.")
    return Source(str(path), raw.decode("utf-8", errors="replace"))


def _wanted(path: Path, root: Path) -> bool:
    inside = path.relative_to(root).parts
    return path.is_file() and not path.is_symlink() and not any(part.startswith(".") or part in SKIPPED for part in inside)
