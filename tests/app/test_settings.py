"""Preferences survive a restart; a wrong value costs itself alone, an unreadable file is kept."""

from __future__ import annotations

import json
from pathlib import Path

from worldpager.app.settings import Settings, load_settings, save_settings


def test_what_differs_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "window.json"
    wanted = Settings(overlay="full", sensitivity=0.2, keys_known=True)
    assert save_settings(wanted, path)
    assert load_settings(path) == wanted
    assert set(json.loads(path.read_text())) == {"version", "overlay", "sensitivity", "keys_known"}


def test_nothing_there_means_defaults(tmp_path: Path) -> None:
    assert load_settings(tmp_path / "none.json") == Settings()


def test_a_wrong_value_costs_itself_alone(tmp_path: Path) -> None:
    path = tmp_path / "window.json"
    path.write_text(json.dumps({"overlay": "huge", "sensitivity": True, "fit": "whole", "invert": "yes", "unknown": 1}))
    assert load_settings(path) == Settings(fit="whole")


def test_an_unreadable_file_is_kept_aside(tmp_path: Path) -> None:
    path = tmp_path / "window.json"
    path.write_text("{")
    assert load_settings(path) == Settings()
    assert (tmp_path / "window.json.unreadable").read_text() == "{"


def test_a_folder_that_cannot_be_written_is_no_fault(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert not save_settings(Settings(overlay="none"), tmp_path / "file" / "window.json")
