"""How the bundled start pictures were made: views of the tiny model's own worlds, ray marched at 640x352.

Run it with ``python assets/seeds/recipe.py``; it writes the JPEG files beside itself.
"""

from __future__ import annotations

import math
from pathlib import Path

import torch
from PIL import Image

from worldpager.engine.models.tiny.opening import EYE, played_world
from worldpager.engine.models.tiny.render import Scene, trace, turn

WIDTH, HEIGHT, SAMPLES = 640, 352, 3
FIELD = math.radians(90)
VIEWS = ((3, 0.0), (7, 0.7), (12, -0.5), (21, 2.2), (34, 0.3), (55, 3.6))
"""World and turn in radians from its start view."""


def rays() -> torch.Tensor:
    """Camera rays [n, 3], row by row, `SAMPLES` squared a pixel."""
    focal = WIDTH / 2 / math.tan(FIELD / 2)
    u = ((torch.arange(WIDTH * SAMPLES) + 0.5) / SAMPLES - WIDTH / 2) / -focal
    v = ((torch.arange(HEIGHT * SAMPLES) + 0.5) / SAMPLES - HEIGHT / 2) / -focal
    z, y = torch.meshgrid(v, u, indexing="ij")
    out = torch.stack([torch.ones_like(y), y, z], -1).reshape(-1, 3)
    unit: torch.Tensor = out / out.norm(dim=-1, keepdim=True)
    return unit


def view(number: int, yaw: float) -> Image.Image:
    """The picture of world ``number``, turned ``yaw`` from its start."""
    world = played_world(number)
    x, y, start = world.start
    directions = turn(rays(), torch.tensor([start + yaw]), torch.zeros(1))[0]
    scene, colours = Scene.of([world]), []
    for part in directions.split(200_000):
        origin = torch.tensor([x, y, EYE]).expand(len(part), 3)
        colours.append(trace(scene, torch.zeros(len(part), dtype=torch.long), origin, part)[0])
    picture = torch.cat(colours).view(HEIGHT, SAMPLES, WIDTH, SAMPLES, 3).mean((1, 3))
    return Image.fromarray((picture * 255).round().byte().numpy())


if __name__ == "__main__":
    for index, (number, yaw) in enumerate(VIEWS):
        view(number, yaw).save(Path(__file__).parent / f"{index:02d}.jpg", quality=88, optimize=True)
