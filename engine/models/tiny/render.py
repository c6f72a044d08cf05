"""A batched ray marcher for `worlds`: pictures and inverse depth of any camera pose, in plain torch on any device.

One march serves the picture and the sun's shadows. Rays step from cell to cell; a cell holds at most one roofed solid and one object
made of two quadrics of revolution, both intersected in closed form. On a CPU rays that are done leave the march.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from worldpager.engine.models.tiny import worlds as W

WIDTH, HEIGHT = 120, 80
FOV_X = math.radians(84.0)
SIGHT = 14.0
STEPS, SHADOW_STEPS = 24, 8
STRIDE = 4
"""Steps that a GPU fuses; the above are multiples of it."""
FAR = 1.0e6
TOP_MARGIN = 0.05
"""Cells above everything from where on a rising ray meets nothing."""
LIVELY = 0.8
"""On a CPU done rays leave the march once fewer than this share still fly."""
KIND_NONE, KIND_WALL_X, KIND_WALL_Y, KIND_ROOF, KIND_STEM, KIND_CROWN, KIND_GROUND = range(7)


State = tuple[Tensor, Tensor, Tensor, Tensor, Tensor, Tensor]
"""Rays under way: cell [N, 2], entry distance, whether entered across y, then the first hit's distance, kind and row of cells."""


@dataclass(frozen=True, slots=True)
class Scene:
    """Worlds on a device: ``cells`` [worlds * SIZE * SIZE, CELL], ``sky`` [worlds, SKY]."""

    cells: Tensor
    sky: Tensor

    @staticmethod
    def of(worlds: list[W.World], device: torch.device | str = "cpu") -> Scene:
        """Stack worlds; world i is index i in `render`."""
        cells = torch.stack([torch.from_numpy(w.cells) for w in worlds]).reshape(-1, W.CELL)
        return Scene(cells.to(device), torch.stack([torch.from_numpy(w.sky) for w in worlds]).to(device))


def pixel_rays(samples: int, device: torch.device | str) -> Tensor:
    """Unit rays in the camera's own frame (x forward, y left, z up), [HEIGHT * samples * WIDTH * samples, 3]."""
    focal = 0.5 * WIDTH / math.tan(FOV_X / 2)
    u = (torch.arange(WIDTH * samples, device=device) + 0.5) / samples - WIDTH / 2
    v = (torch.arange(HEIGHT * samples, device=device) + 0.5) / samples - HEIGHT / 2
    y, x = torch.meshgrid(-v / focal, -u / focal, indexing="ij")
    rays = torch.stack([torch.ones_like(x), x, y], -1).reshape(-1, 3)
    return rays / rays.norm(dim=-1, keepdim=True)


def turn(rays: Tensor, yaw: Tensor, pitch: Tensor) -> Tensor:
    """Camera rays [R, 3] turned into the world for each pose [P]: [P, R, 3]."""
    cp, sp, cy, sy = pitch.cos()[:, None], pitch.sin()[:, None], yaw.cos()[:, None], yaw.sin()[:, None]
    fx, fz = rays[:, 0] * cp - rays[:, 2] * sp, rays[:, 0] * sp + rays[:, 2] * cp
    return torch.stack([fx * cy - rays[:, 1] * sy, fx * sy + rays[:, 1] * cy, fz], -1)


def _quadric(q: Tensor, ox: Tensor, oy: Tensor, oz: Tensor, d: Tensor) -> Tensor:
    """Distance to the surface radius^2 = c0 + c1 z + c2 z^2 between z0 and z1, FAR on a miss. ``q`` [N, 5], object-centred origin."""
    c0, c1, c2, z0, z1 = q.unbind(-1)
    dx, dy, dz = d.unbind(-1)
    a = dx * dx + dy * dy - c2 * dz * dz
    b = ox * dx + oy * dy - c2 * oz * dz - 0.5 * c1 * dz
    c = ox * ox + oy * oy - c0 - c1 * oz - c2 * oz * oz
    a = torch.where(a.abs() < 1e-6, torch.full_like(a, 1e-6), a)
    root = (b * b - a * c).clamp_min(0).sqrt()
    near, far = (-b - root) / a, (-b + root) / a
    near, far = torch.minimum(near, far), torch.maximum(near, far)
    hit = b * b - a * c > 0

    def ok(t: Tensor) -> Tensor:
        z = oz + dz * t
        return hit & (t > 1e-3) & (z >= z0) & (z <= z1)

    none = torch.full_like(near, FAR)
    return torch.where(ok(near), near, torch.where(ok(far), far, none))


