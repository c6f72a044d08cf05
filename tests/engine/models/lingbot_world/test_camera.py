from __future__ import annotations

import math

import pytest
import torch

from tests.helpers.golden import difference, golden
from worldpager.engine.models.lingbot_world.camera import (
    camera_to_world,
    intrinsics,
    largest_step,
    latent_poses,
    ray_condition,
    relative_steps,
    scaled,
)
from worldpager.engine.models.lingbot_world.clip_poses import clip_poses, keys_to_poses
from worldpager.engine.types import Pose

CLOSE = 2e-6


def test_a_clip_becomes_steps_as_the_vectors_say() -> None:
    v = golden("lingbot_world/camera")
    poses = clip_poses(v["poses_c2w_f64"], 8)
    assert difference(poses, v["latent_poses_abs"]) < CLOSE
    steps = relative_steps(poses, None)
    assert difference(scaled(steps, largest_step(steps)), v["latent_poses_rel"]) < CLOSE


def test_a_clip_that_only_turns_is_not_scaled() -> None:
    v = golden("lingbot_world/camera")
    steps = relative_steps(clip_poses(v["rotation_only.poses_c2w_f64"], 8), None)
    assert difference(scaled(steps, largest_step(steps)), v["rotation_only.latent_poses_rel"]) < CLOSE


def test_steps_go_on_from_the_chunk_before() -> None:
    v = golden("lingbot_world/camera")
    poses = clip_poses(v["poses_c2w_f64"], 8)
    whole = relative_steps(poses, None)
    parts = [relative_steps(poses[:3], None), relative_steps(poses[3:], poses[2])]
    assert torch.equal(torch.cat(parts), whole)


def test_rays_equal_the_vectors_at_both_sizes() -> None:
    v = golden("lingbot_world/camera")
    assert difference(ray_condition(v["latent_poses_rel"][:4], v["intrinsics_48x64"], 64, 48), v["plucker48x64"]) < CLOSE
    large = ray_condition(v["latent_poses_rel"][-2:], v["intrinsics_464x832"], 832, 464)
    assert difference(large[:, :, v["plucker464.rows"]][..., v["plucker464.cols"]], v["plucker464.sample"][:, -2:]) < CLOSE


def test_intrinsics_follow_the_size_of_the_picture() -> None:
    v = golden("lingbot_world/camera")
    fx, fy, cx, cy = v["intrinsics_480x832"].tolist()
    assert difference(intrinsics(832, 464, (fx, fy), (cx, cy)), v["intrinsics_464x832"]) < 1e-3
    assert difference(intrinsics(64, 48, (fx, fy), (cx, cy)), v["intrinsics_48x64"]) < 1e-3


def test_held_keys_lead_where_the_published_tool_leads() -> None:
    v = golden("lingbot_world/keys_to_pose")
    assert difference(keys_to_poses(v["keys_wasdijkl"].tolist()), v["c2w_f64"]) < CLOSE


def test_a_clip_between_its_poses_goes_straight_and_turns_evenly() -> None:
    ends = camera_to_world([Pose(0, 0, 0, 0.2, 0), Pose(4, 2, 0, 1.2, 0)])
    middle = camera_to_world([Pose(2, 1, 0, 0.7, 0)])
    assert difference(clip_poses(ends, 3)[1:2], middle) < 1e-12


def test_a_street_pose_looks_along_its_yaw_and_pitch() -> None:
    right, down, forward, place = camera_to_world([Pose(1, 2, 3, math.pi / 2, 0)])[0][:3].T
    assert torch.allclose(forward, torch.tensor([0.0, 1, 0]).double(), atol=1e-12)
    assert torch.allclose(right, torch.tensor([1.0, 0, 0]).double(), atol=1e-12)
    assert torch.allclose(down, torch.tensor([0.0, 0, -1]).double(), atol=1e-12)
    assert place.tolist() == [1, 2, 3]
    assert camera_to_world([Pose(0, 0, 0, 0, 0.5)])[0][2, 2] > 0  # looking up


def test_walking_ahead_is_a_step_along_the_camera_and_a_left_turn_turns_left() -> None:
    steps = relative_steps(camera_to_world([Pose(0, 0, 0, 1, 0), Pose(math.cos(1), math.sin(1), 0, 1, 0), Pose(0, 0, 0, 1.1, 0)]), None)
    assert torch.allclose(steps[0], torch.eye(4).double(), atol=1e-12)
    assert torch.allclose(steps[1][:3, 3], torch.tensor([0.0, 0, 1]).double(), atol=1e-12)
    assert steps[2][0, 2] < 0  # the new forward points left


@pytest.mark.parametrize(("frames", "rows"), [(13, [0, 4, 8, 12]), (16, [3, 7, 11, 15])])
def test_each_latent_frame_takes_the_last_pose_of_its_frames(frames: int, rows: list[int]) -> None:
    poses = [Pose(i, 0, 0, 0, 0) for i in range(frames)]
    assert [int(p.x) for p in latent_poses(poses, 4)] == rows
