"""Faults that nobody foresaw: into the log with their traces, onto the screen in words; Qt's own messages into the log."""

from __future__ import annotations

import logging
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from PySide6.QtCore import QMessageLogContext, QtMsgType, qInstallMessageHandler

from worldpager.engine.errors import WorldPagerError

if TYPE_CHECKING:
    from worldpager.app.main_window import MainWindow

log = logging.getLogger(__name__)

LEVELS = {
    QtMsgType.QtDebugMsg: logging.DEBUG, QtMsgType.QtInfoMsg: logging.INFO, QtMsgType.QtWarningMsg: logging.INFO,
    QtMsgType.QtCriticalMsg: logging.WARNING, QtMsgType.QtFatalMsg: logging.CRITICAL,
}  # fmt: skip


def listen_to_qt() -> None:
    """Qt's messages become lines of the log."""

    def hear(kind: QtMsgType, context: QMessageLogContext, text: str) -> None:
        logging.getLogger("worldpager.qt").log(LEVELS.get(kind, logging.WARNING), "%s", text)

    qInstallMessageHandler(hear)


@contextmanager
def shown_faults(window: MainWindow, log_path: Path) -> Iterator[None]:
    """While this lasts, what is raised in a slot or in a thread is logged and shown, and a request to end (SIGTERM) closes the window."""
    before, threads, end = sys.excepthook, threading.excepthook, signal.getsignal(signal.SIGTERM)
    sys.excepthook = lambda kind, error, trace: _show(window, log_path, kind, error, trace)
    threading.excepthook = _log_thread
    signal.signal(signal.SIGTERM, lambda number, frame: window.close() and None)
    try:
        yield
    finally:
        sys.excepthook, threading.excepthook = before, threads
        signal.signal(signal.SIGTERM, end)


def _log_thread(fault: threading.ExceptHookArgs) -> None:
    name = fault.thread.name if fault.thread else "?"
    if fault.exc_value is not None:
        log.critical("unexpected fault in the thread %s", name, exc_info=(fault.exc_type, fault.exc_value, fault.exc_traceback))


def _show(window: MainWindow, log_path: Path, kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    if issubclass(kind, KeyboardInterrupt):
        window.close()
        return
    log.critical("unexpected fault in the window", exc_info=(kind, error, trace))
    if window.isVisible() and window.panel is None:  # one fault may come again at every tick
        what = f"The window met an unexpected fault: {kind.__name__}: {error}"
        window.show_failure(WorldPagerError(what, f"You can go on playing; please report it with {log_path}."), fatal=False)