def _meet(cells: Tensor, here: Tensor, o: Tensor, d: Tensor, fx: Tensor, fy: Tensor, t0: Tensor, t1: Tensor,
          axis_y: Tensor) -> tuple[Tensor, Tensor]:
    """Distance (or FAR) and kind of what rays meet in the cells ``here`` at (fx, fy) that they cross between t0 and t1.

    The cell that a ray begins in (t0 = 0) has no walls for it.
    """
    g = cells[here, : W.GEOMETRY]

    def above(t: Tensor) -> Tensor:
        roof = g[:, W.HEIGHT] + g[:, W.SLOPE_X] * (o[:, 0] + d[:, 0] * t - fx - 0.5) + g[:, W.SLOPE_Y] * (o[:, 1] + d[:, 1] * t - fy - 0.5)
        return o[:, 2] + d[:, 2] * t - roof

    solid = g[:, W.HEIGHT] > 0
    h0, h1 = above(t0), above(t1)
    wall = solid & (h0 < 0) & (t0 > 0)
    roof = solid & (h0 >= 0) & (h1 < 0)
    t_roof = t0 + (t1 - t0) * h0 / (h0 - h1).clamp_min(1e-6)
    t = torch.where(wall, t0, torch.where(roof, t_roof, FAR))
    kind = torch.where(wall, torch.where(axis_y, KIND_WALL_Y, KIND_WALL_X), torch.where(roof, KIND_ROOF, KIND_NONE))
    object_here = g[:, W.STEM + 4] > 0
    if o.is_cuda:
        t_obj, k_obj = _meet_object(g, o, d, fx, fy)
        t_obj = torch.where(object_here, t_obj, FAR)
        return torch.minimum(t, t_obj), torch.where(t_obj < t, k_obj, kind)
    at = torch.nonzero(object_here).squeeze(1)
    t_obj, k_obj = _meet_object(g[at], o[at], d[at], fx[at], fy[at])
    kind[at], t[at] = torch.where(t_obj < t[at], k_obj, kind[at]), torch.minimum(t[at], t_obj)
    return t, kind


def _meet_object(g: Tensor, o: Tensor, d: Tensor, fx: Tensor, fy: Tensor) -> tuple[Tensor, Tensor]:
    """Distance (or FAR) and kind of the objects whose geometry is ``g``, in cells at (fx, fy)."""
    ox, oy = o[:, 0] - fx - g[:, W.OBJ_X], o[:, 1] - fy - g[:, W.OBJ_Y]
    stem = _quadric(g[:, W.STEM:W.STEM + 5], ox, oy, o[:, 2], d)
    crown = _quadric(g[:, W.CROWN:W.CROWN + 5], ox, oy, o[:, 2], d)
    return torch.minimum(stem, crown), torch.where(crown < stem, KIND_CROWN, KIND_STEM)


def _advance(cells: Tensor, base: Tensor, o: Tensor, d: Tensor, inv: Tensor, limit: Tensor, state: State) -> State:
    """`STRIDE` steps of all rays, hit or not, without branches: what a GPU fuses into one kernel."""
    cell, t0, axis_y, best, kind, row = state
    forward = d[:, :2] > 0
    for _ in range(STRIDE):
        here = base + torch.remainder(cell[:, 1], W.SIZE) * W.SIZE + torch.remainder(cell[:, 0], W.SIZE)
        tx, ty = ((cell + forward - o[:, :2]) * inv[:, :2]).unbind(1)
        t1, step_x = torch.minimum(tx, ty), tx < ty
        t, k = _meet(cells, here, o, d, cell[:, 0].to(o.dtype), cell[:, 1].to(o.dtype), t0, t1, axis_y)
        found = (best >= FAR) & (t < FAR) & (t < limit)
        best, kind, row = torch.where(found, t, best), torch.where(found, k, kind), torch.where(found, here, row)
        cell = cell + torch.where(forward, 1, -1) * torch.stack([step_x, ~step_x], -1)
        t0, axis_y = t1, ~step_x
    return cell, t0, axis_y, best, kind, row


