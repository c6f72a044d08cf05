"""The program's place in a desktop: menu entry, icon, AppStream metainfo, in the user's own data folder (Linux and other XDG systems)."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from importlib.metadata import version
from pathlib import Path

from worldpager.engine.errors import InputError

ID = "org.worldpager.WorldPager"
RELEASED = "2026-12-01"
"""Day of this version."""
VALIDATORS: dict[str, Sequence[str]] = {
    ".desktop": ("desktop-file-validate",), ".xml": ("appstreamcli", "validate", "--no-net"),
}  # fmt: skip
"""By the file's ending; used where they are installed."""
REFRESHERS = (("update-desktop-database", "-q", "applications"), ("gtk-update-icon-cache", "-q", "-t", "icons/hicolor"))
SPECIAL = set(" \t\n\"'\\><~|&;$*?#()`")


@dataclass(frozen=True, slots=True)
class Checked:
    """What a validator says of a file; ``complaint`` empty when it is content, None when there is no validator."""

    file: Path
    complaint: str | None


def data_folder(environment: Mapping[str, str] = os.environ) -> Path:
    """XDG_DATA_HOME, or what stands for it."""
    chosen = environment.get("XDG_DATA_HOME", "")
    return Path(chosen) if Path(chosen).is_absolute() else Path.home() / ".local" / "share"


def places(folder: Path) -> dict[str, Path]:
    """Where each file goes: asset's name to path."""
    return {
        f"desktop/{ID}.desktop": folder / "applications" / f"{ID}.desktop",
        f"desktop/{ID}.metainfo.xml": folder / "metainfo" / f"{ID}.metainfo.xml",
        "icons/worldpager.svg": folder / "icons" / "hicolor" / "scalable" / "apps" / f"{ID}.svg",
    }


def command_of(argv: Sequence[str] = sys.argv, executable: str = sys.executable) -> list[str]:
    """How to play from anywhere; options may follow."""
    if getattr(sys, "frozen", False):
        return [executable, "play"]
    script = Path(argv[0])
    if script.name.startswith("worldpager") and script.suffix != ".py":
        found = shutil.which(str(script))
        if found:
            return [str(Path(found).absolute()), "play"]
    return [executable, "-m", "worldpager.app"]


def quoted(part: str) -> str:
    """One argument as an Exec line wants it: quoted where needed, and a per cent sign doubled."""
    part = part.replace("%", "%%")
    if not set(part) & SPECIAL:
        return part
    inner = "".join(f"\\{letter}" if letter in '"`$\\' else letter for letter in part)
    return '"' + inner.replace("\\", "\\\\") + '"'


def install(folder: Path | None = None, command: Sequence[str] | None = None) -> list[Path]:
    """Write the files and have the desktop notice. Returns what was written. Raises `InputError` where it can't be written."""
    folder = folder or data_folder()
    values = {"{exec}": " ".join(map(quoted, command or command_of())), "{version}": version("worldpager"), "{date}": RELEASED}
    written = []
    for asset, path in places(folder).items():
        text = (resources.files("worldpager.assets") / asset).read_text(encoding="utf-8")
        if path.suffix != ".svg":
            for name, value in values.items():
                text = text.replace(name, value)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        except OSError as error:
            raise InputError(f"{path} can't be written: {error.strerror}.", "Set XDG_DATA_HOME to a folder of yours.") from error
        written.append(path)
    refresh(folder)
    return written


def remove(folder: Path | None = None) -> list[Path]:
    """Take away what `install` wrote. Returns what was there."""
    folder = folder or data_folder()
    gone = [path for path in places(folder).values() if path.exists()]
    for path in gone:
        path.unlink()
    refresh(folder)
    return gone


def refresh(folder: Path) -> None:
    """Have caches of menu and icons made anew, where their programs are installed."""
    for program, *arguments in REFRESHERS:
        found, target = shutil.which(program), folder / arguments[-1]
        if found and target.exists():
            subprocess.run([found, *arguments[:-1], str(target)], capture_output=True, check=False, timeout=30)


def check(files: Sequence[Path]) -> list[Checked]:
    """What the desktop's own validators say."""
    found = []
    for file in files:
        program = VALIDATORS.get(file.suffix)
        if program is None:
            continue
        if shutil.which(program[0]) is None:
            found.append(Checked(file, None))
            continue
        done = subprocess.run([*program, str(file)], capture_output=True, text=True, check=False, timeout=60)
        found.append(Checked(file, (done.stdout + done.stderr).strip() if done.returncode else ""))
    return found


def main(what: str) -> int:
    """``worldpager desktop install|remove``: prints what was written and what the validators say."""
    put = sys.stdout.write
    if what == "remove":
        for path in remove():
            put(f"removed: {path}\n")
        return 0
    written = install()
    for path in written:
        put(f"written: {path}\n")
    checks = check(written)
    for each in checks:
        if each.complaint is None:
            put(f"not checked, no validator is installed: {each.file.name}\n")
        elif each.complaint:
            put(f"{each.file.name}: {each.complaint}\n")
    return 1 if any(each.complaint for each in checks) else 0
