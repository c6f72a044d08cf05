from __future__ import annotations

import pytest
import torch

from tests.helpers.golden import difference, golden
from worldpager.engine.models.wan.umt5 import Umt5Config, Umt5Encoder, relative_buckets


def test_the_encoder_equals_the_vectors() -> None:
    v = golden("lingbot_world/text_encoder")
    encoder = Umt5Encoder(Umt5Config(width=64, heads=4, ffn=128, layers=2, vocabulary=100))
    encoder.load_state_dict({key.removeprefix("weights."): value for key, value in v.items() if key.startswith("weights.")})
    real = int(v["mask"].sum())
    assert difference(encoder(v["ids"][0, :real]), v["out"][0]) < 2e-5


def test_buckets_equal_the_vectors() -> None:
    assert torch.equal(relative_buckets(160)[0], golden("lingbot_world/text_encoder")["relative_bucket"])


def test_the_published_encoder_has_these_parameters() -> None:
    with torch.device("meta"):
        full = Umt5Encoder()
    assert sum(p.numel() for p in full.parameters()) == 5_680_910_336


@pytest.mark.parametrize(("offset", "bucket"), [(0, 0), (-1, 1), (1, 17), (7, 23), (-8, 8), (127, 31), (159, 31)])
def test_buckets_by_hand(offset: int, bucket: int) -> None:
    table = relative_buckets(320)
    assert table[160, 160 + offset] == bucket
