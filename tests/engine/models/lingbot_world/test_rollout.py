from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor

from tests.helpers.golden import difference, golden, golden_config
from worldpager.engine.models.lingbot_world.config import DitConfig
from worldpager.engine.models.lingbot_world.context import Context
from worldpager.engine.models.lingbot_world.network import LingBotDit
from worldpager.engine.models.lingbot_world.rollout import Rollout

CLOSE = 2e-5


def small_config(c: dict[str, Any], window: int, sink: int) -> DitConfig:
    return DitConfig(
        c["dim"], c["ffn_dim"], c["num_heads"], c["num_layers"], c["chunk_size"], window, sink, tuple(c["timestep_index"]), c["shift"],
        text_width=c["text_dim"], text_length=c["text_len"],
    )  # fmt: skip


def rollout_of(name: str, window: int, sink: int, retrieved: int = 0) -> tuple[Rollout, dict[str, Tensor], dict[str, Any]]:
    c = golden_config(f"lingbot_world/{name}")
    network = LingBotDit(small_config(c, window, sink))
    network.load_state_dict(golden("lingbot_world/weights"))
    v = golden(f"lingbot_world/{name}")
    rollout = Rollout(network.requires_grad_(False), c["latent_height"], c["latent_width"], retrieved)
    rollout.begin(v["in.context"])
    return rollout, v, c


def window_of(context: Context, buffer: Tensor) -> Tensor:
    """Sink, then oldest to newest, the current chunk included, [blocks, tokens, heads, head_dim]."""
    seen = context.seen(0)
    recent = slice(seen.start, context.current.start)
    return torch.cat([buffer[:, context.sink], buffer[:, recent], buffer[:, context.current]], dim=1)


def check_window(rollout: Rollout, v: dict[str, Tensor], chunk: int) -> None:
    for i in range(rollout.config.blocks):
        for name, buffer in (("k", rollout.context.keys), ("v", rollout.context.values)):
            expected = v[f"chunk{chunk}.kv.layer{i}.{name}"][0]
            assert difference(window_of(rollout.context, buffer)[i], expected) < CLOSE


@pytest.mark.parametrize(("name", "window", "sink"), [("rollout_v2", 18, 6), ("rollout_v1_global", 12, 0)])
def test_a_rollout_equals_the_vectors(name: str, window: int, sink: int) -> None:
    rollout, v, c = rollout_of(name, window, sink)
    n, made = c["chunk_size"], []
    assert [s.timestep for s in rollout.steps] == v["timesteps"].tolist()
    for i in range(c["chunks"]):
        here = slice(i * n, (i + 1) * n)
        eps = iter([v[f"chunk{i}.step{s}.renoise_eps"] for s in range(len(rollout.steps) - 1)])
        step = rollout.prepare(v["in.plucker"][:, here])
        clean = rollout.denoise(v["in.noise"][:, here], v["in.y"][:, here], eps.__next__, step)
        assert difference(clean, v[f"chunk{i}.step{len(rollout.steps) - 1}.x0"]) < CLOSE
        kv = rollout.finish(clean, v["in.y"][:, here], step)
        if i == 0 and "chunk0.kv.layer0.k" in v:  # placed at frame 0, as the memory's keys are
            assert difference(kv.keys[0], v["chunk0.kv.layer0.k"][0]) < CLOSE
        made.append(clean)
        if f"chunk{i}.kv.layer0.k" in v:
            check_window(rollout, v, i)
        rollout.advance()
    assert difference(torch.cat(made, dim=1), v["out.latents"]) < CLOSE


def test_one_pass_equals_the_trace() -> None:
    rollout, v, _ = rollout_of("rollout_v2", 18, 6)
    trace = golden("lingbot_world/trace_rollout_v2_chunk4_step0")
    network = rollout.network
    time, six = network.time(float(v["timesteps"][0]))
    assert difference(time, trace["time_embedding.out"][0, 0]) < CLOSE
    assert difference(six.flatten(), trace["time_projection.out"][0, 0]) < CLOSE
    for (k, t), i in zip(network.text(v["in.context"]), range(3), strict=True):
        assert difference(k, v[f"cross.layer{i}.k"][0]) < CLOSE
        assert difference(t, v[f"cross.layer{i}.v"][0]) < CLOSE
    for (scale, shift), i in zip(network.camera(v["in.plucker"][:, 16:20]), range(3), strict=True):
        assert difference(scale, trace[f"block{i}.cam_scale"][0]) < CLOSE
        assert difference(shift, trace[f"block{i}.cam_shift"][0]) < CLOSE


def test_half_precision_stays_near() -> None:
    rollout, v, c = rollout_of("rollout_v2", 18, 6)
    half = Rollout(rollout.network.in_type(torch.bfloat16), c["latent_height"], c["latent_width"], 0)
    half.begin(v["in.context"])
    made = []
    for i in range(5):
        here = slice(i * 4, i * 4 + 4)
        eps = iter([v[f"chunk{i}.step{s}.renoise_eps"] for s in range(3)])
        step = half.prepare(v["in.plucker"][:, here])
        made.append(half.denoise(v["in.noise"][:, here], v["in.y"][:, here], eps.__next__, step))
        half.finish(made[-1], v["in.y"][:, here], step)
        half.advance()
    expected = v["out.latents"][:, :20]
    assert float((torch.cat(made, dim=1) - expected).norm() / expected.norm()) < 0.03


def test_a_window_without_room_is_refused() -> None:
    tight = replace(DitConfig(64, 64, 1, 1, 4, 18, 6, (0,), 5.0), window=9)
    with pytest.raises(ValueError, match="no room"):
        Context(tight, 2, 0, torch.float32, torch.device("cpu"))
