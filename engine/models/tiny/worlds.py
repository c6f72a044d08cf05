"""Procedural worlds without end: one seed, one periodic map of houses, walls, trees and open ground.

A world is a table of cells (`CELL` columns each) that `render` marches through, plus a row of `SKY` numbers for light and air.
Everything is numpy, so that layouts can be made in data-loading processes; nothing here is learned.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float32]

SIZE = 32
"""Cells along each side; the map repeats beyond."""

PLAYED = 1 << 20
"""The player's world n is the layout of seed PLAYED + n; training only ever saw seeds below."""

# Columns of a cell. Geometry first: these are read at every step of a ray.
HEIGHT, SLOPE_X, SLOPE_Y = 0, 1, 2            # roof plane: height at the cell's centre and its slope; height 0 = nothing solid
OBJ_X, OBJ_Y = 3, 4                           # centre of the cell's object, inside the cell
STEM, CROWN = 5, 10                           # two quadrics: (c0, c1, c2, z0, z1), radius^2 = c0 + c1 z + c2 z^2 for z0 <= z <= z1
GEOMETRY = 15
WALL, WALL_RGB, ROOF_RGB = 15, 16, 19         # wall material, colours
OPENING = 22                                  # 0 none, 1 windows, 2 door and windows
EMBLEM, EMBLEM_RGB = 23, 24                   # 0 none, 1 diamond, 2 ring, 3 cross
STEM_RGB, CROWN_RGB, GLOW = 27, 30, 33
PAVED = 34                                    # 0 wild ground, 1 tiles, 2 path
SHADE = 35                                    # ambient shade of the ground at the cell's lower corner
CELL = 36

# Materials of a wall.
BRICK, STONE, PLANKS, PLASTER, HEDGE, STRIPES = range(6)

# Columns of a sky row.
ZENITH, HORIZON, GROUND, GROUND_2, PAVING, SUN_RGB, RIDGE_RGB = 0, 3, 6, 9, 12, 15, 18
SUN_AZIMUTH, SUN_HEIGHT, FOG, CLOUD, LIT, PHASE = 21, 22, 23, 24, 25, 26
SKY = 32


@dataclass(frozen=True, slots=True)
class World:
    """``cells`` [SIZE, SIZE, CELL] indexed [y, x]; ``sky`` [SKY]; ``start`` (x, y, yaw) of an open place with a view."""

    cells: Array
    sky: Array
    start: tuple[float, float, float]

    def blocked(self, x: float, y: float, radius: float = 0.28) -> bool:
        """True if a body of ``radius`` cells around (x, y) touches a wall or the stem of an object."""
        for dx in (-radius, radius):
            for dy in (-radius, radius):
                cell = self.cells[int(np.floor(y + dy)) % SIZE, int(np.floor(x + dx)) % SIZE]
                if cell[HEIGHT] > 0:
                    return True
        cell = self.cells[int(np.floor(y)) % SIZE, int(np.floor(x)) % SIZE]
        if cell[STEM + 4] > 0:
            ox, oy = x % 1.0 - cell[OBJ_X], y % 1.0 - cell[OBJ_Y]
            return bool(ox * ox + oy * oy < (radius + 0.12) ** 2)
        return False


