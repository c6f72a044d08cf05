"""Every text that a person reads goes through `tr`, which asks Qt's translators; English is the source.

Texts with figures in them are written with names, ``tr("world {seed} opened", seed=7)``, so that a language can order them its own way.
"""

from __future__ import annotations

from functools import lru_cache

from PySide6.QtCore import QT_TRANSLATE_NOOP, QCoreApplication

CONTEXT = "worldpager"


def tr(text: str, **figures: object) -> str:
    """``text`` in the window's language, with ``figures`` filled in."""
    found = _translated(text)
    return found.format(**figures) if figures else found


def later(text: str) -> str:
    """Marks a text of a table that is made before the language is known; whoever shows it calls `tr`."""
    return str(QT_TRANSLATE_NOOP(CONTEXT, text))


@lru_cache(4096)
def _translated(text: str) -> str:
    return QCoreApplication.translate(CONTEXT, text)


def forget() -> None:
    """The language has changed: ask again."""
    _translated.cache_clear()
