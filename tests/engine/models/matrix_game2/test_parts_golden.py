"""CLIP tower and small decoder against vectors of the published code (reduced size)."""

from __future__ import annotations

import pytest
import torch

from tests.helpers.golden import difference, golden
from worldpager.engine.models.matrix_game2.clip import ClipConfig, ClipVision, pixels
from worldpager.engine.models.matrix_game2.tiny_decoder import LEADING, TinyDecoder


def small_clip() -> ClipVision:
    weights = {name.removeprefix("visual."): value for name, value in golden("matrix_game_2/weights_clip_visual").items()}
    hidden = weights["transformer.0.mlp.0.weight"].shape[0]
    tower = ClipVision(ClipConfig(image=56, width=64, heads=2, hidden=hidden, blocks=2))
    tower.load_state_dict({name: weights[name] for name in tower.state_dict()})
    return tower.requires_grad_(False)


def test_clip_tokens_equal_the_published_code() -> None:
    v, tower = golden("matrix_game_2/clip_visual"), small_clip()
    image = v["image"][:, :, 0]
    assert difference(pixels(image, 56), v["pixels_after_preprocess"]) < 2e-5
    assert difference(tower(image)[None], v["out"]) < 2e-5


def small_decoder() -> TinyDecoder:
    decoder = TinyDecoder((16, 8, 8, 8))
    decoder.load_state_dict(golden("matrix_game_2/weights_tiny_decoder"))
    return decoder.requires_grad_(False)


def test_the_tiny_decoder_equals_the_published_code() -> None:
    v = golden("matrix_game_2/tiny_decoder")
    assert difference(small_decoder()(v["z"][0], {})[None], v["frames"]) < 1e-4


@pytest.mark.parametrize("pieces", [(3, 3), (1, 2, 3), (1,) * 6])
def test_streaming_is_the_same_as_one_go(pieces: tuple[int, ...]) -> None:
    decoder, z = small_decoder(), golden("matrix_game_2/tiny_decoder")["z"][0]
    stream: dict[str, torch.Tensor] = {}
    got = torch.cat([decoder.decode(piece, stream) for piece in z.split(pieces)])
    assert len(got) == 4 * len(z) - LEADING
    assert difference(got, decoder(z, {})[LEADING:].clamp(0, 1)) < 1e-4


def test_published_sizes() -> None:
    with torch.device("meta"):
        clip, decoder = ClipVision(), TinyDecoder()
    assert sum(p.numel() for p in decoder.parameters()) == pytest.approx(9.8e6, rel=0.02)
    assert sum(p.numel() for p in clip.parameters()) * 32 / 31 == pytest.approx(632e6, rel=0.01)
