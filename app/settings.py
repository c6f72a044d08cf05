"""What the window remembers of a person's wishes: one typed field a wish, with its bounds, its words and when a change counts.

To add a setting, add a field here: the file, the environment (``WORLDPAGER_`` and the name in capitals) and the settings page know it by
its description. Reading and writing is `settings_file`, watching is `preferences`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from enum import StrEnum
from pathlib import Path
from typing import Any

from worldpager.app.audio.devices import Devices
from worldpager.app.words import later


class Counts(StrEnum):
    """When a change counts."""

    LIVE = "live"
    WORLD = "world"
    START = "start"


class Page(StrEnum):
    """Page of the settings on which a field stands; ``NONE``: on none."""

    PICTURE = "picture"
    CONTROLS = "controls"
    WORLD = "world"
    RECORDING = "recording"
    SOUND = "sound"
    COMFORT = "comfort"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class About:
    """What is known of a field. ``choices``: values with their words; ``least`` to ``most`` in ``step``: a number of ``unit``."""

    page: Page
    words: str
    counts: Counts = Counts.LIVE
    choices: Mapping[str, str] | None = None
    least: float = 0.0
    most: float = 0.0
    step: float = 0.0
    unit: str = ""
    folder: bool = False
    more: str = ""
    """A sentence below the field."""

    def checked(self, value: Any, default: Any) -> Any:
        """``value`` if it can stand for a field like ``default``, else None. Text for numbers and truth values (environment) is read."""
        if self.choices is not None:
            return value if isinstance(value, str) and value in self.choices else None
        if isinstance(default, bool):
            return value if isinstance(value, bool) else {"1": True, "true": True, "0": False, "false": False}.get(str(value).lower())
        if isinstance(default, float):
            return self._number(value)
        if isinstance(default, dict):
            return _key_table(value)
        return value if isinstance(value, str) and (not self.folder or not value or Path(value).is_absolute()) else None

    def _number(self, value: Any) -> float | None:
        if isinstance(value, bool):
            return None
        try:
            number = float(value)
        except (TypeError, ValueError):
            return None
        return number if self.least <= number <= self.most else None


def _key_table(value: Any) -> dict[str, list[str]] | None:
    """Keys by action or control: names to lists of names."""
    if not isinstance(value, dict) or not all(isinstance(name, str) for name in value):
        return None
    if not all(isinstance(keys, list) and all(isinstance(key, str) for key in keys) for keys in value.values()):
        return None
    return {name: list(keys) for name, keys in value.items()}


def _set(default: Any, about: About) -> Any:
    return field(default=default, metadata={"about": about})


def _bytes_choices() -> dict[str, str]:
    return {"auto": later("chosen for the model"), "256MiB": "256 MiB", "1GiB": "1 GiB", "4GiB": "4 GiB", "16GiB": "16 GiB"}


@dataclass(slots=True)
class Settings:
    """The preferences. Angles in degrees, mouse in degrees a pixel, stick in degrees a second; empty folders: the usual."""

    viewport: str = _set("auto", About(Page.PICTURE, later("drawn by"), Counts.START,
        {"auto": later("automatic"), "opengl": "OpenGL", "software": later("software")}))
    fit: str = _set("fill", About(Page.PICTURE, later("picture"), choices={
        "fill": later("fills the window"), "whole": later("shown whole")}))
    resampling: str = _set("cubic", About(Page.PICTURE, later("enlarging"), choices={
        "cubic": later("sharp (cubic)"), "linear": later("soft (linear)"), "nearest": later("single pixels")}))
    cap: bool = _set(True, About(Page.PICTURE, later("hold the world to its natural speed"),
        more=later("Off, a fast machine runs the world faster than it should.")))
    fullscreen: str = _set("fullscreen", About(Page.PICTURE, later("full screen is"), choices={
        "fullscreen": later("the system's"), "borderless": later("a window without a border")}))
    overlay: str = _set("small", About(Page.PICTURE, later("panels"), choices={
        "none": later("none"), "small": later("small"), "full": later("full")}))
    show_input: bool = _set(False, About(Page.PICTURE, later("show what the model receives")))
    keys_known: bool = _set(False, About(Page.NONE, ""))
    """The first-run hint has been followed or closed."""

    mouse_sensitivity: float = _set(0.12, About(Page.CONTROLS, later("mouse sensitivity"), least=0.02, most=0.5, step=0.01, unit="°/px"))
    mouse_invert: bool = _set(False, About(Page.CONTROLS, later("mouse: up and down the other way round")))
    mouse_look: str = _set("auto", About(Page.CONTROLS, later("looking with the mouse"), choices={
        "auto": later("click to hold"), "drag": later("drag"), "off": later("keys only")},
        more=later("Where the system can't hold the pointer (Wayland), dragging is used.")))
    gamepad: bool = _set(True, About(Page.CONTROLS, later("use a gamepad")))
    stick_speed: float = _set(120.0, About(Page.CONTROLS, later("stick speed"), least=30.0, most=360.0, step=10.0, unit="°/s"))
    stick_dead_zone: float = _set(0.15, About(Page.CONTROLS, later("stick dead zone"), least=0.0, most=0.5, step=0.01))
    stick_invert: bool = _set(False, About(Page.CONTROLS, later("stick: up and down the other way round")))
    keys: dict[str, list[str]] = field(default_factory=dict, metadata={"about": About(Page.NONE, later("keys"))})
    """Keys that a person chose, by control or action; what is absent has its own."""

    model: str = _set("tiny", About(Page.NONE, later("model"), Counts.WORLD))
    host_budget: str = _set("auto", About(Page.WORLD, later("main memory for blocks"), Counts.WORLD, _bytes_choices()))
    disk_budget: str = _set("auto", About(Page.WORLD, later("disk for blocks"), Counts.WORLD, {
        "auto": later("chosen for the model"), "2GiB": "2 GiB", "16GiB": "16 GiB", "64GiB": "64 GiB", "256GiB": "256 GiB"}))
    disk_folder: str = _set("", About(Page.WORLD, later("folder of the disk tier"), Counts.WORLD, folder=True))
    worlds_folder: str = _set("", About(Page.WORLD, later("folder of saved worlds"), Counts.WORLD, folder=True))

    films_folder: str = _set("", About(Page.RECORDING, later("folder of films"), folder=True))
    pictures_folder: str = _set("", About(Page.RECORDING, later("folder of screenshots"), folder=True))
    film_timing: str = _set("model", About(Page.RECORDING, later("time in films"), choices={
        "model": later("the world's: every frame once"), "wall": later("as long as play took")}))
    film_view: str = _set("picture", About(Page.RECORDING, later("films show"), choices={
        "picture": later("the picture alone"), "window": later("the window with its panels")}))
    film_sound: bool = _set(True, About(Page.RECORDING, later("sound in films")))
    replay_seconds: str = _set("30", About(Page.RECORDING, later("replay buffer"), choices={
        "0": later("off"), "15": "15 s", "30": "30 s", "60": "60 s", "120": "120 s"},
        more=later("The last seconds, kept encoded in main memory; a key saves them as a film.")))

    mute: bool = _set(False, About(Page.SOUND, later("no sound")))
    volume: float = _set(0.6, About(Page.SOUND, later("volume"), least=0.0, most=1.0, step=0.05))
    ambience: float = _set(0.5, About(Page.SOUND, later("wind and chord"), least=0.0, most=1.0, step=0.05))
    steps: float = _set(0.7, About(Page.SOUND, later("steps"), least=0.0, most=1.0, step=0.05))
    hear_memory: bool = _set(False, About(Page.SOUND, later("hear the memory"),
        more=later("A note for each block that comes back, a tick for one that spills, a buzz for a stall.")))
    sound_device: str = _set("", About(Page.SOUND, later("device"), choices=Devices(),
        more=later("Without a device, or without PortAudio, everything stays silent.")))

    language: str = _set("auto", About(Page.COMFORT, later("language"), choices={
        "auto": later("the system's"), "en": "English", "zh_CN": "简体中文"}))
    interface_scale: float = _set(1.0, About(Page.COMFORT, later("size of text and panels"), least=0.8, most=2.0, step=0.1, unit="×"))
    high_contrast: bool = _set(False, About(Page.COMFORT, later("high contrast")))
    reduced_motion: bool = _set(False, About(Page.COMFORT, later("less movement on the screen")))
    watchdog: bool = _set(True, About(Page.COMFORT, later("say so when the world seems stuck")))
    start_page: bool = _set(True, About(Page.COMFORT, later("begin at the start page"), Counts.START))


def about(name: str) -> About:
    """What is known of field ``name``."""
    return ABOUT[name]


def defaults() -> dict[str, Any]:
    """Every field's own value."""
    return {each.name: getattr(Settings(), each.name) for each in fields(Settings)}


ABOUT: dict[str, About] = {each.name: each.metadata["about"] for each in fields(Settings)}
