"""Translations from the .ts files in the assets, read at run time: what Qt Linguist writes is what the window shows."""

from __future__ import annotations

import logging
from importlib import resources
from importlib.resources.abc import Traversable
from xml.etree import ElementTree as ET

from PySide6.QtCore import QCoreApplication, QLocale, QTranslator
from PySide6.QtGui import QFontDatabase

from worldpager.app import words

log = logging.getLogger(__name__)

SOURCE = "en"
"""The language that the texts in the code are in."""
NEEDS_FONT = {"zh_CN": QFontDatabase.WritingSystem.SimplifiedChinese}


class TsTranslator(QTranslator):
    """Answers from a table of one .ts file. A text that is not finished there stays in English."""

    def __init__(self, table: dict[str, str]) -> None:
        super().__init__()
        self._table = table

    def translate(self, context: str, text: str, disambiguation: str | None = None, n: int = -1) -> str | None:
        """The translation of ``text``; None, which leaves Qt its own words, where there is none."""
        return self._table.get(text) if context == words.CONTEXT else None

    def isEmpty(self) -> bool:
        """Whether it knows nothing."""
        return not self._table


def folder() -> Traversable:
    """Where the .ts files lie."""
    return resources.files("worldpager.assets") / "translations"


def languages() -> list[str]:
    """Languages that there are files of."""
    return sorted(file.name.removesuffix(".ts") for file in folder().iterdir() if file.name.endswith(".ts"))


def read_table(language: str) -> dict[str, str]:
    """Finished translations by source text."""
    table: dict[str, str] = {}
    root = ET.fromstring((folder() / f"{language}.ts").read_text(encoding="utf-8"))
    for message in root.iter("message"):
        source, translation = message.findtext("source"), message.find("translation")
        if source and translation is not None and translation.text and translation.get("type") is None:
            table[source] = translation.text
    return table


def wanted_language(choice: str, system: str | None = None) -> str:
    """The language for ``choice``; ``auto`` takes the system's if there is a translation and a font for it, else English."""
    if choice != "auto":
        return choice if choice in languages() else SOURCE
    system = system or QLocale.system().name()
    found = next((each for each in languages() if each == system or each.split("_")[0] == system.split("_")[0]), SOURCE)
    if system.startswith("zh") and system not in ("zh_CN", "zh_SG", "zh_Hans"):
        found = SOURCE
    if found in NEEDS_FONT and not QFontDatabase.families(NEEDS_FONT[found]):
        log.info("no font for %s: English is used", found)
        return SOURCE
    return found


class Language:
    """The language in use; one for the application."""

    _translator: QTranslator | None = None
    name = SOURCE

    @classmethod
    def use(cls, choice: str) -> str:
        """Speak the language of ``choice``. Returns its name. What is on the screen already is for the caller to draw anew."""
        name = wanted_language(choice)
        if cls._translator is not None:
            QCoreApplication.removeTranslator(cls._translator)
            cls._translator = None
        if name != SOURCE:
            cls._translator = TsTranslator(read_table(name))
            QCoreApplication.installTranslator(cls._translator)
        cls.name = name
        words.forget()
        return name
