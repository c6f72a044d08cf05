"""The window: picture, overlay, panels, and what the keys ask for. It paints and passes on; the engine lives behind the bridge."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from PySide6.QtCore import QEvent, QRect, Qt, QTimer, Signal
from PySide6.QtGui import QCloseEvent, QFocusEvent, QKeyEvent, QMouseEvent, QResizeEvent
from PySide6.QtWidgets import QWidget

from worldpager.app import theme
from worldpager.app.actions import all_actions, all_parts
from worldpager.app.bridge import EngineBridge
from worldpager.app.capture_commands import CaptureCommands
from worldpager.app.care import care_of
from worldpager.app.input.action_source import ActionSource, LookFeel
from worldpager.app.input.bindings import Bindings
from worldpager.app.input.mouse_look import MouseLook
from worldpager.app.input.scripted import ScriptedInput
from worldpager.app.live_settings import LIVE_SETTINGS
from worldpager.app.notices import Notices
from worldpager.app.overlay.card import HudState
from worldpager.app.overlay.hud import Hud
from worldpager.app.panels.key_hint import HEIGHT as HINT_HEIGHT
from worldpager.app.panels.key_hint import KeyHint, key_row
from worldpager.app.panels.loading_page import LoadingPage
from worldpager.app.panels.panel import Panel
from worldpager.app.preferences import Preferences
from worldpager.app.presenter import Presenter
from worldpager.app.state_chips import refresh_chips
from worldpager.app.viewport.viewport import make_viewport
from worldpager.app.words import tr
from worldpager.engine.config import PlayConfig
from worldpager.engine.errors import WorldPagerError
from worldpager.engine.mailbox import HoldRate, RestWhenIdle
from worldpager.engine.pose.source import ActionSource as EngineActionSource
from worldpager.engine.telemetry.snapshot import Snapshot
from worldpager.engine.types import Action, Button

log = logging.getLogger(__name__)

TICK_MS = 8
HUD_MS = 40
MOUSE_HINT_SECONDS = 10.0
TIMELINE_ROOM, EDGE = 100.0, 14.0


class MainWindow(QWidget):
    """Plays one world at a time. ``source`` steers until a person touches a key; ``record`` films from the first chunk on.

    ``flags``: options that stand on the command line. ``parts`` are what registered modules added (see `worldpager.app.actions`).
    """

    began_playing = Signal(object)
    """The first picture of a street is on the screen; carries its snapshot."""
    chunk_arrived = Signal(object)
    """A newer `PublishedChunk`, or the same with a newer snapshot, has been fetched."""
    ticked = Signal(float)
    """Every few milliseconds, with the time by the window's clock, before input is read."""
    sent = Signal(object)
    """An `Action` has been handed to the model."""
    panel_closed = Signal()
    """No panel is open any more."""
    closing = Signal()
    """The window closes; the street still lives."""

    def __init__(
        self,
        config: PlayConfig,
        bridge: EngineBridge,
        preferences: Preferences,
        *,
        source: EngineActionSource | None = None,
        record: Path | None = None,
        flags: Mapping[str, str] | None = None,
        log_path: Path | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__()
        self.config, self.bridge, self.preferences, self.settings = config, bridge, preferences, preferences.values
        self._source, self._record_to, self._clock, self.flags = source, record, clock, dict(flags or {})
        self.log_path = log_path
        self.bindings = Bindings(self.settings.keys)
        self._keymap = self.bindings.keymap
        self.action_table = all_actions()
        self.exit_code = 0
        self.setWindowTitle("WorldPager")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMinimumSize(720, 440)
        self.resize(1280, 720)
        self.picture_area: Callable[[], QRect] = self.rect
        self._build_layers()
        self._feel = LookFeel(self.settings.mouse_sensitivity, self.settings.mouse_invert)
        self.mouse = MouseLook(self)
        self.mouse.use(self.settings.mouse_look)
        self.inputs = ActionSource(self._keymap, self.mouse, self._feel, clock)
        self.captures = CaptureCommands(bridge, self.notices, lambda error: self.show_failure(error, fatal=False), self)
        self._presenter: Presenter | None = None
        self._scripted: ScriptedInput | None = None
        self.paused = self.playing = False
        self._mouse_hint_until = 0.0
        self.normal_place: QRect | None = None
        self._connect()
        self.parts = {name: make(self) for name, make in all_parts().items()}

    def _build_layers(self) -> None:
        """Picture, overlay, notices, loading page: each above the one before."""
        self.viewport = make_viewport(self.settings.viewport, self)
        self.viewport.set_fit(self.settings.fit)
        self.viewport.set_resampling(self.settings.resampling)
        self.viewport.widget.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.hud = Hud(self, self.settings.overlay)
        self.notices = Notices(self)
        self._key_hint = KeyHint(self)
        self.loading = LoadingPage(self)
        self.panel: Panel | None = None

    def _connect(self) -> None:
        self.bridge.progress.connect(self.loading.show_progress)
        self.bridge.ready.connect(self._ready)
        self.bridge.failed.connect(self.show_failure)
        self.preferences.changed.connect(self.take_setting)
        self._ticker = QTimer(self, interval=TICK_MS, timerType=Qt.TimerType.PreciseTimer)
        self._ticker.timeout.connect(self._tick)
        self._due = QTimer(self, singleShot=True, timerType=Qt.TimerType.PreciseTimer)
        self._due.timeout.connect(lambda: self._presenter.show_due() if self._presenter else None)
        self._hud_timer = QTimer(self, interval=HUD_MS)
        self._hud_timer.timeout.connect(lambda: self.refresh_hud())
        self._ticker.start()
        self._hud_timer.start()

    # Life

    def begin(self) -> None:
        """Load the model and play."""
        self.close_panel()
        self.exit_code = 0
        self.playing = False
        self._presenter = None
        self.hud.set_visible(False)
        self.notices.clear()
        self._key_hint.row = self.loading.row = key_row(self.bindings)
        self.loading.begin()
        self.bridge.start(self.config)

    def _ready(self) -> None:
        """The street stands: pace by its rate."""
        spec = self.bridge.spec
        if spec is None:
            return
        self._key_hint.row = self.loading.row = key_row(self.bindings, getattr(spec, "controls", ()))
        self._presenter = Presenter(self.viewport, spec.rate, self._clock)
        self.hold_rate()
        if self._source is not None:
            self._scripted = ScriptedInput(self._source, spec.frames_per_chunk / spec.rate, self._clock)
            self._source = None
            self.bridge.send(RestWhenIdle(False))  # a script's pauses last as long as it says
        self.loading.show_progress(tr("Opening the world"), 1.0)

    def _first_picture(self, snapshot: Snapshot) -> None:
        """Uncover the picture."""
        self.playing = True
        self.loading.hide()
        if self.panel is None:
            self.setFocus()
        self.hud.set_visible(True)
        self._mouse_hint_until = self._clock() + MOUSE_HINT_SECONDS
        alone = self._scripted is None and "demo" not in self.flags
        self._key_hint.setVisible(not self.settings.keys_known and alone)
        if self._record_to is not None:
            self.captures.start_film(snapshot, self._record_to)
            self._record_to = None
        self.lay_out()
        self.refresh_hud(at_once=True)
        if self.viewport.failure is not None:
            self.show_failure(self.viewport.failure, fatal=False)
        self.began_playing.emit(snapshot)

    def _tick(self) -> None:
        """Every few milliseconds: input in, picture out."""
        self.ticked.emit(self._clock())
        action = self.inputs.poll()
        if action is not None:
            self._end_script()
            self._put(action)
            if action.buttons & ~Button.RUN:
                self.know_keys()
        if self._presenter is None:
            return
        chunk = self.bridge.newest()
        if self._scripted is not None:
            action = self._scripted.next(chunk)
            if action is not None:
                self._put(action)
            if self._scripted.over:
                self._end_script()
        fresh = self._presenter.tick(chunk)
        wait = self._presenter.seconds_to_due()
        if wait is not None and wait < TICK_MS / 1000 and not self._due.isActive():
            self._due.start(round(1000 * wait))  # ticks alone would be uneven by their own length
        if chunk is not None and not self.playing:
            self._first_picture(chunk.snapshot)
        if fresh:
            self.chunk_arrived.emit(chunk)

    def _put(self, action: Action) -> None:
        self.bridge.put(action)
        self.sent.emit(action)

    def now(self) -> float:
        """The window's clock, that of the actions' stamps."""
        return self._clock()

    def _end_script(self) -> None:
        """The script is over or a person takes over: from now on the street may rest again."""
        if self._scripted is not None:
            self._scripted = None
            self.bridge.send(RestWhenIdle(self.config.rest_when_idle))

    def show_failure(self, error: WorldPagerError, *, fatal: bool = True) -> None:
        """Say what went wrong; a fatal failure leaves trying again, the start page, or quitting."""
        care_of(self).show(error, fatal=fatal)

    def closeEvent(self, event: QCloseEvent) -> None:
        """End everything: the street at its next chunk, films whole, settings kept."""
        self._ticker.stop()
        self._due.stop()
        self._hud_timer.stop()
        self.inputs.release_all()
        self.captures.end_film()
        self.closing.emit()
        self.hide()
        self.bridge.stop()
        self.captures.film.wait()
        event.accept()

    def leave(self) -> None:
        """Close the window."""
        self.close()

    def take_setting(self, name: str) -> None:
        """Obey a setting that counts at once."""
        values = self.settings
        self._feel.sensitivity, self._feel.invert = values.mouse_sensitivity, values.mouse_invert
        if name in LIVE_SETTINGS:
            LIVE_SETTINGS[name](self)

    def hold_rate(self) -> None:
        """Keep the world to its natural rate, or not, as the setting says."""
        self.bridge.send(HoldRate(self.settings.cap))
        if self._presenter is not None:
            self._presenter.pacer.hold(self.settings.cap)

    def take_keys(self) -> None:
        """Obey the bindings, and keep them."""
        self._keymap = self.bindings.keymap
        self.inputs.use_keymap(self._keymap)
        self.preferences.set("keys", self.bindings.chosen)

    def run_action(self, name: str) -> None:
        """Do what the action ``name`` says, unless it needs a world and there is none."""
        action = self.action_table[name]
        if self.playing or not action.playing:
            action.run(self)

    # What is shown

    @property
    def snapshot(self) -> Snapshot | None:
        """The newest snapshot."""
        newest = self._presenter.newest if self._presenter else None
        return newest.snapshot if newest else None

    def hud_state(self) -> HudState | None:
        """What cards show now; None while no world is on the screen."""
        snapshot, presenter = self.snapshot, self._presenter
        if snapshot is None or presenter is None or not self.playing:
            return None
        recorder = self.captures.film.recorder
        screen = self.screen().refreshRate()
        return HudState(snapshot, presenter.presented_fps, screen, recorder.fps if recorder else None, presenter.key_to_picture)

    def refresh_hud(self, *, at_once: bool = False) -> None:
        """Cards one by one, or all ``at_once``; chips."""
        state = self.hud_state()
        if state is None:
            return
        if at_once:
            self.hud.show_state(state)
        else:
            self.hud.step(state, self._clock())
        refresh_chips(self, state.snapshot, hint=self._clock() < self._mouse_hint_until)

    def lay_out(self) -> None:
        """Put every layer in its place."""
        self.viewport.widget.setGeometry(self.picture_area())
        self.hud.layout()
        room = TIMELINE_ROOM if self.hud.preset == "full" and self.playing else 0.0
        scale = theme.scale_for(self.width(), self.height())
        self._key_hint.place(self.height() / scale - room - EDGE - HINT_HEIGHT, scale)
        self.notices.set_lift(room + (HINT_HEIGHT if self._key_hint.isVisible() else 0.0))
        self.loading.setGeometry(self.rect())
        if self.panel is not None:
            self.panel.setGeometry(self.rect())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Lay out anew."""
        self.lay_out()

    def open_panel(self, panel: Panel) -> None:
        """Show ``panel`` instead of any other; keys go there."""
        self.close_panel()
        self.inputs.release_all()
        self.panel = panel
        self.hud.set_visible(False)
        panel.closed.connect(self._panel_closed)
        panel.open()

    def close_panel(self) -> None:
        """Close the panel that is open, if one is."""
        if self.panel is not None:
            self.panel.close_panel()

    def _panel_closed(self) -> None:
        self.panel = None
        self.hud.set_visible(self.playing)
        self.refresh_hud(at_once=True)
        self.setFocus()
        self.panel_closed.emit()

    def know_keys(self) -> None:
        """A person has moved: the hint has done its work."""
        if self._key_hint.isVisible():
            self._key_hint.hide()
            self.preferences.set("keys_known", True)
            self.lay_out()

    # Events

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """A held control, or a command."""
        combined = event.modifiers() & ~(Qt.KeyboardModifier.ShiftModifier | Qt.KeyboardModifier.KeypadModifier)
        if not combined and self.inputs.key_down(event):  # before commands: on some layouts a walking key bears a command's letter
            return
        command = None if event.isAutoRepeat() else self._keymap.command(event)
        if command is not None:
            self.run_action(command)
        elif combined:
            event.ignore()

    def keyReleaseEvent(self, event: QKeyEvent) -> None:
        """A held control may go up."""
        self.inputs.key_up(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """A click holds the pointer, or begins a drag."""
        self.setFocus()
        if event.button() == Qt.MouseButton.LeftButton and self.playing:
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