def _theme(rng: np.random.Generator) -> Array:
    """Sky, ground and light of one of six moods, jittered."""
    moods = np.array([
        # zenith            horizon           ground            ground 2          paving            sun               ridge
        [.30, .52, .88, .80, .90, .97, .36, .58, .24, .45, .63, .28, .63, .60, .55, 1.0, .96, .85, .50, .62, .74],  # meadow
        [.50, .36, .55, .98, .72, .52, .76, .53, .32, .70, .46, .28, .66, .42, .31, 1.0, .80, .58, .62, .42, .46],  # desert dusk
        [.42, .58, .82, .93, .86, .78, .55, .47, .22, .62, .42, .19, .56, .50, .45, 1.0, .90, .72, .60, .54, .56],  # autumn
        [.50, .64, .90, .90, .94, .99, .86, .90, .96, .78, .85, .94, .62, .64, .72, 1.0, .98, .95, .70, .76, .88],  # snow
        [.10, .08, .26, .42, .26, .52, .19, .17, .31, .24, .19, .36, .26, .24, .38, .70, .66, .95, .22, .18, .38],  # violet night
        [.16, .58, .84, .70, .94, .93, .72, .74, .44, .42, .66, .36, .72, .68, .56, 1.0, .97, .86, .36, .62, .62],  # tropical
    ], np.float32)
    mood = int(rng.integers(len(moods)))
    sky = np.zeros(SKY, np.float32)
    sky[:21] = moods[mood] + rng.normal(0, 0.025, 21)
    sky[:21] = np.clip(sky[:21], 0.02, 1)
    sky[SUN_AZIMUTH] = rng.uniform(-np.pi, np.pi)
    sky[SUN_HEIGHT] = rng.uniform(0.45, 0.95)
    sky[FOG] = rng.uniform(0.045, 0.075)
    sky[CLOUD] = rng.uniform(0.15, 0.6)
    sky[LIT] = 1.0 if mood == 4 else 0.0
    sky[PHASE:PHASE + 6] = rng.uniform(0, 2 * np.pi, 6)
    return sky


def _hue(rng: np.random.Generator, saturation: tuple[float, float], value: tuple[float, float]) -> Array:
    """A random colour with bounded saturation and value, as rgb."""
    h, s, v = rng.uniform(), rng.uniform(*saturation), rng.uniform(*value)
    k = (np.array([5.0, 3.0, 1.0]) + h * 6) % 6
    return np.asarray(v - v * s * np.clip(np.minimum(k, 4 - k), 0, 1), np.float32)


def _house(cells: Array, rng: np.random.Generator) -> None:
    """A house: two cells deep under a gable roof, with windows, a door on one cell, sometimes a paved apron."""
    length, turned = int(rng.integers(2, 5)), bool(rng.integers(2))
    w, d = (2, length) if turned else (length, 2)
    x0, y0 = rng.integers(0, SIZE, 2)
    ys, xs = np.ix_((y0 + np.arange(d)) % SIZE, (x0 + np.arange(w)) % SIZE)
    around = np.ix_((y0 - 1 + np.arange(d + 2)) % SIZE, (x0 - 1 + np.arange(w + 2)) % SIZE)
    if cells[around][..., HEIGHT].any():
        return
    eaves, rise = rng.uniform(0.85, 1.25) + (0.8 if rng.uniform() < 0.25 else 0.0), rng.uniform(0.35, 0.8)
    spot = cells[ys, xs].copy()
    side = np.array([1.0, -1.0], np.float32) * rise
    spot[..., HEIGHT] = eaves + rise / 2
    if turned:
        spot[..., SLOPE_X] = side[None, :]
    else:
        spot[..., SLOPE_Y] = side[:, None]
    spot[..., WALL] = rng.choice([PLASTER, PLASTER, BRICK, PLANKS, STONE])
    spot[..., WALL_RGB:WALL_RGB + 3] = _hue(rng, (0.05, 0.45), (0.6, 0.95))
    spot[..., ROOF_RGB:ROOF_RGB + 3] = _hue(rng, (0.35, 0.7), (0.3, 0.65))
    spot[..., OPENING] = 1
    spot[rng.integers(d), rng.integers(w), OPENING] = 2
    cells[ys, xs] = spot
    if rng.uniform() < 0.5:
        ring = cells[around]
        ring[..., PAVED] = np.where(ring[..., HEIGHT] > 0, ring[..., PAVED], 2)
        cells[around] = ring


