"""Failures in words: what nobody foresaw, and memory that ran out, which names what was asked for and what is free."""

from __future__ import annotations

import gc
import re
import sys
import traceback

import psutil

from worldpager.app.overlay.card import bytes_text
from worldpager.engine.config import PlayConfig
from worldpager.engine.errors import ModelError, WorldPagerError

NO_MEMORY = re.compile(r"out of memory|can't allocate memory|cannot allocate memory|not enough memory|MemoryError|bad_alloc", re.IGNORECASE)
TRIED = re.compile(r"tried to allocate ([\d.]+) ?(bytes|KiB|MiB|GiB)", re.IGNORECASE)
UNITS = {"bytes": 1, "kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30}
SMALLER = "Choose a smaller model or smaller budgets, or close other programs. Nothing of what was tried is still in memory."


class MemoryShortageError(ModelError):
    """Main or GPU memory ran out."""

    code = "memory"


def explained(error: BaseException, config: PlayConfig) -> WorldPagerError:
    """``error`` for a person."""
    text = f"{type(error).__name__}: {error}"
    if NO_MEMORY.search(text):
        return shortage(text, config)
    if isinstance(error, WorldPagerError):
        return error
    what = f"The model {config.model} can't be started: {text}"
    return ModelError(what, "See `worldpager doctor`; if it finds nothing, report this with the log.")


def shortage(text: str, config: PlayConfig) -> MemoryShortageError:
    """Memory ran out while ``config`` was loaded or played; ``text`` is what the library said."""
    match = TRIED.search(text)
    need = bytes_text(float(match[1]) * UNITS[match[2].lower()]) if match else "more memory than there is"
    free, place = psutil.virtual_memory().available, "main memory"
    torch = sys.modules.get("torch")
    if torch is not None and "cuda" in text.lower() and torch.cuda.is_available():
        free, place = torch.cuda.mem_get_info()[0], "GPU memory"
    return MemoryShortageError(f"The model {config.model} asked for {need}, and {bytes_text(free)} of {place} are free.", SMALLER)


def let_go(error: BaseException | None = None) -> None:
    """Free what a failed attempt holds: the frames of its traceback, cycles, and torch's cache of GPU memory."""
    seen = error
    while seen is not None:
        traceback.clear_frames(seen.__traceback__)
        seen.__traceback__ = None
        seen = seen.__cause__ or seen.__context__
    gc.collect()
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_available():
        torch.cuda.empty_cache()
