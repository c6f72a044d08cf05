"""The chips over the picture that say what is the case: recording, memory off, paused, opening, speed not held; and new degradations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from worldpager.app import theme
from worldpager.app.words import tr
from worldpager.engine.telemetry.snapshot import Snapshot

RANDOM = "random weights"
"""How the degradation of a model without true weights begins; it holds as long as the model plays, so it has a chip."""

if TYPE_CHECKING:
    from worldpager.app.main_window import MainWindow


def refresh_chips(window: MainWindow, snapshot: Snapshot, *, hint: bool) -> None:
    """Show what ``snapshot`` and the window say; ``hint``: the mouse may still need words."""
    notices, film = window.notices, window.captures.film
    minutes, seconds = divmod(int(film.seconds), 60)
    filming = tr("recording  {minutes}:{seconds}", minutes=minutes, seconds=f"{seconds:02d}") if film.recorder else ""
    if film.recorder and film.recorder.dropped:
        filming += "  " + tr("{n} frames left out", n=film.recorder.dropped)
    notices.state("record", filming, theme.ALARM)
    notices.state("memory", tr("memory off") if snapshot.policy == "none" else "", theme.DISK)
    notices.state("pause", tr("paused") if snapshot.paused else "", theme.INK)
    notices.state("opening", tr("looking around to fill the memory") if snapshot.opening else "", theme.DEVICE)
    notices.state("cap", "" if window.settings.cap else tr("speed not held"), theme.STALE)
    random = any(what.startswith(RANDOM) for what in snapshot.degraded)
    notices.state("random", tr("random weights: a trial of the machine, not a world") if random else "", theme.ALARM)
    words = tr("click to look with the mouse") if window.mouse.can_hold else tr("drag to look around")
    notices.set_hint(words if hint and window.mouse.looks and not window.mouse.held else "")
    for what in snapshot.degraded:
        if what not in notices.told and not what.startswith(RANDOM):
            notices.say(what, theme.ALARM)
    notices.told = snapshot.degraded
