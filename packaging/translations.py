"""Brings the .ts files up to date with the texts in the code: new ones come in as unfinished, those that are gone go.

`python packaging/translations.py` updates the files; with ``--missing`` it only lists what has no translation yet.
"""

from __future__ import annotations

import argparse
import ast
import sys
from pathlib import Path
from xml.etree import ElementTree as ET
from xml.sax.saxutils import escape

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "assets" / "translations"
SOURCE = "en"
MARKS = ("tr", "later")


def texts(root: Path = ROOT / "app") -> dict[str, str]:
    """Every text that the code marks, with the file where it stands first."""
    found: dict[str, str] = {}
    for file in sorted(root.rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in MARKS and node.args:
                argument = node.args[0]
                if isinstance(argument, ast.Constant) and isinstance(argument.value, str):
                    found.setdefault(argument.value, file.relative_to(root.parent).as_posix())
    return found


def read(file: Path) -> dict[str, str]:
    """Finished translations of a .ts file."""
    if not file.exists():
        return {}
    table = {}
    for message in ET.fromstring(file.read_text(encoding="utf-8")).iter("message"):
        source, translation = message.findtext("source"), message.find("translation")
        if source and translation is not None and translation.text and translation.get("type") is None:
            table[source] = translation.text
    return table


def write(file: Path, language: str, found: dict[str, str], table: dict[str, str]) -> None:
    """The .ts file of ``language``."""
    lines = ['<?xml version="1.0" encoding="utf-8"?>', "<!DOCTYPE TS>"]
    lines += [f'<TS version="2.1" language="{language}" sourcelanguage="{SOURCE}">', "<context>", "    <name>worldpager</name>"]
    for text, place in sorted(found.items(), key=lambda pair: (pair[1], pair[0])):
        translation = table.get(text) or (text if language == SOURCE else "")
        mark = "" if translation else ' type="unfinished"'
        lines += ["    <message>", f'        <location filename="../../{place}"/>', f"        <source>{escape(text)}</source>"]
        lines += [f"        <translation{mark}>{escape(translation)}</translation>", "    </message>"]
    lines += ["</context>", "</TS>", ""]
    file.write_text("\n".join(lines), encoding="utf-8")


def main() -> int:
    """Update or list."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--missing", action="store_true", help="only list what has no translation")
    only_list = options.parse_args().missing
    found, missing = texts(), 0
    for file in sorted(FOLDER.glob("*.ts")):
        table = read(file)
        if not only_list:
            write(file, file.stem, found, table)
        lacking = [] if file.stem == SOURCE else [text for text in found if text not in table]
        missing += len(lacking)
        for text in lacking:
            sys.stdout.write(f"{file.stem}: {text}\n")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
