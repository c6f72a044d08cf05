"""The network, its windows and the loop against vectors of the published code (reduced size)."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch
from torch import Tensor

from tests.helpers.golden import difference, golden, golden_config
from worldpager.engine.models.matrix_game2.action_module import action_rotation, rows_of, turn
from worldpager.engine.models.matrix_game2.config import PUBLISHED, DitConfig, parse_config
from worldpager.engine.models.matrix_game2.network import MatrixGameDit
from worldpager.engine.models.matrix_game2.rollout import SHIFT, Rollout
from worldpager.engine.models.wan.flow import FlowStep, plain_steps

CLOSE = 2e-5
"""A tenth of the allowed difference in float32."""
FRAMES = 3


@pytest.fixture(scope="module", autouse=True)
def one_thread() -> Iterator[None]:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def network_of(name: str, weights: str, dtype: torch.dtype = torch.float32) -> MatrixGameDit:
    config = parse_config(golden_config(f"matrix_game_2/{name}"))
    tensors = golden(f"matrix_game_2/weights_{weights}") | golden("matrix_game_2/weights_shared_img_emb")
    network = MatrixGameDit(config)
    network.load_state_dict({key.removeprefix("model."): value for key, value in tensors.items()})
    return network.to(dtype).requires_grad_(False).eval()


class Replay:
    """A recorded rollout played again with the recorded noise."""

    def __init__(self, name: str, weights: str, dtype: torch.dtype = torch.float32) -> None:
        self.vectors = v = golden(f"matrix_game_2/{name}")
        self.network = network_of("rollout_universal" if name == "rollout_fullres" else name, weights, dtype)
        self.config: DitConfig = self.network.config
        self.rollout = Rollout(self.network, *v["in.noise"].shape[-2:])
        self.rollout.begin(golden("matrix_game_2/visual_context")["visual_context"][0])
        self.noise, self.condition = v["in.noise"][0], v["in.cond_concat"][0]
        self.mouse = v["in.mouse_cond"][0] if "in.mouse_cond" in v and self.config.action.mouse else None
        self.keyboard = v["in.keyboard_cond"][0]
        raw = [1000, 750, 500, 250] if weights == "templerun" else [1000, 666] if name == "rollout_fullres" else [1000, 666, 333]
        self.steps: list[FlowStep] = plain_steps(raw, SHIFT)

    def chunk(self, index: int) -> Tensor:
        first, frames = self.rollout.frame, slice(FRAMES * index, FRAMES * (index + 1))
        mouse = rows_of(self.mouse, first, FRAMES) if self.mouse is not None else None
        self.rollout.prepare(self.condition[:, frames], mouse, rows_of(self.keyboard, first, FRAMES), 0)
        fresh = (self.vectors[f"chunk{index}.step{s}.renoise_eps"][0] for s in range(len(self.steps)))
        clean = self.rollout.denoise(self.noise[:, frames], self.steps, lambda: next(fresh))
        self.rollout.finish(clean)
        return clean

    @torch.no_grad()
    def play(self, check: bool = True) -> Tensor:
        clean = []
        for index in range(self.noise.shape[1] // FRAMES):
            clean.append(self.chunk(index))
            if check:
                self.check_windows(index)
            self.rollout.advance()
        return torch.cat(clean, 1)

    def check_windows(self, index: int) -> None:
        """Keys and values of all windows after the pass at t = 0, where they were recorded."""
        context, v = self.rollout.context, self.vectors
        for block in range(self.config.blocks):
            if f"chunk{index}.kv.layer{block}.k" in v:
                seen = context.visual.seen(0)
                assert difference(context.visual.keys[block, seen], v[f"chunk{index}.kv.layer{block}.k"][0]) < CLOSE
                assert difference(context.visual.values[block, seen], v[f"chunk{index}.kv.layer{block}.v"][0]) < CLOSE
            for kind in ("mouse", "keyboard"):
                if f"chunk{index}.{kind}_kv.layer{block}.k" in v:
                    window = getattr(context.actions[block], kind)
                    assert difference(window.seen()[0], v[f"chunk{index}.{kind}_kv.layer{block}.k"]) < CLOSE
                    assert difference(window.seen()[1], v[f"chunk{index}.{kind}_kv.layer{block}.v"]) < CLOSE


ROLLOUTS = [
    ("rollout_universal", "universal"), ("rollout_universal_sink1", "universal"), ("rollout_gta", "gta"),
    ("rollout_templerun", "templerun"), pytest.param("rollout_fullres", "universal", marks=pytest.mark.slow),
]  # fmt: skip


@pytest.mark.parametrize(("name", "weights"), ROLLOUTS)
def test_a_rollout_equals_the_published_code(name: str, weights: str) -> None:
    replay = Replay(name, weights)
    assert difference(replay.play(), replay.vectors["out.latents"][0]) < CLOSE
    if "denoising_timesteps" in replay.vectors:
        assert [step.timestep for step in replay.steps] == replay.vectors["denoising_timesteps"].tolist()


@pytest.mark.parametrize(("name", "weights"), ROLLOUTS[:4])
def test_bfloat16_stays_near_float32(name: str, weights: str) -> None:
    replay = Replay(name, weights, torch.bfloat16)
    wanted = replay.vectors["out.latents"][0]
    got = replay.play(check=False)
    assert (got.float() - wanted).norm() / wanted.norm() < 0.03


@torch.no_grad()
def test_the_last_frames_of_the_published_table() -> None:
    v, network = golden("matrix_game_2/late_start_universal"), network_of("rollout_universal", "universal")
    rollout = Rollout(network, *v["in.noise"].shape[-2:])
    rollout.begin(golden("matrix_game_2/visual_context")["visual_context"][0], frame=int(v["in.first_frame"]))
    start = int(v["in.action_rows_start"])
    for chunk in range(2):
        f, frames = rollout.frame, slice(FRAMES * chunk, FRAMES * (chunk + 1))
        mouse, keyboard = (rows_of(v[f"in.{kind}_cond_rows"][0], f, FRAMES, start) for kind in ("mouse", "keyboard"))
        rollout.prepare(v["in.cond_concat"][0, :, frames], mouse, keyboard, 0)
        noise = v["in.noise"][0, :, frames]
        for t in (1000, 0):
            assert difference(rollout.flow(noise, float(t)), v[f"frame{f}.t{t}.flow"][0]) < CLOSE
        visual = rollout.context.visual
        for block in range(network.config.blocks):
            assert difference(visual.keys[block, visual.seen(0)], v[f"frame{f}.kv.layer{block}.k"][0]) < CLOSE
        rollout.advance()


@torch.no_grad()
@pytest.mark.parametrize("parts", ["both", "mouse_only", "keyboard_only"])
def test_the_action_module_alone(parts: str) -> None:
    v, network = golden("matrix_game_2/action_module"), network_of("rollout_universal", "universal")
    module, width = network.blocks[0].action_model, network.config.width
    if parts == "mouse_only":
        module.proj_keyboard.weight.zero_()  # type: ignore[union-attr,operator]
    if parts == "keyboard_only":
        module.proj_mouse.weight.zero_()  # type: ignore[union-attr,operator]
    rollout = Rollout(network, 8, 12)
    for chunk in range(3):
        mouse, keyboard = (rows_of(v[f"{kind}_cond"][0], rollout.frame, FRAMES) for kind in ("mouse", "keyboard"))
        rollout.prepare(torch.zeros(20, FRAMES, 8, 12), mouse, keyboard, 0)
        out = network.blocks[0]._act(v[f"chunk{chunk}.x"].view(FRAMES, -1, width), rollout._pass)  # type: ignore[operator]
        assert difference(out.flatten(0, 1)[None], v[f"{parts}.chunk{chunk}.out"]) < CLOSE
        rollout.context.advance()
        rollout.frame += FRAMES


def test_action_rotations_of_the_published_table() -> None:
    v = golden("matrix_game_2/rope")
    for row, cos, sin in zip(v["action.row_index"].tolist(), v["action.cos_first8"], v["action.sin_first8"], strict=True):
        got = action_rotation(row, 1, torch.device("cpu"))
        for table, wanted in zip(got, (cos, sin), strict=True):
            assert torch.equal(table[0].repeat_interleave(2), wanted.float())


@pytest.mark.parametrize("which", ["q", "k"])
def test_turning_in_the_action_module(which: str) -> None:
    v = golden("matrix_game_2/rope")
    for name in [name for name in v if name.startswith(f"action.{which}.start")]:
        x = v[f"action.{which}"] if f"action.{which}" in v else v[f"action.{which}.in"]
        got = turn(x, *action_rotation(int(name.rsplit("start", 1)[1]), x.shape[1], torch.device("cpu")))
        assert difference(got, v[name]) < 1e-6


def test_a_longer_table_has_the_same_first_rows() -> None:
    whole = action_rotation(0, 9000, torch.device("cpu"))
    for first in (0, 1, 1023, 1024, 7497, 7500, 8990):
        for table, piece in zip(whole, action_rotation(first, FRAMES, torch.device("cpu")), strict=True):
            assert torch.equal(table[first : first + FRAMES], piece)


def test_sizes_of_the_published_variants() -> None:
    counts = {"universal": (1_619_242_304, 1114), "gta": (1_619_238_464, 1114), "templerun": (1_508_715_584, 964)}
    for name, config in PUBLISHED.items():
        with torch.device("meta"):
            state = MatrixGameDit(config).state_dict()
        assert (sum(t.numel() for t in state.values()), len(state)) == counts[name]
