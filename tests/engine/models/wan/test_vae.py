from __future__ import annotations

import pytest
import torch
from torch import Tensor

from tests.helpers.golden import difference, golden
from worldpager.engine.models.wan.vae import FORMS, REACH, VaeConfig, WanVae, start_latents, video_frames
from worldpager.engine.models.wan.vae_parts import CausalConv, Stream

SMALL = VaeConfig(width=4)
CLOSE = 2e-5


@pytest.fixture(scope="module")
def vae() -> WanVae:
    model = WanVae(SMALL)
    model.load_state_dict(golden("matrix_game_2/weights_vae"))
    return model.eval()


@pytest.fixture(scope="module")
def vectors() -> dict[str, Tensor]:
    return golden("matrix_game_2/vae")


def test_the_published_file_has_194_tensors_and_these_parameters() -> None:
    with torch.device("meta"):
        full = WanVae()
    assert len(full.state_dict()) == 194
    assert sum(p.numel() for p in full.parameters()) == 126_892_531


def test_encoding_a_video_equals_the_vectors(vae: WanVae, vectors: dict[str, Tensor]) -> None:
    assert difference(vae.encode(vectors["encode.video"]), vectors["encode.latent"]) < CLOSE
    image = vectors["encode.video"][:, :, 0]
    assert difference(vae.encode_start(image, 5), vectors["encode.image_then_zeros_latent"]) < CLOSE


def test_an_image_is_encoded_once_for_a_session_without_end(vae: WanVae, vectors: dict[str, Tensor]) -> None:
    encoded = vae.encode_start(vectors["encode.long.image"][:, :, 0])
    long = vectors["encode.long.latent"]
    assert encoded.shape[2] == REACH + 1
    assert difference(start_latents(encoded, 0, 35), long) < CLOSE
    assert torch.equal(start_latents(encoded, 5000, 3), encoded[:, :, REACH:].expand(-1, -1, 3, -1, -1))


@pytest.mark.parametrize("at_once", [1, 2, 3])
def test_chunkwise_decoding_equals_decoding_in_one_go(vae: WanVae, vectors: dict[str, Tensor], at_once: int) -> None:
    stream: Stream = {}
    z = vectors["decode.z"]
    first, second = vae.decode(z[:, :, :3], stream, at_once), vae.decode(z[:, :, 3:], stream, at_once)
    assert difference(first.transpose(1, 2), vectors["decode.stream.chunk0"]) < CLOSE
    assert difference(second.transpose(1, 2), vectors["decode.stream.chunk1"]) < CLOSE
    assert difference(torch.cat([first, second], dim=2), vectors["decode.video_full"]) < CLOSE
    assert (first.shape[2], second.shape[2]) == (video_frames(3, first=True), video_frames(3, first=False))


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_computing_gives_the_same_video(vectors: dict[str, Tensor], form: str) -> None:
    model = WanVae(SMALL)
    model.load_state_dict(golden("matrix_game_2/weights_vae"))
    model.use(form)
    stream: Stream = {}
    z = vectors["decode.z"]
    video = torch.cat([model.decode(z[:, :, :3], stream, 2), model.decode(z[:, :, 3:], stream, 1)], dim=2)
    assert difference(video, vectors["decode.video_full"]) < CLOSE
    assert difference(model.encode(vectors["encode.video"]), vectors["encode.latent"]) < CLOSE


def test_the_fastest_form_is_measured_and_taken() -> None:
    ticks = iter([0.0, 3.0, 10.0, 11.0, 20.0, 22.0])
    model = WanVae(SMALL)
    assert model.use_fastest(2, 2, ticks.__next__) == {"plain": 3.0, "last": 1.0, "folded": 2.0}
    assert model.decoder.conv1.weight.is_contiguous(memory_format=torch.channels_last_3d)
    assert not model.decoder.conv1.folded


def test_the_stream_holds_what_the_published_decoder_keeps(vae: WanVae, vectors: dict[str, Tensor]) -> None:
    stream: Stream = {}
    vae.decode(vectors["decode.z"][:, :, :3], stream)
    shapes = [vectors[f"decode.stream.chunk0.cache{i:02d}.shape"].tolist() for i in range(32)]
    assert sorted(list(kept.shape) for kept in stream.values()) == sorted(shapes)


def test_decoding_a_second_video_needs_a_new_stream(vae: WanVae, vectors: dict[str, Tensor]) -> None:
    z = vectors["decode.z"][:, :, :1]
    stream: Stream = {}
    first, second = vae.decode(z, stream), vae.decode(z, stream)
    assert (first.shape[2], second.shape[2]) == (1, 4)
    assert torch.equal(vae.decode(z, {}), first)


def test_a_convolution_over_time_without_its_stream_is_refused() -> None:
    with pytest.raises(ValueError, match="stream"):
        CausalConv(3, 4)(torch.zeros(1, 3, 1, 4, 4))
