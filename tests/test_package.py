"""What is installed is what is here: every package is listed, and the wheel carries all modules and assets."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("app", "engine", "kernels", "assets")
LITTER = shutil.ignore_patterns("__pycache__", "*.pyc")

READ_ASSETS = """
import sys
sys.path.insert(0, sys.argv[1])
from importlib.resources import files
print(files("worldpager.assets").joinpath("icons", "worldpager.svg").read_text())
"""


def project() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text())


def contents() -> set[str]:
    """Files of the mapped folders as they should lie in a wheel: modules everywhere, and everything in the assets."""
    return {
        f"worldpager/{file.relative_to(ROOT).as_posix()}"
        for folder in FOLDERS
        for file in (ROOT / folder).rglob("*")
        if file.is_file() and "__pycache__" not in file.parts and (file.suffix == ".py" or folder == "assets")
    }


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel of the checkout, built in a copy, with no network."""
    copy = tmp_path_factory.mktemp("source")
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, copy)
    for folder in FOLDERS:
        shutil.copytree(ROOT / folder, copy / folder, ignore=LITTER)
    build = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--no-index", "--no-build-isolation"]
    subprocess.run([*build, "-w", str(copy / "dist"), str(copy)], check=True, timeout=55)
    return next((copy / "dist").glob("*.whl"))


def test_every_package_folder_is_listed() -> None:
    folders = {
        "worldpager." + ".".join(file.parent.relative_to(ROOT).parts)
        for folder in FOLDERS
        for file in (ROOT / folder).rglob("*.py")
        if "__pycache__" not in file.parts
    }
    assert set(project()["tool"]["setuptools"]["packages"]) == folders


def test_every_package_folder_has_an_init() -> None:
    for folder in FOLDERS:
        for file in (ROOT / folder).rglob("*.py"):
            assert (file.parent / "__init__.py").exists(), f"{file.parent} needs an __init__.py"


def test_packaging_is_no_package() -> None:
    """An ``__init__.py`` there would shadow the library of that name."""
    assert not (ROOT / "packaging" / "__init__.py").exists()


def test_wheel_carries_all_modules_and_assets(wheel: Path) -> None:
    inside = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    assert inside == contents()


def test_wheel_carries_licence_and_command(wheel: Path) -> None:
    archive = zipfile.ZipFile(wheel)
    names = {name.partition(".dist-info/")[2]: name for name in archive.namelist() if ".dist-info/" in name}
    assert b"Apache License" in archive.read(names["licenses/LICENSE"])
    assert b"worldpager = worldpager.engine.cli:main" in archive.read(names["entry_points.txt"])


def test_assets_are_found_once_installed(wheel: Path, tmp_path: Path) -> None:
    """Read from the unpacked wheel alone: ``-S`` keeps the checkout's own installation out."""
    zipfile.ZipFile(wheel).extractall(tmp_path)
    command = [sys.executable, "-I", "-S", "-c", READ_ASSETS, str(tmp_path)]
    assert b"<svg" in subprocess.run(command, capture_output=True, check=True, timeout=50).stdout


def test_assets_are_found_in_the_checkout() -> None:
    from importlib.resources import files

    assert files("worldpager.assets").joinpath("icons", "worldpager.svg").is_file()
