from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.engine.session.kit import OPTIONS, TURN, WALK, Player, config
from worldpager.engine.errors import InputError, WorldPagerError
from worldpager.engine.mailbox import DeleteBranch, ForgetBookmark, GoTo, Keep, NewWorld, Recall, RenameBranch, Reset, SetBookmark
from worldpager.engine.session.archive import FORMAT, INDEX
from worldpager.engine.session.catalogue import describe, kept_worlds
from worldpager.engine.session.replay import ReplayMailbox
from worldpager.engine.session.window import WINDOW
from worldpager.engine.types import Action

Play = Callable[..., Player]


@pytest.fixture
def play() -> Iterator[Play]:
    made: list[Player] = []

    def open_one(*args: object, **changes: object) -> Player:
        made.append(Player(config(*args, **changes)))  # type: ignore[arg-type]
        return made[-1]

    yield open_one
    for player in made:
        player.close()


# Keep and reopen


def test_a_reopened_world_goes_on_as_if_it_had_never_stopped(play: Play, tmp_path: Path) -> None:
    always = play().walk(12)
    first = play(tmp_path / "w")
    assert first.walk(7) == always[:7]
    first.close()
    again = play(tmp_path / "w")
    assert again.shown.snapshot.chunk == 8
    assert again.shown.snapshot.pose == first.shown.snapshot.pose
    assert again.walk(5) == always[7:]


def test_a_scratch_world_leaves_nothing(play: Play, tmp_path: Path) -> None:
    play().walk(3)
    assert not list(tmp_path.iterdir())


def test_keep_while_playing_saves_what_was_played_before(play: Play, tmp_path: Path) -> None:
    player = play()
    player.walk(4)
    player.send(SetBookmark("gate", 2))
    player.send(GoTo(1))
    player.walk(2)
    player.send(Keep(tmp_path / "w"))
    player.walk(3)
    before = player.session.view()
    player.close()
    again = play(tmp_path / "w")
    view = again.session.view()
    assert (view.chunks, view.branches, view.head, view.path) == (before.chunks, before.branches, before.head, before.path)
    assert [mark.name for mark in view.bookmarks] == ["gate"]
    assert all(again.session.picture(chunk) for chunk in view.chunks)
    again.walk(1)


def test_a_folder_that_holds_a_world_is_no_place_to_keep_another(play: Play, tmp_path: Path) -> None:
    first = play(tmp_path / "w")
    first.walk(1)
    first.close()
    other = play()
    other.walk(1)
    other.send(Keep(tmp_path / "w"))
    assert "holds a world already" in other.act().snapshot.degraded[0]
    assert other.session.folder is None
    other.send(Keep(tmp_path / "v"))
    assert other.act().snapshot.degraded == ()


def test_reset_of_a_kept_world_is_a_new_branch_and_another_world_is_refused(play: Play, tmp_path: Path) -> None:
    player = play(tmp_path / "w", prime=True)
    player.walk(3)
    player.send(Reset())
    assert player.shown.snapshot.chunk == 13
    player.walk(1)
    assert len(player.session.view().branches) == 2
    player.send(NewWorld(99))
    assert player.act().snapshot.seed == 7
    assert any("stays what it is" in note for note in player.shown.snapshot.degraded)


def test_killed_between_two_chunks_the_world_is_what_was_committed(play: Play, tmp_path: Path) -> None:
    player = play(tmp_path / "w")
    player.walk(5)
    player.settle()
    player.walk(2)
    player.die()
    again = play(tmp_path / "w")
    assert 6 <= again.shown.snapshot.chunk <= 8
    again.session.tree.check()
    assert not (tmp_path / "w" / WINDOW).exists(), "its window is rebuilt from blocks"
    again.walk(2)


# Rewind, branches, recall


def test_going_back_shows_the_picture_at_once_and_play_forks(play: Play) -> None:
    player = play()
    frames = player.walk(6)
    shown = player.send(GoTo(3))
    assert shown.frames.shape == (1, 24, 40, 3)
    assert shown.snapshot.chunk == 4
    assert sorted(shown.snapshot.block_map.ids) == [0, 1, 2, 3], "memory of what hasn't happened yet plays no part"
    assert player.walk(3) == frames[3:], "the same steps give the same world"
    view = player.session.view()
    assert [(branch.name, branch.fork) for branch in view.branches] == [("main", None), ("branch 2", 3)]
    player.send(GoTo(6))
    assert player.session.view().branch == 1
    assert player.shown.snapshot.chunk == 7


