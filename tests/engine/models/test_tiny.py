from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import save_file
from torch import Tensor

from worldpager.engine.errors import InputError, WeightsError
from worldpager.engine.models.base import ChunkOutput
from worldpager.engine.models.tiny import opening, rollout
from worldpager.engine.models.tiny.adapter import MOTION, TinyModel, TinyOptions, thread_counts
from worldpager.engine.models.tiny.clearance import clearance
from worldpager.engine.models.tiny.network import TinyConfig, TinyNetwork
from worldpager.engine.models.tiny.render import Scene, render
from worldpager.engine.models.tiny.rollout import MEMORY_OFFSET, PlayOptions, placed, roll
from worldpager.engine.models.tiny.weights import in_type, load_network
from worldpager.engine.models.tiny.worlds import CROWN, STEM, World, free_path, make_world
from worldpager.engine.types import Pose

CPU = torch.device("cpu")
SMALL = TinyConfig(width=128, hidden=96, layers=2, patch=20)
SEED = 5
CHUNKS = 7
MEMORY = [[0, 0], [0, 0], [0, 0], [1, 0], [1, 0], [2, 1], [1, 3]]
"""Chunks that each chunk retrieves; 0 where there is none, as the sink stands in then."""


def small_network(seed: int = 1) -> TinyNetwork:
    """No layer at zero, so that everything reaches the picture."""
    network = TinyNetwork(SMALL)
    draw = torch.Generator().manual_seed(seed)
    for parameter in network.parameters():
        fan = parameter[0].numel() if parameter.dim() > 1 else 16
        parameter.data = torch.randn(parameter.shape, generator=draw) * 0.7 / math.sqrt(fan)
    network.head.planes.weight.data *= 0.4
    return network.requires_grad_(False).eval()


@pytest.fixture(scope="module", autouse=True)
def one_thread() -> Iterator[None]:
    """Small sizes gain nothing from threads, and a busy machine makes them wait for each other."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture(autouse=True)
def drawn_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same view of the same world is rendered once for all tests."""

    def rendered(scene: Scene, poses: Sequence[Pose]) -> Tensor:
        key = (scene.cells.numpy().tobytes(), tuple(poses))
        if key not in DRAWN:
            DRAWN[key] = render_truly(scene, poses)
        return DRAWN[key]

    monkeypatch.setattr(opening, "rendered", rendered)


DRAWN: dict[object, Tensor] = {}
render_truly = opening.rendered


@pytest.fixture(scope="module")
def network() -> TinyNetwork:
    return small_network()


def model_of(network: TinyNetwork, passes: int = 3, window: int = 2, retrieved: int = 2) -> TinyModel:
    return TinyModel(network, TinyOptions(passes=passes, window=window, retrieved=retrieved, threads=2))


def path() -> list[list[Pose]]:
    """Chunks of poses: the start view, then a walk in a bend."""
    x, y, yaw = opening.played_world(SEED).start
    start = Pose(x, y, MOTION.eye_height, yaw, 0.0)
    poses = [start] * 4
    for _ in range(4 * CHUNKS - 4):
        last = poses[-1]
        turned = last._replace(yaw=last.yaw + 0.06, pitch=last.pitch + 0.005)
        poses.append(turned._replace(x=last.x + 0.1 * math.cos(turned.yaw), y=last.y + 0.1 * math.sin(turned.yaw)))
    return [poses[i : i + 4] for i in range(0, len(poses), 4)]


def retrieve(model: TinyModel, outputs: list[ChunkOutput], chunks: list[int]) -> None:
    """Place chunks as the store does: keys turned by the memory offset."""
    for slot, chunk in enumerate(chunks):
        model.memory_view.keys[:, slot] = placed(outputs[chunk].kv.keys, model.spec.memory_offset)
        model.memory_view.values[:, slot] = outputs[chunk].kv.values


def play(model: TinyModel, memory: list[list[int]]) -> list[ChunkOutput]:
    """The start chunk and all others, with ``memory`` in use where it names chunks other than the first."""
    outputs = list(model.begin(SEED, prime=False))
    for s, poses in enumerate(path()[1:], 1):
        used = [chunk for chunk in memory[s] if chunk]
        retrieve(model, outputs, used)
        outputs.append(model.step(poses, len(used)))
    return outputs


def rolled(network: TinyNetwork, model: TinyModel, outputs: list[ChunkOutput], memory: list[list[int]], options: PlayOptions,
           monkeypatch: pytest.MonkeyPatch) -> Tensor:
    """The plain twin on the same noise: pictures [S, F, 3, h, w] in [-1, 1]."""
    noises: Iterator[tuple[Tensor, Tensor]] = iter([model._player.noises(chunk) for chunk in range(CHUNKS)])
    monkeypatch.setattr(rollout, "noise", lambda like, patch, generator: next(noises))
    poses = torch.tensor(path(), dtype=torch.float32)[None]
    first = torch.from_numpy(outputs[0].frames).permute(0, 3, 1, 2)[None, None].float() / 127.5 - 1
    return roll(network, poses, torch.tensor(memory)[None], first, options)[0]


