"""The report that a person can copy: what happened, versions, machine, memory, the end of the log. Nothing private is in it.

The home folder, the names of user and machine are taken out of every line; nothing is sent anywhere.
"""

from __future__ import annotations

import getpass
import json
import platform
import socket
import sys
import threading
import time
from collections.abc import Mapping
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import psutil

from worldpager.engine.errors import WorldPagerError
from worldpager.engine.telemetry.snapshot import Snapshot

LIBRARIES = ("worldpager", "torch", "triton", "numpy", "PySide6-Essentials", "PyOpenGL", "imageio-ffmpeg", "sounddevice", "pygame-ce")
LOG_LINES = 120
_ALPHABET = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ"


def new_id(code: str, moment: float | None = None) -> str:
    """A short name of one failure, such as ``tier-7K2F``, that stands on the screen, in the log and in the report."""
    count = int((time.time() if moment is None else moment) * 10)
    letters = ""
    for _ in range(4):
        count, rest = divmod(count, len(_ALPHABET))
        letters = _ALPHABET[rest] + letters
    return f"{code}-{letters}"


def make_report(
    name: str, error: WorldPagerError | None, snapshot: Snapshot | None, facts: Mapping[str, str], log_path: Path | None
) -> str:
    """The report as JSON text. ``facts``: what only the window knows (viewport, OpenGL, screen)."""
    report: dict[str, Any] = {
        "id": name,
        "time": time.strftime("%Y-%m-%dT%H:%M:%S%z"),
        "error": {"code": error.code, "what": error.what, "hint": error.hint} if error else None,
        "versions": {library: _version(library) for library in LIBRARIES},
        "system": {"python": sys.version.split()[0], "platform": platform.platform()},
        "window": dict(facts),
        "machine": _machine(),
        "play": _play(snapshot),
        "log": _log_tail(log_path),
    }
    return scrubbed(json.dumps(report, indent=1, ensure_ascii=False, default=str))


def scrubbed(text: str) -> str:
    """``text`` without the home folder and without the names of user and machine."""
    home = str(Path.home())
    if len(home) > 1:
        text = text.replace(home, "~")
    for name in (_or_empty(getpass.getuser), socket.gethostname()):
        if len(name) > 2 and name not in ("root", "user", "localhost"):
            text = text.replace(name, "…")
    return text


def _or_empty(ask: Any) -> str:
    try:
        return str(ask())
    except (KeyError, OSError, ImportError):
        return ""


def _version(library: str) -> str:
    try:
        return version(library)
    except PackageNotFoundError:
        return "absent"


def _machine() -> dict[str, Any]:
    """Memory now; GPU and driver where torch, if it is loaded at all, knows one."""
    memory, own = psutil.virtual_memory(), psutil.Process()
    found: dict[str, Any] = {
        "processor": platform.processor() or platform.machine(), "cores": psutil.cpu_count(), "memory": memory.total,
        "memory_free": memory.available, "memory_of_process": own.memory_info().rss,
        "threads": [thread.name for thread in threading.enumerate()],
    }  # fmt: skip
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_available():
        free, total = torch.cuda.mem_get_info()
        found |= {
            "gpu": torch.cuda.get_device_name(0), "gpu_memory": total, "gpu_memory_free": free,
            "gpu_memory_of_torch": torch.cuda.memory_allocated(),
            "cuda": torch.version.cuda, "driver": _driver(),
        }  # fmt: skip
    return found


def _driver() -> str:
    """The NVIDIA driver's own words."""
    try:
        return Path("/proc/driver/nvidia/version").read_text().splitlines()[0]
    except (OSError, IndexError):
        return "unknown"


def _play(snapshot: Snapshot | None) -> dict[str, Any] | None:
    """Counters of the memory, without places and pictures."""
    if snapshot is None:
        return None
    return {
        "model": snapshot.model, "device": snapshot.device, "seed": snapshot.seed, "chunk": snapshot.chunk, "policy": snapshot.policy,
        "generated_fps": round(snapshot.generated_fps, 2), "chunk_ms": round(snapshot.chunk_ms, 1), "stage_ms": snapshot.stage_ms,
        "tiers": [asdict(tier) for tier in snapshot.tiers], "memory": asdict(snapshot.memory), "degraded": snapshot.degraded,
    }  # fmt: skip


def _log_tail(path: Path | None) -> list[str]:
    if path is None:
        return []
    try:
        return path.read_text(encoding="utf-8", errors="replace").splitlines()[-LOG_LINES:]
    except OSError:
        return []
