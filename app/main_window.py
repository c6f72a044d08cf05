"""The window: passes keys to the action source, frames to the viewport, and says what is going on.

It only paints. Generating, reading and writing happen elsewhere; a tick of 8 ms fetches what is new and shows what is due.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from PySide6.QtCore import QEvent, Qt, QTimer
from PySide6.QtGui import QCloseEvent, QFocusEvent, QKeyEvent, QMouseEvent, QPainter, QResizeEvent
from PySide6.QtWidgets import QVBoxLayout, QWidget

from worldpager.app.bridge import EngineBridge
from worldpager.app.input.action_source import ActionSource
from worldpager.app.input.keymap import command_of
from worldpager.app.keepsakes import Keepsakes
from worldpager.app.overlay.hud import Hud
from worldpager.app.overlay.messages import Messages
from worldpager.app.overlay.readings import Readings
from worldpager.app.panels.new_world import NewWorldPanel
from worldpager.app.settings import WindowSettings
from worldpager.app.viewport.pacer import Pacer
from worldpager.app.viewport.viewport import ViewportKind, make_viewport
from worldpager.engine.errors import WorldPagerError
from worldpager.engine.mailbox import NewWorld, Pause, PublishedChunk, Record, Reset, UsePolicy
from worldpager.engine.telemetry.snapshot import Snapshot
from worldpager.engine.types import Action

TICK_MS = 8
SIZE, LEAST_SIZE = (1280, 720), (640, 400)
MEMORY_OFF = "none"
FALLBACK_POLICY = "pose-overlap"
KEPT_CHUNKS = 4
"""More than the pacer lets wait."""


class ScriptedSource(Protocol):
    """Steers instead of a person."""

    def next(self, seconds: float) -> Action | None:
        """The action for the next ``seconds`` of the world's time; None when there is no more."""
        ...