def difference(outputs: list[ChunkOutput], pictures: Tensor) -> float:
    """Largest difference in [-1, 1] beyond the rounding to 8 bits."""
    frames = torch.from_numpy(np.stack([output.frames for output in outputs])).permute(0, 1, 4, 2, 3).float() / 127.5 - 1
    return float((frames - pictures.clamp(-1, 1)).abs().max()) - 1 / 255


@pytest.mark.parametrize(("passes", "window"), [(2, 2), (3, 2), (4, 1)])
def test_pictures_are_those_of_the_plain_rollout(network: TinyNetwork, passes: int, window: int, monkeypatch: pytest.MonkeyPatch) -> None:
    model = model_of(network, passes, window)
    outputs = play(model, MEMORY)
    pictures = rolled(network, model, outputs, MEMORY, PlayOptions(passes, window), monkeypatch)
    assert difference(outputs, pictures) < 2e-3
    assert pictures.std() > 0.1


def test_half_precision_says_nearly_the_same(network: TinyNetwork) -> None:
    half = model_of(in_type(small_network(), torch.bfloat16))
    assert half.memory_view.keys.dtype == torch.bfloat16
    assert half.settings["dtype"] == "bfloat16"
    for one, other in zip(play(half, MEMORY), play(model_of(network), MEMORY), strict=True):
        assert np.abs(one.frames.astype(int) - other.frames.astype(int)).mean() < 3


def test_without_memory_the_slots_are_left_out(network: TinyNetwork, monkeypatch: pytest.MonkeyPatch) -> None:
    none = [[0, 0]] * CHUNKS
    model = model_of(network, retrieved=0)
    outputs = play(model, none)
    pictures = rolled(network, model, outputs, none, PlayOptions(3, memory=False), monkeypatch)
    assert difference(outputs, pictures) < 2e-3


def test_memory_in_use_changes_the_picture(network: TinyNetwork) -> None:
    used, other = play(model_of(network), MEMORY), play(model_of(network), [*MEMORY[:-1], [2, 3]])
    assert np.array_equal(used[-2].frames, other[-2].frames)
    assert not np.array_equal(used[-1].frames, other[-1].frames)


def test_nothing_is_read_that_was_not_written_for_this_chunk(network: TinyNetwork) -> None:
    clean, poisoned = model_of(network), model_of(network)
    context = poisoned._player.context
    assert poisoned._player.buffers is not None
    for buffer in (context.keys, context.values, *poisoned._player.buffers.all):
        buffer.fill_(math.nan)
    expected, outputs = list(clean.begin(SEED, prime=False)), list(poisoned.begin(SEED, prime=False))
    for s, poses in enumerate(path()[1:], 1):
        used = [chunk for chunk in MEMORY[s] if chunk] if s != 5 else []
        for model, made in ((clean, expected), (poisoned, outputs)):
            retrieve(model, made, used)
            if model is poisoned:
                here = context.slot(context.current)
                poisoned.memory_view.keys[:, len(used) :], poisoned.memory_view.values[:, len(used) :] = math.nan, math.nan
                context.keys[:, :, here], context.values[:, :, here] = math.nan, math.nan
            made.append(model.step(poses, len(used)))
        assert np.array_equal(expected[-1].frames, outputs[-1].frames), s
        assert outputs[-1].kv.keys.isfinite().all()


def test_another_world_starts_from_nothing(network: TinyNetwork) -> None:
    used, fresh = model_of(network), model_of(network)
    list(used.begin(SEED + 1, prime=False))
    for poses in path()[1:4]:
        used.step(poses, 0)
    for one, other in zip(play(used, MEMORY), play(fresh, MEMORY), strict=True):
        assert np.array_equal(one.frames, other.frames)
        assert torch.equal(one.kv.keys, other.kv.keys)


def test_kv_belongs_to_the_caller(network: TinyNetwork) -> None:
    model = model_of(network)
    output = next(iter(model.begin(SEED, prime=False)))
    keys, values = output.kv.keys.clone(), output.kv.values.clone()
    model.step(path()[1], 0)
    assert torch.equal(output.kv.keys, keys)
    assert torch.equal(output.kv.values, values)
    kv = model.spec.kv
    assert keys.shape == values.shape == (kv.layers, kv.tokens, kv.heads, kv.head_dim) == (2, 48, 2, 64)


