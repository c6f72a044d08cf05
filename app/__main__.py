"""Opens the window on a configuration and runs until it closes."""

from __future__ import annotations

import logging
import logging.handlers
import os
import sys
from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from types import TracebackType

import platformdirs

from worldpager.engine.config import PlayConfig
from worldpager.engine.errors import WorldPagerError
from worldpager.engine.pose.source import ActionSource

log = logging.getLogger(__name__)

SWITCH_INTERVAL = 0.0005
"""Seconds after which a thread in Python code gives way: keeps the picture smooth beside the generator."""
LOG_BYTES, LOG_FILES = 1 << 20, 3


def run(
    config: PlayConfig,
    *,
    source: ActionSource | None = None,
    record: Path | None = None,
    flags: Mapping[str, str] | None = None,
    demo: bool = False,
) -> int:
    """Play ``config`` in a window. ``source`` steers until a person does; ``record`` films to that file. Returns the exit status.

    ``flags``: options that stand on the command line, by name. Without any, the window begins at its start page.
    """
    flags = dict(flags or {})
    choose_platform(os.environ)
    sys.setswitchinterval(SWITCH_INTERVAL)
    log_path = start_log()
    from PySide6.QtGui import QIcon, QSurfaceFormat
    from PySide6.QtWidgets import QApplication

    from worldpager.app.bridge import EngineBridge
    from worldpager.app.main_window import MainWindow
    from worldpager.app.memory_view.demo import demo_config
    from worldpager.app.memory_view.part import part as demo_part
    from worldpager.app.play_settings import overrides_of_line, starting_config
    from worldpager.app.preferences import Preferences
    from worldpager.app.settings_file import settings_path
    from worldpager.app.viewport.viewport import core_profile

    QSurfaceFormat.setDefaultFormat(core_profile())
    application = QApplication.instance() or QApplication(sys.argv[:1])
    assert isinstance(application, QApplication)
    application.setApplicationName("worldpager")
    application.setApplicationDisplayName("WorldPager")
    application.setDesktopFileName("worldpager")
    with resources.as_file(resources.files("worldpager.assets") / "icons" / "worldpager.svg") as icon:
        application.setWindowIcon(QIcon(str(icon)))
    bridge = EngineBridge()
    preferences = Preferences(settings_path(), overrides_of_line(config, flags))
    config = starting_config(config, preferences.values, flags)
    if demo:
        config = demo_config(config, flags)
    window = MainWindow(config, bridge, preferences, source=source, record=record, flags=flags)
    before = sys.excepthook
    sys.excepthook = lambda kind, error, trace: _show_fault(window, log_path, kind, error, trace)
    try:
        window.show()
        if preferences.values.start_page and not flags and source is None and not demo:
            window.run_action("start")
        else:
            window.begin()
        if demo:
            demo_part(window).begin_demo()
        application.exec()
    finally:
        sys.excepthook = before
        bridge.stop()
    return window.exit_code


def choose_platform(environment: os._Environ[str] | dict[str, str]) -> None:
    """On Wayland ask for X11 (XWayland), where the pointer can be held; not when the user has chosen, nor when no X server is there."""
    if environment.get("WAYLAND_DISPLAY") and environment.get("DISPLAY"):
        environment.setdefault("QT_QPA_PLATFORM", "xcb")


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


def _show_fault(window: object, log_path: Path, kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """What nobody expected: into the log with its trace, onto the screen in words."""
    from worldpager.app.main_window import MainWindow

    if issubclass(kind, KeyboardInterrupt):
        if isinstance(window, MainWindow):
            window.close()
        return
    log.critical("unexpected fault in the window", exc_info=(kind, error, trace))
    if isinstance(window, MainWindow) and window.isVisible() and window.panel is None:  # one fault may come again at every tick
        what = f"The window met an unexpected fault: {kind.__name__}: {error}"
        window.show_failure(WorldPagerError(what, f"You can go on playing; please report it with {log_path}."), fatal=False)


def main() -> int:
    """``python -m worldpager.app``: the same as ``worldpager play``."""
    from worldpager.engine.cli import main as command_line

    return command_line(["play", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
