from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.helpers.trajectories import FRAMES, MOTION, ORIGIN
from worldpager.engine.pose.track import KEEP_AWAY, PoseTrack, Stance, move
from worldpager.engine.types import Action, Button, Motion, Pose

LIMITED = Motion(walk=0.12, run=0.2, turn=0.08, look=0.04, pitch_limit=0.45, eye_height=0.55, turn_limit=0.2)

actions = st.builds(
    Action,
    buttons=st.integers(0, 511).map(Button),
    turn=st.floats(-400, 400),
    look=st.floats(-400, 400),
)


def track() -> PoseTrack:
    return PoseTrack(MOTION, ORIGIN)


def test_one_pose_a_frame_and_the_last_is_the_present() -> None:
    camera = track()
    poses = camera.advance(Action(Button.FORWARD), FRAMES)
    assert len(poses) == FRAMES
    assert camera.pose == poses[-1]
    assert [pose.x for pose in poses] == pytest.approx([0.12, 0.24, 0.36, 0.48])


def test_idle_stays() -> None:
    assert set(track().advance(Action(), FRAMES)) == {ORIGIN}


def test_walks_along_its_yaw() -> None:
    camera = PoseTrack(MOTION, ORIGIN._replace(yaw=math.pi / 2))
    end = camera.advance(Action(Button.FORWARD), FRAMES)[-1]
    assert (end.x, end.y) == pytest.approx((0, 0.48))


@pytest.mark.parametrize(("button", "x", "y"), [(Button.FORWARD, 1, 0), (Button.BACK, -1, 0), (Button.LEFT, 0, 1), (Button.RIGHT, 0, -1)])
def test_directions(button: Button, x: int, y: int) -> None:
    end = track().advance(Action(button), FRAMES)[-1]
    assert (end.x, end.y) == pytest.approx((0.48 * x, 0.48 * y))


def test_running_is_faster_and_diagonals_are_not() -> None:
    running = track().advance(Action(Button.FORWARD | Button.RUN), FRAMES)[-1]
    assert running.x == pytest.approx(0.8)
    diagonal = track().advance(Action(Button.FORWARD | Button.LEFT), FRAMES)[-1]
    assert math.hypot(diagonal.x, diagonal.y) == pytest.approx(0.48)


def test_opposite_buttons_cancel() -> None:
    held = Button.FORWARD | Button.BACK | Button.TURN_LEFT | Button.TURN_RIGHT
    assert track().advance(Action(held), FRAMES)[-1] == ORIGIN


def test_mouse_is_spread_evenly_over_the_frames() -> None:
    poses = track().advance(Action(turn=40.0, look=-8.0), FRAMES)
    assert [math.degrees(pose.yaw) for pose in poses] == pytest.approx([10, 20, 30, 40])
    assert [math.degrees(pose.pitch) for pose in poses] == pytest.approx([-2, -4, -6, -8])


def test_keys_and_mouse_add_up() -> None:
    end = track().advance(Action(Button.TURN_LEFT, turn=40.0), FRAMES)[-1]
    assert end.yaw == pytest.approx(math.radians(40) + 4 * 0.08)


def test_pitch_ends_at_its_limit() -> None:
    assert track().advance(Action(look=500.0), FRAMES)[-1].pitch == MOTION.pitch_limit


def test_too_fast_a_flick_is_finished_in_later_chunks() -> None:
    camera = PoseTrack(LIMITED, ORIGIN)
    first = camera.advance(Action(turn=90.0), FRAMES)
    assert max(b.yaw - a.yaw for a, b in zip((ORIGIN, *first), first, strict=False)) == pytest.approx(0.2)
    assert not camera.stance.settled
    for _ in range(3):
        camera.advance(Action(), FRAMES)
    assert camera.pose.yaw == pytest.approx(math.pi / 2)
    assert camera.stance.settled


def test_flick_against_a_held_key_ends_where_both_lead() -> None:
    camera = PoseTrack(LIMITED, ORIGIN)
    camera.advance(Action(Button.TURN_RIGHT, turn=90.0), FRAMES)
    for _ in range(5):
        camera.advance(Action(), FRAMES)
    assert camera.pose.yaw == pytest.approx(math.pi / 2 - 4 * 0.08)


def test_wall_ahead_stops_walking_at_its_distance() -> None:
    camera = track()
    camera.see(0.6)
    for _ in range(3):
        camera.advance(Action(Button.FORWARD), FRAMES)
    assert camera.pose.x == pytest.approx(0.6 - KEEP_AWAY)


def test_walking_at_an_angle_slides_along_the_wall() -> None:
    camera = track()
    camera.see(KEEP_AWAY)
    end = camera.advance(Action(Button.FORWARD | Button.LEFT), FRAMES)[-1]
    assert end.x == pytest.approx(0)
    assert end.y == pytest.approx(0.48 / math.sqrt(2))


def test_turned_walk_keeps_the_walls_place() -> None:
    camera = track()
    camera.see(KEEP_AWAY)
    end = camera.advance(Action(Button.FORWARD, turn=60.0), FRAMES)[-1]
    assert end.x == pytest.approx(0)
    assert end.y > 0.1


def test_backing_away_is_free_and_makes_room() -> None:
    camera = track()
    camera.see(0.1)
    assert camera.advance(Action(Button.BACK), FRAMES)[-1].x == pytest.approx(-0.48)
    assert camera.advance(Action(Button.FORWARD), FRAMES)[-1].x == pytest.approx(0)


def test_unknown_distance_is_free() -> None:
    camera = track()
    camera.see(math.nan)
    assert camera.advance(Action(Button.FORWARD), FRAMES)[-1].x == pytest.approx(0.48)


def test_new_sight_replaces_the_old_wall() -> None:
    camera = track()
    camera.see(KEEP_AWAY)
    camera.advance(Action(turn=180.0), FRAMES)
    camera.see(math.inf)
    assert camera.advance(Action(Button.FORWARD), FRAMES)[-1].x == pytest.approx(-0.48)


@given(st.lists(actions, max_size=8), st.floats(0, 2), st.floats(-math.pi, math.pi))
def test_no_action_passes_the_wall_or_the_limits(acts: list[Action], clearance: float, yaw: float) -> None:
    camera = PoseTrack(LIMITED, ORIGIN._replace(yaw=yaw))
    camera.see(clearance)
    most, before = max(0.0, clearance - KEEP_AWAY), camera.pose
    for action in acts:
        for pose in camera.advance(action, FRAMES):
            assert pose.x * math.cos(yaw) + pose.y * math.sin(yaw) <= most + 1e-6
            assert abs(pose.pitch) <= LIMITED.pitch_limit
            assert abs(pose.yaw - before.yaw) <= LIMITED.turn_limit + 1e-9
            assert math.hypot(pose.x - before.x, pose.y - before.y) <= LIMITED.run + 1e-9
            before = pose


@given(actions)
def test_moving_a_stance_leaves_it_as_it_was(action: Action) -> None:
    stance = Stance(Pose(1, 2, 0.55, 0.3, 0.1), room=1.0)
    assert move(stance, action, MOTION, FRAMES) == move(stance, action, MOTION, FRAMES)
    assert stance == Stance(Pose(1, 2, 0.55, 0.3, 0.1), room=1.0)
