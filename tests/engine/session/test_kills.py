"""Death at every write of a save and of compacting, and of whole programs at random: what lies there afterwards is always a world."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.engine.session.kit import Player, config
from worldpager.engine.errors import InputError
from worldpager.engine.mailbox import DeleteBranch, GoTo
from worldpager.engine.session import archive
from worldpager.engine.session.archive import Archive, Entry
from worldpager.engine.session.branch import ChunkTree
from worldpager.engine.session.upkeep import compact, verify
from worldpager.engine.types import BlockId, Pose

HERE = (Pose(1.0, 2.0, 0.5, 0.1, 0.0),)
PROGRAM = """
import sys
from pathlib import Path
from tests.engine.session.kit import Player, config
player = Player(config(Path(sys.argv[1])))
print("playing", flush=True)
while True:
    player.act()
"""


class Killed(BaseException):
    """No handler catches it, as none catches a kill."""


class Countdown:
    """Raises at its ``at``-th call."""

    def __init__(self, at: int) -> None:
        self.at, self.calls = at, 0

    def __call__(self, step: str) -> None:
        self.calls += 1
        if self.calls == self.at:
            raise Killed(step)


def entries(tree: ChunkTree, count: int) -> list[Entry]:
    """So many new chunks, each with branch, picture, action and head."""
    made = []
    for _ in range(count):
        chunk, begun = tree.grow(BlockId(len(tree)), HERE, 1.0, False, None, 0.0)
        rows = [] if begun is None else [archive.branch_row(begun)]
        rows += [archive.chunk_rows(chunk), archive.picture_row(chunk.id, b"jpeg"), archive.about_row("head", chunk.id)]
        made.append(Entry((*rows, archive.action_row("chunk", {"chunk": chunk.id}))))
    return made


def test_death_at_every_step_of_a_save_leaves_all_or_nothing_of_it(tmp_path: Path) -> None:
    steps = 0
    for at in range(1, 1000):
        folder = tmp_path / str(at)
        before = Countdown(at)
        tree, committed = ChunkTree(), 0
        kept = None
        try:
            kept = Archive.create(folder, {"model": "m"}, before=before)
            for _ in range(2):
                batch = entries(tree, 2)
                kept.commit(batch)
                committed += 2
        except Killed:
            steps += 1
        if kept is not None:
            kept._lock.release()  # the system does so; the database is left as it lies
        try:
            found = Archive.peek(folder)
        except InputError:
            assert committed == 0
            Archive.create(folder, {"model": "m"}).close()  # half a beginning is in nobody's way
            continue
        finally:
            if kept is not None:
                kept._db.close()
        assert committed <= len(found.chunks) <= committed + 2
        assert len(found.chunks) % 2 == 0
        assert found.about["head"] == (found.chunks[-1].id if found.chunks else None)
        ChunkTree(found.chunks, found.branches).check()
        if before.calls < at:
            break
    assert steps > 20


def branched(folder: Path) -> None:
    player = Player(config(folder))
    player.walk(6)
    player.send(GoTo(2))
    player.walk(3)
    player.settle()
    player.send(DeleteBranch(1))
    player.settle()
    player.generator._world.poll()
    player.close()


def test_death_at_every_step_of_compacting_loses_nothing(tmp_path: Path) -> None:
    branched(tmp_path / "w")
    whole = Archive.peek(tmp_path / "w")
    # gaps at the front of the arena, as deletions leave them in a world that is still played
    steps = 0
    for at in range(1, 1000):
        folder = tmp_path / f"c{at}"
        shutil.copytree(tmp_path / "w", folder)
        before = Countdown(at)
        try:
            compact(folder, before)
        except Killed:
            steps += 1
        assert verify(folder).whole, f"after death at step {at}"
        assert Archive.peek(folder).chunks == whole.chunks
        compact(folder)
        assert verify(folder).whole
        player = Player(config(folder))
        player.walk(1)
        player.close()
        shutil.rmtree(folder)
        if before.calls < at:
            break
    assert steps >= 5


def murder(folder: Path, rounds: int, draw: random.Random) -> int:
    """Play in a program of its own, kill it at a random moment, look at what is left; again and again. Returns the chunks at the end."""
    known = 0
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, (str(Path.cwd()), os.environ.get("PYTHONPATH", ""))))}
    for _ in range(rounds):
        with subprocess.Popen([sys.executable, "-c", PROGRAM, str(folder)], stdout=subprocess.PIPE, env=environment) as program:
            assert program.stdout is not None
            assert program.stdout.readline() == b"playing\n"
            time.sleep(draw.uniform(0.0, 0.4))
            program.send_signal(signal.SIGKILL)
        verdict = verify(folder)
        assert not verdict.damaged
        assert not verdict.missing
        assert not verdict.index
        assert verdict.chunks >= known, "what was once there stays"
        known = verdict.chunks
        player = Player(config(folder))
        player.session.tree.check()
        assert len(player.session.tree) == known
        player.walk(1)
        player.close()
        known += 1
    return known


@pytest.mark.slow
def test_killed_programs_leave_whole_worlds(tmp_path: Path) -> None:
    """Slow: every round starts a program that loads torch."""
    player = Player(config(tmp_path / "w"))
    player.walk(1)
    player.close()
    assert murder(tmp_path / "w", 3, random.Random(1)) > 5


@pytest.mark.stress
@pytest.mark.timeout(7200)
def test_two_hundred_kills(tmp_path: Path) -> None:
    player = Player(config(tmp_path / "w"))
    player.close()
    assert murder(tmp_path / "w", 200, random.Random()) > 200
