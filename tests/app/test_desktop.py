"""The desktop's files: in the user's own folder, valid, with an Exec line that starts the program from any path, and gone again."""

from __future__ import annotations

import os
import shutil
from configparser import ConfigParser
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from worldpager.app.desktop import ID, check, command_of, data_folder, install, main, places, quoted, remove
from worldpager.engine.errors import InputError


def entry(folder: Path) -> ConfigParser:
    parser = ConfigParser(interpolation=None)
    parser.optionxform = str  # type: ignore[assignment, method-assign]  # keys keep their capitals
    parser.read(folder / "applications" / f"{ID}.desktop", encoding="utf-8")
    return parser


def test_written_and_gone_again(tmp_path: Path) -> None:
    written = install(tmp_path, ["/opt/my programs/worldpager", "play"])
    assert sorted(written) == sorted(places(tmp_path).values())
    assert entry(tmp_path)["Desktop Entry"]["Exec"] == '"/opt/my programs/worldpager" play'
    assert entry(tmp_path)["Desktop Action demo"]["Exec"].endswith("play --demo")
    icon = tmp_path / "icons/hicolor/scalable/apps" / f"{entry(tmp_path)['Desktop Entry']['Icon']}.svg"
    assert "<svg" in icon.read_text()
    root = ET.parse(tmp_path / "metainfo" / f"{ID}.metainfo.xml").getroot()
    assert root.findtext("id") == ID
    assert root.findtext("launchable") == f"{ID}.desktop"
    release = root.find("releases/release")
    assert release is not None
    assert release.get("version", "")[0].isdigit()
    assert sorted(remove(tmp_path)) == sorted(written)
    assert not any(path.is_file() and path.suffix != ".cache" for path in tmp_path.rglob("*"))
    assert remove(tmp_path) == []


@pytest.mark.parametrize("program", ["desktop-file-validate", "appstreamcli"])
def test_the_validators_are_content(tmp_path: Path, program: str) -> None:
    if shutil.which(program) is None:
        pytest.skip(f"{program} is not installed")
    ending = ".desktop" if program.startswith("desktop") else ".xml"
    checks = [each for each in check(install(tmp_path, ["/usr/bin/worldpager", "play"])) if each.file.suffix == ending]
    assert len(checks) == 1
    assert checks[0].complaint == ""


def test_arguments_are_quoted_as_the_specification_says() -> None:
    assert quoted("/usr/bin/worldpager") == "/usr/bin/worldpager"
    assert quoted("/a b/c") == '"/a b/c"'
    assert quoted("100%") == "100%%"
    assert quoted('a"b$c') == '"a\\\\"b\\\\$c"'


def test_the_program_is_named_however_it_was_started(tmp_path: Path) -> None:
    script = tmp_path / "worldpager"
    script.write_text("#!/bin/sh\n")
    script.chmod(0o755)
    assert command_of([str(script)], "/py") == [str(script), "play"]
    assert command_of(["/x/app/__main__.py"], "/py") == ["/py", "-m", "worldpager.app"]


def test_folders_of_xdg() -> None:
    assert data_folder({"XDG_DATA_HOME": "/data"}) == Path("/data")
    assert data_folder({"XDG_DATA_HOME": "relative"}) == Path.home() / ".local" / "share"
    assert data_folder({}) == Path.home() / ".local" / "share"


def test_a_folder_that_can_not_be_written(tmp_path: Path) -> None:
    (tmp_path / "applications").write_text("")
    with pytest.raises(InputError, match="applications"):
        install(tmp_path, ["x"])


def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert data_folder(os.environ) == tmp_path
    assert main("install") == 0
    assert f"{ID}.desktop" in capsys.readouterr().out
    assert main("remove") == 0
    assert "removed" in capsys.readouterr().out
