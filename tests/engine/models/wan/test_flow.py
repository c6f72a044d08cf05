from __future__ import annotations

import pytest
import torch

from tests.helpers.golden import difference, golden
from worldpager.engine.models.wan import flow
from worldpager.engine.models.wan.parts import sinusoid


def test_the_plain_table_and_its_steps_equal_the_vectors() -> None:
    v = golden("matrix_game_2/scheduler")
    sigmas, timesteps = flow.plain_table(5.0)
    assert difference(sigmas, v["sigmas"]) < 1e-7
    assert difference(timesteps, v["timesteps"]) < 1e-4
    for name in ("universal_gta", "templerun"):
        steps = flow.plain_steps(v[f"warped.{name}.raw"].tolist(), 5.0)
        assert difference(torch.tensor([s.timestep for s in steps]), v[f"warped.{name}"]) < 1e-4


def test_noising_and_guessing_by_the_nearest_level_equal_the_vectors() -> None:
    v = golden("matrix_game_2/scheduler")
    for i, t in enumerate(v["add_noise.t"].tolist()):
        sigma = flow.nearest_sigma(t, 5.0)
        assert difference(flow.noised(v["add_noise.x0"][i], v["add_noise.eps"][i], sigma), v["add_noise.out"][i]) < 1e-6
    for i, t in enumerate(v["x0_from_flow.t"].tolist()):
        guess = flow.clean_guess(v["x0_from_flow.xt"][i], v["x0_from_flow.flow"][i], flow.nearest_sigma(t, 5.0))
        assert difference(guess, v["x0_from_flow.out"][i]) < 1e-6


@pytest.mark.parametrize("shift", [5, 10])
def test_the_whole_number_table_its_rows_and_its_steps_equal_the_vectors(shift: int) -> None:
    v = golden("lingbot_world/scheduler")
    sigmas, timesteps = flow.whole_table(shift)
    assert difference(sigmas, v[f"shift{shift}.sigmas"]) < 1e-7
    assert torch.equal(timesteps, v[f"shift{shift}.timesteps"])
    for name in ("list_a", "list_b"):
        rows = v[f"shift{shift}.{name}.x0_row"].tolist(), v[f"shift{shift}.{name}.renoise_row"].tolist()
        indices = v[f"shift{shift}.{name}.index"].tolist()
        assert flow.whole_rows(indices, shift) == list(zip(*rows, strict=True))
        assert [s.timestep for s in flow.whole_steps(indices, shift)] == v[f"shift{shift}.{name}.timesteps"].tolist()
    step = flow.whole_steps([250], shift)[0]
    x0, eps = v[f"shift{shift}.x0"], v[f"shift{shift}.eps"]
    assert difference(flow.noised(x0, eps, step.renoise), v[f"shift{shift}.add_noise_at_index250"]) < 1e-6
    assert difference(flow.clean_guess(x0, eps, step.sigma), v[f"shift{shift}.x0_from_flow_at_index250"]) < 1e-6


def test_published_timesteps_and_levels() -> None:
    steps = flow.whole_steps([0, 250, 500, 750], 5.0)
    assert [s.timestep for s in steps] == [999, 937, 833, 624]
    assert [s.sigma for s in steps] == pytest.approx([0.99980, 0.93789, 0.83361, 0.62469], abs=1e-5)
    assert [s.renoise for s in steps[1:]] == pytest.approx([0.93758, 0.83305, 0.62469], abs=1e-5)
    assert [s.timestep for s in flow.whole_steps([0, 179, 358, 679], 10.0)] == [999, 978, 947, 825]
    assert [round(s.timestep, 2) for s in flow.plain_steps([1000, 666, 333], 5.0)] == [1000, 908.84, 713.98]


def test_a_network_that_knows_the_answer_reaches_it() -> None:
    torch.manual_seed(0)
    clean, noise = torch.randn(3, 4), torch.randn(3, 4)
    drawn = [noise]
    told: list[float] = []

    def answer(sample: torch.Tensor, timestep: float) -> torch.Tensor:
        told.append(timestep)
        return (sample - clean) / steps[len(told) - 1].sigma

    def fresh() -> torch.Tensor:
        drawn.append(torch.randn(3, 4))
        return drawn[-1]

    steps = flow.whole_steps([0, 250, 500, 750], 5.0)
    assert torch.allclose(flow.denoise(noise, steps, answer, fresh), clean, atol=1e-6)
    assert told == [999, 937, 833, 624]
    assert len(drawn) == 4


@pytest.mark.parametrize("name", ["matrix_game_2", "lingbot_world"])
def test_the_sinusoid_equals_the_vectors(name: str) -> None:
    v = golden(f"{name}/scheduler")
    assert difference(sinusoid(v["sinusoid.t"]), v["sinusoid.out256_f64"]) < 1e-12
