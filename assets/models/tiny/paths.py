"""Camera paths to learn from: how a person walks and looks about, with ways back that never repeat a frame exactly."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from worldpager.engine.models.tiny.worlds import SIZE, World

EYE = 0.55
TURN_LIMIT = 0.2
"""Radians a frame; the player's turning is capped to the same."""
WALK_LIMIT = 0.16


def _held(rng: np.random.Generator, frames: int, walk: float, turn: float) -> NDArray[np.float64]:
    """Speeds [frames, 4] (ahead, left, turn, pitch rate) as if keys and mouse were held for stretches."""
    out = np.zeros((frames, 4))
    at = 0
    while at < frames:
        n = int(rng.integers(4, 18))
        if rng.uniform() < walk:
            out[at:at + n, 0] = rng.uniform(0.04, WALK_LIMIT) * (1 if rng.uniform() < 0.88 else -0.7)
        if rng.uniform() < 0.15 * walk:
            out[at:at + n, 1] = rng.uniform(0.03, 0.1) * rng.choice([-1, 1])
        if rng.uniform() < turn:
            fast = rng.uniform() < 0.12
            out[at:at + n, 2] = rng.uniform(0.12, TURN_LIMIT) if fast else rng.uniform(0.02, 0.11)
            out[at:at + n, 2] *= rng.choice([-1, 1])
        at += n
    ease = np.array([0.25, 0.5, 0.25])
    for column in range(3):
        out[:, column] = np.convolve(np.pad(out[:, column], 1, mode="edge"), ease, "valid")
    out[:, 3] = np.convolve(rng.normal(0, 0.03, frames + 8), np.ones(9) / 9, "valid")
    return out


def _integrate(world: World, start: tuple[float, float, float, float], speeds: NDArray[np.float64]) -> NDArray[np.float64]:
    """Poses [frames, 5] from ``start`` (x, y, yaw, pitch); walls are slid along."""
    x, y, yaw, pitch = start
    poses = np.zeros((len(speeds), 5))
    for i, (ahead, left, turn, tilt) in enumerate(speeds):
        yaw += turn
        pitch = float(np.clip((pitch + tilt) * 0.97, -0.45, 0.45))
        dx, dy = ahead * np.cos(yaw) - left * np.sin(yaw), ahead * np.sin(yaw) + left * np.cos(yaw)
        if not world.blocked(x + dx, y):
            x += dx
        if not world.blocked(x, y + dy):
            y += dy
        poses[i] = x, y, EYE, yaw, pitch
    return poses


def _resampled(poses: NDArray[np.float64], frames: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """The path walked backwards in ``frames`` frames at another speed, looking slightly elsewhere."""
    back = poses[::-1]
    at = np.linspace(0, len(back) - 1, frames)
    out = np.stack([np.interp(at, np.arange(len(back)), back[:, c]) for c in range(5)], -1)
    wobble = np.convolve(rng.normal(0, 0.12, frames + 14), np.ones(15) / 15, "valid")
    out[:, 3] += wobble + rng.normal(0, 0.05)
    out[:, :2] += rng.normal(0, 0.04, 2)
    return out


def make_path(world: World, rng: np.random.Generator, frames: int, program: str | None = None) -> NDArray[np.float64]:
    """Poses [frames, 5] of one program: free, look (away and back), walk (and back) or spin."""
    program = program or str(rng.choice(["free", "look", "walk", "spin"], p=[0.42, 0.23, 0.25, 0.10]))
    x, y, yaw = world.start
    for _ in range(30):
        cx, cy = rng.uniform(0, SIZE, 2)
        if not world.blocked(cx, cy, 0.4):
            x, y, yaw = float(cx), float(cy), float(rng.uniform(-np.pi, np.pi))
            break
    start = (x, y, yaw, float(rng.normal(0, 0.06)))
    half = frames // 2
    if program == "free":
        return _integrate(world, start, _held(rng, frames, 0.75, 0.6))
    if program == "spin":
        speeds = np.zeros((frames, 4))
        speeds[:, 2] = rng.uniform(0.06, 0.16) * rng.choice([-1, 1])
        return _integrate(world, start, speeds)
    if program == "look":
        speeds = np.zeros((half, 4))
        speeds[:, 2] = np.convolve(np.full(half, rng.uniform(0.03, 0.15) * rng.choice([-1, 1])), [0.5, 0.5], "same")
        speeds[:, 0] = rng.uniform(0, 0.04) * (rng.uniform() < 0.5)
        out = _integrate(world, start, speeds)
        return np.concatenate([out, _resampled(out, frames - half, rng)])
    out = _integrate(world, start, _held(rng, half, 1.0, 0.5))
    back = _resampled(out, frames - half, rng)
    if rng.uniform() < 0.33:
        back[:, 3] += np.pi * np.clip(np.arange(len(back)) / 14, 0, 1) * rng.choice([-1, 1])
    return np.concatenate([out, back])
