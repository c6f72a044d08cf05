"""Preferences survive a restart; a wrong value costs itself alone; no file can stop the program; what overrides them is named."""

from __future__ import annotations

import json
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from pytestqt.qtbot import QtBot

from worldpager.app.preferences import Preferences
from worldpager.app.settings import ABOUT, Settings, defaults
from worldpager.app.settings_file import VERSION, load_settings, save_settings


def preferences(path: Path, environment: dict[str, str] | None = None, **given: Any) -> Preferences:
    return Preferences(path, {name: (value, f"--{name}") for name, value in given.items()}, environment or {})


def test_what_differs_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "window.json"
    wanted = Settings(overlay="full", mouse_sensitivity=0.2, keys_known=True, keys={"pause": ["F7"]})
    assert save_settings(wanted, path)
    assert load_settings(path).values == wanted
    assert set(json.loads(path.read_text())) == {"version", "overlay", "mouse_sensitivity", "keys_known", "keys"}
    assert [file.name for file in path.parent.iterdir()] == ["window.json"]  # no temporary file is left


def test_every_field_is_described_and_its_default_stands() -> None:
    for each in fields(Settings):
        own = defaults()[each.name]
        assert ABOUT[each.name].checked(own, own) == own, each.name
        if isinstance(own, float):
            assert ABOUT[each.name].step > 0, each.name


def test_nothing_there_means_defaults(tmp_path: Path) -> None:
    stored = load_settings(tmp_path / "none.json")
    assert stored.values == Settings()
    assert not stored.complaints


def test_a_wrong_value_costs_itself_alone(tmp_path: Path) -> None:
    path = tmp_path / "window.json"
    wrong = {"overlay": "huge", "mouse_sensitivity": True, "mouse_invert": "yes", "films_folder": "relative", "keys": {"a": 1}}
    path.write_text(json.dumps({"version": VERSION, "fit": "whole", **wrong}))
    stored = load_settings(path)
    assert stored.values == Settings(fit="whole")
    assert len(stored.complaints) == 5


@pytest.mark.parametrize("content", [b"{", b"[]", b"\xff\xfe", b'{"version": 2, "fit": "who', b"[" * 100_000])
def test_an_unreadable_file_is_kept_aside(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "window.json"
    path.write_bytes(content)
    stored = load_settings(path)
    assert stored.values == Settings()
    assert stored.complaints
    assert (tmp_path / "window.json.unreadable").read_bytes() == content


def test_a_second_unreadable_file_does_not_replace_the_first(tmp_path: Path) -> None:
    path = tmp_path / "window.json"
    for content in ("{1", "{2"):
        path.write_text(content)
        load_settings(path)
    assert {file.read_text() for file in tmp_path.iterdir()} == {"{1", "{2"}


def test_version_1_is_brought_up_to_date(tmp_path: Path) -> None:
    path = tmp_path / "window.json"
    path.write_text(json.dumps({"version": 1, "sensitivity": 0.3, "invert": True, "overlay": "none"}))
    assert load_settings(path).values == Settings(mouse_sensitivity=0.3, mouse_invert=True, overlay="none")
    assert (tmp_path / "window.json.version-1").exists()


def test_a_newer_file_keeps_what_is_not_understood(tmp_path: Path) -> None:
    path = tmp_path / "window.json"
    newer = {"version": VERSION + 7, "overlay": "full", "smell": "roses"}
    path.write_text(json.dumps(newer))
    used = preferences(path)
    assert used.values.overlay == "full"
    used.set("fit", "whole")
    assert json.loads(path.read_text()) == {"version": VERSION, "smell": "roses", "overlay": "full", "fit": "whole"}
    assert json.loads((tmp_path / f"window.json.version-{VERSION + 7}").read_text()) == newer


def test_a_change_is_written_at_once_and_told(qtbot: QtBot, tmp_path: Path) -> None:
    path = tmp_path / "window.json"
    used = preferences(path)
    with qtbot.waitSignal(used.changed) as told:
        used.set("overlay", "full")
    assert told.args == ["overlay"]
    assert json.loads(path.read_text())["overlay"] == "full"
    with pytest.raises(ValueError, match="overlay"):
        used.set("overlay", "huge")
    assert used.values.overlay == "full"


def test_command_line_over_environment_over_file(tmp_path: Path) -> None:
    path = tmp_path / "window.json"
    save_settings(Settings(overlay="full", mouse_sensitivity=0.2, cap=False), path)
    environment = {"WORLDPAGER_OVERLAY": "none", "WORLDPAGER_MOUSE_SENSITIVITY": "0.4", "WORLDPAGER_FIT": "askew"}
    used = preferences(path, environment, overlay="small")
    assert (used.values.overlay, used.values.mouse_sensitivity, used.values.cap, used.values.fit) == ("small", 0.4, False, "fill")
    assert used.origin("overlay") == "--overlay"
    assert used.origin("mouse_sensitivity") == "WORLDPAGER_MOUSE_SENSITIVITY"
    assert used.origin("cap") == ""


def test_an_override_is_never_written(tmp_path: Path) -> None:
    path = tmp_path / "window.json"
    save_settings(Settings(overlay="full"), path)
    used = preferences(path, overlay="none")
    used.set("fit", "whole")
    used.set("overlay", "small")  # counts for this run
    assert used.values.overlay == "small"
    assert load_settings(path).values == Settings(overlay="full", fit="whole")


def test_reset_takes_everything_back(tmp_path: Path) -> None:
    path = tmp_path / "window.json"
    used = preferences(path, cap=False)
    used.set("overlay", "full")
    used.set("keys", {"pause": ["F7"]})
    told: list[str] = []
    used.changed.connect(told.append)
    used.reset()
    assert used.values == Settings(cap=False)
    assert sorted(told) == ["keys", "overlay"]
    assert load_settings(path).values == Settings()


def test_a_folder_that_cannot_be_written_is_no_fault(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert not save_settings(Settings(overlay="none"), tmp_path / "file" / "window.json")
    used = preferences(tmp_path / "file" / "window.json")
    used.set("overlay", "none")
    assert not used.saved
