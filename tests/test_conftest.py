"""The guards in conftest.py do guard."""

from __future__ import annotations

import threading
import warnings

import pytest


@pytest.mark.usefixtures("poisoned")
def test_fresh_tensors_are_poisoned() -> None:
    import torch

    assert torch.empty(1000).isnan().all()
    assert (torch.empty(10, dtype=torch.uint8) == 255).all()


def test_warnings_that_point_at_us_are_errors() -> None:
    with pytest.raises(UserWarning, match="careless"):
        warnings.warn("careless", stacklevel=1)


def test_a_thread_left_behind_fails_the_test(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    conftest = request.config.pluginmanager.get_plugin(str(request.config.rootpath / "tests" / "conftest.py"))
    assert conftest is not None
    monkeypatch.setattr(conftest, "SECONDS_TO_END", 0.0)
    before = set(threading.enumerate())
    end = threading.Event()
    thread = threading.Thread(target=end.wait, name="forgotten")
    thread.start()
    try:
        with pytest.raises(AssertionError, match="forgotten"):
            conftest.check_threads_ended(before)
    finally:
        end.set()
        thread.join()


@pytest.mark.usefixtures("qapp")
def test_windows_draw_with_the_core_profile() -> None:
    from PySide6.QtGui import QOffscreenSurface, QOpenGLContext, QSurfaceFormat

    context, surface = QOpenGLContext(), QOffscreenSurface()
    surface.create()
    assert context.create()
    assert context.makeCurrent(surface)
    assert context.format().profile() == QSurfaceFormat.OpenGLContextProfile.CoreProfile
    assert context.format().version() >= (3, 3)
    context.doneCurrent()
