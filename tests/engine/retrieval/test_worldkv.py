from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest

from tests.helpers.golden import golden
from worldpager.engine.retrieval.worldkv import WorldKv, camera_matrices, distances
from worldpager.engine.types import BlockId, Pose

CHUNK = 3


def decisions(cameras: np.ndarray, k: int) -> list[list[int]]:
    """What a run along ``cameras`` picks for each chunk: the sink's chunk and the two last ones are seen anyway."""
    policy, picked = WorldKv(), []
    for chunk in range(len(cameras) // CHUNK):
        here = cameras[chunk * CHUNK : (chunk + 1) * CHUNK]
        anyway = [BlockId(b) for b in {0, chunk - 1, chunk - 2}]
        picked.append([int(b) for b in policy.nearest(here, k, anyway)])
        policy.add_cameras(BlockId(chunk), here)
    return picked


@pytest.mark.parametrize("path", ["loop", "rotation_only", "turn_and_back", "walk_and_return"])
@pytest.mark.parametrize("k", [2, 6])
def test_decisions_along_the_recorded_paths_equal_the_vectors(path: str, k: int) -> None:
    v = golden("lingbot_world/retrieval")
    expected = [[int(b) for b in row if b >= 0] for row in v[f"{path}.selected_k{k}"]]
    picked = decisions(v[f"{path}.poses_abs"].double().numpy(), k)
    if path in ("loop", "rotation_only"):
        assert picked == expected
    else:  # some candidates lie equally far there
        assert [set(row) for row in picked] == [set(row) for row in expected]


@pytest.mark.parametrize("path", ["loop", "rotation_only", "turn_and_back", "walk_and_return", "still"])
def test_distances_equal_the_vectors(path: str) -> None:
    v = golden("lingbot_world/retrieval")
    cameras = v[f"{path}.poses_abs"].double().numpy()
    means = np.stack([cameras[b * CHUNK : (b + 1) * CHUNK, :3].mean(axis=0) for b in v[f"{path}.last.candidates"].tolist()])
    now = cameras[-CHUNK:, :3].mean(axis=0)
    # angles of almost equal cameras come from an arccosine near 1: 3e-4 is float32's step there
    assert np.abs(distances(means, now) - v[f"{path}.last.distance"].numpy()).max() < 1e-3


def looking(x: float, yaw: float, frames: int = 3) -> Sequence[Pose]:
    return [Pose(x, 0, 0, yaw, 0)] * frames


def filled(places: Sequence[tuple[float, float]]) -> WorldKv:
    policy = WorldKv()
    for i, (x, yaw) in enumerate(places):
        policy.add(BlockId(i), looking(x, yaw))
    return policy


def test_the_nearest_cameras_come_first() -> None:
    policy = filled([(0, 0), (5, 0), (5, math.pi), (9, 0)])
    assert policy.select(looking(5.1, 0.05), 3) == [1, 3, 2]
    assert policy.select_each([looking(5.1, 0.05), looking(0, 0)], 1) == [[1], [0]]


def test_excluded_blocks_are_never_picked_and_all_others_are_if_there_is_room() -> None:
    policy = filled([(0, 0), (5, 0), (5, math.pi), (9, 0)])
    assert policy.select(looking(5, 0), 9, [BlockId(1), BlockId(77)]) == [3, 0, 2]
    assert policy.select(looking(5, 0), 9, [BlockId(i) for i in range(4)]) == []


def test_dropped_blocks_are_forgotten_and_numbers_stay() -> None:
    policy = filled([(i, 0) for i in range(100)])
    policy.drop([BlockId(50), BlockId(3), BlockId(1000)])
    assert len(policy) == 98
    assert policy.select(looking(50.4, 0), 2) == [51, 49]
    policy.clear()
    assert policy.select(looking(0, 0), 2) == []


def test_one_candidate_is_taken_however_far_it_is() -> None:
    assert filled([(1e6, math.pi)]).select(looking(0, 0), 2) == [0]


def test_cameras_of_poses_look_where_the_pose_looks() -> None:
    forward = camera_matrices([Pose(1, 2, 3, math.pi / 2, 0.3)])[0]
    assert np.allclose(forward[:, 3], [1, 2, 3])
    assert np.allclose(forward[:, 2], [0, math.cos(0.3), math.sin(0.3)])
    assert np.allclose(np.linalg.det(forward[:, :3]), 1)
