from __future__ import annotations

import pytest

from tests.helpers.trajectories import FRAMES, MOTION, ORIGIN
from worldpager.engine.pose.extrapolate import futures, likely_actions, reverse
from worldpager.engine.pose.track import PoseTrack, Stance, move
from worldpager.engine.types import Action, Button

WALK_AND_TURN = Action(Button.FORWARD, turn=20.0)


def ends(action: Action) -> list[tuple[float, float]]:
    return [(round(poses[-1].x, 3), round(poses[-1].yaw, 3)) for poses in futures(Stance(ORIGIN), action, MOTION, FRAMES)]


def test_first_future_is_the_same_action_again() -> None:
    camera = PoseTrack(MOTION, ORIGIN)
    camera.advance(WALK_AND_TURN, FRAMES)
    first = next(futures(camera.stance, WALK_AND_TURN, MOTION, FRAMES))
    assert first == camera.advance(WALK_AND_TURN, FRAMES)


def test_last_future_is_two_chunks_ahead() -> None:
    *_, last = futures(Stance(ORIGIN), WALK_AND_TURN, MOTION, FRAMES)
    once, _ = move(Stance(ORIGIN), WALK_AND_TURN, MOTION, FRAMES)
    assert last == move(once, WALK_AND_TURN, MOTION, FRAMES)[1]


def test_turning_may_stop_go_on_straight_and_come_back() -> None:
    found = ends(Action(turn=20.0))
    assert (0.0, 0.0) in found
    assert (0.48, 0.0) in found
    assert (0.0, -0.349) in found


def test_who_walks_and_turns_may_walk_on_straight() -> None:
    assert (0.48, 0.0) in ends(WALK_AND_TURN)


def test_who_stands_may_turn_either_way_and_walk() -> None:
    found = ends(Action())
    assert any(yaw > 0 for _, yaw in found)
    assert any(yaw < 0 for _, yaw in found)
    assert any(x > 0 for x, _ in found)


def test_owed_turning_is_part_of_every_future() -> None:
    for poses in futures(Stance(ORIGIN, owed_turn=0.4), Action(Button.FORWARD), MOTION, FRAMES):
        assert poses[-1].yaw != 0.0


@pytest.mark.parametrize(
    "action", [Action(), Action(Button.FORWARD), Action(turn=5.0), WALK_AND_TURN, Action(Button.TURN_LEFT | Button.RUN)]
)
def test_likely_actions_differ_from_each_other_and_from_the_present(action: Action) -> None:
    found = [action, *likely_actions(action)]
    assert len(found) >= 4
    assert len(set(found)) == len(found)


def test_reverse_turns_every_direction_round_and_keeps_running() -> None:
    assert reverse(Button.FORWARD | Button.LEFT | Button.RUN) == Button.BACK | Button.RIGHT | Button.RUN
    assert reverse(Button.TURN_LEFT | Button.LOOK_UP) == Button.TURN_RIGHT | Button.LOOK_DOWN
    assert reverse(Button.NONE) == Button.NONE
