"""Sound as a part of the window: what is played is heard, events have their cues, settings count at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from worldpager.app.actions import Section, WindowAction, register, register_part
from worldpager.app.audio.mixer import Levels, Mixer
from worldpager.app.audio.player import DeviceSink, Player, Sink
from worldpager.app.settings import Settings
from worldpager.app.words import later, tr
from worldpager.engine.mailbox import GoTo, Keep, PublishedChunk, SetBookmark

if TYPE_CHECKING:
    from worldpager.app.main_window import MainWindow

NAME = "sound"
CUE_OF_COMMAND: dict[type, str] = {Keep: "kept", SetBookmark: "kept", GoTo: "branched"}


def levels_of(settings: Settings) -> Levels:
    """The mix that the settings ask for."""
    return Levels(settings.ambience, settings.steps, 0.8, 0.8 if settings.hear_memory else 0.0)


class SoundPart(QObject):
    """Owns the player while there is something to play. Mute closes the device."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        self._mixer = Mixer(levels_of(window.settings))
        self._index = -1
        self.player: Player | None = None
        window.began_playing.connect(self._begin)
        window.chunk_arrived.connect(self._hear)
        window.closing.connect(self._end)
        window.preferences.changed.connect(self._take_setting)
        window.bridge.commanded.connect(self._cue)

    def open_sink(self) -> Sink:
        """The device of the settings."""
        return DeviceSink(self._window.settings.sound_device)

    def toggle(self) -> None:
        """Sound off or on."""
        preferences = self._window.preferences
        preferences.set("mute", not preferences.values.mute)
        words = tr("sound off") if preferences.values.mute else tr("sound on")
        if not preferences.values.mute and self.player is not None and self.player.failure:
            words = tr("no sound: {why}", why=self.player.failure)
        self._window.notices.say(words)

    def _begin(self, _: object = None) -> None:
        if self.player is None and not self._window.settings.mute:
            self.player = Player(self._mixer, self.open_sink)
            self.player.volume = self._window.settings.volume

    def _end(self) -> None:
        player, self.player = self.player, None
        if player is not None:
            player.close()

    def _hear(self, chunk: PublishedChunk) -> None:
        if self.player is not None and chunk.index != self._index and not chunk.snapshot.opening:
            self._index = chunk.index
            self.player.hear(chunk)

    def _cue(self, command: object) -> None:
        name = CUE_OF_COMMAND.get(type(command))
        if name is not None and self.player is not None:
            self.player.with_source(lambda: self._mixer.strike(name))

    def _take_setting(self, name: str) -> None:
        settings = self._window.settings
        self._mixer.levels = levels_of(settings)
        if self.player is not None:
            self.player.volume = settings.volume
        if name in ("mute", "sound_device"):
            self._end()
            if self._window.playing:
                self._begin()


register_part(NAME, SoundPart)


def _toggle(window: MainWindow) -> None:
    part = window.parts[NAME]
    assert isinstance(part, SoundPart)
    part.toggle()


register(WindowAction("mute", later("sound on or off"), ("U",), Section.WINDOW, _toggle))
