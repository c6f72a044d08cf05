"""Matrix-Game 2.0 at reduced size with random numbers, under the street's memory: placement, horizons, controls."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from tests.helpers.streets import act, shown
from worldpager.engine.build import build_generator
from worldpager.engine.config import CodecConfig, MemoryConfig, MiB, PlayConfig
from worldpager.engine.errors import InputError, WeightsError
from worldpager.engine.memory.codec import make_codec
from worldpager.engine.memory.prefetcher import WorkingSet
from worldpager.engine.models.base import ChunkOutput, MemoryView, PastChunk
from worldpager.engine.models.matrix_game2 import need
from worldpager.engine.models.matrix_game2.adapter import GTA, RANDOM_NOTE, TEMPLERUN, UNIVERSAL, MatrixGame, needed
from worldpager.engine.models.matrix_game2.config import PUBLISHED
from worldpager.engine.models.matrix_game2.controls import Controls
from worldpager.engine.models.matrix_game2.options import MatrixGameOptions
from worldpager.engine.models.matrix_game2.parts import Design
from worldpager.engine.pose.track import PoseTrack
from worldpager.engine.types import Action, Button, Pose

CPU = torch.device("cpu")
SMALL = {"random-weights": "yes", "size": "small", "steps": "2"}
START = Pose(0.0, 0.0, 0.0, 0.0, 0.0)
WALK = Action(Button.FORWARD)


@pytest.fixture(scope="module", autouse=True)
def one_thread() -> Iterator[None]:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def played(model: MatrixGame, chunks: int, action: Action = WALK, seed: int = 3) -> list[ChunkOutput]:
    """The opening and ``chunks`` more without memory."""
    out = list(model.begin(seed, True))
    track = PoseTrack(model.motion, out[-1].poses[-1])
    return out + [model.step(track.advance(model.heed(action), model.spec.frames_per_chunk), 0) for _ in range(chunks)]


@pytest.fixture(scope="module")
def universal() -> Iterator[MatrixGame]:
    model = UNIVERSAL.load(SMALL, CPU)
    yield model
    model.close()


def test_the_first_chunk_has_nine_frames_and_every_other_twelve(universal: MatrixGame) -> None:
    out = played(universal, 2)
    assert [len(chunk.frames) for chunk in out] == [len(chunk.poses) for chunk in out] == [9, 12, 12]
    assert out[0].frames.shape == (9, universal.spec.height, universal.spec.width, 3)
    assert out[1].kv.keys.shape == (3, 72, 2, 64)


def test_the_same_world_again_is_the_same(universal: MatrixGame) -> None:
    one, again, other = played(universal, 2), played(universal, 2), played(universal, 2, seed=4)
    assert all((a.frames == b.frames).all() for a, b in zip(one, again, strict=True))
    assert not any((a.frames == b.frames).all() for a, b in zip(one, other, strict=True))


@pytest.mark.parametrize("bits", [16, 4])
def test_below_the_horizon_the_view_equals_the_models_own_cache(universal: MatrixGame, bits: int) -> None:
    """A stored chunk, decoded at its birth position, against the keys in the model's window: bf16 rounding, or int4's step."""
    out = played(universal, 5)
    visual, spec = universal._player.rollout.context.visual, universal.spec
    codec = make_codec(CodecConfig(bits=bits), spec.kv, spec.rotary)
    record = torch.empty(codec.record_bytes, dtype=torch.uint8)
    codec.encode(out[5].kv, record)
    assert spec.placement is not None
    view = universal.memory_view
    codec.place([record], view.keys, view.values, spec.placement.offsets([5], now=6))
    newest = slice(visual.current.start - 3 * visual.places, visual.current.start)
    largest = {16: 2**-8, 4: 0.3}[bits]
    for ours, theirs in ((view.keys[:, 0], visual.keys[:, newest]), (view.values[:, 0], visual.values[:, newest])):
        assert float((ours - theirs).abs().max() / theirs.abs().max()) < largest
        assert float((ours - theirs).norm() / theirs.norm()) < largest / 2


def test_only_the_clean_keys_are_stored(universal: MatrixGame) -> None:
    """What is handed over is what the pass at t = 0 left, as if the chunk began at frame 0."""
    out = played(universal, 3)
    rollout = universal._player.rollout
    visual = rollout.context.visual
    placed = visual.keys[:, visual.current.start - 3 * visual.places : visual.current.start]
    for stored, frame in ((out[3].kv.keys, 9),):
        rollout.context.visual.kept_sink.copy_(stored[:, : visual.kept_sink.shape[1]])
        rollout.move_sink(frame)
        first = visual.current.start - visual.filled * visual.places
        assert torch.allclose(visual.keys[:, first : first + 3 * visual.places], placed, atol=1e-5)


def test_retrieved_chunks_change_what_is_made(universal: MatrixGame) -> None:
    def third(retrieved: int, scale: float) -> torch.Tensor:
        out = played(universal, 1)
        universal.memory_view.keys.fill_(scale)
        universal.memory_view.values.fill_(scale)
        track = PoseTrack(universal.motion, out[-1].poses[-1])
        return torch.from_numpy(universal.step(track.advance(WALK, 12), retrieved).frames.copy())

    plain = third(0, 1.0)
    assert torch.equal(plain, third(0, 2.0))
    assert not torch.equal(plain, third(1, 1.0))


def test_going_back_with_the_saved_windows_is_exact_and_without_them_near(universal: MatrixGame) -> None:
    out = played(universal, 4)
    track = PoseTrack(universal.motion, out[-1].poses[-1])
    state = universal.window_state()
    poses = track.advance(WALK, 12)
    wanted = universal.step(poses, 0)
    past = [PastChunk(chunk.kv, chunk.poses) for chunk in out]
    universal.restore(3, 4, past[0], [past[4]])
    near = universal.step(poses, 0)
    assert len(near.frames) == 12
    universal.restore(3, 4, past[0], [past[4]])
    universal.take_window_state(state)
    exact = universal.step(poses, 0)
    assert (exact.frames == wanted.frames).all()
    assert torch.equal(exact.kv.keys, wanted.kv.keys)
    assert (near.kv.keys - wanted.kv.keys).norm() < 0.5 * wanted.kv.keys.norm()
    with pytest.raises(ValueError, match="keys"):
        universal.take_window_state({"keys": torch.zeros(1)})


@pytest.mark.parametrize("number", [0, 1, 2])
def test_going_back_puts_the_same_frames_into_the_window(universal: MatrixGame, number: int) -> None:
    out = played(universal, number)
    visual = universal._player.rollout.context.visual
    held = slice(visual.current.start - visual.filled * visual.places, visual.current.start)
    keys, values = visual.keys[:, held].clone(), visual.values[:, held].clone()
    past = [PastChunk(chunk.kv, chunk.poses) for chunk in out]
    universal.restore(3, number, past[0], [past[number]])
    assert torch.allclose(visual.keys[:, held], keys, atol=1e-5)
    assert torch.equal(visual.values[:, held], values)


@torch.no_grad()
def test_positions_go_on_past_both_published_tables() -> None:
    """Attention sees relative positions alone: chunks that begin at any frame are the same to float's rounding, past both tables, too."""
    rollout = UNIVERSAL.load(SMALL, CPU)._player.rollout
    draw = torch.Generator().manual_seed(1)
    noise, condition = torch.randn(16, 6, 8, 12, generator=draw), torch.randn(20, 3, 8, 12, generator=draw)
    mouse, keyboard = torch.randn(3, 12, 2, generator=draw), torch.rand(3, 12, 4, generator=draw)
    clip = torch.randn(257, 1280, generator=draw)

    def flows(frame: int) -> torch.Tensor:
        rollout.begin(clip, frame)
        out = []
        for chunk in noise.split(3, 1):
            rollout.prepare(condition, mouse, keyboard, 0)
            out.append(rollout.flow(chunk, 0.0, keep=True).clone())
            rollout.advance()
        return torch.cat(out)

    early = flows(0)
    for frame in (1018, 1021, 1024, 7496, 7500, 60000):
        assert (flows(frame) - early).abs().max() < (2e-3 if frame < 50000 else 2e-2)


