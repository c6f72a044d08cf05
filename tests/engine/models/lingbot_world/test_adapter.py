from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from worldpager.engine.errors import InputError, WeightsError
from worldpager.engine.models.base import BlockKV, ChunkOutput, PastChunk
from worldpager.engine.models.lingbot_world import need
from worldpager.engine.models.lingbot_world.adapter import SMALLEST, LingBotWorld
from worldpager.engine.models.lingbot_world.load import load_parts
from worldpager.engine.models.lingbot_world.options import LingBotOptions
from worldpager.engine.models.wan import prompts
from worldpager.engine.models.wan.start_picture import drawn_picture, frame_size, load_picture
from worldpager.engine.positions.rope import turned
from worldpager.engine.types import Pose

CPU = torch.device("cpu")
SMALL = {"random-weights": "yes", "size": "small"}


def walk(chunk: int, turn: float = 0.02) -> list[Pose]:
    """16 poses, on from those of the chunk before."""
    return [Pose(0.02 * i, 0, 0.5, turn * i, 0) for i in range(16 * chunk + 1, 16 * chunk + 17)]


@pytest.fixture(scope="module")
def model() -> Iterator[LingBotWorld]:
    """One model for all tests of this file: each begins its own world."""
    made = SMALLEST.load(SMALL, CPU)
    yield made
    made.close()


def played(model: LingBotWorld, chunks: int, seed: int = 7) -> list[ChunkOutput]:
    return [*model.begin(seed, prime=True), *(model.step(walk(i), 0) for i in range(chunks))]


def place(model: LingBotWorld, kv: BlockKV, birth: int) -> None:
    offset = model.spec.placement.offsets([birth], birth + 3)[0] if model.spec.placement else 0.0
    model.memory_view.keys[:, 0], model.memory_view.values[:, 0] = turned(kv.keys, model.spec.rotary, offset), kv.values


def test_a_world_begins_with_thirteen_frames_and_goes_on_with_sixteen(model: LingBotWorld) -> None:
    chunks = played(model, 2)
    spec = model.spec
    assert [len(c.frames) for c in chunks] == [13, 16, 16] == [len(c.poses) for c in chunks]
    assert all(c.frames.shape[1:] == (spec.height, spec.width, 3) and c.frames.dtype == np.uint8 for c in chunks)
    shape = (spec.kv.layers, spec.kv.tokens, spec.kv.heads, spec.kv.head_dim)
    assert all(c.kv.keys.shape == c.kv.values.shape == shape for c in chunks)
    assert (spec.frames_per_chunk, spec.native_horizon) == (16, 256)


def test_the_same_seed_and_poses_make_the_same_chunks_and_another_seed_others(model: LingBotWorld) -> None:
    other, once, again = (played(model, 0, seed) for seed in (8, 7, 7))
    assert np.array_equal(once[0].frames, again[0].frames)
    assert torch.equal(once[0].kv.keys, again[0].kv.keys)
    assert not np.array_equal(once[0].frames, other[0].frames)


def test_where_the_camera_goes_changes_the_chunk(model: LingBotWorld) -> None:
    list(model.begin(7, prime=False))
    ahead = model.step(walk(0), 0)
    list(model.begin(7, prime=False))
    left = model.step(walk(0, turn=-0.02), 0)
    assert not torch.equal(ahead.kv.values, left.kv.values)


def test_what_is_retrieved_changes_the_chunk_and_earlier_output_stays(model: LingBotWorld) -> None:
    chunks = played(model, 4)
    before = chunks[1].kv.keys.clone()
    place(model, chunks[1].kv, 1)
    state = model.window_state()
    with_memory = model.step(walk(4), 1)
    model.restore(7, 4, PastChunk(chunks[0].kv, chunks[0].poses), [PastChunk(chunks[4].kv, chunks[4].poses)])
    model.take_window_state(state)
    without = model.step(walk(4), 0)
    assert not torch.equal(with_memory.kv.values, without.kv.values)
    assert torch.equal(chunks[1].kv.keys, before)


def test_play_goes_on_to_the_bit_from_a_saved_window_and_nearly_from_stored_chunks(model: LingBotWorld) -> None:
    chunks = played(model, 4)
    state = model.window_state()
    expected = model.step(walk(4), 0)
    past = [PastChunk(c.kv, c.poses) for c in chunks]
    model.restore(7, 4, past[0], [past[4], past[3], past[2], past[1]])
    rebuilt = model.step(walk(4), 0)
    assert torch.allclose(rebuilt.kv.keys, expected.kv.keys, atol=1e-4)
    assert rebuilt.frames.shape == expected.frames.shape
    model.restore(7, 4, past[0], [past[4], past[3]])  # the second half of the sink is gone
    assert model.step(walk(4), 0).kv.keys.isfinite().all()
    model.restore(7, 4, past[0], [past[4], past[3]])
    model.take_window_state(state)
    exact = model.step(walk(4), 0)
    assert torch.equal(exact.kv.keys, expected.kv.keys)
    assert np.array_equal(exact.frames, expected.frames)


