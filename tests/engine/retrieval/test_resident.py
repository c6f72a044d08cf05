"""The policy host-only: what has left host memory is never asked for again."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tests.helpers.trajectories import VIEW
from worldpager.engine.retrieval.pose_overlap import PoseOverlap
from worldpager.engine.retrieval.resident import HostOnly
from worldpager.engine.telemetry.snapshot import COPY_DEVICE, COPY_DISK, COPY_HOST
from worldpager.engine.types import BlockId, Pose

HERE = [Pose(0.0, 0.0, 0.5, 0.0, 0.0)] * 4


def test_only_blocks_in_host_memory_are_selected_and_a_lost_one_stays_lost() -> None:
    copies = {1: COPY_HOST, 2: COPY_HOST | COPY_DISK}

    def copies_of(ids: NDArray[np.int64]) -> NDArray[np.uint8]:
        return np.array([copies.get(int(block), 0) for block in ids], np.uint8)

    policy = HostOnly(PoseOverlap(VIEW), copies_of)
    for block in (1, 2):
        policy.add(BlockId(block), [pose._replace(yaw=0.5 * (block - 1.5)) for pose in HERE])
    assert set(policy.select(HERE, 2)) == {1, 2}
    copies[2] = COPY_DISK | COPY_DEVICE
    assert policy.select(HERE, 2) == [1]
    assert policy.select_each([HERE, HERE], 2) == [[1], [1]]
    copies[2] = COPY_HOST
    assert policy.select(HERE, 2) == [1], "it was forgotten"
    assert len(policy) == 1
    policy.clear()
    assert policy.select(HERE, 2) == []
