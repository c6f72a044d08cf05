"""Opens the window on a configuration and runs until it closes."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

from worldpager.app.crash_watch import CrashWatch
from worldpager.app.log_files import start_log
from worldpager.engine.config import PlayConfig
from worldpager.engine.pose.source import ActionSource

if TYPE_CHECKING:
    from PySide6.QtWidgets import QApplication

SWITCH_INTERVAL = 0.0005
"""Seconds after which a thread in Python code gives way: keeps the picture smooth beside the generator."""


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
    crashes = CrashWatch()
    crashes.begin()
    from worldpager.app.bridge import EngineBridge
    from worldpager.app.care import care_of
    from worldpager.app.fault_hooks import shown_faults
    from worldpager.app.languages import Language
    from worldpager.app.live_settings import use_look
    from worldpager.app.main_window import MainWindow
    from worldpager.app.memory_view.demo import demo_config
    from worldpager.app.memory_view.part import part as demo_part
    from worldpager.app.play_settings import overrides_of_line, starting_config
    from worldpager.app.preferences import Preferences
    from worldpager.app.settings_file import settings_path

    application = make_application()
    bridge = EngineBridge()
    preferences = Preferences(settings_path(), overrides_of_line(config, flags))
    use_look(preferences.values)
    Language.use(preferences.values.language)
    config = starting_config(config, preferences.values, flags)
    if demo:
        config = demo_config(config, flags)
    window = MainWindow(config, bridge, preferences, source=source, record=record, flags=flags, log_path=log_path)
    care_of(window).watch(crashes)
    with shown_faults(window, log_path):
        window.show()
        if preferences.values.start_page and not flags and source is None and not demo:
            window.run_action("start")
        else:
            window.begin()
        if demo:
            demo_part(window).begin_demo()
        application.exec()
    bridge.stop()
    crashes.end()
    return window.exit_code


def make_application() -> QApplication:
    """Qt's application object, with the program's names and icon. Qt's messages go into the log from here on."""
    from PySide6.QtGui import QIcon, QSurfaceFormat
    from PySide6.QtWidgets import QApplication

    from worldpager.app.desktop import ID
    from worldpager.app.fault_hooks import listen_to_qt
    from worldpager.app.viewport.viewport import core_profile

    listen_to_qt()
    QSurfaceFormat.setDefaultFormat(core_profile())
    application = QApplication.instance() or QApplication(sys.argv[:1])
    assert isinstance(application, QApplication)
    application.setApplicationName("worldpager")
    application.setApplicationDisplayName("WorldPager")
    application.setDesktopFileName(ID)
    with resources.as_file(resources.files("worldpager.assets") / "icons" / "worldpager.svg") as icon:
        application.setWindowIcon(QIcon(str(icon)))
    return application


def choose_platform(environment: os._Environ[str] | dict[str, str]) -> None:
    """On Wayland ask for X11 (XWayland), where the pointer can be held; not when the user has chosen, nor when no X server is there."""
    if environment.get("WAYLAND_DISPLAY") and environment.get("DISPLAY"):
        environment.setdefault("QT_QPA_PLATFORM", "xcb")


def main() -> int:
    """``python -m worldpager.app``: the same as ``worldpager play``."""
    from worldpager.engine.cli import main as command_line

    return command_line(["play", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
