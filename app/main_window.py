"""The window: picture, overlay, panels, and what the keys ask for. It paints and passes on; the engine lives behind the bridge."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import QEvent, Qt, QTimer
from PySide6.QtGui import QCloseEvent, QFocusEvent, QKeyEvent, QMouseEvent, QResizeEvent
from PySide6.QtWidgets import QWidget

from worldpager.app import theme
from worldpager.app.bridge import EngineBridge
from worldpager.app.capture_commands import CaptureCommands
from worldpager.app.input.action_source import ActionSource, LookFeel
from worldpager.app.input.keymap import Command, Keymap, default_keymap
from worldpager.app.input.mouse_look import MouseLook
from worldpager.app.input.scripted import ScriptedInput
from worldpager.app.notices import Notices
from worldpager.app.overlay.card import HudState
from worldpager.app.overlay.hud import Hud
from worldpager.app.panels.key_hint import HEIGHT as HINT_HEIGHT
from worldpager.app.panels.key_hint import KeyHint
from worldpager.app.panels.keys_panel import KeysPanel
from worldpager.app.panels.loading_page import LoadingPage
from worldpager.app.panels.message_panel import MessagePanel
from worldpager.app.panels.new_world_panel import NewWorldPanel
from worldpager.app.panels.panel import Panel
from worldpager.app.presenter import Presenter
from worldpager.app.settings import Settings, save_settings
from worldpager.app.viewport.viewport import make_viewport
from worldpager.engine.config import PlayConfig
from worldpager.engine.errors import WorldPagerError
from worldpager.engine.mailbox import NewWorld, Pause, Reset, RestWhenIdle, UsePolicy
from worldpager.engine.pose.source import ActionSource as EngineActionSource
from worldpager.engine.telemetry.snapshot import Snapshot
from worldpager.engine.types import Button

log = logging.getLogger(__name__)

TICK_MS = 8
HUD_MS = 40
MOUSE_HINT_SECONDS = 10.0
MEMORY_POLICY = "pose-overlap"
TIMELINE_ROOM, EDGE = 100.0, 14.0


class MainWindow(QWidget):
    """Plays one world at a time. ``source`` steers until a person touches a key; ``record`` films from the first chunk on."""

    def __init__(
        self,
        config: PlayConfig,
        bridge: EngineBridge,
        settings: Settings,
        settings_path: Path,
        *,
        source: EngineActionSource | None = None,
        record: Path | None = None,
        clock: Callable[[], float] = time.monotonic,
        keymap: Keymap | None = None,
    ) -> None:
        super().__init__()
        self._config, self._bridge, self._settings, self._settings_path = config, bridge, settings, settings_path
        self._source, self._record_to, self._clock = source, record, clock
        self._keymap = keymap or default_keymap()
        self.exit_code = 0
        self.setWindowTitle("WorldPager")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMinimumSize(720, 440)
        self.resize(1280, 720)
        self._build_layers()
        self._feel = LookFeel(settings.sensitivity, settings.invert)
        self.mouse = MouseLook(self)
        self.inputs = ActionSource(self._keymap, self.mouse, self._feel, clock)
        self.captures = CaptureCommands(bridge, self.notices, lambda error: self.show_failure(error, fatal=False), self)
        self._presenter: Presenter | None = None
        self._scripted: ScriptedInput | None = None
        self._paused = self._playing = False
        self._mouse_hint_until = 0.0
        self._degraded: tuple[str, ...] = ()
        self._connect()

    def _build_layers(self) -> None:
        """Picture, overlay, notices, loading page: each above the one before."""
        self.viewport = make_viewport(self._settings.viewport, self)
        self.viewport.set_fit(self._settings.fit)
        self.viewport.widget.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.hud = Hud(self, self._settings.overlay)
        self.notices = Notices(self)
        self._key_hint = KeyHint(self)
        self.loading = LoadingPage(self)
        self.panel: Panel | None = None

    def _connect(self) -> None:
        self._bridge.progress.connect(self.loading.show_progress)
        self._bridge.ready.connect(self._ready)
        self._bridge.failed.connect(self.show_failure)
        self._ticker = QTimer(self, interval=TICK_MS, timerType=Qt.TimerType.PreciseTimer)
        self._ticker.timeout.connect(self._tick)
        self._hud_timer = QTimer(self, interval=HUD_MS)
        self._hud_timer.timeout.connect(lambda: self._refresh_hud())
        self._obey: dict[Command, Callable[[], None]] = {
            Command.PAUSE: self._toggle_pause, Command.RESET: self._reset, Command.NEW_WORLD: self._ask_world,
            Command.MEMORY: self._toggle_memory, Command.OVERLAY: self._cycle_overlay, Command.FIT: self._toggle_fit,
            Command.RECORD: self._toggle_record, Command.SCREENSHOT: self._screenshot,
            Command.CLEAN_SCREENSHOT: self._screenshot_picture, Command.FULLSCREEN: self._toggle_fullscreen,
            Command.KEYS: self._show_keys, Command.RELEASE: self._release, Command.QUIT: self._quit,
        }  # fmt: skip

    # Life

    def begin(self) -> None:
        """Load the model and play."""
        self.exit_code = 0
        self._playing = False
        self._presenter = None
        self.hud.set_visible(False)
        self.notices.clear()
        self.loading.begin()
        self._ticker.start()
        self._hud_timer.start()
        self._bridge.start(self._config)

    def _ready(self) -> None:
        """The street stands: pace by its rate."""
        spec = self._bridge.spec
        if spec is None:
            return
        self._presenter = Presenter(self.viewport, spec.rate, self._clock)
        if self._source is not None:
            self._scripted = ScriptedInput(self._source, spec.frames_per_chunk / spec.rate, self._clock)
            self._source = None
            self._bridge.send(RestWhenIdle(False))  # a script's pauses last as long as it says
        self.loading.show_progress("Opening the world", 1.0)

    def _first_picture(self, snapshot: Snapshot) -> None:
        """Uncover the picture."""
        self._playing = True
        self.loading.hide()
        self.hud.set_visible(True)
        self._mouse_hint_until = self._clock() + MOUSE_HINT_SECONDS
        self._key_hint.setVisible(not self._settings.keys_known and self._scripted is None)
        if self._record_to is not None:
            self.captures.start_film(snapshot, self._record_to)
            self._record_to = None
        self._lay_out()
        self._refresh_hud(at_once=True)
        if self.viewport.failure is not None:
            self.show_failure(self.viewport.failure, fatal=False)

    def _tick(self) -> None:
        """Every few milliseconds: input in, picture out."""
        action = self.inputs.poll()
        if action is not None:
            self._end_script()
            self._bridge.put(action)
            if action.buttons & ~Button.RUN:
                self._know_keys()
        if self._presenter is None:
            return
        chunk = self._bridge.newest()
        if self._scripted is not None:
            action = self._scripted.next(chunk)
            if action is not None:
                self._bridge.put(action)
            if self._scripted.over:
                self._end_script()
        self._presenter.tick(chunk)
        if chunk is not None and not self._playing:
            self._first_picture(chunk.snapshot)

    def _end_script(self) -> None:
        """The script is over or a person takes over: from now on the street may rest again."""
        if self._scripted is not None:
            self._scripted = None
            self._bridge.send(RestWhenIdle(self._config.rest_when_idle))

    def show_failure(self, error: WorldPagerError, *, fatal: bool = True) -> None:
        """Say what went wrong; a fatal failure leaves trying again or quitting."""
        self.inputs.release_all()
        if fatal:
            self.exit_code = 1
            self.captures.end_film()
            self.loading.hide()
        panel = MessagePanel(self, error, fatal=fatal)
        panel.again.connect(self._try_again)
        panel.quit.connect(self._quit)
        self._open(panel)

    def _try_again(self) -> None:
        self._close_panel()
        self.begin()

    def closeEvent(self, event: QCloseEvent) -> None:
        """End everything: the street at its next chunk, films whole, settings kept."""
        self._ticker.stop()
        self._hud_timer.stop()
        self.inputs.release_all()
        self.captures.end_film()
        self.hide()
        self._bridge.stop()
        self.captures.film.wait()
        save_settings(self._settings, self._settings_path)
        event.accept()

    def _quit(self) -> None:
        self.close()

    # What is shown

    @property
    def snapshot(self) -> Snapshot | None:
        """The newest snapshot."""
        newest = self._presenter.newest if self._presenter else None
        return newest.snapshot if newest else None

    def _refresh_hud(self, *, at_once: bool = False) -> None:
        """Cards one by one, or all ``at_once``; chips."""
        snapshot, presenter = self.snapshot, self._presenter
        if snapshot is None or presenter is None or not self._playing:
            return
        recorder = self.captures.film.recorder
        screen = self.screen().refreshRate()
        state = HudState(snapshot, presenter.presented_fps, screen, recorder.fps if recorder else None, presenter.key_to_picture)
        if at_once:
            self.hud.show_state(state)
        else:
            self.hud.step(state, self._clock())
        self._refresh_chips(snapshot)

    def _refresh_chips(self, snapshot: Snapshot) -> None:
        seconds = self.captures.film.seconds
        filming = f"recording  {int(seconds) // 60}:{int(seconds) % 60:02d}" if self.captures.film.recorder else ""
        self.notices.state("record", filming, theme.ALARM)
        self.notices.state("memory", "memory off  ·  M brings it back" if snapshot.policy == "none" else "", theme.DISK)
        self.notices.state("pause", "paused  ·  Space goes on" if snapshot.paused else "", theme.INK)
        self.notices.state("opening", "looking around to fill the memory" if snapshot.opening else "", theme.DEVICE)
        hint = "click to look with the mouse" if self.mouse.can_hold else "drag to look around"
        self.notices.set_hint(hint if not self.mouse.held and self._clock() < self._mouse_hint_until else "")
        for what in snapshot.degraded:
            if what not in self._degraded:
                self.notices.say(what, theme.ALARM)
        self._degraded = snapshot.degraded

    def _lay_out(self) -> None:
        """Put every layer in its place."""
        self.viewport.widget.setGeometry(self.rect())
        self.hud.layout()
        room = TIMELINE_ROOM if self.hud.preset == "full" and self._playing else 0.0
        scale = theme.scale_for(self.width(), self.height())
        self._key_hint.place(self.height() / scale - room - EDGE - HINT_HEIGHT, scale)
        self.notices.set_lift(room + (HINT_HEIGHT if self._key_hint.isVisible() else 0.0))
        self.loading.setGeometry(self.rect())
        if self.panel is not None:
            self.panel.setGeometry(self.rect())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Lay out anew."""
        self._lay_out()

    def _open(self, panel: Panel) -> None:
        """Show ``panel`` instead of any other; keys go there."""
        self._close_panel()
        self.inputs.release_all()
        self.panel = panel
        self.hud.set_visible(False)
        panel.closed.connect(self._panel_closed)
        panel.open()

    def _close_panel(self) -> None:
        if self.panel is not None:
            self.panel.close_panel()

    def _panel_closed(self) -> None:
        self.panel = None
        self.hud.set_visible(self._playing)
        self._refresh_hud(at_once=True)
        self.setFocus()

    def _know_keys(self) -> None:
        """A person has moved: the hint has done its work."""
        if self._key_hint.isVisible():
            self._key_hint.hide()
            self._settings.keys_known = True
            self._lay_out()

    # Commands

    def _toggle_pause(self) -> None:
        self._paused = not self._paused
        self._bridge.send(Pause(self._paused))

    def _reset(self) -> None:
        if self._bridge.send(Reset()):
            self._paused = False
            self.notices.say("this world begins again, with an empty memory")

    def _ask_world(self) -> None:
        if self._playing:
            panel = NewWorldPanel(self, self.snapshot.seed if self.snapshot else self._config.seed)
            panel.chosen.connect(self._new_world)
            self._open(panel)

    def _new_world(self, seed: int) -> None:
        self._config = replace(self._config, seed=seed)
        if self._bridge.send(NewWorld(seed)):
            self._paused = False
            self.notices.say(f"opening world {seed}", theme.DEVICE)

    def _toggle_memory(self) -> None:
        wanted = self._config.policy if self._config.policy != "none" else MEMORY_POLICY
        off = self.snapshot is not None and self.snapshot.policy == "none"
        if self._bridge.send(UsePolicy(wanted if off else "none")):
            self.notices.say("memory on: the world comes back" if off else "memory off: what leaves the picture is forgotten", theme.DEVICE)

    def _cycle_overlay(self) -> None:
        self._settings.overlay = self.hud.cycle()
        self._lay_out()
        self._refresh_hud(at_once=True)

    def _toggle_fit(self) -> None:
        self._settings.fit = "whole" if self._settings.fit == "fill" else "fill"
        self.viewport.set_fit(self._settings.fit)

    def _toggle_record(self) -> None:
        self.captures.toggle_film(self.snapshot)
        self._refresh_hud()

    def _screenshot(self) -> None:
        self.captures.keep_picture(lambda: self.grab().toImage(), self.snapshot)

    def _screenshot_picture(self) -> None:
        self.captures.keep_picture(self.viewport.picture, self.snapshot)

    def _toggle_fullscreen(self) -> None:
        self.setWindowState(self.windowState() ^ Qt.WindowState.WindowFullScreen)

    def _show_keys(self) -> None:
        panel = KeysPanel(self, self._settings, self.viewport.kind)
        panel.changed.connect(self._take_settings)
        self._know_keys()
        self._open(panel)

    def _take_settings(self) -> None:
        self._feel.sensitivity, self._feel.invert = self._settings.sensitivity, self._settings.invert

    def _release(self) -> None:
        """Let the mouse go; without a held mouse, leave full screen."""
        if not self.mouse.let_go() and self.isFullScreen():
            self._toggle_fullscreen()

    # Events

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """A held control, or a command."""
        combined = event.modifiers() & ~(Qt.KeyboardModifier.ShiftModifier | Qt.KeyboardModifier.KeypadModifier)
        if not combined and self.inputs.key_down(event):  # before commands: on some layouts a walking key bears a command's letter
            return
        command = None if event.isAutoRepeat() else self._keymap.command(event)
        if command is not None:
            self._obey[command]()
        elif combined:
            event.ignore()

    def keyReleaseEvent(self, event: QKeyEvent) -> None:
        """A held control may go up."""
        self.inputs.key_up(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """A click holds the pointer, or begins a drag."""
        self.setFocus()
        if event.button() == Qt.MouseButton.LeftButton and self._playing:
            self.mouse.press(event.position())
            self._mouse_hint_until = 0.0

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Matters for drags alone; a held pointer is asked for at each tick."""
        self.mouse.move(event.position())

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Ends a drag."""
        if event.button() == Qt.MouseButton.LeftButton:
            self.mouse.release_button()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Without the keyboard nothing stays held."""
        self.inputs.release_all()
        super().focusOutEvent(event)

    def changeEvent(self, event: QEvent) -> None:
        """The same when the window is no longer the active one."""
        if event.type() == QEvent.Type.ActivationChange and not self.isActiveWindow():
            self.inputs.release_all()
        super().changeEvent(event)
