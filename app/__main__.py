"""The desktop program: ``run`` opens the window and returns the exit status."""

from __future__ import annotations

import os
import signal
import sys
from importlib import resources
from pathlib import Path
from typing import cast, get_args

from PySide6.QtGui import QIcon, QPixmap, QSurfaceFormat
from PySide6.QtWidgets import QApplication

from worldpager.app.bridge import EngineBridge
from worldpager.app.keepsakes import Keepsakes
from worldpager.app.main_window import MainWindow, ScriptedSource
from worldpager.app.settings import WindowSettings
from worldpager.app.viewport.viewport import ViewportKind
from worldpager.engine.config import PlayConfig
from worldpager.engine.errors import InputError

SWITCH_SECONDS = 0.0005
"""How long a Python thread may keep the others waiting; with the usual 5 ms the window stutters."""
VIEWPORT_VARIABLE = "WORLDPAGER_VIEWPORT"
"""Environment variable: auto, opengl or software."""


def run(config: PlayConfig, source: ScriptedSource | None = None, record: Path | None = None) -> int:
    """Play ``config`` in a window until it is closed. Returns 0, or 1 when the street would not end in time.

    ``source`` steers until it ends or somebody presses a key; ``record`` films the play from its start.

    Raises `InputError` for an unknown viewport.
    """
    kind = asked_viewport()
    prepare_process()
    application = QApplication.instance() or QApplication(["worldpager"])
    assert isinstance(application, QApplication)
    application.setApplicationName("WorldPager")
    application.setDesktopFileName("worldpager")
    application.setWindowIcon(_icon())
    bridge = EngineBridge(config)
    window = MainWindow(bridge, WindowSettings(), Keepsakes(), kind, source=source, film=record)
    signal.signal(signal.SIGINT, lambda *_: window.close())
    signal.signal(signal.SIGTERM, lambda *_: window.close())
    window.show()
    bridge.start()
    application.exec()
    return 1 if bridge.running else 0


def asked_viewport() -> ViewportKind:
    """The viewport that the environment asks for. Raises `InputError`."""
    kind = os.environ.get(VIEWPORT_VARIABLE, "auto")
    if kind not in get_args(ViewportKind):
        raise InputError(f"{VIEWPORT_VARIABLE}={kind} is no viewport.", f"Set it to {', '.join(get_args(ViewportKind))}, or not at all.")
    return cast(ViewportKind, kind)


def prepare_process() -> None:
    """What must be set before the first window: thread switching, the platform, the surface of OpenGL."""
    sys.setswitchinterval(SWITCH_SECONDS)
    if os.environ.get("WAYLAND_DISPLAY") and os.environ.get("DISPLAY"):
        os.environ.setdefault("QT_QPA_PLATFORM", "xcb")  # Wayland gives no way to hold the pointer
    surface = QSurfaceFormat()
    surface.setVersion(3, 3)
    surface.setProfile(QSurfaceFormat.OpenGLContextProfile.CoreProfile)
    surface.setSwapInterval(0)
    QSurfaceFormat.setDefaultFormat(surface)


def _icon() -> QIcon:
    picture = QPixmap()
    picture.loadFromData((resources.files("worldpager.assets") / "icons" / "worldpager.svg").read_bytes())
    return QIcon(picture)


def main() -> int:
    """``python -m worldpager.app``: the default world."""
    from worldpager.engine.build import default_config

    return run(default_config())


if __name__ == "__main__":
    sys.exit(main())
