from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.helpers.trajectories import trace
from worldpager.engine.errors import InputError
from worldpager.engine.pose.recorded import RecordedInput, load_recording
from worldpager.engine.pose.script import SCRIPTS, Leg, Script
from worldpager.engine.pose.source import open_source
from worldpager.engine.types import Action, Button

CHUNK = 4 / 16


def saved(path: Path, **fields: object) -> Path:
    ticks = {"rate_hz": np.float32(35), "forward": np.zeros(70, np.int8), "strafe": np.zeros(70, np.int8), "turn_deg": np.zeros(70)}
    np.savez(path, **{name: value for name, value in (ticks | fields).items() if value is not None})  # type: ignore[arg-type]
    return path


def recording(forward: float = 0, strafe: float = 0, turn: float = 0, ticks: int = 70, rate: float = 35.0) -> RecordedInput:
    return RecordedInput(np.repeat(np.array([[forward], [strafe], [turn]], np.float64), ticks, axis=1), rate)


def test_script_holds_buttons_leg_by_leg_and_starts_over() -> None:
    script = Script([Leg(1.0, Button.FORWARD), Leg(0.5, Button.LEFT)])
    held = [script.next(0.5).buttons for _ in range(6)]
    assert held == [Button.FORWARD, Button.FORWARD, Button.LEFT] * 2


@pytest.mark.parametrize("seconds", [0.25, 0.3, 1.7])
def test_script_turns_as_far_whatever_the_chunk(seconds: float) -> None:
    script = Script([Leg(1.0, turn=45), Leg(0.5), Leg(2.0, turn=-10, look=3)])
    actions = [script.next(seconds) for _ in range(round(21 * 1.7 / seconds))]
    total = len(actions) * seconds / 3.5
    assert sum(action.turn for action in actions) == pytest.approx(25 * total, abs=45)
    whole = Script([Leg(1.0, turn=45), Leg(0.5), Leg(2.0, turn=-10, look=3)]).next(35.0)
    assert (whole.turn, whole.look) == pytest.approx((250, 60))


def test_spin_turns_once_around_in_eight_seconds() -> None:
    script = Script(SCRIPTS["spin"])
    assert sum(script.next(CHUNK).turn for _ in range(32)) == pytest.approx(360)


def test_walk_back_returns() -> None:
    actions = [Script(SCRIPTS["walk-back"]).next(14.0)]
    assert actions[0].turn == pytest.approx(360)


def test_recorded_keys_become_buttons() -> None:
    assert recording(forward=25).next(CHUNK) == Action(Button.FORWARD)
    assert recording(forward=-50).next(CHUNK) == Action(Button.BACK | Button.RUN)
    assert recording(strafe=25).next(CHUNK) == Action(Button.RIGHT)
    assert recording(forward=25, strafe=-25).next(CHUNK) == Action(Button.FORWARD | Button.LEFT)
    assert recording().next(CHUNK) == Action()


def test_key_held_for_less_than_half_of_a_chunk_is_not_held() -> None:
    ticks = np.zeros((3, 10))
    ticks[0, :4] = 25
    assert RecordedInput(ticks, 10.0).next(1.0) == Action()


@pytest.mark.parametrize("seconds", [0.25, 0.1, 0.01, 1 / 3])
def test_recorded_turning_is_neither_lost_nor_doubled(seconds: float) -> None:
    source = recording(turn=1.5, ticks=70)
    turned = 0.0
    while (action := source.next(seconds)) is not None:
        turned += action.turn
    assert turned == pytest.approx(105)


def test_recording_ends() -> None:
    source = recording(ticks=35)
    assert [source.next(0.5) is None for _ in range(3)] == [False, False, True]


def test_reads_a_saved_recording(tmp_path: Path) -> None:
    source = load_recording(saved(tmp_path / "a.npz", turn_deg=np.full(70, 2.0, np.float32)))
    assert source.seconds == 2.0
    assert source.next(2.0) == Action(turn=140.0)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"forward": None}, "lacks forward"),
        ({"strafe": np.zeros(3, np.int8)}, "one length"),
        ({"turn_deg": np.full(70, np.nan)}, "finite"),
        ({"turn_deg": np.array(["a"] * 70)}, "numbers"),
        ({"rate_hz": np.float32(0)}, "rate_hz"),
        ({"rate_hz": np.zeros(2)}, "rate_hz"),
        ({"rate_hz": np.float32("nan")}, "rate_hz"),
        ({name: np.zeros(0) for name in ("forward", "strafe", "turn_deg")}, "nothing"),
        ({"forward": np.array([object()] * 70, object)}, "can't be read"),
        ({"position": np.zeros((3, 3)), "quaternion_xyzw": np.zeros((3, 4))}, "camera"),
    ],
)
def test_foreign_files_are_refused_with_the_reason(tmp_path: Path, fields: dict[str, object], words: str) -> None:
    path = saved(tmp_path / "odd one.npz", **fields)
    with pytest.raises(InputError, match=words) as caught:
        load_recording(path)
    assert str(path) in caught.value.what


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 nothing", b"just text", b"\x80\x04K\x01."])
def test_broken_files_are_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "broken.npz"
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"broken\.npz"):
        load_recording(path)


def test_absent_file_folder_and_plain_array_are_refused(tmp_path: Path) -> None:
    np.save(tmp_path / "one.npy", np.zeros(3))
    for path in (tmp_path / "absent.npz", tmp_path, tmp_path / "one.npy"):
        with pytest.raises(InputError):
            load_recording(path)


def test_input_is_opened_by_name(tmp_path: Path) -> None:
    assert open_source("keyboard") is None
    assert isinstance(open_source("script:tour"), Script)
    assert isinstance(open_source(str(saved(tmp_path / "b.npz"))), RecordedInput)
    with pytest.raises(InputError, match="script:tour"):
        open_source("script:dance")


@pytest.mark.parametrize(("name", "minutes"), [("human_play_45min.npz", 46.7), ("human_play_69min.npz", 69.7)])
def test_human_traces_are_read_whole(name: str, minutes: float) -> None:
    source = load_recording(trace(name))
    assert source.seconds / 60 == pytest.approx(minutes, abs=0.1)
    with np.load(trace(name)) as fields:
        turned = float(fields["turn_deg"].sum())
    actions = []
    while (action := source.next(CHUNK)) is not None:
        actions.append(action)
    assert sum(action.turn for action in actions) == pytest.approx(turned, abs=0.01)
    assert sum(not action.idle for action in actions) > len(actions) / 2


def test_camera_traces_are_named_as_such() -> None:
    with pytest.raises(InputError, match="camera"):
        load_recording(trace("camera_desk_orbit.npz"))
