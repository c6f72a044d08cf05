"""The actions of play: pause, begin anew, other worlds, memory, what is shown."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QGuiApplication

from worldpager.app import theme
from worldpager.app.actions import Section, WindowAction, register
from worldpager.app.overlay.hud import PRESETS
from worldpager.app.panels.counters_panel import CountersPanel
from worldpager.app.panels.keys_page import KeysPage
from worldpager.app.panels.new_world_panel import NewWorldPanel
from worldpager.app.panels.settings_panel import KEYS_PAGE, SettingsPanel
from worldpager.app.settings import Page
from worldpager.app.words import later, tr
from worldpager.engine.mailbox import NewWorld, Pause, Reset, UsePolicy

if TYPE_CHECKING:
    from worldpager.app.main_window import MainWindow

MEMORY_POLICY = "pose-overlap"


def toggle_pause(window: MainWindow) -> None:
    """Stop the world, or let it go on."""
    window.paused = not window.paused
    window.bridge.send(Pause(window.paused))


def reset(window: MainWindow) -> None:
    """The same world again, with an empty memory."""
    if window.bridge.send(Reset()):
        window.paused = False
        window.notices.say(tr("this world begins again, with an empty memory"))


def ask_world(window: MainWindow) -> None:
    """Ask for the number of another world."""
    panel = NewWorldPanel(window, window.snapshot.seed if window.snapshot else window.config.seed)
    panel.chosen.connect(lambda seed: open_world(window, seed))
    window.open_panel(panel)


def open_world(window: MainWindow, seed: int) -> None:
    """Begin world ``seed`` of the same model. A kept world stays in its folder; the new one is a scratch world."""
    leaves_kept = window.config.world is not None
    window.config = replace(window.config, seed=seed, world=None, replay=None)
    if leaves_kept:
        window.begin()
    elif window.bridge.send(NewWorld(seed)):
        window.paused = False
        window.notices.say(tr("opening world {seed}", seed=seed), theme.DEVICE)


def toggle_memory(window: MainWindow) -> None:
    """Memory off, or on again."""
    wanted = window.config.policy if window.config.policy != "none" else MEMORY_POLICY
    off = window.snapshot is not None and window.snapshot.policy == "none"
    if window.bridge.send(UsePolicy(wanted if off else "none")):
        words = tr("memory on: the world comes back") if off else tr("memory off: what leaves the picture is forgotten")
        window.notices.say(words, theme.DEVICE)


def cycle_overlay(window: MainWindow) -> None:
    """The next set of panels."""
    window.preferences.set("overlay", PRESETS[(PRESETS.index(window.hud.preset) + 1) % len(PRESETS)])


def toggle_fit(window: MainWindow) -> None:
    """Fill the window, or show the whole picture."""
    window.preferences.set("fit", "whole" if window.settings.fit == "fill" else "fill")


def toggle_fullscreen(window: MainWindow) -> None:
    """Full screen and back, on the screen where the window is."""
    if is_fullscreen(window):
        window.setWindowFlag(Qt.WindowType.FramelessWindowHint, False)
        window.showNormal()
        if window.normal_place is not None:
            window.setGeometry(window.normal_place)
            window.normal_place = None
    elif window.settings.fullscreen == "borderless":
        window.normal_place = window.geometry()
        window.setWindowFlag(Qt.WindowType.FramelessWindowHint, True)
        window.setGeometry(window.screen().geometry())
        window.show()
    else:
        window.showFullScreen()
    window.setFocus()


def is_fullscreen(window: MainWindow) -> bool:
    """Whether the window covers its screen, either way."""
    return window.isFullScreen() or bool(window.windowFlags() & Qt.WindowType.FramelessWindowHint)


def next_screen(window: MainWindow) -> None:
    """Move the window to the next screen, keeping its kind."""
    screens = QGuiApplication.screens()
    if len(screens) < 2:
        window.notices.say(tr("there is only one screen"))
        return
    full, screen = is_fullscreen(window), screens[(screens.index(window.screen()) + 1) % len(screens)]
    if full:
        toggle_fullscreen(window)
    size = window.size().boundedTo(screen.availableGeometry().size())
    area = QRect(screen.availableGeometry().topLeft(), size)
    area.moveCenter(screen.availableGeometry().center())
    window.setGeometry(area)
    if full:
        toggle_fullscreen(window)


def show_settings(window: MainWindow, page: str = KEYS_PAGE) -> None:
    """The keys and settings, open at ``page``."""
    scale = SettingsPanel.scale_in(window)
    keys = KeysPage(window.bindings, window.take_keys, lambda pixels: round(pixels * scale))
    panel = SettingsPanel(window, window.preferences, keys, page)
    panel.reset_asked.connect(lambda: _reset_settings(window, panel))
    window.know_keys()
    window.open_panel(panel)


def show_counters(window: MainWindow) -> None:
    """All counters as text."""
    window.open_panel(CountersPanel(window, window.hud_state))


def _reset_settings(window: MainWindow, panel: SettingsPanel) -> None:
    window.bindings.restore()
    window.take_keys()
    window.preferences.reset()
    show_settings(window, panel.page)
    window.notices.say(tr("all settings are at their defaults"))


def release(window: MainWindow) -> None:
    """Let the mouse go; without a held mouse, leave full screen; in a plain window, the start page."""
    if window.mouse.let_go():
        return
    if is_fullscreen(window):
        toggle_fullscreen(window)
    elif window.playing:
        window.run_action("start")


for _action in (
    WindowAction("pause", later("pause"), ("Space", "P"), Section.PLAY, toggle_pause),
    WindowAction("reset", later("start this world again"), ("R",), Section.PLAY, reset),
    WindowAction("new_world", later("another world"), ("N",), Section.PLAY, ask_world, playing=True),
    WindowAction("memory", later("memory on or off"), ("M",), Section.PLAY, toggle_memory),
    WindowAction("overlay", later("panels: none, small, full"), ("H",), Section.VIEW, cycle_overlay),
    WindowAction("counters", later("all counters as text"), ("F7",), Section.VIEW, show_counters, playing=True),
    WindowAction("fit", later("fill the window or show all"), ("F",), Section.VIEW, toggle_fit),
    WindowAction("fullscreen", later("full screen"), ("F11", "Alt+Return"), Section.VIEW, toggle_fullscreen),
    WindowAction("next_screen", later("to the next screen"), ("Ctrl+F11",), Section.VIEW, next_screen),
    WindowAction("keys", later("all keys"), ("F1",), Section.WINDOW, show_settings),
    WindowAction("settings", later("all settings"), ("Ctrl+,",), Section.WINDOW, lambda window: show_settings(window, Page.PICTURE)),
    WindowAction("release", later("let the mouse go, leave full screen, start page"), ("Esc",), Section.WINDOW, release),
    WindowAction("quit", later("quit"), ("Ctrl+Q",), Section.WINDOW, lambda window: window.leave()),
):
    register(_action)