def test_view_is_a_window_into_the_context(network: TinyNetwork) -> None:
    model = model_of(network, retrieved=3)
    view, context = model.memory_view, model._player.context
    kv = model.spec.kv
    assert view.keys.shape == view.values.shape == (kv.layers, 3, kv.tokens, kv.heads, kv.head_dim)
    assert view.capacity == 3
    view.keys[1, 2, 7, 1, 5] = 42.0
    assert context.keys[1, 1, 2 * kv.tokens + 7, 5] == 42.0
    assert context.keys.count_nonzero() == 1
    assert view.keys.data_ptr() == context.keys.data_ptr()
    list(model.begin(SEED, prime=False))
    assert model.memory_view is view


def test_spec_and_motion_are_what_training_saw(network: TinyNetwork) -> None:
    spec = model_of(network, window=1).spec
    assert (spec.name, spec.frames_per_chunk, spec.width, spec.height) == ("tiny", 4, 120, 80)
    assert (spec.window, spec.retrieved, spec.memory_offset) == (1, 2, MEMORY_OFFSET)
    assert spec.rotary.frequencies == (0.9, 0.3, 0.1)
    assert MOTION.turn_limit <= 0.2
    assert MOTION.run <= 0.16


def test_opening_goes_around_and_ends_where_it_began(network: TinyNetwork) -> None:
    world = opening.played_world(SEED)
    x, y, yaw = world.start
    chunks = list(opening.opening_poses(world, prime=True, frames=4))
    poses = [pose for chunk in chunks for pose in chunk]
    assert 10 <= len(chunks) <= 14
    assert all(len(chunk) == 4 for chunk in chunks)
    assert poses[-1] == Pose(x, y, MOTION.eye_height, yaw, 0.0)
    assert np.ptp([pose.yaw for pose in poses]) > 2 * math.pi * 0.97
    assert max(math.dist(pose[:2], (x, y)) for pose in poses) > 0.5
    for one, other in pairwise(poses):
        assert math.dist(one[:2], other[:2]) <= 0.16
        assert abs((other.yaw - one.yaw + math.pi) % (2 * math.pi) - math.pi) <= 0.2


@pytest.mark.parametrize("seed", range(12))
def test_opening_walks_through_nothing(seed: int) -> None:
    world = opening.played_world(seed)
    assert not any(world.blocked(pose.x, pose.y) for chunk in opening.opening_poses(world, True, 4) for pose in chunk)


def test_opening_shows_the_world_as_it_is_and_always_the_same(network: TinyNetwork, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opening, "rendered", render_truly)
    begun = model_of(network).begin(SEED, prime=True)
    again = model_of(network).begin(SEED, prime=True)
    for _ in range(2):
        one, other = next(begun), next(again)
        assert np.array_equal(one.frames, other.frames)
        assert torch.equal(one.kv.keys, other.kv.keys)
    assert one.frames.shape == (4, 80, 120, 3)
    assert one.frames.flags.c_contiguous
    poses = torch.tensor(one.poses, dtype=torch.float32)
    truth, _ = render(Scene.of([opening.played_world(SEED)]), torch.zeros(4, dtype=torch.long), poses, 2)
    assert np.array_equal(one.frames, (truth * 255).round().byte().permute(0, 2, 3, 1).numpy())


def small_depth(world: World, pose: Pose) -> Tensor:
    """True inverse depth at the head's resolution, averaged as in training."""
    _, inverse = render(Scene.of([world]), torch.zeros(1, dtype=torch.long), torch.tensor([pose], dtype=torch.float32), 1)
    return torch.nn.functional.avg_pool2d(inverse, 5)[0]


def bare(world: World) -> World:
    """The world without trees and pillars, whose crowns stand in the picture's way but not in a body's."""
    cells = world.cells.copy()
    cells[..., [STEM + 4, CROWN + 4]] = 0
    return replace(world, cells=cells)


def test_clearance_is_the_way_to_the_wall_ahead() -> None:
    rng, near = np.random.default_rng(3), 0
    for seed in range(8):
        world = bare(make_world(seed))
        for _ in range(4):
            x, y = rng.uniform(0, 32, 2)
            yaw, pitch = rng.uniform(-3, 3), rng.uniform(-0.3, 0.3)
            if world.blocked(x, y):
                continue
            pose, free = Pose(x, y, 0.55, yaw, pitch), free_path(world, x, y, yaw)
            told = clearance(small_depth(world, pose), pose)
            assert told > min(free, 6.0) - 0.1
            if free < 2.5:
                near += 1
                assert told < free + 1.0
    assert near > 5


