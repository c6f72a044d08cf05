"""The demo's tour on the stand-in: every mode in turn, world after world, and nothing grows however often it goes round."""

from __future__ import annotations

import gc
import tracemalloc
from pathlib import Path

import pytest

from tests.helpers.clocks import HandClock, HandMailbox
from tests.helpers.streets import CPU, SMALL, block_store
from worldpager.app.memory_view.modes import MODES
from worldpager.app.memory_view.story import MemoryStory
from worldpager.app.memory_view.tour import WALK, Scene, Tour
from worldpager.engine.build import make_policies
from worldpager.engine.config import PlayConfig
from worldpager.engine.generator import WorldGenerator
from worldpager.engine.models.stand_in import StandIn
from worldpager.engine.pose.script import Leg
from worldpager.engine.types import Button

SHORT = (Scene("out", (Leg(0.5, Button.FORWARD), Leg(0.5, turn=360))), Scene("back", (Leg(0.5, Button.FORWARD), Leg(0.5, turn=360))))


class Demo:
    """A street on hand-turned time with the tour at the wheel."""

    def __init__(self, disk: Path, walk: tuple[Scene, ...] = SHORT, *, prime: bool = False) -> None:
        model, clock = StandIn(SMALL, CPU), HandClock()
        store = block_store(20 * 13 * 1024, disk)
        policies = make_policies(model.spec.view, store.copies_of)
        config = PlayConfig(model="stand-in", prime=prime, rest_when_idle=False, seed=7)
        self.street = WorldGenerator(model, store, policies, config, clock=clock, mailbox=HandMailbox(clock))
        self.tour = Tour(7, SMALL.frames / SMALL.rate, walk)
        self.story = MemoryStory(kept=64)
        self.seen: list[tuple[str, int]] = []

    def step(self) -> None:
        """One chunk of the street, one turn of the tour."""
        self.street.step()
        chunk = self.street.mailbox.frames.newest()
        assert chunk is not None
        self.story.take(chunk)
        action, commands = self.tour.next(chunk)
        if action is not None:
            self.street.mailbox.put_action(action)
        for command in commands:
            self.street.mailbox.send(command)
        state = (chunk.snapshot.policy, chunk.snapshot.seed)
        if not self.seen or self.seen[-1] != state:
            self.seen.append(state)

    def acts(self, until: int) -> None:
        """Go on until act number ``until`` has begun."""
        for _ in range(5000):
            if self.tour.act >= until:
                return
            self.step()
        raise AssertionError(f"act {until} never came")


@pytest.mark.parametrize("prime", [False, True])
def test_each_world_is_walked_in_every_mode(tmp_path: Path, prime: bool) -> None:
    demo = Demo(tmp_path, prime=prime)
    try:
        demo.acts(7)
        modes = [mode.policy for mode in MODES]
        assert demo.seen[1:8] == [(mode, 7) for mode in modes] + [(mode, 12) for mode in modes] + [(modes[0], 23)][: len(demo.seen) - 7]
    finally:
        demo.street.close()


def test_the_walk_ends_where_it_began(tmp_path: Path) -> None:
    demo = Demo(tmp_path, WALK)
    try:
        demo.acts(0)
        places = []
        while demo.tour.act < 1:
            demo.step()
            if demo.tour.words:
                assert demo.street.mailbox.frames.newest() is not None
                places.append(demo.story.rows[-1])
        first, last = places[0], places[-1]
        assert (last.x, last.y) == pytest.approx((first.x, first.y), abs=0.05)
        assert any(abs(row.x - first.x) + abs(row.y - first.y) > 3 for row in places)
        assert sum(score.count for score in demo.story.scores[0].likeness) > 10
    finally:
        demo.street.close()


@pytest.mark.slow  # memory is traced over hundreds of chunks
def test_nothing_grows_over_many_rounds(tmp_path: Path) -> None:
    """What is alive after 6 acts and after 24 differs by less than a few chunks would take."""
    demo = Demo(tmp_path)
    try:
        demo.acts(6)
        gc.collect()
        tracemalloc.start()
        before = tracemalloc.take_snapshot()
        demo.acts(24)
        gc.collect()
        after = tracemalloc.take_snapshot()
        tracemalloc.stop()
        grown = sum(line.size_diff for line in after.compare_to(before, "filename"))
        assert len(demo.story.rows) == 64
        assert demo.story.remembered_sights < 200
        assert grown < 600_000, f"{grown} bytes more"
        assert demo.tour.cycle == 1
    finally:
        demo.street.close()