def test_scrubbing_leaves_no_trace(play: Play) -> None:
    player = play()
    player.walk(6)
    for chunk in (5, 4, 3, 4, 6):
        player.send(GoTo(chunk))
    player.walk(1)
    assert len(player.session.view().branches) == 1


def test_deleting_a_branch_frees_its_own_blocks_alone(play: Play, tmp_path: Path) -> None:
    player = play(tmp_path / "w")
    player.walk(5)
    player.send(GoTo(2))
    player.walk(4)
    player.settle()
    player.send(DeleteBranch(2))
    assert "stand on this branch" in player.act().snapshot.degraded[0]
    player.send(GoTo(5))
    player.send(RenameBranch(2, "the other street"))
    player.send(DeleteBranch(2))
    player.settle()
    player.generator._world.poll()
    memory = player.generator._memory
    assert memory.counters().blocks == len(player.session.tree) == 6
    memory.check()  # type: ignore[attr-defined]
    player.close()
    again = play(tmp_path / "w")
    assert sorted(again.session.tree.chunks) == [0, 1, 2, 3, 4, 5]
    again.walk(1)
    assert again.session.tree.head == 11, "numbers are never used twice"


def test_recall_stands_at_the_place_and_history_goes_on(play: Play) -> None:
    player = play()
    player.walk(9)
    player.send(SetBookmark("gate", 2))
    there = player.session.tree.get(2).poses[-1]
    player.generator.mailbox.send(Recall(2))
    player.generator._rest_when_idle = True
    player.generator.step()
    assert player.shown.snapshot.pose == there, "made without a key held"
    assert player.shown.snapshot.chunk == 11
    assert player.session.tree.get(10).parent == 9
    assert player.session.tree.get(10).follows == 2
    player.send(ForgetBookmark("gate"))
    assert not player.session.view().bookmarks


def test_what_is_not_there_is_said_and_changes_nothing(play: Play) -> None:
    player = play()
    player.walk(2)
    before = player.session.view()
    for command in (GoTo(77), Recall(77), DeleteBranch(9), SetBookmark(" "), SetBookmark("x", 77), RenameBranch(9, "x")):
        player.send(command)
        player.generator._refresh()
        assert player.shown.snapshot.degraded, command
    assert player.session.view() == before
    player.walk(1)
    assert player.shown.snapshot.degraded, "until something else is done"


def test_blocks_lost_under_the_window_are_replaced_by_older_ones(play: Play) -> None:
    player = play()
    player.walk(6)
    tree = player.session.tree
    player.generator._memory.drop([tree.get(4).block, tree.get(3).block])
    player.send(GoTo(4))
    player.walk(1)
    assert player.shown.snapshot.chunk == 6
    player.generator._memory.drop([chunk.block for chunk in tree if chunk.block is not None])
    player.send(GoTo(3))
    player.act()
    assert "is lost" in player.shown.snapshot.degraded[-1]


# Not to be opened


def made(play: Play, folder: Path, chunks: int = 4) -> Path:
    player = play(folder)
    player.walk(chunks)
    player.close()
    return folder


def test_two_programs_on_one_world(play: Play, tmp_path: Path) -> None:
    player = play(tmp_path / "w")
    player.walk(1)
    with pytest.raises(InputError, match="being played already"):
        play(tmp_path / "w")
    assert describe(tmp_path / "w").problem == "being played"
    player.walk(1)


def test_newer_format_is_refused_by_name(play: Play, tmp_path: Path) -> None:
    folder = made(play, tmp_path / "w")
    with sqlite3.connect(folder / INDEX) as db:
        db.execute(f"PRAGMA user_version={FORMAT + 1}")
    db.close()
    with pytest.raises(InputError, match=f"has format {FORMAT + 1}"):
        play(folder)
    assert "has format" in describe(folder).problem