def _block(cells: Array, rng: np.random.Generator) -> None:
    """A flat-topped solid: tower, wall or hedge; hollow courts have a gap."""
    kind = rng.choice(["hedge", "wall", "tower", "court"], p=[0.3, 0.3, 0.2, 0.2])
    if kind in ("hedge", "wall"):
        w, d = (int(rng.integers(2, 7)), 1) if rng.integers(2) else (1, int(rng.integers(2, 7)))
    else:
        w, d = (int(v) for v in (rng.integers(1, 3, 2) if kind == "tower" else rng.integers(4, 7, 2)))
    x0, y0 = rng.integers(0, SIZE, 2)
    mask = np.ones((d, w), bool)
    if kind == "court":
        mask[1:-1, 1:-1] = False
        mask[(0, d - 1)[int(rng.integers(2))], rng.integers(1, w - 1)] = False
        mask[rng.integers(1, d - 1), (0, w - 1)[int(rng.integers(2))]] = False
    ys, xs = np.ix_((y0 + np.arange(d)) % SIZE, (x0 + np.arange(w)) % SIZE)
    spot = cells[ys, xs]
    mask &= spot[..., HEIGHT] == 0
    new = np.zeros_like(spot)
    new[..., HEIGHT] = rng.uniform(1.9, 3.0) if kind == "tower" else rng.uniform(0.6, 1.3)
    new[..., WALL] = HEDGE if kind == "hedge" else rng.choice([BRICK, STONE, PLANKS, STRIPES])
    green = np.array([0.2, 0.42, 0.18], np.float32) + rng.normal(0, 0.06, 3).astype(np.float32)
    new[..., WALL_RGB:WALL_RGB + 3] = np.clip(green, 0.05, 1) if kind == "hedge" else _hue(rng, (0.15, 0.75), (0.4, 0.9))
    new[..., ROOF_RGB:ROOF_RGB + 3] = new[..., WALL_RGB:WALL_RGB + 3] * 0.8
    new[..., OPENING] = 1.0 if kind == "tower" else 0.0
    cells[ys, xs] = np.where(mask[..., None], new, spot)


def _plant(cells: Array, rng: np.random.Generator, tree: Array, leaf: Array) -> None:
    """Objects on open cells: round trees, pines, pillars, lamps."""
    open_cells = np.argwhere(cells[..., HEIGHT] == 0)
    picked = open_cells[rng.permutation(len(open_cells))[: int(len(open_cells) * rng.uniform(0.04, 0.11))]]
    kinds = rng.choice(4, len(picked), p=[0.4, 0.34, 0.13, 0.13])
    for (y, x), kind in zip(picked, kinds, strict=True):
        cell = cells[y, x]
        cell[OBJ_X:OBJ_X + 2] = 0.5 + rng.uniform(-0.08, 0.08, 2)
        cell[STEM_RGB:STEM_RGB + 3] = (0.34, 0.24, 0.17)
        if kind == 0:
            r, trunk = rng.uniform(0.28, 0.4), rng.uniform(0.5, 0.9)
            zc = trunk + r * 0.8
            cell[STEM:STEM + 5] = (0.07 ** 2, 0, 0, 0, trunk + 0.1)
            cell[CROWN:CROWN + 5] = (r * r - zc * zc, 2 * zc, -1, zc - r, zc + r)
            cell[CROWN_RGB:CROWN_RGB + 3] = leaf * rng.uniform(0.85, 1.15)
        elif kind == 1:
            base, top, r = rng.uniform(0.2, 0.35), rng.uniform(1.2, 2.1), rng.uniform(0.27, 0.4)
            k2 = (r / (top - base)) ** 2
            cell[STEM:STEM + 5] = (0.06 ** 2, 0, 0, 0, base + 0.05)
            cell[CROWN:CROWN + 5] = (k2 * top * top, -2 * k2 * top, k2, base, top)
            cell[CROWN_RGB:CROWN_RGB + 3] = tree * rng.uniform(0.85, 1.15)
        elif kind == 2:
            r, top = rng.uniform(0.13, 0.2), rng.uniform(0.9, 1.8)
            colour = _hue(rng, (0.2, 0.8), (0.5, 0.95))
            cell[STEM:STEM + 5] = (r * r, 0, 0, 0, top)
            cell[CROWN:CROWN + 5] = ((r * 1.35) ** 2, 0, 0, top - 0.12, top)
            cell[STEM_RGB:STEM_RGB + 3], cell[CROWN_RGB:CROWN_RGB + 3] = colour, colour * 0.8
        else:
            r, top = rng.uniform(0.12, 0.17), rng.uniform(0.75, 1.05)
            cell[STEM:STEM + 5] = (0.035 ** 2, 0, 0, 0, top)
            cell[CROWN:CROWN + 5] = (r * r - top * top, 2 * top, -1, top - r, top + r)
            cell[CROWN_RGB:CROWN_RGB + 3] = _hue(rng, (0.35, 0.75), (0.9, 1.0))
            cell[GLOW] = 1


