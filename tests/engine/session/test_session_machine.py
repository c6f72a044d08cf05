"""A world's whole life against a dictionary: play, branch, recall, delete, keep, close, die, reopen, damage, compact, in any order."""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

from tests.engine.session.kit import TURN, WALK, Player, config
from worldpager.engine.errors import InputError
from worldpager.engine.mailbox import DeleteBranch, GoTo, Keep, Recall, SetBookmark
from worldpager.engine.session.archive import Archive
from worldpager.engine.session.blocks import KeptBlocks
from worldpager.engine.session.replay import ReplayMailbox
from worldpager.engine.session.upkeep import compact, verify
from worldpager.engine.types import Action

MOST = 40
"""Chunks of a world at most, so that every step is quick."""


@dataclass
class Told:
    """What a world must hold: parent, poses and picture of each chunk; bookmarks; names and forks of branches."""

    chunks: dict[int, tuple[object, ...]] = field(default_factory=dict)
    marks: dict[str, int] = field(default_factory=dict)
    branches: dict[int, tuple[object, ...]] = field(default_factory=dict)

    @classmethod
    def of(cls, player: Player) -> Told:
        session = player.session
        chunks: dict[int, tuple[object, ...]] = {
            chunk.id: (chunk.parent, chunk.number, chunk.poses, chunk.follows, session.picture(chunk.id)) for chunk in session.tree
        }
        marks = {mark.name: mark.chunk for mark in session.view().bookmarks}
        return cls(chunks, marks, {branch.id: (branch.name, branch.fork) for branch in session.view().branches})