def march(cells: Tensor, base: Tensor, o: Tensor, d: Tensor, steps: int, limit: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """First hit of rays o + t d before ``limit``: distance (FAR = none), kind, row of the hit cell in ``cells``; all [N]."""
    inv = 1.0 / torch.where(d.abs() < 1e-7, torch.full_like(d, 1e-7), d)
    if not o.is_cuda:
        return _march_few(cells, base, o, d, inv, steps, limit)
    cell = torch.floor(o[:, :2]).long()
    t0, axis_y = torch.zeros_like(limit), torch.zeros_like(limit, dtype=torch.bool)
    best, kind, row = torch.full_like(limit, FAR), torch.zeros_like(base), torch.zeros_like(base)
    state = cell, t0, axis_y, best, kind, row
    for _ in range(steps // STRIDE):
        state = _advance(cells, base, o, d, inv, limit, state)
    return state[3:]


def _march_few(cells: Tensor, base: Tensor, o: Tensor, d: Tensor, inv: Tensor, steps: int, limit: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """`march` for a CPU, by the same arithmetic: only rays in cells that hold something are intersected, and those that are done leave."""
    best, kind, row = torch.full_like(limit, FAR), torch.zeros_like(base), torch.zeros_like(base)
    full = (cells[:, W.HEIGHT] > 0) | (cells[:, W.STEM + 4] > 0)
    roofs = cells[:, W.HEIGHT] + 0.5 * (cells[:, W.SLOPE_X].abs() + cells[:, W.SLOPE_Y].abs())
    top = torch.maximum(roofs.max(), cells[:, [W.STEM + 4, W.CROWN + 4]].max())
    over = (top + TOP_MARGIN - o[:, 2]).clamp_min(0) / d[:, 2].clamp_min(1e-6)
    limit = torch.where(d[:, 2] > 1e-6, torch.minimum(limit, over), limit)
    forward = d[:, :2] > 0
    edge_x, edge_y = (torch.floor(o[:, :2]) + forward).unbind(1)
    sign_x, sign_y = torch.where(forward, 1.0, -1.0).unbind(1)
    back_x, back_y = forward.float().unbind(1)
    flat = (o[:, 0], o[:, 1], inv[:, 0], inv[:, 1], edge_x, edge_y, sign_x, sign_y, back_x, back_y, limit, base.float())
    state, live = torch.stack(flat), torch.arange(len(limit))
    t0, axis_y = torch.zeros_like(limit), torch.zeros_like(limit, dtype=torch.bool)
    for i in range(steps):
        ox, oy, ix, iy, edge_x, edge_y, sign_x, sign_y, back_x, back_y, limit, start = state.unbind(0)
        here = (torch.remainder(edge_y - back_y, W.SIZE) * W.SIZE + torch.remainder(edge_x - back_x, W.SIZE) + start).int()
        tx, ty = (edge_x - ox) * ix, (edge_y - oy) * iy
        t1 = torch.minimum(tx, ty)
        at = torch.nonzero(full.index_select(0, here) & (t0 < limit)).squeeze(1)
        if len(at):
            fx, fy, ray = edge_x[at] - back_x[at], edge_y[at] - back_y[at], live[at]
            t, k = _meet(cells, here[at], o[ray], d[ray], fx, fy, t0[at], t1[at], axis_y[at])
            found = torch.nonzero((t < FAR) & (t < limit[at])).squeeze(1)
            hit, ray = at[found], ray[found]
            best[ray], kind[ray], row[ray] = t[found], k[found], here[hit].long()
            limit[hit] = -1.0
        step_x = tx < ty
        edge_x += torch.where(step_x, sign_x, 0.0)
        edge_y += torch.where(step_x, 0.0, sign_y)
        t0, axis_y = t1, ~step_x
        if i % 2:
            keep = torch.nonzero(t0 < limit).squeeze(1)
            if not len(keep):
                break
            if len(keep) < LIVELY * len(live):
                state, t0, axis_y, live = state.index_select(1, keep), t0[keep], axis_y[keep], live[keep]
    return best, kind, row


def _wave(x: Tensor, lo: float, hi: float, width: float) -> Tensor:
    """Soft box: 1 inside [lo, hi], falling to 0 over ``width``."""
    return (((x - lo) / width).clamp(0, 1)) * (((hi - x) / width).clamp(0, 1))


def _hash(x: Tensor, y: Tensor) -> Tensor:
    """A number in [0, 1) for each integer pair, the same on every device."""
    n = torch.remainder(x.long() * 73856093 ^ y.long() * 19349663, 65536)
    n = torch.remainder(n * 25173 + 13849, 65536)
    return torch.remainder(n * 40503, 65536).float() / 65536


def _wall_colour(c: Tensor, u: Tensor, v: Tensor, lit: Tensor) -> Tensor:
    """Albedo [N, 3] of walls: ``c`` cell rows, ``u`` along the wall, ``v`` height above the ground."""
    mat = c[:, W.WALL]
    band = torch.floor(v * 5)
    fu = torch.remainder(u * 2.5 + 0.5 * torch.remainder(band, 2), 1)
    brick = 1 - 0.3 * (1 - _wave(fu, 0.0, 1.0, 0.09) * _wave(torch.remainder(v * 5, 1), 0.0, 1.0, 0.14))
    big = torch.floor(v * 2.5)
    bu = u * 1.5 + 0.37 * torch.remainder(big, 2)
    stone = (1 - 0.3 * (1 - _wave(torch.remainder(bu, 1), 0, 1, 0.06) * _wave(torch.remainder(v * 2.5, 1), 0, 1, 0.1)))
    stone = stone * (0.9 + 0.2 * _hash(torch.floor(bu), big))
    planks = (1 - 0.28 * (1 - _wave(torch.remainder(u * 4, 1), 0, 1, 0.14))) * (0.92 + 0.16 * _hash(torch.floor(u * 4), big * 0))
    hedge = 0.75 + 0.5 * _hash(torch.floor(u * 5), torch.floor(v * 5))
    stripes = torch.where(torch.remainder(v * 2.5, 1) < 0.5, 1.0, 0.6)
    tone = torch.ones_like(u)
    for code, value in ((W.BRICK, brick), (W.STONE, stone), (W.PLANKS, planks), (W.HEDGE, hedge), (W.STRIPES, stripes)):
        tone = torch.where(mat == code, value, tone)
    rgb = c[:, W.WALL_RGB:W.WALL_RGB + 3] * tone[:, None]
    fu, fv = torch.remainder(u, 1), torch.remainder(v, 1)
    has = (c[:, W.OPENING] > 0) & (v < c[:, W.HEIGHT])
    frame = _wave(fu, 0.27, 0.73, 0.02) * _wave(fv, 0.36, 0.8, 0.02) * has
    pane = _wave(fu, 0.32, 0.68, 0.02) * _wave(fv, 0.41, 0.75, 0.02) * (1 - _wave(fu, 0.48, 0.52, 0.01)) * has
    door = (c[:, W.OPENING] == 2) & (v < 1)
    door_frame = _wave(fu, 0.3, 0.7, 0.02) * _wave(v, -1, 0.72, 0.02) * door
    door_leaf = _wave(fu, 0.35, 0.65, 0.02) * _wave(v, -1, 0.67, 0.02) * door
    glow = lit * (_hash(torch.floor(u), torch.floor(u * 0) + c[:, W.HEIGHT] * 100) > 0.4)
    glass = torch.stack([0.22 + 0.7 * glow, 0.3 + 0.45 * glow, 0.4 + 0.05 * glow], -1)
    white = torch.full_like(rgb, 0.86)
    leaf = c[:, W.ROOF_RGB:W.ROOF_RGB + 3] * 0.9
    for amount, paint in ((frame * ~door, white), (pane * ~door, glass), (door_frame, white), (door_leaf, leaf)):
        rgb = rgb + amount[:, None] * (paint - rgb)
    eu, ev = fu - 0.5, v - 0.5 * c[:, W.HEIGHT].clamp_max(1.4)
    diamond, ring = eu.abs() + ev.abs() < 0.26, ((eu * eu + ev * ev).sqrt() - 0.2).abs() < 0.06
    cross = ((eu.abs() < 0.07) & (ev.abs() < 0.25)) | ((ev.abs() < 0.07) & (eu.abs() < 0.25))
    e = c[:, W.EMBLEM]
    mark = ((e == 1) & diamond) | ((e == 2) & ring) | ((e == 3) & cross)
    return torch.where(mark[:, None], c[:, W.EMBLEM_RGB:W.EMBLEM_RGB + 3], rgb)


def _ground_colour(cells: Tensor, base: Tensor, sky: Tensor, x: Tensor, y: Tensor) -> Tensor:
    """Albedo [N, 3] of the ground at (x, y), ambient shade of the walls around included."""
    ix, iy = torch.floor(x), torch.floor(y)
    fx, fy = x - ix, y - iy

    def column(dx: int, dy: int, col: int) -> Tensor:
        return cells[base + torch.remainder(iy.long() + dy, W.SIZE) * W.SIZE + torch.remainder(ix.long() + dx, W.SIZE), col]

    def smooth(u: Tensor) -> Tensor:
        return u * u * (3 - 2 * u)

    nx, ny = x * 0.7, y * 0.7
    jx, jy = torch.floor(nx), torch.floor(ny)
    a, b = smooth(nx - jx), smooth(ny - jy)
    period = 22.4  # 32 * 0.7: the noise must repeat with the map
    def noise(dx: int, dy: int) -> Tensor:
        return _hash(torch.remainder(jx + dx, period), torch.remainder(jy + dy, period))

    patch = (noise(0, 0) * (1 - a) + noise(1, 0) * a) * (1 - b) + (noise(0, 1) * (1 - a) + noise(1, 1) * a) * b
    wild = sky[:, W.GROUND:W.GROUND + 3] + (sky[:, W.GROUND_2:W.GROUND_2 + 3] - sky[:, W.GROUND:W.GROUND + 3]) * smooth(patch)[:, None]
    paved = column(0, 0, W.PAVED)
    tile = _wave(torch.remainder(fx * 2, 1), 0, 1, 0.07) * _wave(torch.remainder(fy * 2, 1), 0, 1, 0.07)
    slab = _hash(torch.floor(torch.remainder(x, W.SIZE) * 2), torch.floor(torch.remainder(y, W.SIZE) * 2))
    tone = (0.78 + 0.22 * tile) * (0.94 + 0.12 * slab)
    paving = sky[:, W.PAVING:W.PAVING + 3] * torch.where(paved == 1, tone, torch.full_like(tone, 1.06))[:, None]
    rgb = torch.where((paved > 0)[:, None], paving, wild)
    near, far = (column(0, dy, W.SHADE) * (1 - fx) + column(1, dy, W.SHADE) * fx for dy in (0, 1))
    shade = near * (1 - fy) + far * fy
    return rgb * (1 - 0.45 * shade)[:, None]


def _sky_colour(sky: Tensor, d: Tensor) -> Tensor:
    """Colour [N, 3] of the sky along ``d``: gradient, clouds, two ridges of hills, sun."""
    az, el = torch.atan2(d[:, 1], d[:, 0]), torch.asin(d[:, 2].clamp(-1, 1))
    up = (el / 0.9).clamp(0, 1).sqrt()[:, None]
    rgb = sky[:, W.HORIZON:W.HORIZON + 3] * (1 - up) + sky[:, W.ZENITH:W.ZENITH + 3] * up
    p = sky[:, W.PHASE:W.PHASE + 6]
    band = (3 * az + p[:, 0]).sin() + (5 * az + 9 * el + p[:, 1]).sin() + (2 * az - 14 * el + p[:, 2]).sin()
    cloud = (sky[:, W.CLOUD] * ((band - 0.4).clamp(0, 1.2)) * _wave(el, 0.1, 0.9, 0.2))[:, None]
    rgb = rgb + cloud * (sky[:, W.SUN_RGB:W.SUN_RGB + 3] * 0.5 + 0.5 - rgb)
    sun = sky[:, W.SUN_AZIMUTH], sky[:, W.SUN_HEIGHT]
    facing = d[:, 0] * sun[1].cos() * sun[0].cos() + d[:, 1] * sun[1].cos() * sun[0].sin() + d[:, 2] * sun[1].sin()
    halo = (facing.clamp_min(0) ** 40 * 0.35 + ((facing - 0.9955) / 0.0015).clamp(0, 1))[:, None].clamp(0, 1)
    rgb = rgb + halo * (sky[:, W.SUN_RGB:W.SUN_RGB + 3] - rgb)
    for j, (scale, haze) in enumerate(((1.0, 0.65), (0.6, 0.3))):
        ridge = 0.05 + scale * (0.05 * (4 * az + p[:, 3 + j]).sin() + 0.03 * (9 * az + p[:, 4]).sin() + 0.04)
        hill = ((ridge - el) / 0.012).clamp(0, 1)[:, None]
        paint = sky[:, W.RIDGE_RGB:W.RIDGE_RGB + 3] * (1 - haze) + sky[:, W.HORIZON:W.HORIZON + 3] * haze
        rgb = rgb + hill * (paint - rgb)
    return rgb


def _surface(cells: Tensor, base: Tensor, sky: Tensor, o: Tensor, d: Tensor, t: Tensor, kind: Tensor,
             row: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Point, normal and albedo, each [N, 3], of hits at distance ``t`` along ``d``."""
    p = o + d * t.clamp_max(SIGHT * 2)[:, None]
    c = cells[row]
    zero, one = torch.zeros_like(t), torch.ones_like(t)
    fx, fy = torch.remainder(p[:, 0], 1), torch.remainder(p[:, 1], 1)
    # Normals. Objects: gradient of x^2 + y^2 - c0 - c1 z - c2 z^2 about the object's centre.
    crown = kind == KIND_CROWN
    c1 = torch.where(crown, c[:, W.CROWN + 1], c[:, W.STEM + 1])
    c2 = torch.where(crown, c[:, W.CROWN + 2], c[:, W.STEM + 2])
    gx, gy = fx - c[:, W.OBJ_X], fy - c[:, W.OBJ_Y]
    is_obj, is_roof = crown | (kind == KIND_STEM), kind == KIND_ROOF
    nx = torch.where(is_obj, gx, torch.where(is_roof, -c[:, W.SLOPE_X], torch.where(kind == KIND_WALL_X, -torch.sign(d[:, 0]), zero)))
    ny = torch.where(is_obj, gy, torch.where(is_roof, -c[:, W.SLOPE_Y], torch.where(kind == KIND_WALL_Y, -torch.sign(d[:, 1]), zero)))
    nz = torch.where(is_obj, -0.5 * c1 - c2 * p[:, 2], torch.where(is_roof | (kind == KIND_GROUND), one, zero))
    n = torch.stack([nx, ny, nz], -1)
    n = n / n.norm(dim=-1, keepdim=True).clamp_min(1e-6)
    n = torch.where((n * d).sum(-1, keepdim=True) > 0, -n, n)
    u = torch.where(kind == KIND_WALL_X, p[:, 1], p[:, 0])
    wall = (kind == KIND_WALL_X) | (kind == KIND_WALL_Y)
    if o.is_cuda:
        rgb = _ground_colour(cells, base, sky, p[:, 0], p[:, 1])
        rgb = torch.where(wall[:, None], _wall_colour(c, torch.remainder(u, W.SIZE), p[:, 2], sky[:, W.LIT]), rgb)
    else:
        rgb = torch.zeros_like(p)
        at = torch.nonzero(kind == KIND_GROUND).squeeze(1)
        rgb[at] = _ground_colour(cells, base[at], sky[at], p[at, 0], p[at, 1])
        at = torch.nonzero(wall).squeeze(1)
        rgb[at] = _wall_colour(c[at], torch.remainder(u[at], W.SIZE), p[at, 2], sky[at][:, W.LIT])
    along = torch.where((c[:, W.SLOPE_X] != 0) | (c[:, W.SLOPE_Y] != 0), p[:, 2], fx)
    tiles = 0.85 + 0.15 * _wave(torch.remainder(along * 6, 1), 0, 1, 0.3)
    rgb = torch.where(is_roof[:, None], c[:, W.ROOF_RGB:W.ROOF_RGB + 3] * tiles[:, None], rgb)
    rgb = torch.where(crown[:, None], c[:, W.CROWN_RGB:W.CROWN_RGB + 3], rgb)
    rgb = torch.where((kind == KIND_STEM)[:, None], c[:, W.STEM_RGB:W.STEM_RGB + 3], rgb)
    foot = torch.where(wall, 0.72 + 0.28 * (p[:, 2] / 0.3).clamp(0, 1), one)
    glow = (crown & (c[:, W.GLOW] > 0))[:, None]
    return p, n, torch.cat([rgb, torch.where(glow, -one[:, None], foot[:, None])], -1)


def _sun(sky: Tensor) -> Tensor:
    """Unit vector towards the sun, [N, 3]."""
    az, el = sky[:, W.SUN_AZIMUTH], sky[:, W.SUN_HEIGHT]
    return torch.stack([el.cos() * az.cos(), el.cos() * az.sin(), el.sin()], -1)


def _light(sky: Tensor, n: Tensor, albedo: Tensor, t: Tensor, blocked: Tensor) -> Tensor:
    """Colour [N, 3] after sun, sky light and fog. ``albedo`` [N, 4]: rgb and ambient share, negative for what glows by itself."""
    rgb, foot = albedo[:, :3], albedo[:, 3]
    direct = (n * _sun(sky)).sum(-1).clamp_min(0) * (blocked >= FAR)
    night = sky[:, W.LIT]
    ambient = (0.52 - 0.1 * night + 0.12 * n[:, 2]) * foot
    tint = 0.6 + 0.4 * sky[:, W.SUN_RGB:W.SUN_RGB + 3]
    light = ambient[:, None] * (0.8 + 0.2 * sky[:, W.HORIZON:W.HORIZON + 3]) + ((0.62 - 0.2 * night) * direct)[:, None] * tint
    rgb = torch.where((foot < 0)[:, None], rgb * 1.05, rgb * light)
    fog = (1 - torch.exp(-sky[:, W.FOG] * (t - 2.5).clamp_min(0)))[:, None]
    return rgb + fog * (sky[:, W.HORIZON:W.HORIZON + 3] - rgb)


def _shade(cells: Tensor, base: Tensor, sky: Tensor, o: Tensor, d: Tensor, t: Tensor, kind: Tensor, row: Tensor) -> Tensor:
    """Colour [N, 3] of hits at distance ``t`` along ``d``."""
    p, n, albedo = _surface(cells, base, sky, o, d, t, kind, row)
    blocked, _, _ = march(cells, base, p + n * 0.02, _sun(sky), SHADOW_STEPS, torch.full_like(t, 7.0))
    return _light(sky, n, albedo, t, blocked)


def trace(scene: Scene, which: Tensor, o: Tensor, d: Tensor) -> tuple[Tensor, Tensor]:
    """Colours [N, 3] in 0..1 and inverse depth [N] of rays of worlds ``which`` [N]."""
    base = which * (W.SIZE * W.SIZE)
    down = torch.where(d[:, 2] < -1e-6, -o[:, 2] / d[:, 2].clamp_max(-1e-6), torch.full_like(d[:, 2], FAR))
    limit = down.clamp_max(SIGHT)
    t, kind, row = march(scene.cells, base, o, d, STEPS, limit)
    ground = (t >= FAR) & (down < SIGHT * 4)
    kind = torch.where(ground, KIND_GROUND, kind)
    t = torch.where(ground, down, t)

    def sky(at: Tensor) -> Tensor:
        return scene.sky.expand(len(at), -1) if len(scene.sky) == 1 else scene.sky[which[at]]

    if o.is_cuda:
        t0, air = torch.where(t < FAR, t, torch.zeros_like(t)), sky(torch.arange(len(t), device=t.device))
        rgb = torch.where((kind == KIND_NONE)[:, None], _sky_colour(air, d), _shade(scene.cells, base, air, o, d, t0, kind, row))
    else:
        rgb = torch.empty_like(d)
        open_sky, hit = torch.nonzero(kind == KIND_NONE).squeeze(1), torch.nonzero(kind != KIND_NONE).squeeze(1)
        rgb[open_sky] = _sky_colour(sky(open_sky), d[open_sky])
        rgb[hit] = _shade(scene.cells, base[hit], sky(hit), o[hit], d[hit], t[hit], kind[hit], row[hit])
    return rgb.clamp(0, 1), torch.where(t < FAR, 1 / t.clamp_min(0.05), torch.zeros_like(t))


def render(scene: Scene, which: Tensor, poses: Tensor, samples: int = 2) -> tuple[Tensor, Tensor]:
    """Pictures of ``poses`` [P, 5] (x, y, z, yaw, pitch) in worlds ``which`` [P].

    Returns rgb float [P, 3, HEIGHT, WIDTH] in 0..1, box-filtered from ``samples``^2 rays a pixel, and inverse depth
    [P, HEIGHT, WIDTH] in 1/cells (0 = sky), taken from the nearest of a pixel's rays.
    """
    count = len(poses)
    rays = turn(pixel_rays(samples, poses.device), poses[:, 3], poses[:, 4])
    n = rays.shape[1]
    origin = poses[:, None, :3].expand(count, n, 3).reshape(-1, 3)
    world = which[:, None].expand(count, n).reshape(-1)
    rgb, inverse = trace(scene, world, origin, rays.reshape(-1, 3))
    shape = (count, HEIGHT, samples, WIDTH, samples)
    picture = rgb.reshape(*shape, 3).mean(dim=(2, 4)).permute(0, 3, 1, 2).contiguous()
    return picture, inverse.reshape(shape).amax(dim=(2, 4))
