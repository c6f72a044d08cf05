"""A workspace in a folder: what was added is there again, whatever ended the program."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from tests.engine.workspace.kit import CPU, mean_k, settings
from tests.helpers.lookup_lm import lookup_lm
from tests.helpers.tiny_lm import tiny_lm
from worldpager.engine.errors import InputError, TierError
from worldpager.engine.memory.store import BlockStore
from worldpager.engine.models.causal_lm.load import LoadedLM
from worldpager.engine.models.causal_lm.rotary import rotary_spec
from worldpager.engine.workspace.config import BLOCK_TOKENS
from worldpager.engine.workspace.workspace import Workspace

TEXT = "some words that say nothing at all; " * 40 + "the digit is 7" + " and some more that say nothing" * 40


@contextmanager
def opened(folder: Path, lm: LoadedLM | None = None, prototypes: int = 1) -> Iterator[Workspace]:
    """The workspace, caught up; closed at the end."""
    lm = lm or lookup_lm()
    config = settings(folder)
    config = replace(config, memory=replace(config.memory, keep=True, disk_budget=1 << 26))
    c = lm.model.config
    store = BlockStore(config.memory, c.block(BLOCK_TOKENS), rotary_spec(c.head_dim, c.rope_base, BLOCK_TOKENS), CPU)
    try:
        made = Workspace(folder, lm, store, mean_k(lm, prototypes), config)
        for _ in made.catch_up():
            pass
        yield made
        store.check()
        assert made.close() == 0
    finally:
        store.close()


def add(made: Workspace, name: str = "a.txt", text: str = TEXT) -> None:
    for _ in made.add(name, text):
        pass


def test_a_reopened_workspace_answers_as_before(tmp_path: Path) -> None:
    with opened(tmp_path) as made:
        add(made)
        tokens = list(made.street.repository.tokens)
    with opened(tmp_path) as made:
        assert list(made.street.repository.tokens) == tokens
        assert made.opened.adopted == len(tokens) // 32
        assert made.opened.unread < 32
        assert made.opened.rebuilt == made.opened.lost == 0
        assert "".join(made.ask("which digit")) == "7"
    with opened(tmp_path) as made:
        assert [(part.name, part.kind) for part in made.parts()] == [("", "opening"), ("a.txt", "source"), ("which digit", "turn")]
        assert made.verify() == (len(made.street.repository.blocks), [])


def test_saved_index_rows_are_the_rows_that_were(tmp_path: Path) -> None:
    with opened(tmp_path, tiny_lm(context=4096), prototypes=4) as made:
        add(made)
        index = made.street.policy.index  # type: ignore[attr-defined]
        before = {number: index.saved(number) for number in made.street.repository.blocks}
    with opened(tmp_path, tiny_lm(context=4096), prototypes=4) as made:
        index = made.street.policy.index  # type: ignore[attr-defined]
        assert {number: index.saved(number) for number in before} == before
    with opened(tmp_path, tiny_lm(context=4096), prototypes=1) as made:  # rows of another index are reckoned anew
        assert made.opened.rebuilt == len(before)
        assert len(made.street.policy) == len(made.street.repository.blocks)


def test_a_source_whose_reading_was_broken_off_is_read_to_its_end(tmp_path: Path) -> None:
    with opened(tmp_path) as made:
        reading = made.add("a.txt", TEXT)
        next(reading)
        next(reading)
        reading.close()  # type: ignore[attr-defined]
    with opened(tmp_path) as made:
        assert made.opened.unread > 1000
        assert "".join(made.ask("which digit")) == "7"


KILLED = """
import sys
from pathlib import Path
from tests.engine.workspace.test_workspace import TEXT, opened
with opened(Path(sys.argv[1])) as made:
    for number in range(100):
        for done, _ in made.add("x" * (number + 1), TEXT):
            print(made.street.repository.tokens.buffer_info()[1], flush=True)
"""


@pytest.mark.slow  # another interpreter loads torch and is killed
@pytest.mark.parametrize("lines", [3, 60])
def test_a_killed_program_loses_nothing_that_was_added(lines: int, tmp_path: Path) -> None:
    root = Path(__file__).parents[3]
    command, paths = [sys.executable, "-c", KILLED, str(tmp_path)], os.environ | {"PYTHONPATH": str(root)}
    child = subprocess.Popen(command, cwd=root, stdout=subprocess.PIPE, env=paths, text=True)
    assert child.stdout is not None
    for _ in range(lines):
        child.stdout.readline()
    child.send_signal(signal.SIGKILL)
    child.wait()
    child.stdout.close()
    with opened(tmp_path) as made:
        sources = [part for part in made.parts() if part.kind == "source"]
        assert sources
        assert len(made.street.repository.tokens) == sum(part.count for part in made.parts())
        text = made.street.lm.tokenizer.decode(made.street.repository.tokens)
        assert text.count("the digit is 7") == len(sources)
        sound, bad = made.verify()
        assert sound == len(made.street.repository.tokens) // 32
        assert not bad
        assert "".join(made.ask("which digit")) == "7"


def test_damaged_blocks_are_found_and_left_out(tmp_path: Path) -> None:
    with opened(tmp_path) as made:
        add(made)
    arena = tmp_path / "blocks.arena"
    with arena.open("r+b") as file:
        size = arena.stat().st_size
        for at in range(0, size, 4096):
            if at > size // 2:
                file.seek(at + 100)
                file.write(b"damage" * 20)
    with opened(tmp_path) as made:
        sound, bad = made.verify()
        assert bad
        assert sound > 0
        list(made.ask("which digit"))


def test_another_model_is_refused(tmp_path: Path) -> None:
    with opened(tmp_path, tiny_lm(0, context=4096)) as made:
        add(made)
    with pytest.raises(InputError, match="another model"), opened(tmp_path, tiny_lm(1, context=4096)):
        pass


def test_two_programs_do_not_share_a_workspace(tmp_path: Path) -> None:
    with opened(tmp_path), pytest.raises(TierError), opened(tmp_path):
        pass
