"""What all tests share: quiet thread counts, kernels on a CPU, markers, and no thread left behind.

Without a screen pytest-xvfb starts a virtual one by itself.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import threading
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

if TYPE_CHECKING:
    from PySide6.QtWidgets import QApplication

# Before the first import of torch and of the kernels; programs started by tests inherit both.
os.environ.setdefault("OMP_NUM_THREADS", "1")
if shutil.which("nvidia-smi") is None:
    os.environ.setdefault("TRITON_INTERPRET", "1")
# Before any OpenGL: Triton's LLVM dies while loading beside the one that Mesa's software renderer brings; the other way round both live.
if importlib.util.find_spec("triton") is not None:
    importlib.import_module("triton")

# A busy machine is no failure; CI draws the same examples each time.
settings.register_profile("worldpager", deadline=None, derandomize="CI" in os.environ)
settings.load_profile("worldpager")

SECONDS_TO_END = 3.0


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--stress", action="store_true", help="run the long random tests, too")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Skip what this machine or this run is not meant for."""
    if not config.getoption("--stress"):
        for item in items:
            if item.get_closest_marker("stress"):
                item.add_marker(pytest.mark.skip(reason="long: needs --stress"))
    needs_gpu = [item for item in items if item.get_closest_marker("gpu")]
    if needs_gpu:
        import torch

        if not torch.cuda.is_available():
            for item in needs_gpu:
                item.add_marker(pytest.mark.skip(reason="needs an NVIDIA GPU"))


@pytest.fixture(autouse=True)
def no_thread_left() -> Iterator[None]:
    """Fail a test that ends with more threads than it began with. Threads on their way out get a moment."""
    before = set(threading.enumerate())
    yield
    check_threads_ended(before)


def check_threads_ended(before: set[threading.Thread]) -> None:
    """Wait for the threads that are not in ``before``; AssertionError when one stays."""
    deadline = time.monotonic() + SECONDS_TO_END
    for thread in set(threading.enumerate()) - before:
        if not isinstance(thread, threading._DummyThread):
            thread.join(max(0.0, deadline - time.monotonic()))
            assert not thread.is_alive(), f"thread {thread.name!r} outlived the test"


@pytest.fixture
def poisoned() -> Iterator[None]:
    """Fresh float tensors of torch hold NaN, fresh integers the largest value: what a kernel forgets to write shows."""
    import torch

    was, only_warned = torch.are_deterministic_algorithms_enabled(), torch.is_deterministic_algorithms_warn_only_enabled()
    torch.use_deterministic_algorithms(True, warn_only=True)
    yield
    torch.use_deterministic_algorithms(was, warn_only=only_warned)


@pytest.fixture(scope="session")
def qapp_cls() -> type[QApplication]:
    """The application class of pytest-qt, once the surface format of the OpenGL viewport is the default one."""
    from PySide6.QtGui import QSurfaceFormat
    from PySide6.QtWidgets import QApplication

    surface = QSurfaceFormat()
    surface.setVersion(3, 3)
    surface.setProfile(QSurfaceFormat.OpenGLContextProfile.CoreProfile)
    surface.setSwapInterval(0)
    QSurfaceFormat.setDefaultFormat(surface)
    return QApplication