def test_clearance_of_a_picture_without_anything_near_is_infinite() -> None:
    sky = torch.zeros(16, 24)
    assert clearance(sky, Pose(0, 0, 0.55, 0, 0)) == math.inf
    sky[:, 10:14] = 0.5
    assert clearance(sky, Pose(0, 0, 0.55, 0, 0)) == pytest.approx(2.0, abs=0.1)
    sky[:] = 0
    sky[:, :4] = 1.0
    assert clearance(sky, Pose(0, 0, 0.55, 0, 0)) == math.inf


@pytest.fixture
def weights(tmp_path: Path, network: TinyNetwork) -> Path:
    """A small model on disk, whole."""
    file = tmp_path / "small.safetensors"
    save_file({name: tensor.contiguous() for name, tensor in network.state_dict().items()}, str(file))
    file.with_suffix(".json").write_text(json.dumps({"width": 128, "hidden": 96, "layers": 2, "patch": 20}))
    return file


def test_weights_come_back_as_they_were_saved(weights: Path, network: TinyNetwork) -> None:
    for name, tensor in load_network(weights).state_dict().items():
        assert torch.equal(tensor, network.state_dict()[name]), name


def test_loading_measures_what_is_left_open(weights: Path) -> None:
    model = TinyModel.load({"weights": str(weights), "passes": "auto", "window": "1"}, CPU)
    assert model.settings["passes"] in ("2", "3", "4")
    assert int(model.settings["threads"]) == model.threads > 0
    assert model.settings["window"] == "1"
    assert len(next(iter(model.begin(SEED, prime=False))).frames) == 4


def cut(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:-1000])


def rubbish(file: Path) -> None:
    file.write_bytes(b"no weights at all")


def absent(file: Path) -> None:
    file.unlink()


def other_shape(file: Path) -> None:
    file.with_suffix(".json").write_text(json.dumps({"width": 192, "hidden": 96, "layers": 2}))


def other_model(file: Path) -> None:
    file.with_suffix(".json").write_text(json.dumps({"width": 128, "hidden": 96, "layers": 3}))


def no_config(file: Path) -> None:
    file.with_suffix(".json").unlink()


def bad_config(file: Path) -> None:
    file.with_suffix(".json").write_text('{"width": 128,')


def odd_config(file: Path) -> None:
    file.with_suffix(".json").write_text(json.dumps({"width": 100, "hidden": 96, "layers": 2}))


def wordy_config(file: Path) -> None:
    file.with_suffix(".json").write_text(json.dumps({"width": "wide"}))


def not_finite(file: Path) -> None:
    network = small_network()
    network.place.data[3, 3] = math.nan
    save_file({name: tensor.contiguous() for name, tensor in network.state_dict().items()}, str(file))


@pytest.mark.parametrize(
    "damage", [cut, rubbish, absent, other_shape, other_model, no_config, bad_config, odd_config, wordy_config, not_finite]
)  # fmt: skip
def test_damaged_weights_are_named(weights: Path, damage: object) -> None:
    assert callable(damage)
    damage(weights)
    with pytest.raises(WeightsError, match=r"small\.(safetensors|json)") as caught:
        TinyModel.load({"weights": str(weights)}, CPU)
    assert caught.value.hint


@pytest.mark.parametrize("options", [{"passes": "5"}, {"window": "0"}, {"threads": "0"}, {"retrieved": "many"}, {"speed": "1"}])
def test_impossible_options_are_refused(options: dict[str, str]) -> None:
    with pytest.raises(InputError, match=next(iter(options))):
        TinyModel.load(options, CPU)


def test_passes_and_threads_follow_the_clock(network: TinyNetwork, monkeypatch: pytest.MonkeyPatch) -> None:
    def chosen(seconds: float) -> int:
        model, ticks = model_of(network), iter(np.arange(1000) * seconds)
        monkeypatch.setattr(model._player, "trial", lambda: None)
        model.measure(TinyOptions(), clock=lambda: float(next(ticks)))
        return model.passes

    assert [chosen(s) for s in (0.01, 0.05, 0.07, 0.08, 0.1, 0.3)] == [4, 4, 3, 2, 2, 2]


def test_one_lucky_pass_decides_nothing(network: TinyNetwork, monkeypatch: pytest.MonkeyPatch) -> None:
    model, now = model_of(network), [0.0]
    lucky = iter([0.0, 0.02])  # the pass that makes buffers, then a quick one

    def trial() -> None:
        now[0] += next(lucky, 0.09)

    monkeypatch.setattr(model._player, "trial", trial)
    model.measure(TinyOptions(), clock=lambda: now[0])
    assert model.passes == 2


def test_thread_counts_end_at_one() -> None:
    assert thread_counts(12, CPU) == [12, 6, 3, 1]
    assert thread_counts(64, CPU) == [16, 8, 4, 2, 1]
    assert thread_counts(8, torch.device("cuda")) == [1]
