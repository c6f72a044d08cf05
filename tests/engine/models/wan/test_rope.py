from __future__ import annotations

import pytest
import torch

from tests.helpers.golden import difference, golden
from worldpager.engine.models.wan import rope
from worldpager.engine.positions.rope import turned

MODELS = ["matrix_game_2", "lingbot_world"]


@pytest.mark.parametrize("name", MODELS)
def test_table_rows_equal_the_vectors(name: str) -> None:
    v = golden(f"{name}/rope")
    angle = rope.angles(128, v["table.row_index"])
    assert difference(angle.cos(), v["table.cos_rows"]) < 1e-12
    assert difference(angle.sin(), v["table.sin_rows"]) < 1e-12


@pytest.mark.parametrize("name", MODELS)
def test_turning_tokens_equals_the_vectors_at_every_start(name: str) -> None:
    v = golden(f"{name}/rope")
    frames, height, width = v["apply.grid"].tolist() if "apply.grid" in v else (4, 3, 5)
    starts = [key for key in v if key.startswith(("apply.start", "apply_extended.start"))]
    assert len(starts) >= 3
    for key in starts:
        first = int(key.split("start")[1])
        rotation = rope.grid_rotation(128, range(first, first + frames), height, width)
        assert difference(rotation(v["apply.x"][0]), v[key][0]) < 2e-6


def test_rows_past_the_published_table_equal_the_vectors_and_leave_the_rows_below_alone() -> None:
    v = golden("matrix_game_2/rope")
    rows = v["extended_table_4096.row_index"]
    angle = rope.angles(128, rows)[:, :22]
    assert difference(angle.cos(), v["extended_table_4096.cos_rows"]) < 1e-12
    assert difference(angle.sin(), v["extended_table_4096.sin_rows"]) < 1e-12


def test_a_longer_table_has_the_same_first_rows_bit_for_bit() -> None:
    assert torch.equal(rope.angles(128, range(5000))[: rope.TRAINED_ROWS], rope.angles(128, range(rope.TRAINED_ROWS)))
    short, long = rope.grid_rotation(64, range(4), 3, 4), rope.grid_rotation(64, range(2000), 3, 4)
    assert torch.equal(long.cos[:48], short.cos)
    assert torch.equal(long.sin[:48], short.sin)


@pytest.mark.parametrize("offset", [-5, 37, 1023])
def test_stored_keys_turn_along_time_as_the_vectors_say(offset: int) -> None:
    v = golden("lingbot_world/rope")
    expected = v[f"delta.out{offset}"][0]
    assert difference(rope.frame_rotation(128, offset)(v["delta.k"][0]), expected) < 2e-6
    assert difference(turned(v["delta.k"][0], rope.rotary_spec(128), offset), expected) < 2e-6


def test_widths_of_the_parts() -> None:
    assert rope.part_widths(128) == (44, 42, 42)
    assert rope.part_widths(64) == (24, 20, 20)


def test_half_precision_comes_back_as_half_precision() -> None:
    rotation = rope.grid_rotation(64, range(2), 2, 2)
    x = torch.randn(8, 2, 64)
    half = rotation(x.bfloat16())
    assert half.dtype == torch.bfloat16
    assert difference(half, rotation(x)) < 0.05
