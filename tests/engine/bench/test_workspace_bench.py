"""The workspace measurements run to their end on small models; tasks score exactly."""

from __future__ import annotations

import pytest

from tests.helpers.tiny_lm import tiny_lm
from worldpager.engine.bench import workspace, workspace_scale
from worldpager.engine.bench._workspace_tasks import Task, needle, sessions


@pytest.mark.parametrize(
    ("said", "right"),
    [("It is 12345.", True), ("12345", True), ("123456", False), ("", False), ("54321, or 12345", False), ("12345, not 54321", True)],
)
def test_answers_are_scored_by_the_whole_word(said: str, right: bool) -> None:
    assert Task("needle", (), "?", "12345", ("54321",)).right(said) == right


def test_tasks_are_the_same_for_the_same_seed_and_hold_their_facts() -> None:
    for kind in ("single", "update", "order", "multi"):
        task = sessions(3, 8000, kind)
        assert task == sessions(3, 8000, kind)
        history = "".join(task.pieces)
        assert all(fact in history for fact in task.gold)
        assert any(task.answer in fact for fact in task.gold)
    early, late = needle(1, 6000, 0.1), needle(1, 6000, 0.9)
    places = ["".join(task.pieces).index(task.gold[0]) / len("".join(task.pieces)) for task in (early, late)]
    assert places[0] < 0.2
    assert places[1] > 0.8


def test_every_way_answers_a_small_task() -> None:
    lm = tiny_lm(context=8192)
    task = workspace.make_task(lm, "single", 0, 1500, 4)
    trials = workspace.run_task(lm, task, 1500, ["full", *workspace.TEXT_WAYS, *workspace.POLICIES], 640, [16])
    assert [trial.way for trial in trials] == ["full", *workspace.TEXT_WAYS, *workspace.POLICIES]
    masses = {trial.way: trial.mass for trial in trials}
    assert all(0 < masses[way] <= 1 for way in workspace.POLICIES)
    assert masses["rescored"] > masses["random"]
    workspace.table(trials)


@pytest.mark.slow  # a model of 1.9 M numbers reads 2,000 tokens and answers 12 times
def test_scale_runs_reduced(capsys: pytest.CaptureFixture[str]) -> None:
    assert workspace_scale.main(["--tokens", "1200", "--blocks", "200"]) == 0
    assert "stand-in of 200 blocks" in capsys.readouterr().out
