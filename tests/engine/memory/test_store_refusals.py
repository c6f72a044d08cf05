"""A block that can't be encoded costs nothing: no slot, no entry, no harm to what is there."""

from __future__ import annotations

import pytest
import torch

from tests.engine.memory.kit import Bench, block_kv
from worldpager.engine.models.base import BlockKV


@pytest.mark.parametrize("full", [False, True])
def test_kv_of_another_shape_is_refused_whole(full: bool) -> None:
    bench = Bench(host=6)
    blocks = bench.put(9 if full else 2)
    whole = block_kv(99)
    used = bench.store.tiers()[1].used
    for _ in range(8):
        with pytest.raises(ValueError, match="are not blocks of"):
            bench.store.put(BlockKV(torch.cat([whole.keys] * 2), whole.values))
        bench.store.check()
    assert bench.store.tiers()[1].used <= used
    assert bench.store.counters().blocks == len(blocks)
    bench.assert_right(blocks[-1], blocks[-2])
