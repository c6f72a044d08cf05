"""What the engine says in fixed words, so that it can be translated; sentences with figures in them are shown as they come."""

from __future__ import annotations

from worldpager.app.words import later, tr

TIERS = (later("device"), later("host"), later("disk"))
STAGES = (
    later("Starting the engine"), later("Looking at the machine"), later("Opening the world"), later("Making room for the memory"),
    later("Ready"), later("Loading the model"),
)  # fmt: skip
STREET = (later("generate"), later("place"), later("put"), later("take"), later("rest"))
NOTES = (later("direct I/O"), later("buffered"))
SUMMARIES = (
    later("the trained world model that ships with the program"), later("a drawn world without weights, for tests and trials"),
)  # fmt: skip


def stage_words(stage: str) -> str:
    """A stage of loading in the window's language; the model's name stays."""
    loading = "Loading the model"
    if stage.startswith(loading + " "):
        return f"{tr(loading)} {stage.removeprefix(loading + ' ')}"
    return tr(stage)