class MainWindow(QWidget):
    """One window on one street. Closing it ends the street."""

    def __init__(
        self,
        bridge: EngineBridge,
        settings: WindowSettings,
        keepsakes: Keepsakes,
        viewport: ViewportKind = "auto",
        clock: Callable[[], float] = time.monotonic,
        source: ScriptedSource | None = None,
        film: Path | None = None,
    ) -> None:
        super().__init__()
        self.setWindowTitle("WorldPager")
        self.setMinimumSize(*LEAST_SIZE)
        self.resize(*SIZE)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.bridge, self.keepsakes, self._settings = bridge, keepsakes, settings
        self.readings = Readings(clock)
        self.pacer: Pacer | None = None
        self.controls = ActionSource(self, clock)
        self.hud = Hud(self.readings, clock)
        self.hud.use(settings.preset)
        self.messages = Messages(clock, hint=not settings.hint_seen)
        self.viewport = make_viewport(viewport, self._draw_over)
        self._newest: PublishedChunk | None = None
        self._chunks: dict[int, PublishedChunk] = {}
        self._source: ScriptedSource | None = source
        self._clock = clock
        self._film_wanted = film
        self._paused, self._memory_on = False, bridge.config.policy != MEMORY_OFF
        self._policy = bridge.config.policy if self._memory_on else FALLBACK_POLICY
        self._place_widgets()
        self._connect()

    def _place_widgets(self) -> None:
        widget = self.viewport.widget
        widget.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        rows = QVBoxLayout(self)
        rows.setContentsMargins(0, 0, 0, 0)
        rows.addWidget(widget)
        self.panel = NewWorldPanel(self)

    def _connect(self) -> None:
        self.bridge.loading.connect(self._loading)
        self.bridge.failed.connect(self._failed)
        self.keepsakes.said.connect(self.messages.say)
        self.keepsakes.film_started.connect(lambda take: self.bridge.send(Record(take)))
        self.panel.chosen.connect(self._new_world)
        self.panel.closed.connect(self.setFocus)
        self._timer = QTimer(self)
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.timeout.connect(self.tick)
        self._timer.start(TICK_MS)

    # Every tick

    def tick(self) -> None:
        """Hand over input, fetch news, show the frame that is due, repaint what has changed."""
        self._hand_over()
        self._fetch()
        self._show_due()
        if self.hud.refresh() or self.messages.changed():
            self.viewport.widget.update()

    def _hand_over(self) -> None:
        """The newest action to the street. A person who takes the keys ends a scripted walk."""
        action = self.controls.tick()
        if action is None or self.panel.isVisible():
            return
        self.bridge.put_action(action)
        if not action.idle:
            self._source = None
            if self.messages.hint:
                self.messages.hint_read()
                self._settings.hint_seen = True

    def _fetch(self) -> None:
        """The newest chunk into the pacer, its snapshot into the readings."""
        chunk, last = self.bridge.newest(), self._newest
        if chunk is None or chunk is last:
            return
        self._newest = chunk
        self.messages.loaded()
        self.readings.see(chunk.snapshot)
        self._tell_degraded(last.snapshot if last else None, chunk.snapshot)
        if self.pacer is None:
            self.pacer = Pacer(chunk.snapshot.rate)
        if last is not None and chunk.index == last.index:
            self.pacer.rest()
            return
        self._chunks[chunk.index] = chunk
        while len(self._chunks) > KEPT_CHUNKS:
            del self._chunks[next(iter(self._chunks))]
        if self._film_wanted is not None and not chunk.snapshot.opening:
            self._start_film(self._film_wanted)
            self._film_wanted = None
        self.pacer.offer(chunk.index, len(chunk.frames), self._clock())
        if self._source is not None and not chunk.snapshot.opening:
            self._follow(self._source, len(chunk.frames) / chunk.snapshot.rate)

    def _follow(self, source: ScriptedSource, seconds: float) -> None:
        """The script's action for the next ``seconds`` of the world's time."""
        action = source.next(seconds)
        if action is None:
            self._source = None
            self.messages.say("The script has ended: the keys are yours")
        self.bridge.put_action(action or Action())

    def _show_due(self) -> None:
        due = self.pacer.due(self._clock()) if self.pacer is not None else None
        chunk = self._chunks.get(due.chunk) if due is not None else None
        if due is None or chunk is None:
            return
        self.viewport.show_frame(chunk.frames[due.frame])
        self.readings.presented_frame(chunk.snapshot.action_stamp if due.frame == 0 else 0.0)

    def _tell_degraded(self, last: Snapshot | None, now: Snapshot) -> None:
        new = [words for words in now.degraded if last is None or words not in last.degraded]
        if new:
            self.messages.say(new[-1], 5.0)

    def _draw_over(self, painter: QPainter) -> None:
        """The overlays; called by the viewport at the end of each painting."""
        self.readings.display.count()
        widget = self.viewport.widget
        self.hud.resize(widget.width(), widget.height(), widget.devicePixelRatioF())
        self.hud.draw(painter)
        film = self.keepsakes.film_seconds if self.keepsakes.recording else None
        self.messages.draw(painter, widget.width(), widget.height(), self.hud, film)

    # Street

    def _loading(self, stage: str, share: float) -> None:
        self.messages.load(stage, share)

    def _failed(self, error: WorldPagerError) -> None:
        self.controls.release_all()
        self.keepsakes.end_film()
        self.messages.fail(error)

    def _new_world(self, seed: int) -> None:
        if self.bridge.send(NewWorld(seed)):
            self._begin_again(f"World {seed}")

    def _begin_again(self, words: str) -> None:
        self.pacer = None
        self._chunks.clear()
        self._paused = self.messages.paused = False
        self.messages.say(words)

    # Commands

    def command(self, name: str) -> None:
        """Do what a key of the keymap stands for."""
        does: dict[str, Callable[[], object]] = {
            "pause": self._pause, "reset": self._reset, "new world": self._ask_world, "overlays": self._overlays,
            "memory": self._memory, "help": self.messages.toggle_help, "record": self._record, "full screen": self._full_screen,
            "screenshot": self._screenshot, "escape": self._escape, "accept": self._accept,
        }  # fmt: skip
        does[name]()
        self.viewport.widget.update()

    def _pause(self) -> None:
        if self.bridge.send(Pause(not self._paused)):
            self._paused = self.messages.paused = not self._paused

    def _reset(self) -> None:
        snapshot = self.readings.snapshot
        if snapshot is not None and self.bridge.send(Reset()):
            self._begin_again(f"World {snapshot.seed}, from the beginning")

    def _ask_world(self) -> None:
        if self.bridge.running and self.readings.snapshot is not None:
            self.controls.release_all()
            self.panel.ask(self.readings.snapshot.seed, self.hud.scale)

    def _overlays(self) -> None:
        self.hud.use(self.hud.next_preset())
        self._settings.preset = self.hud.preset
        self.messages.say(f"Overlays: {self.hud.preset}")

    def _memory(self) -> None:
        on = not self._memory_on
        if self.bridge.send(UsePolicy(self._policy if on else MEMORY_OFF)):
            self._memory_on = on
            self.messages.say("Memory on: the world remembers" if on else "Memory off: only the last moments count")

    def _record(self) -> None:
        if self.keepsakes.recording:
            self.bridge.send(Record(None))
            self.keepsakes.end_film()
            self.messages.say("Finishing the film …")
        else:
            self._start_film(None)

    def _start_film(self, path: Path | None) -> None:
        """Begin a film in ``path``, or in the folder for films."""
        if self._newest is not None and self.bridge.running:
            self.keepsakes.start_film(self._newest.frames[0], self._newest.snapshot, path)

    def _full_screen(self) -> None:
        self.setWindowState(self.windowState() ^ Qt.WindowState.WindowFullScreen)

    def _screenshot(self) -> None:
        seed = self._newest.snapshot.seed if self._newest else self.bridge.config.seed
        self.keepsakes.keep_picture(self.viewport.picture(), seed)

    def _escape(self) -> None:
        self.messages.help = False
        self.controls.release_mouse()

    def _accept(self) -> None:
        if self.messages.error is not None and not self.bridge.running:
            self.messages.error = None
            self.messages.load("Trying again", 0.0)
            self._newest = None
            self.bridge.start()

    # Events

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        """Controls first, then commands."""
        control = event.modifiers() & Qt.KeyboardModifier.ControlModifier
        if control and event.key() == Qt.Key.Key_Q:
            self.close()
            return
        if self.panel.isVisible() or control or self.controls.key_event(event, down=True) or event.isAutoRepeat():
            return
        name = command_of(event.nativeScanCode(), event.key())
        if name is not None:
            self.command(name)

    def keyReleaseEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        """Let go of a control."""
        self.controls.key_event(event, down=False)

    def mousePressEvent(self, event: QMouseEvent) -> None:  # noqa: N802
        """A click on the picture takes the mouse, or begins a drag where it can't be taken."""
        if self.panel.isVisible() or self.messages.error is not None or self._newest is None:
            return
        self.setFocus()
        self.controls.capture()
        if self.controls.captured:
            self.messages.say("Esc lets go of the mouse", 1.8)
        self.controls.drag(event.globalPosition().toPoint())

    def mouseMoveEvent(self, event: QMouseEvent) -> None:  # noqa: N802
        """Dragging looks around."""
        if event.buttons():
            self.controls.drag(event.globalPosition().toPoint())

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:  # noqa: N802
        """The drag is over."""
        self.controls.drag(None)

    def focusOutEvent(self, event: QFocusEvent) -> None:  # noqa: N802
        """Nobody is at the keys any more."""
        self.controls.release_all()

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802
        """The same when another window comes to the front."""
        if event.type() == QEvent.Type.ActivationChange and not self.isActiveWindow():
            self.controls.release_all()
        super().changeEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802
        """Keep the card in the middle."""
        self.panel.centre()

    def closeEvent(self, event: QCloseEvent) -> None:  # noqa: N802
        """Vanish at once, then end the street and finish what is being written."""
        self._timer.stop()
        self.controls.release_all()
        self.hide()
        self.bridge.close()
        self.keepsakes.close()
        event.accept()
