"""The view's data as files: every chunk a line of CSV, or all of it with the comparison as JSON."""

from __future__ import annotations

import csv
import io
import json
import tempfile
from dataclasses import asdict, fields
from importlib.metadata import version
from pathlib import Path
from typing import Any

from worldpager.app.memory_view.modes import MODES
from worldpager.app.memory_view.story import ChunkRow, MemoryStory
from worldpager.engine.errors import RecorderError


def as_csv(story: MemoryStory) -> str:
    """A line a chunk; lists within a field are parted by spaces."""
    text = io.StringIO()
    names = [field.name for field in fields(ChunkRow)]
    writer = csv.DictWriter(text, names, lineterminator="\n")
    writer.writeheader()
    for row in story.rows:
        writer.writerow({name: _flat(value) for name, value in asdict(row).items()})
    return text.getvalue()


def as_json(story: MemoryStory) -> str:
    """Chunks, tiers now, and the comparison of the modes."""
    snapshot = story.snapshot
    comparison = [
        {
            "mode": mode.name, "policy": mode.policy, "blocks_wanted": scores.wanted, "prefetch_hits": scores.hits, "stalls": scores.stalls,
            "seen_again_in_main_memory": {"count": scores.likeness[0].count, "mean_decibels": scores.likeness[0].mean},
            "seen_again_spilled": {"count": scores.likeness[1].count, "mean_decibels": scores.likeness[1].mean},
        }
        for mode, scores in zip(MODES, story.scores, strict=True)
    ]  # fmt: skip
    table: dict[str, Any] = {
        "program": f"WorldPager {version('worldpager')}",
        "model": snapshot.model if snapshot else None,
        "tiers": [asdict(tier) for tier in snapshot.tiers] if snapshot else [],
        "comparison": comparison,
        "chunks": [asdict(row) for row in story.rows],
    }
    return json.dumps(table, indent=1) + "\n"


def write_whole(path: Path, text: str) -> Path:
    """Write ``text`` to ``path`` as a whole or not at all. Raises `RecorderError`."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile("w", dir=path.parent, prefix=f".{path.name}.", delete=False, encoding="utf-8") as file:
            file.write(text)
        Path(file.name).chmod(0o644)
        return Path(file.name).replace(path)
    except OSError as error:
        raise RecorderError(f"{path} can't be written: {error.strerror}.", "Choose another folder, or free some space.") from error


def _flat(value: object) -> object:
    if isinstance(value, list | tuple):
        return " ".join(str(part) for part in value)
    return value
