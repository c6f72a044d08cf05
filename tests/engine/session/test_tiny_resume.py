"""Going on from stored chunks with the real model: the window put back equals the window as it was."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from tests.engine.session.kit import TURN
from worldpager.engine.build import build_generator, default_config
from worldpager.engine.config import PlayConfig
from worldpager.engine.generator import WorldGenerator
from worldpager.engine.mailbox import GoTo
from worldpager.engine.models.base import PastChunk
from worldpager.engine.models.registry import load_model
from worldpager.engine.models.tiny.adapter import TinyModel
from worldpager.engine.session.replay import ReplayMailbox
from worldpager.engine.session.window import WINDOW

OPTIONS = {"passes": "2", "threads": "1"}


@pytest.fixture(scope="module")
def model() -> Iterator[TinyModel]:
    loaded = load_model("tiny", OPTIONS, torch.device("cpu"))
    assert isinstance(loaded, TinyModel)
    yield loaded
    loaded.close()


@torch.no_grad()
@pytest.mark.parametrize("chunks", [1, 2, 3, 6])
def test_window_put_back_equals_the_window(model: TinyModel, chunks: int) -> None:
    made = list(model.begin(5, False))
    while len(made) < chunks:
        at = made[-1].poses[-1]
        made.append(model.step([at._replace(yaw=at.yaw + 0.05 * (i + 1)) for i in range(4)], 0))
    before = model.window_state()
    past = [PastChunk(chunk.kv, chunk.poses) for chunk in made]
    following = [made[-1].poses[-1]] * 4
    expected = model.step(following, 0)
    model.restore(5, chunks - 1, past[0], past[::-1][:2])
    slots = before["keys"].shape[2] // 3
    order = [0, 1 + int(before["newest"]), 2 - int(before["newest"])]
    for name in ("keys", "values"):
        was = torch.cat([before[name][:, :, at * slots : (at + 1) * slots] for at in order], 2)
        torch.testing.assert_close(model.window_state()[name], was, rtol=1e-4, atol=1e-4)
    again = model.step(following, 0)
    assert abs(again.frames.astype(int) - expected.frames.astype(int)).max() <= 2, "turned twice or once: rounding alone"
    model.restore(5, chunks - 1, past[0], past[::-1][:2])
    model.take_window_state(before)
    exact = model.step(following, 0)
    assert (exact.frames == expected.frames).all()


def test_state_of_another_model_is_refused(model: TinyModel) -> None:
    state = model.window_state()
    for wrong in ({}, {**state, "keys": state["keys"][:, :, 1:]}, {**state, "newest": torch.tensor([7])}):
        with pytest.raises(ValueError, match=r"newest|keys"):
            model.take_window_state(wrong)


def played(setting: PlayConfig, steps: int, back: int | None = None) -> list[bytes]:
    generator: WorldGenerator = build_generator(setting)
    generator.step()
    if back is not None:
        generator.mailbox.send(GoTo(back))
    frames = []
    for _ in range(steps):
        generator.mailbox.put_action(TURN)
        generator.step()
        newest = generator.mailbox.frames.newest()
        assert newest is not None
        frames.append(newest.frames.tobytes())
    generator.close()
    return frames


def test_tiny_reopens_and_replays_bit_for_bit(tmp_path: Path) -> None:
    base = replace(default_config("tiny"), device="cpu", prime=False, rest_when_idle=False, model_options=OPTIONS)
    kept = replace(base, world=tmp_path / "w")
    always = played(base, 5)
    assert played(kept, 3) == always[:3]
    assert played(kept, 2) == always[3:], "its window was saved to the bit"
    (tmp_path / "w" / WINDOW).unlink()
    played(kept, 1)
    played(kept, 2, back=3)
    again = build_generator(replace(base, replay=tmp_path / "w"))
    assert isinstance(again.mailbox, ReplayMailbox)
    while not again.mailbox.replay.over:
        again.step()
    same, compared = again.mailbox.replay.same(again.session)
    again.close()
    assert same == compared == 9
