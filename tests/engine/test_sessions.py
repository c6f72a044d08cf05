from __future__ import annotations

import json
import shutil
import sqlite3
from pathlib import Path

import pytest
from PIL import Image
from safetensors import safe_open

from tests.engine.session.kit import Player, config
from worldpager.engine.cli import main
from worldpager.engine.mailbox import GoTo, SetBookmark
from worldpager.engine.session.archive import INDEX
from worldpager.engine.session.blocks import KeptBlocks
from worldpager.engine.session.upkeep import DAMAGED, repair, verify


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("worlds") / "mill"
    player = Player(config(folder))
    player.walk(7)
    player.send(SetBookmark("gate", 2))
    player.send(GoTo(3))
    player.walk(3)
    player.close()
    return folder


@pytest.fixture
def world(original: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("WORLDPAGER_WORLDS_FOLDER", str(tmp_path))
    return Path(shutil.copytree(original, tmp_path / "mill"))


def said(capsys: pytest.CaptureFixture[str]) -> str:
    captured = capsys.readouterr()
    return captured.out + captured.err


def flip(folder: Path, chunk: int) -> None:
    """One wrong bit in the block of ``chunk``."""
    blocks = KeptBlocks(folder)
    with sqlite3.connect(folder / INDEX) as db:
        (block,) = db.execute("SELECT block FROM chunks WHERE id = ?", (chunk,)).fetchone()
    db.close()
    with (folder / "blocks.arena").open("r+b") as file:
        file.seek(blocks.rows[block][0] * blocks.slot_bytes + 4096 + 100)
        byte = file.read(1)
        file.seek(-1, 1)
        file.write(bytes([byte[0] ^ 1]))
    blocks.close()


def test_list_and_info(world: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sessions", "list"]) == 0
    assert "mill" in (text := said(capsys))
    assert "stand-in world 7, 11 chunks" in text
    assert "2 branches" in text
    assert main(["sessions", "list", "--json"]) == 0
    assert json.loads(said(capsys))[0]["chunks"] == 11
    assert main(["sessions", "info", "mill"]) == 0
    assert "bookmark 'gate': chunk 2" in (text := said(capsys))
    assert "'branch 2': 3 chunks of its own, from chunk 3" in text
    assert main(["sessions", "info", "nowhere"]) == 2
    assert "Kept there: mill" in said(capsys)


def test_verify_names_the_damaged_chunk(world: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sessions", "verify", "mill"]) == 0
    flip(world, 4)
    assert main(["sessions", "verify", "mill"]) == 1
    assert "1 blocks damaged: chunks 4" in said(capsys)
    player = Player(config(world))
    player.walk(2)
    player.close()


def test_repair_saves_what_can_be_read(world: Path) -> None:
    db = sqlite3.connect(world / INDEX)
    (page,) = db.execute("PRAGMA page_size").fetchone()
    root = dict(db.execute("SELECT name, rootpage FROM sqlite_master WHERE type = 'table'"))["pictures"]
    db.execute("DELETE FROM chunks WHERE id = 5")
    db.commit()
    db.close()
    with (world / INDEX).open("r+b") as file:
        file.seek((root - 1) * page)
        file.write(b"\xff" * page)
    saved = repair(world)
    assert (saved.chunks, saved.relinked) == (10, 1)
    assert (world / DAMAGED).exists()
    player = Player(config(world))
    player.session.tree.check()
    player.walk(1)
    player.close()
    assert not verify(world).index


def test_repair_without_model_and_seed_is_refused(world: Path) -> None:
    with sqlite3.connect(world / INDEX) as db:
        db.execute("DELETE FROM about WHERE name = 'model'")
    db.close()
    assert main(["sessions", "verify", "mill", "--repair"]) == 2


def test_exports(world: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    arguments = ["--stills", str(out / "s.png"), "--actions", str(out / "a.jsonl"), "--blocks", str(out / "b")]
    assert main(["sessions", "export", "mill", *arguments]) == 0
    with Image.open(out / "s.png") as sheet:
        assert sheet.size == (7 * 44 - 4, 24)
    lines = [json.loads(line) for line in (out / "a.jsonl").read_text().splitlines()]
    assert lines[0]["kind"] == "world"
    assert lines[0]["seed"] == 7
    assert [line["kind"] for line in lines[1:]].count("chunk") == 10
    with safe_open(str(out / "b" / "blocks-00000.safetensors"), "pt") as file:
        assert len(file.keys()) == 22
        assert file.get_tensor("chunk.0.keys").shape == (1, 16, 2, 32)
    assert main(["sessions", "export", "mill"]) == 2
    assert "Say --video" in said(capsys)


def test_film_is_made_by_playing_again(world: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sessions", "export", "mill", "--video", str(tmp_path / "f.mp4")]) == 0
    assert "11 of 11 chunks came out bit for bit" in said(capsys)
    assert (tmp_path / "f.mp4").stat().st_size > 1000


def test_replay_and_open_by_name(world: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["play", "--headless", "--replay", "mill"]) == 0
    assert "11 of 11 chunks came out bit for bit" in said(capsys)
    assert main(["play", "--headless", "--open", "mill", "--chunks", "2"]) == 0
    assert main(["sessions", "info", "mill"]) == 0
    assert "13 chunks" in said(capsys)
    for wrong in (["--open", "nowhere"], ["--keep", "mill"], ["--open", "mill", "--replay", "mill"], ["--keep", " "]):
        assert main(["play", "--headless", *wrong]) == 2


def test_delete_asks_and_takes_nothing_else(world: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sessions", "delete", "mill"]) == 2
    (world / "letter.txt").write_text("mine")
    assert main(["sessions", "delete", "mill", "--yes"]) == 0
    assert [path.name for path in world.iterdir()] == ["letter.txt"]
    assert main(["sessions", "compact", "mill"]) == 2