class SessionMachine(RuleBasedStateMachine):
    """One world. ``saved`` is what was durable when it was last looked at."""

    def __init__(self) -> None:
        super().__init__()
        self.root = Path(tempfile.mkdtemp())
        self.folder = self.root / "w"
        self.player: Player | None = Player(config())
        self.saved = Told()
        self.damaged: set[int] = set()
        self.deleted: set[int] = set()

    @property
    def kept(self) -> bool:
        return self.player is None or self.player.session.folder is not None

    playing = precondition(lambda self: self.player is not None)
    kept_playing = precondition(lambda self: self.player is not None and self.kept)
    closed = precondition(lambda self: self.player is None)

    def some_chunk(self, data: st.DataObject) -> int:
        assert self.player is not None
        return int(data.draw(st.sampled_from(sorted(self.player.session.tree.chunks))))

    @playing
    @rule(chunks=st.integers(1, 3), action=st.sampled_from([WALK, TURN, Action(turn=-40.0)]))
    def play(self, chunks: int, action: Action) -> None:
        assert self.player is not None
        if len(self.player.session.tree) < MOST:
            before = self.player.session.tree.head
            self.player.walk(chunks, action)
            if not self.damaged:
                assert self.player.session.tree.path()[-1 - chunks].id == before

    @playing
    @rule(data=st.data())
    def go_to(self, data: st.DataObject) -> None:
        assert self.player is not None
        chunk = self.some_chunk(data)
        shown = self.player.send(GoTo(chunk))
        assert shown.snapshot.pose == self.player.session.tree.get(chunk).poses[-1]

    @playing
    @rule(data=st.data())
    def recall(self, data: st.DataObject) -> None:
        assert self.player is not None
        if len(self.player.session.tree) < MOST:
            chunk = self.some_chunk(data)
            self.player.generator.mailbox.send(Recall(chunk))
            shown = self.player.act(Action())
            assert self.damaged or shown.snapshot.pose == self.player.session.tree.get(chunk).poses[-1]

    @playing
    @rule(data=st.data(), name=st.sampled_from("abc"))
    def bookmark(self, data: st.DataObject, name: str) -> None:
        assert self.player is not None
        self.player.send(SetBookmark(name, self.some_chunk(data)))

    @playing
    @rule(data=st.data())
    def delete_branch(self, data: st.DataObject) -> None:
        assert self.player is not None
        before = Told.of(self.player)
        branch = data.draw(st.sampled_from(sorted(before.branches)))
        self.player.send(DeleteBranch(branch))
        after = Told.of(self.player)
        self.deleted |= before.chunks.keys() - after.chunks.keys()
        assert {chunk: before.chunks[chunk] for chunk in after.chunks} == after.chunks

    @precondition(lambda self: self.player is not None and not self.kept)
    @rule()
    def keep(self) -> None:
        assert self.player is not None
        self.player.send(Keep(self.folder))
        assert self.player.session.folder == self.folder

    @kept_playing
    @rule()
    def settle(self) -> None:
        assert self.player is not None
        self.player.settle()
        self.saved = Told.of(self.player)
        self.deleted.clear()

    @kept_playing
    @rule()
    def close(self) -> None:
        assert self.player is not None
        self.saved = Told.of(self.player)
        self.deleted.clear()
        self.player.close()
        self.player = None

    @kept_playing
    @rule()
    def die(self) -> None:
        assert self.player is not None
        latest = Told.of(self.player)
        self.player.die()
        self.player = None
        self.check_after_death(latest)

    def check_after_death(self, latest: Told) -> None:
        """What lies in the folder is between what was saved and what was played."""
        try:
            found = Archive.peek(self.folder)
        except InputError:
            assert not self.saved.chunks
            shutil.rmtree(self.folder, ignore_errors=True)
            self.player = Player(config())
            return
        numbers = {chunk.id for chunk in found.chunks}
        assert self.saved.chunks.keys() - self.deleted <= numbers
        for chunk in found.chunks:
            known = latest.chunks.get(chunk.id) or self.saved.chunks.get(chunk.id)
            assert known is not None, f"chunk {chunk.id} was never played"
            assert known[:4] == (chunk.parent, chunk.number, chunk.poses, chunk.follows)
        if not found.chunks:
            shutil.rmtree(self.folder)
            self.player = Player(config())

    @closed
    @rule()
    def reopen(self) -> None:
        self.player = Player(config(self.folder))
        self.player.session.tree.check()
        now = Told.of(self.player)
        if not self.deleted:
            assert self.saved.chunks.items() <= now.chunks.items()
        lost = {chunk.id for chunk in self.player.session.tree if chunk.block is None}
        assert lost <= self.damaged, "only damaged blocks may be lost"

    @closed
    @rule(data=st.data())
    def damage(self, data: st.DataObject) -> None:
        blocks = KeptBlocks(self.folder)
        owned = {chunk.block: chunk.id for chunk in Archive.peek(self.folder).chunks if chunk.block in blocks.rows}
        owned = {block: chunk for block, chunk in owned.items() if chunk not in self.damaged}
        if owned:
            block = data.draw(st.sampled_from(sorted(owned)))
            assert block is not None
            place = blocks.rows[block][0] * blocks.slot_bytes + 4096 + 7
            with (self.folder / "blocks.arena").open("r+b") as file:
                file.seek(place)
                byte = file.read(1)
                file.seek(place)
                file.write(bytes([byte[0] ^ 0x5A]))
            self.damaged.add(owned[block])
        blocks.close()
        self.check_verdict()

    @closed
    @rule()
    def compact(self) -> None:
        compact(self.folder)
        self.check_verdict()
        blocks = KeptBlocks(self.folder)
        assert blocks.arena_bytes == len(blocks.rows) * blocks.slot_bytes
        blocks.close()

    def check_verdict(self) -> None:
        verdict = verify(self.folder)
        assert set(verdict.damaged) <= self.damaged
        assert set(verdict.missing) <= self.damaged, "a block that came back damaged three times is given up"
        assert not verdict.index

    @playing
    @rule()
    def replay_is_the_same(self) -> None:
        """What was played undamaged comes out again bit for bit."""
        if self.damaged or not self.kept or self.player is None:
            return
        self.close()
        again = Player(config(replay=self.folder))
        mailbox = again.generator.mailbox
        assert isinstance(mailbox, ReplayMailbox)
        while not mailbox.replay.over:
            again.generator.step()
        same, compared = mailbox.replay.same(again.session)
        again.close()
        assert same == compared == len(self.saved.chunks)

    @invariant()
    def everything_adds_up(self) -> None:
        if self.player is not None:
            self.player.session.tree.check()
            self.player.generator._memory.check()  # type: ignore[attr-defined]

    def teardown(self) -> None:
        if self.player is not None:
            self.player.close()
        shutil.rmtree(self.root, ignore_errors=True)


def run(examples: int, steps: int) -> None:
    phases = (Phase.explicit, Phase.generate)  # shrinking would take minutes: every step writes to the drive
    machine = settings(max_examples=examples, stateful_step_count=steps, suppress_health_check=list(HealthCheck), phases=phases)
    run_state_machine_as_test(SessionMachine, settings=machine)


@pytest.mark.slow
def test_session_machine() -> None:
    """Slow: real files, synchronised to the drive."""
    run(6, 16)


@pytest.mark.stress
@pytest.mark.timeout(3600)
def test_session_machine_for_long() -> None:
    run(200, 60)