def street(tmp_path: Path, **options: str) -> PlayConfig:
    memory = MemoryConfig(host_budget=MiB // 2, disk_dir=tmp_path, disk_budget=8 * MiB)
    given = {**SMALL, "horizon": "12", **options}
    return replace(PlayConfig(model="matrix-game-2", device="cpu", rest_when_idle=False), memory=memory, model_options=given)


def test_a_world_spills_passes_its_horizon_and_comes_back(tmp_path: Path) -> None:
    generator = build_generator(street(tmp_path))
    try:
        generator.step()
        places: list[float] = []
        place = generator._memory.place

        def watch(working: WorkingSet, view: MemoryView, offset: float | Sequence[float]) -> None:
            places.extend(offset if isinstance(offset, list) else [])
            place(working, view, offset)

        generator._memory.place = watch  # type: ignore[method-assign]
        for chunk in range(30):
            act(generator, Action(Button.TURN_LEFT if chunk % 20 < 10 else Button.TURN_RIGHT))
        snapshot = shown(generator).snapshot
        assert snapshot.memory.spilled_blocks > 0
        assert snapshot.memory.blocks == 31
        assert RANDOM_NOTE in snapshot.degraded
        assert abs(snapshot.pose.yaw - math.radians(180)) < 1e-6
        assert any(offset % 3 == 0 and offset < 36 for offset in places)
        assert max(places) == 30 * 3 - 30.0
    finally:
        generator.close()


def test_weights_are_never_random_unasked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORLDPAGER_MODELS", str(tmp_path))
    with pytest.raises(WeightsError, match="not there"):
        UNIVERSAL.load({}, CPU)
    with pytest.raises(InputError, match="random"):
        UNIVERSAL.load({"size": "small"}, CPU)


@pytest.mark.parametrize(
    "options",
    [{"speed": "9"}, {"steps": "5"}, {"before": "x"}, {"gain": "nan"}, {"before": "3"}, {"decoder": "large"}, {"retrieved": "-1"}],
)
def test_options_that_are_not_possible_are_named(options: dict[str, str]) -> None:
    with pytest.raises(InputError, match=next(iter(options))):
        MatrixGameOptions.read(options)


def test_a_picture_that_is_none_is_refused(tmp_path: Path) -> None:
    (tmp_path / "no.png").write_text("no picture")
    model = UNIVERSAL.load({**SMALL, "image": str(tmp_path / "no.png")}, CPU)
    with pytest.raises(InputError, match=r"no\.png"):
        list(model.begin(0, True))
    model.close()


# Controls


def test_rows_of_the_universal_variant_are_what_the_pose_did() -> None:
    controls = Controls(4, MatrixGameOptions())
    track = PoseTrack(controls.motion, START)
    for action, keys, mouse in (
        (Action(Button.FORWARD), (1, 0, 0, 0), (0, 0)), (Action(Button.BACK | Button.LEFT), (0, 1, 1, 0), (0, 0)),
        (Action(Button.RIGHT | Button.TURN_RIGHT), (0, 0, 0, 1), (0, 0.1)),
        (Action(Button.TURN_LEFT | Button.LOOK_UP), (0, 0, 0, 0), (0.1, -0.1)),
        (Action(turn=-9.0), (0, 0, 0, 0), (0, 0.05)), (Action(Button.FORWARD | Button.BACK), (0, 0, 0, 0), (0, 0)),
    ):  # fmt: skip
        before = track.pose
        rows = controls.rows(before, track.advance(controls.heed(action), 12))
        assert rows.keyboard.tolist() == [list(keys)] * 12
        assert rows.mouse is not None
        assert torch.allclose(rows.mouse, torch.tensor(mouse, dtype=torch.float32).expand(12, 2), atol=1e-5)


def test_a_full_turn_takes_twenty_chunks() -> None:
    controls = Controls(4, MatrixGameOptions())
    track = PoseTrack(controls.motion, START)
    for _ in range(20):
        track.advance(Action(Button.TURN_LEFT), 12)
    assert track.pose.yaw == pytest.approx(2 * math.pi)


def test_walking_goes_along_the_mean_of_old_and_new_yaw() -> None:
    controls = Controls(4, MatrixGameOptions())
    (pose,) = PoseTrack(controls.motion, START).advance(Action(Button.FORWARD | Button.TURN_LEFT), 1)
    assert math.atan2(pose.y, pose.x) == pytest.approx(math.radians(0.75))
    assert math.hypot(pose.x, pose.y) == pytest.approx(0.1235)


def test_a_car_steers_with_left_and_right_and_knows_no_sideways() -> None:
    controls = Controls(2, MatrixGameOptions())
    track = PoseTrack(controls.motion, START)
    rows = controls.rows(START, track.advance(controls.heed(Action(Button.FORWARD | Button.RIGHT)), 12))
    assert rows.keyboard.tolist() == [[1, 0]] * 12
    assert rows.mouse is not None
    assert torch.allclose(rows.mouse[:, 1], torch.tensor(0.1))
    assert abs(track.pose.y) > 0


def test_a_runner_has_events() -> None:
    controls = Controls(7, MatrixGameOptions())
    track = PoseTrack(controls.motion, START)
    for action, event, yaw in (
        (Action(), 0, 0.0), (Action(Button.FORWARD), 1, 0.0), (Action(Button.BACK), 2, 0.0), (Action(Button.TURN_LEFT), 3, 90.0),
        (Action(Button.TURN_RIGHT), 4, 0.0), (Action(Button.LEFT), 5, 0.0), (Action(Button.RIGHT), 6, 0.0),
    ):  # fmt: skip
        before = track.pose
        rows = controls.rows(before, track.advance(controls.heed(action), 12))
        assert rows.mouse is None
        assert rows.keyboard.argmax(1).tolist() == [event] * 12
        assert rows.keyboard.sum() == 12
        assert math.degrees(track.pose.yaw) == pytest.approx(yaw, abs=1e-6)


@pytest.mark.parametrize("variant", [GTA, TEMPLERUN])
def test_the_other_variants_play(variant: object) -> None:
    model = variant.load({**SMALL, "retrieved": "1"}, CPU)  # type: ignore[attr-defined]
    out = played(model, 2, Action(Button.FORWARD | Button.LEFT))
    assert torch.isfinite(out[-1].kv.keys).all()
    assert out[1].frames.std() > 1
    model.close()


# Need


def test_need_is_told_before_loading_and_refused_when_it_does_not_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    parts = needed(Design.of(PUBLISHED["universal"]), MatrixGameOptions(), torch.device("cuda"))
    assert parts["network"] == 2 * 1_619_242_304
    assert parts["memory view"] == 3 * 486_604_800
    assert 9e9 < sum(parts.values()) < 16e9
    monkeypatch.setattr(need, "free_bytes", lambda device: 6_000_000_000)
    with pytest.raises(InputError, match=r"needs .* GB .* 6\.0 GB are free"):
        need.check_room("it", parts, torch.device("cuda"))
