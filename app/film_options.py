"""What a film is made with: time, view, sound; and what it says of itself."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

from worldpager.app.audio.mixer import Levels, Mixer
from worldpager.app.settings import Settings
from worldpager.engine.telemetry.snapshot import Snapshot

WINDOW_RATE = 15.0
"""Pictures a second of a film of the whole window: taking one costs the window's thread some milliseconds."""


def sound_of(settings: Settings) -> Mixer | None:
    """The mix for a sound track, the same that is heard; None when films are to be silent."""
    if not settings.film_sound:
        return None
    memory = 0.8 if settings.hear_memory else 0.0
    return Mixer(Levels(settings.ambience, settings.steps, 0.8, memory))


def film_facts_of(snapshot: Snapshot, settings: Settings, *, view: str) -> dict[str, Any]:
    """The metadata of a film that begins now; plain values, nothing private."""
    return {
        "title": f"WorldPager, world {snapshot.seed} of {snapshot.model}",
        "model": snapshot.model,
        "seed": str(snapshot.seed),
        "chunk": snapshot.chunk,
        "version": version("worldpager"),
        "settings": {"policy": snapshot.policy, "view": view, "sound": settings.film_sound, "device": snapshot.device},
    }
