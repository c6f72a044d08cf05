"""Plain twin of unpack + rotate, and the rotation by itself for keys that aren't packed."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor


def rotation(frequencies: Sequence[float], offset: float, device: torch.device) -> Tensor | None:
    """Cosine and sine, float32 [pairs, 2], of ``offset * frequencies[i]`` radians, reckoned in float64; None when nothing turns."""
    if not frequencies or offset == 0:
        return None
    angle = torch.tensor(frequencies, dtype=torch.float64) * offset
    return torch.stack([angle.cos(), angle.sin()], -1).to(device, torch.float32)


def unpack(codes: Tensor, step: Tensor, low: Tensor, out: Tensor, turn: Tensor | None = None, start: int = 0) -> None:
    """See the package. Layer by layer, so that what it makes on the way stays in the cache."""
    for layer in range(len(out)):
        _unpack_layer(codes[layer], step[layer], low[layer], out[layer], turn, start)


def _unpack_layer(codes: Tensor, step: Tensor, low: Tensor, out: Tensor, turn: Tensor | None, start: int) -> None:
    half, n = codes.shape[1], out.shape[1]
    numbers = torch.empty_like(out, dtype=torch.float32)
    numbers[:, :half] = codes & 15
    numbers[:, half:] = codes[:, : n - half] >> 4
    target = out if out.dtype == torch.float32 else numbers
    torch.add(numbers.mul_(step.float()[:, None]), low.float()[:, None], out=target)
    if turn is not None:
        rotate(target, turn, start)
    if target is not out:
        out.copy_(target)


def rotate(keys: Tensor, turn: Tensor, start: int) -> None:
    """Turn channel pairs (start + 2 i, start + 2 i + 1) of ``keys`` float32 [..., D] in place by ``turn`` [pairs, 2]."""
    a, b = keys[..., start : start + 2 * len(turn)].unflatten(-1, (len(turn), 2)).unbind(-1)
    cos, sin = turn.unbind(-1)
    turned = a * cos - b * sin
    b.copy_(a * sin + b * cos)
    a.copy_(turned)
