from __future__ import annotations

import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.helpers.trajectories import VIEW, standing, turn, walked
from worldpager.engine.retrieval.none import NoRetrieval
from worldpager.engine.retrieval.policy import RetrievalPolicy
from worldpager.engine.retrieval.pose_overlap import CANDIDATES, PoseOverlap
from worldpager.engine.retrieval.recency import Recency
from worldpager.engine.types import BlockId, Pose

A, B, C, D = (BlockId(number) for number in (3, 8, 21, 22))

poses = st.builds(
    lambda x, y, yaw: (Pose(x, y, 0.55, yaw, 0.0), Pose(x + 0.1, y, 0.55, yaw + 0.1, 0.0)),
    st.floats(-20, 20), st.floats(-20, 20), st.floats(-50, 50),
)  # fmt: skip


def make(name: str) -> RetrievalPolicy:
    policies: dict[str, RetrievalPolicy] = {"pose-overlap": PoseOverlap(VIEW), "recency": Recency(), "none": NoRetrieval()}
    return policies[name]


every = pytest.mark.parametrize("name", ["pose-overlap", "recency", "none"])


@every
@given(views=st.lists(poses, max_size=30), eye=poses, k=st.integers(0, 6), data=st.data())
def test_contract(name: str, views: list[tuple[Pose, Pose]], eye: tuple[Pose, Pose], k: int, data: st.DataObject) -> None:
    policy = make(name)
    ids = [BlockId(3 * i + 1) for i in range(len(views))]
    for block, view in zip(ids, views, strict=True):
        policy.add(block, view)
    excluded = data.draw(st.lists(st.sampled_from(ids), unique=True) if ids else st.just([]))
    picked = policy.select(eye, k, [*excluded, BlockId(9999)])
    assert len(picked) <= k
    assert len(set(picked)) == len(picked)
    assert set(picked) <= set(ids) - set(excluded)
    assert policy.select(eye, k, [*excluded, BlockId(9999)]) == picked, "asking changes nothing"
    policy.drop(picked)
    policy.drop([BlockId(9999)])
    assert not set(policy.select(eye, len(ids), ())) & set(picked)
    policy.clear()
    assert policy.select(eye, k) == []
    assert len(policy) == 0


@every
@pytest.mark.parametrize("count", [0, 1, 60, 2 * CANDIDATES])
def test_several_futures_at_once_are_as_one_by_one(name: str, count: int) -> None:
    rng, policy = np.random.default_rng(count), make(name)
    for i in range(count):
        policy.add(BlockId(i), standing(rng.uniform(-6, 6), rng.uniform(-6, 6), rng.uniform(0, 360)))
    futures = [standing(0.1 * turned, 0, 15.0 * turned) for turned in range(12)]
    exclude, under_way = (BlockId(0), BlockId(count - 1)), standing(0, 0, 10)
    together = policy.select_each(futures, 3, iter(exclude), under_way=under_way)
    assert together == [policy.select(future, 3, exclude, under_way=under_way) for future in futures]
    assert count < 2 or name == "none" or any(together)


def test_recency_gives_the_newest_first() -> None:
    policy = make("recency")
    for block in (A, B, C, D):
        policy.add(block, standing(0, 0, 0))
    assert policy.select(standing(50, 50, 0), 2, [D]) == [C, B]


def test_no_memory_gives_nothing() -> None:
    policy = make("none")
    policy.add(A, standing(0, 0, 0))
    assert policy.select(standing(0, 0, 0), 4) == []


def overlap(**chunks: tuple[float, float, float]) -> PoseOverlap:
    policy = PoseOverlap(VIEW)
    for name, place in chunks.items():
        policy.add(globals()[name], standing(*place))
    return policy


def test_same_view_comes_first() -> None:
    assert overlap(A=(0, 0, 180), B=(0, 0, 5), C=(3, 4, 90)).select(standing(0, 0, 0), 1) == [B]


def test_view_away_is_not_brought_back() -> None:
    assert overlap(A=(0, 0, 180), B=(0, 0, 120)).select(standing(0, 0, 0), 2) == []


def test_view_far_away_is_not_brought_back() -> None:
    assert overlap(A=(100, 0, 0)).select(standing(0, 0, 0), 2) == []


def test_same_point_seen_from_the_other_side_is_not_brought_back() -> None:
    assert overlap(A=(8, 0, 180)).select(standing(0, 0, 0), 1) == []


def test_whole_turns_make_no_difference() -> None:
    assert overlap(A=(0, 0, 720 + 10), B=(0, 0, -360 + 90)).select(standing(0, 0, 0), 1) == [A]


def test_second_pick_covers_what_the_first_does_not() -> None:
    """The left and the right half beat two copies of the left half."""
    policy = overlap(A=(0, 0, 28), B=(0, 0, 30), C=(0, 0, -30))
    assert set(policy.select(standing(0, 0, 0), 2)) in ({A, C}, {B, C})


def test_what_the_window_covers_is_not_brought_back_again() -> None:
    policy = overlap(A=(0, 0, 0), B=(0, 0, 0))
    assert policy.select(standing(0, 0, 0), 2, [B]) == []


def test_chunk_under_way_covers_as_a_stored_one_does() -> None:
    policy = overlap(A=(0, 0, 28), C=(0, 0, -30))
    assert policy.select(standing(0, 0, 0), 1, under_way=standing(0, 0, 28)) == [C]
    assert policy.select(standing(0, 0, 0), 2, under_way=standing(0, 0, 0)) == []


def test_looking_back_brings_back_what_was_seen() -> None:
    """Turn left by 180 degrees and back: on the way back each chunk is given one that saw the side that comes into view."""
    path = list(walked([*turn(180, 10), *turn(-180, 10)]))
    policy = PoseOverlap(VIEW)
    for i, chunk in enumerate(path):
        if 13 <= i < 18:
            first = path[policy.select(chunk, 2, [BlockId(j) for j in (i - 2, i - 1)])[0]]
            assert chunk[2].yaw - VIEW.horizontal < first[2].yaw < chunk[2].yaw
        policy.add(BlockId(i), chunk)


def test_dropping_keeps_the_others_in_place() -> None:
    policy = overlap(A=(0, 0, 0), B=(10, 10, 90), C=(0, 0, 40))
    policy.drop([B])
    assert len(policy) == 2
    policy.add(D, standing(10, 10, 90))
    assert policy.select(standing(10, 10, 90), 1) == [D]
    assert policy.select(standing(0, 0, 40), 1) == [C]


def crowd(count: int) -> PoseOverlap:
    """Many chunks in one small place."""
    rng, policy = np.random.default_rng(0), PoseOverlap(VIEW)
    for i in range(count):
        x, y, yaw = rng.uniform(-6, 6), rng.uniform(-6, 6), rng.uniform(0, 360)
        policy.add(BlockId(i), standing(x, y, yaw))
    return policy


def test_first_look_over_a_crowd_keeps_the_best() -> None:
    policy = crowd(4 * CANDIDATES)
    policy.add(BlockId(9000), standing(1, 1, 77))
    assert policy.select(standing(1, 1, 77), 1) == [BlockId(9000)]


def test_selects_from_3000_near_chunks_in_time() -> None:
    """Under 2 ms on a quiet machine; the best of many, so that a busy one doesn't matter."""
    policy, times = crowd(3000), []
    for i in range(40):
        start = time.perf_counter()
        policy.select(standing(0, 0, 9 * i), 2, [BlockId(0), BlockId(2999)])
        times.append(time.perf_counter() - start)
    assert min(times) < 0.004
