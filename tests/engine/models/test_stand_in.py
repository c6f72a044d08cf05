from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from tests.helpers.clocks import HandClock
from tests.helpers.trajectories import standing
from worldpager.engine.errors import InputError
from worldpager.engine.models.base import ChunkOutput
from worldpager.engine.models.registry import ENTRIES, find_model, load_model
from worldpager.engine.models.stand_in import StandIn, StandInOptions
from worldpager.engine.types import Pose

CPU = torch.device("cpu")


def stand_in(seed: int = 1, **options: float) -> StandIn:
    model = StandIn(StandInOptions(**options), CPU)  # type: ignore[arg-type]
    list(model.begin(seed, prime=False))
    return model


def looking(degrees: float, x: float = 0.0, retrieved: int = 0, model: StandIn | None = None) -> ChunkOutput:
    return (model or stand_in()).step(standing(x, 0.0, degrees), retrieved)


def test_same_seed_and_poses_give_the_same_chunk() -> None:
    one, other = looking(20), looking(20)
    assert np.array_equal(one.frames, other.frames)
    assert torch.equal(one.kv.keys, other.kv.keys)
    assert torch.equal(one.kv.values, other.kv.values)


def test_shapes_are_those_of_the_description() -> None:
    model = stand_in(frames=3, width=48, height=32, layers=3, tokens=5, heads=2, head_dim=8, retrieved=4)
    spec, out = model.spec, model.step(standing(0, 0, 0)[:3], 0)
    kv = (spec.kv.layers, spec.kv.tokens, spec.kv.heads, spec.kv.head_dim)
    assert out.frames.shape == (3, 32, 48, 3)
    assert out.frames.flags.c_contiguous
    assert out.frames.dtype == np.uint8
    assert out.kv.keys.shape == out.kv.values.shape == kv == (3, 5, 2, 8)
    assert model.memory_view.capacity == 4
    assert len(out.poses) == 3


def test_picture_shows_yaw_place_and_world() -> None:
    here = looking(0).frames
    assert (here != looking(15).frames).mean() > 0.02
    assert (here != looking(0, x=0.5).frames).mean() > 0.02
    assert (here != looking(0, model=stand_in(seed=2)).frames).mean() > 0.02


def test_yaw_comes_round() -> None:
    assert np.abs(looking(0).frames.astype(int) - looking(360).frames.astype(int)).mean() < 1


def test_one_changed_bit_of_memory_in_use_is_seen() -> None:
    model = stand_in()
    model.memory_view.keys.normal_(generator=torch.Generator().manual_seed(0))
    before = looking(0, retrieved=2, model=model).frames
    model.memory_view.values[1, 1, 63, 1, 31] += 1e-6
    after = looking(0, retrieved=2, model=model).frames
    assert (before != after).any()
    changed = np.argwhere((before != after).any(axis=(0, 3)))
    assert changed[:, 0].min() >= 0.75 * model.spec.height, "only the patch differs"


def test_memory_not_in_use_is_not_seen() -> None:
    model, other = stand_in(), stand_in()
    other.memory_view.keys[:, 1] = 5
    assert np.array_equal(looking(0, retrieved=1, model=model).frames, looking(0, retrieved=1, model=other).frames)


def test_wrong_memory_spreads_to_the_kv() -> None:
    model, other = stand_in(), stand_in()
    other.memory_view.keys[:, 0] = 5
    assert not torch.equal(looking(0, retrieved=1, model=model).kv.keys, looking(0, retrieved=1, model=other).kv.keys)


def test_kv_differs_from_chunk_to_chunk_and_stays_the_callers() -> None:
    model = stand_in()
    first = looking(0, model=model).kv
    kept = first.keys.clone()
    second = looking(0, model=model).kv
    assert not torch.equal(first.keys, second.keys)
    assert torch.equal(first.keys, kept)


def test_opening_turns_once_around_and_ends_at_the_start() -> None:
    model = StandIn(StandInOptions(), CPU)
    opening = list(model.begin(90, prime=True))
    yaws = [math.degrees(pose.yaw) for chunk in opening for pose in chunk.poses]
    assert max(yaws) - min(yaws) == pytest.approx(360)
    assert opening[-1].poses[-1] == Pose(0.0, 0.0, model.motion.eye_height, math.pi / 2, 0.0)
    assert len(list(model.begin(90, prime=False))) == 1


def test_beginning_again_repeats() -> None:
    model = StandIn(StandInOptions(), CPU)
    (once,), _ = list(model.begin(5, prime=False)), model.step(standing(0, 0, 0), 0)
    (again,) = list(model.begin(5, prime=False))
    assert torch.equal(once.kv.keys, again.kv.keys)


def test_step_lasts_as_long_as_wanted() -> None:
    clock = HandClock()
    model = StandIn(StandInOptions(step_ms=40), CPU, clock=clock, sleep=clock.sleep)
    list(model.begin(0, prime=False))
    model.step(standing(0, 0, 0), 0)
    assert clock.slept == pytest.approx([0.04])


def test_clearance_is_the_distance_to_the_wall_ahead() -> None:
    assert looking(0).clearance == math.inf
    assert looking(0, x=1.0, model=stand_in(wall=3)).clearance == pytest.approx(2)
    assert looking(180, x=1.0, model=stand_in(wall=3)).clearance == pytest.approx(4)
    assert looking(90, x=1.0, model=stand_in(wall=3)).clearance == pytest.approx(3)
    assert looking(0, x=5.0, model=stand_in(wall=3)).clearance == 0


def test_options_are_read_from_text() -> None:
    model = StandIn.load({"step-ms": "2.5", "frames": "8", "head-dim": "16", "wall": "0"}, CPU)
    assert model.spec.frames_per_chunk == 8
    assert model.spec.kv.head_dim == 16


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("frames", "0"),
        ("frames", "4.5"),
        ("frames", "four"),
        ("step-ms", "nan"),
        ("step-ms", "inf"),
        ("rate", "-1"),
        ("step_ms", "1"),
        ("x", "1"),
    ],
)
def test_odd_options_are_refused_by_name(name: str, text: str) -> None:
    with pytest.raises(InputError, match=name):
        StandIn.load({name: text}, CPU)


def test_registry_knows_its_models() -> None:
    assert {"tiny", "stand-in"} <= set(ENTRIES)
    assert load_model("stand-in", {"frames": "2"}, CPU).spec.frames_per_chunk == 2
    with pytest.raises(InputError, match="stand-in"):
        find_model("Tiny")