def test_other_weights_or_settings_are_refused(play: Play, tmp_path: Path) -> None:
    folder = made(play, tmp_path / "w")
    with sqlite3.connect(folder / INDEX) as db:
        about = dict(db.execute("SELECT name, value FROM about"))
        other = json.dumps({**json.loads(about["fingerprint"]), "weights": "x"})
        db.execute("UPDATE about SET value = ? WHERE name = 'fingerprint'", (other,))
    db.close()
    with pytest.raises(InputError, match="other weights"):
        play(folder)
    with sqlite3.connect(folder / INDEX) as db:
        db.execute("UPDATE about SET value = ? WHERE name = 'options'", (json.dumps({**OPTIONS, "width": "44"}),))
        db.execute("UPDATE about SET value = ? WHERE name = 'fingerprint'", (about["fingerprint"],))
    db.close()
    with pytest.raises(InputError, match="other settings"):
        play(folder)
    with sqlite3.connect(folder / INDEX) as db:
        db.execute("UPDATE about SET value = '\"wan\"' WHERE name = 'model'")
    db.close()
    with pytest.raises(InputError, match="no model 'wan'"):
        play(folder)


@pytest.mark.parametrize("rubbish", [b"", b"not a database at all" * 100])
def test_an_index_that_is_none_is_refused(play: Play, tmp_path: Path, rubbish: bytes) -> None:
    folder = made(play, tmp_path / "w")
    (folder / INDEX).write_bytes(rubbish)
    with pytest.raises(WorldPagerError):
        play(folder)
    assert describe(folder).problem


def test_half_copied_arena_loses_the_blocks_beyond_its_end(play: Play, tmp_path: Path) -> None:
    folder = made(play, tmp_path / "w", 8)
    arena = folder / "blocks.arena"
    with arena.open("r+b") as file:
        file.truncate(arena.stat().st_size // 2)
    again = play(folder)
    kept = [chunk for chunk in again.session.tree if chunk.block is not None]
    assert 0 < len(kept) < 9
    again.walk(2)


def test_copied_folder_opens_elsewhere(play: Play, tmp_path: Path) -> None:
    folder = made(play, tmp_path / "w", 6)
    shutil.copytree(folder, tmp_path / "copy")
    here, there = play(folder), play(tmp_path / "copy")
    assert here.walk(3) == there.walk(3)


def test_damaged_window_is_rebuilt(play: Play, tmp_path: Path) -> None:
    folder = made(play, tmp_path / "w", 6)
    (folder / WINDOW).write_bytes(b"\xff" * 50)
    again = play(folder)
    again.act(WALK)
    assert again.shown.snapshot.chunk == 8


# Replay


def test_moves_before_the_first_chunk_are_replayed_before_it(play: Play, tmp_path: Path) -> None:
    player = play()
    player.send(GoTo(0))
    player.send(Keep(tmp_path / "w"))
    player.generator.mailbox.send(Recall(0))
    player.act(Action())
    player.walk(2)
    player.close()
    again = play(replay=tmp_path / "w")
    mailbox = again.generator.mailbox
    assert isinstance(mailbox, ReplayMailbox)
    while not mailbox.replay.over:
        again.generator.step()
    assert mailbox.replay.same(again.session) == (4, 4)
    assert len(again.session.tree) == 4


# The catalogue


def test_catalogue_lists_what_there_is(play: Play, tmp_path: Path) -> None:
    assert kept_worlds(tmp_path / "nowhere") == []
    made(play, tmp_path / "one", 2)
    made(play, tmp_path / "two", 3)
    (tmp_path / "three").mkdir()
    worlds = kept_worlds(tmp_path)
    assert [world.name for world in worlds] == ["two", "one"]
    assert (worlds[0].model, worlds[0].seed, worlds[0].chunks, worlds[0].branches) == ("stand-in", 7, 4, 1)
    assert worlds[0].seconds == pytest.approx(4 * 4 / 16)
    assert worlds[0].thumbnail.startswith(b"\xff\xd8")
    assert worlds[0].size > 0
    assert not worlds[0].problem


def test_idle_kept_world_with_turns(play: Play, tmp_path: Path) -> None:
    player = play(tmp_path / "w")
    player.act(Action(turn=400.0))
    player.act(TURN)
    player.settle()
    assert player.session.committer is not None
    assert player.session.committer.commits > 0
