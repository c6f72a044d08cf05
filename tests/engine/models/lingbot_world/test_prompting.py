from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from torch import Tensor

from worldpager.engine.errors import InputError, WeightsError
from worldpager.engine.models.lingbot_world.adapter import SMALLEST
from worldpager.engine.models.lingbot_world.prompting import Prompting
from worldpager.engine.models.wan import prompts
from worldpager.engine.models.wan.prompts import Encoder

ENCODER = Encoder(Path("encoder"), Path("tokenizer"))


@pytest.fixture(autouse=True)
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path


class SlowEncoder:
    """Stands in for the encoder: goes on when it is let."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.go, self.begun = threading.Event(), threading.Event()
        self.fails = False
        monkeypatch.setattr(prompts, "encode", self.encode)

    def encode(self, prompt: str, encoder: Encoder, tell: prompts.Tell) -> Tensor:
        tell(0.5)
        self.begun.set()
        assert self.go.wait(10)
        if self.fails:
            raise WeightsError("The encoder is damaged.")
        tell(1.0)
        return torch.full((2, 4), float(len(prompt)))


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> SlowEncoder:
    return SlowEncoder(monkeypatch)


@pytest.fixture
def prompting_() -> Iterator[Prompting]:
    made = Prompting(ENCODER, 4)
    yield made
    made.close()


def finished(work: Prompting) -> None:
    assert work._thread is not None
    work._thread.join(10)


def test_a_new_text_is_taken_when_it_is_encoded_and_told_meanwhile(prompting_: Prompting, slow: SlowEncoder) -> None:
    prompting_.ask("castle")
    assert slow.begun.wait(10)
    assert prompting_.take() is None
    assert "50%" in prompting_.notes[0]
    slow.go.set()
    finished(prompting_)
    ready = prompting_.take()
    assert ready is not None
    assert ready.flatten().tolist() == [6.0] * 8
    assert prompting_.take() is None
    assert prompting_.notes == ()


def test_a_kept_text_is_taken_at_once_and_stops_what_is_under_way(prompting_: Prompting, slow: SlowEncoder) -> None:
    prompts.keep_prompt("river", torch.ones(1, 4), prompts.prompt_file("river"))
    prompting_.ask("castle")
    assert slow.begun.wait(10)
    slow.go.set()
    prompting_.ask("river")
    ready = prompting_.take()
    assert ready is not None
    assert ready.tolist() == [[1.0] * 4]


def test_a_failure_is_said_and_nothing_is_taken(prompting_: Prompting, slow: SlowEncoder) -> None:
    slow.fails = True
    slow.go.set()
    prompting_.ask("castle")
    finished(prompting_)
    assert prompting_.take() is None
    assert "damaged" in prompting_.notes[0]


def test_without_an_encoder_a_new_text_is_refused_and_an_empty_one_heard() -> None:
    work = Prompting(None, 4)
    with pytest.raises(InputError, match="not been encoded"):
        work.ask("castle")
    work.ask("")
    ready = work.take()
    assert ready is not None
    assert ready.shape == (0, 4)


def test_another_prompt_changes_what_is_made() -> None:
    model = SMALLEST.load({"random-weights": "yes", "size": "small"}, torch.device("cpu"))
    first = next(iter(model.begin(3, prime=False)))
    prompts.keep_prompt("river", torch.ones(3, 64), prompts.prompt_file("river"))
    model.hear("river")
    second = next(iter(model.begin(3, prime=False)))
    third = next(iter(model.begin(3, prime=False)))
    assert not torch.equal(first.kv.values, second.kv.values)
    assert torch.equal(second.kv.values, third.kv.values)
    model.close()
