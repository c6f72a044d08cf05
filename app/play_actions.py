"""The actions of play: pause, begin anew, other worlds, memory, what is shown."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt

from worldpager.app import theme
from worldpager.app.actions import Section, WindowAction, register
from worldpager.app.panels.keys_panel import KeysPanel
from worldpager.app.panels.new_world_panel import NewWorldPanel
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
        window.notices.say("this world begins again, with an empty memory")


def ask_world(window: MainWindow) -> None:
    """Ask for the number of another world."""
    panel = NewWorldPanel(window, window.snapshot.seed if window.snapshot else window.config.seed)
    panel.chosen.connect(lambda seed: open_world(window, seed))
    window.open_panel(panel)


def open_world(window: MainWindow, seed: int) -> None:
    """Begin world ``seed`` of the same model."""
    window.config = replace(window.config, seed=seed)
    if window.bridge.send(NewWorld(seed)):
        window.paused = False
        window.notices.say(f"opening world {seed}", theme.DEVICE)


def toggle_memory(window: MainWindow) -> None:
    """Memory off, or on again."""
    wanted = window.config.policy if window.config.policy != "none" else MEMORY_POLICY
    off = window.snapshot is not None and window.snapshot.policy == "none"
    if window.bridge.send(UsePolicy(wanted if off else "none")):
        words = "memory on: the world comes back" if off else "memory off: what leaves the picture is forgotten"
        window.notices.say(words, theme.DEVICE)


def cycle_overlay(window: MainWindow) -> None:
    """The next set of panels."""
    window.settings.overlay = window.hud.cycle()
    window.lay_out()
    window.refresh_hud(at_once=True)


def toggle_fit(window: MainWindow) -> None:
    """Fill the window, or show the whole picture."""
    window.settings.fit = "whole" if window.settings.fit == "fill" else "fill"
    window.viewport.set_fit(window.settings.fit)


def toggle_fullscreen(window: MainWindow) -> None:
    """Full screen and back."""
    window.setWindowState(window.windowState() ^ Qt.WindowState.WindowFullScreen)


def show_keys(window: MainWindow) -> None:
    """The page of keys and settings."""
    panel = KeysPanel(window, window.settings, window.viewport.kind)
    panel.changed.connect(window.take_settings)
    window.know_keys()
    window.open_panel(panel)


def release(window: MainWindow) -> None:
    """Let the mouse go; without a held mouse, leave full screen."""
    if not window.mouse.let_go() and window.isFullScreen():
        toggle_fullscreen(window)


for _action in (
    WindowAction("pause", "pause", ("Space", "P"), Section.PLAY, toggle_pause),
    WindowAction("reset", "start this world again", ("R",), Section.PLAY, reset),
    WindowAction("new_world", "another world", ("N",), Section.PLAY, ask_world, playing=True),
    WindowAction("memory", "memory on or off", ("M",), Section.PLAY, toggle_memory),
    WindowAction("overlay", "panels: none, small, full", ("H",), Section.VIEW, cycle_overlay),
    WindowAction("fit", "fill the window or show all", ("F",), Section.VIEW, toggle_fit),
    WindowAction("fullscreen", "full screen", ("F11", "Alt+Return"), Section.VIEW, toggle_fullscreen),
    WindowAction("keys", "keys and settings", ("F1",), Section.WINDOW, show_keys),
    WindowAction("release", "let the mouse go", ("Esc",), Section.WINDOW, release),
    WindowAction("quit", "quit", ("Ctrl+Q",), Section.WINDOW, lambda window: window.leave()),
):
    register(_action)