def test_a_window_of_another_model_is_refused(model: LingBotWorld) -> None:
    list(model.begin(7, prime=False))
    state = model.window_state()
    none = torch.zeros(1)
    for wrong in ({**state, "keys": state["keys"][:1]}, {**state, "decoder/nothing": none}, {**state, "counts": torch.tensor([99, 0])}):
        with pytest.raises(ValueError, match=r"window|decoder"):
            model.take_window_state(wrong)


def test_past_the_trained_rows_play_goes_on_and_the_sink_follows(model: LingBotWorld) -> None:
    chunks = played(model, 3)
    past = [PastChunk(c.kv, c.poses) for c in chunks]
    model.restore(7, 299, past[0], [past[3], past[2]])
    born = model.window_state()
    far = model.step(walk(3), 0)
    moved = model.window_state()
    assert far.kv.keys.isfinite().all()
    assert "sink" in moved
    assert "sink" not in born
    # the sink's first frame stands where the distance to the newest one is at most what training saw
    sink_keys = moved["sink"].float()
    place = 1200 + 4 - 1024
    step_up = -(-place // 64) * 64
    expected = turned(sink_keys, model.spec.rotary, step_up)
    tokens = expected.shape[1]
    assert torch.allclose(moved["keys"][:, -tokens:], expected, atol=1e-5)
    later = model.window_state()
    model.restore(7, 300, past[0], [PastChunk(far.kv, far.poses), past[3]])
    model.take_window_state(later)
    assert model.step(walk(4), 0).kv.keys.isfinite().all()


def test_chunks_stored_in_part_are_smaller_and_cannot_be_gone_back_in() -> None:
    model = SMALLEST.load({**SMALL, "keep": "0.5"}, CPU)
    first = next(iter(model.begin(1, prime=False)))
    places = model.spec.width * model.spec.height // 256
    assert first.kv.keys.shape[1] == model.spec.kv.tokens == places + -(-3 * places // 2)
    with pytest.raises(InputError, match="keep=1"):
        model.restore(1, 0, PastChunk(first.kv, first.poses), [PastChunk(first.kv, first.poses)])


def test_sizes_of_the_published_models_are_those_of_their_documentation() -> None:
    options = LingBotOptions.read("1.3b", {})
    assert frame_size((832, 464), options.area) == (832, 464)
    assert frame_size((1920, 1080), options.area) == (832, 464)
    kv = (29 * 52 * 4) * options.dit.width * 2 * 2 * options.dit.blocks
    assert kv == 1_111_818_240


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"colour": "red"}, "no option 'colour'"),
        ({"size": "small"}, "random-weights=yes"),
        ({"random-weights": "maybe"}, "random-weights=maybe"),
        ({"rate": "nan"}, "rate=nan"),
        ({"window": "nine"}, "window=nine"),
        ({"window": "9"}, "no room for 6 sink"),
        ({"keep": "2"}, "keep=2"),
        ({"retrieved": "99"}, "from 0 to 8"),
    ],
)
def test_wrong_options_are_named(options: dict[str, str], match: str) -> None:
    with pytest.raises(InputError, match=match):
        load_parts(LingBotOptions.read("1.3b", options), CPU)


def test_a_model_that_does_not_fit_is_refused_with_its_needs_before_loading(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(need, "free_bytes", lambda device: 1 << 20)
    with pytest.raises(InputError, match=r"needs \d+\.\d GB on cpu.*network 6\.8"):
        SMALLEST.load({"random-weights": "yes"}, CPU)


def test_a_prompt_is_encoded_once_and_kept(tmp_path: Path) -> None:
    vectors = torch.randn(5, 8)
    path = prompts.prompt_file(" a  castle\n", tmp_path)
    prompts.keep_prompt("a castle", vectors, path)
    assert torch.equal(prompts.prompt_vectors("a castle", None, 8, folder=tmp_path), vectors.bfloat16())
    assert prompts.prompt_vectors("  ", None, 8, folder=tmp_path).shape == (0, 8)
    with pytest.raises(InputError, match="add them again"):
        prompts.prompt_vectors("a river", None, 8, folder=tmp_path)
    with pytest.raises(WeightsError, match="not \\[1 to 512, 9\\]"):
        prompts.read_prompt(path, 9)
    path.write_bytes(b"rubbish")
    with pytest.raises(WeightsError, match="can't be read"):
        prompts.read_prompt(path, 8)


def test_prompts_are_cleaned() -> None:
    assert prompts.cleaned(" a &amp;amp; b\n\t c schÃ¶n ") == "a & b c schön"


def test_a_start_picture_is_read_upright_and_rubbish_is_named(tmp_path: Path) -> None:
    Image.new("RGB", (40, 20), (255, 0, 0)).save(tmp_path / "red.png")
    assert load_picture(tmp_path / "red.png").shape == (3, 20, 40)
    (tmp_path / "bad.png").write_bytes(b"no picture")
    for name in ("bad.png", "absent.png"):
        with pytest.raises(InputError, match=name):
            load_picture(tmp_path / name)


def test_drawn_pictures_differ_by_seed() -> None:
    a, b = drawn_picture(1, 64, 32, 1.4), drawn_picture(2, 64, 32, 1.4)
    assert a.shape == (3, 32, 64)
    assert a.float().std() > 10
    assert not torch.equal(a, b)
