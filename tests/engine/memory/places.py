"""Real file systems for tests, made and taken down: a small tmpfs, ext4 on 4096-byte sectors, overlayfs. Root's leave is needed."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path

import pytest


def run(*command: object) -> str:
    """What a program says; skips the test when it isn't there or may not do that here."""
    words = [str(word) for word in command]
    if os.name != "posix" or os.geteuid() or shutil.which(words[0]) is None:
        pytest.skip(f"needs root and {words[0]}")
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"{' '.join(words)}: {done.stderr.strip()}")
    return done.stdout.strip()


@contextmanager
def mounted(folder: Path, *options: object) -> Iterator[Path]:
    """``mount options folder`` from here to the end."""
    folder.mkdir()
    run("mount", *options, folder)
    try:
        yield folder
    finally:
        if subprocess.run(["umount", folder], check=False).returncode:  # a failed test holds files there
            subprocess.run(["umount", "-l", folder], check=True)


@contextmanager
def small_tmpfs(base: Path) -> Iterator[Path]:
    """4 MiB of main memory."""
    with mounted(base / "tmpfs", "-t", "tmpfs", "-o", "size=4m", "none") as folder:
        yield folder


@contextmanager
def large_sectors(base: Path) -> Iterator[Path]:
    """ext4 on a loop device whose sectors have 4096 bytes: direct I/O by 512 is refused there. 32 MiB."""
    image = base / "image"
    image.touch()
    os.truncate(image, 32 << 20)
    device = run("losetup", "--sector-size", "4096", "-f", "--show", image)
    with ExitStack() as ends:
        ends.callback(subprocess.run, ["losetup", "-d", device], check=True)
        run("mkfs.ext4", "-q", device)
        yield ends.enter_context(mounted(base / "ext4", device))


@contextmanager
def overlay(base: Path) -> Iterator[Path]:
    """overlayfs over two folders."""
    for name in ("lower", "upper", "work"):
        (base / name).mkdir()
    layers = f"lowerdir={base / 'lower'},upperdir={base / 'upper'},workdir={base / 'work'}"
    with mounted(base / "overlay", "-t", "overlay", "overlay", "-o", layers) as folder:
        yield folder


@contextmanager
def plain(base: Path) -> Iterator[Path]:
    """Whatever holds the temporary folder."""
    yield base


PLACES: dict[str, Callable[[Path], AbstractContextManager[Path]]] = {
    "plain folder": plain, "small tmpfs": small_tmpfs, "ext4, 4096-byte sectors": large_sectors, "overlayfs": overlay,
}  # fmt: skip