def make_world(seed: int) -> World:
    """The world of ``seed``: always the same, unlike any other."""
    rng = np.random.default_rng([seed & 0xFFFFFFFF, 0x57504752])
    cells = np.zeros((SIZE, SIZE, CELL), np.float32)
    sky = _theme(rng)
    for _ in range(3):
        x, y, w, d = *rng.integers(0, SIZE, 2), *rng.integers(3, 9, 2)
        ys, xs = np.ix_((y + np.arange(d)) % SIZE, (x + np.arange(w)) % SIZE)
        cells[ys, xs, PAVED] = 1
    for _ in range(int(rng.integers(16, 28))):
        _house(cells, rng)
    for _ in range(int(rng.integers(10, 18))):
        _block(cells, rng)
    autumn = rng.uniform() < 0.25
    green = np.array([0.24, 0.5, 0.2], np.float32)
    leaf = _hue(rng, (0.5, 0.8), (0.5, 0.85)) if autumn else green + rng.normal(0, 0.06, 3).astype(np.float32)
    tree = np.array([0.14, 0.36, 0.24], np.float32) + rng.normal(0, 0.05, 3).astype(np.float32)
    _plant(cells, rng, np.clip(tree, 0.05, 1), np.clip(leaf, 0.05, 1))
    marked = rng.uniform(size=(SIZE, SIZE)) < 0.16
    for y, x in np.argwhere(marked & (cells[..., HEIGHT] > 0) & (cells[..., OPENING] == 0) & (cells[..., WALL] != HEDGE)):
        cells[y, x, EMBLEM] = rng.integers(1, 4)
        cells[y, x, EMBLEM_RGB:EMBLEM_RGB + 3] = _hue(rng, (0.6, 0.9), (0.7, 1.0))
    solid = (cells[..., HEIGHT] > 0).astype(np.float32)
    around = solid + np.roll(solid, 1, 0)
    cells[..., SHADE] = (around + np.roll(around, 1, 1)) / 4
    world = World(cells, sky, (0.0, 0.0, 0.0))
    return World(cells, sky, _start(world, rng))


def _start(world: World, rng: np.random.Generator) -> tuple[float, float, float]:
    """An open spot, turned to where there is room ahead and something to see behind it."""
    best, spot = -1.0, (0.5, 0.5, 0.0)
    for _ in range(40):
        x, y, yaw = rng.uniform(0, SIZE), rng.uniform(0, SIZE), rng.uniform(-np.pi, np.pi)
        if world.blocked(x, y, 0.45):
            continue
        reach = free_path(world, x, y, yaw)
        score = min(reach, 5.0) - max(0.0, reach - 7.0) * 0.5
        if score > best:
            best, spot = score, (float(x), float(y), float(yaw))
    return spot


def free_path(world: World, x: float, y: float, yaw: float, limit: float = 12.0) -> float:
    """Cells that a body can walk from (x, y) towards ``yaw`` before something solid, at most ``limit``."""
    for i in range(int(limit / 0.25)):
        d = (i + 1) * 0.25
        if world.blocked(x + d * np.cos(yaw), y + d * np.sin(yaw)):
            return i * 0.25
    return limit
