"""``worldpager doctor``: what this machine gives, in lines a person can read and paste into a report.

It never fails: what can't be found out is said to be not available, and why. Nothing here knows the window's libraries; they are asked in
a process of their own, which a missing library may end.
"""

from __future__ import annotations

import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from worldpager.engine.config import GiB
from worldpager.engine.errors import WorldPagerError

LIBRARIES = ("torch", "triton", "numpy", "PySide6-Essentials", "PyOpenGL", "imageio-ffmpeg", "sounddevice", "pygame-ce")
CPU_FEATURES = {"avx2": "AVX2", "avx512f": "AVX-512", "avx512_bf16": "bf16 (AVX-512)", "amx_bf16": "bf16 (AMX)"}
PROBE_SECONDS = 30

Lines = Iterator[str]


def main() -> int:
    """Print every section. Always 0."""
    for title, look in SECTIONS.items():
        print(title)
        for line in _answers(look):
            print(f"  {line}")
    return 0


def _answers(look: Callable[[], Lines]) -> Lines:
    """The lines of one section; a fault becomes one of them."""
    try:
        yield from look()
    except Exception as error:  # a report about a broken machine must not break
        yield f"not available: {type(error).__name__}: {error}"


def _versions() -> Lines:
    """The program, Python, the system, and the libraries that are installed."""
    yield f"WorldPager {_version_of('worldpager')}, Python {platform.python_version()}, {platform.platform()}"
    yield ", ".join(f"{name} {_version_of(name)}" for name in LIBRARIES)


def _version_of(distribution: str) -> str:
    try:
        return version(distribution)
    except PackageNotFoundError:
        return "absent"


def _processor() -> Lines:
    """Name, cores that may be used, and the instructions that matter for speed."""
    described = Path("/proc/cpuinfo").read_text() if Path("/proc/cpuinfo").exists() else ""
    facts = dict(line.split(":", 1) for line in described.splitlines() if ":" in line)
    fields = {name.strip(): value.strip() for name, value in facts.items()}
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    yield f"{fields.get('model name') or platform.processor() or platform.machine()}, {usable} of {os.cpu_count()} cores usable"
    features = [name for flag, name in CPU_FEATURES.items() if flag in fields.get("flags", "").split()]
    bf16 = any(name.startswith("bf16") for name in features)
    yield f"{', '.join(features) or 'no known vector instructions'}; models compute in {'bfloat16 or float32' if bf16 else 'float32'} here"


def _memory() -> Lines:
    """Main memory and what limits it."""
    import psutil

    memory = psutil.virtual_memory()
    yield f"{_size(memory.total)} in the machine, {_size(memory.available)} available"


    from worldpager.engine.memory import machine_report

    yield from machine_report.limits()


def _drives() -> Lines:
    """How the disk tier works in the folders that it would use, and what the drive under the first gives."""
    import platformdirs

    from worldpager.engine.build import scratch_folder
    from worldpager.engine.memory import machine_report

    yield from machine_report.folders([scratch_folder(), Path(tempfile.gettempdir()), platformdirs.user_data_path("worldpager")])
    yield from machine_report.drive(scratch_folder())


def _copies() -> Lines:
    """How fast bytes move in memory and to a GPU."""
    from worldpager.engine.memory import machine_report

    yield from machine_report.copies()


def _gpu() -> Lines:
    """CUDA devices as torch sees them."""
    import torch

    if not torch.cuda.is_available():
        built = torch.version.cuda
        yield f"none: this torch is built {f'for CUDA {built} but finds no device' if built else 'for the CPU alone'}"
    for index in range(torch.cuda.device_count()):
        facts = torch.cuda.get_device_properties(index)
        yield f"{facts.name}, {_size(facts.total_memory)}, compute capability {facts.major}.{facts.minor}, CUDA {torch.version.cuda}"


def _window() -> Lines:
    """Display, OpenGL and sound, asked in another process."""
    environment = {name: os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")}
    yield "environment: " + (", ".join(f"{name}={value}" for name, value in environment.items() if value) or "no display is named")
    command = [sys.executable, "-m", "worldpager.app.machine_probe"]
    done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=PROBE_SECONDS, check=False)
    found: dict[str, str] = {}
    for line in done.stdout.splitlines():
        if line.startswith("{"):
            found |= json.loads(line)
    reason = next((line for line in done.stderr.splitlines() if line.strip()), "no reason given")
    for name in ("display", "opengl", "sound"):
        yield f"{name}: {found.get(name) or f'not available: {reason}'}"


def _recording() -> Lines:
    """The encoder that recordings use."""
    from worldpager.engine.recorder import describe_encoder

    try:
        yield describe_encoder()
    except WorldPagerError as error:
        yield f"not available: {error}"


def _folders() -> Lines:
    """Where the program writes, and the room there."""
    import platformdirs

    places = {
        "recordings": platformdirs.user_videos_path(),
        "settings": platformdirs.user_config_path("worldpager"),
        "cache": platformdirs.user_cache_path("worldpager"),
        "temporary": Path(tempfile.gettempdir()),
    }
    for name, place in places.items():
        there = next(folder for folder in (place, *place.parents) if folder.exists())
        access = "can be written" if os.access(there, os.W_OK) else "can't be written"
        yield f"{name}: {place}, {access}, {_size(shutil.disk_usage(there).free)} free"


def _size(count: int) -> str:
    """Bytes for a person."""
    return f"{count / GiB:.1f} GiB"


SECTIONS: dict[str, Callable[[], Lines]] = {
    "Versions": _versions,
    "Processor": _processor,
    "Memory": _memory,
    "Drives": _drives,
    "GPU": _gpu,
    "Copies": _copies,
    "Window": _window,
    "Recording": _recording,
    "Folders": _folders,
}
