"""The action module of a block: mouse and keyboard reach the tokens by attention over time (after GameFactory).

The mouse's values are mixed into every token, and each place of the picture attends over its own past; the keyboard is one token a
latent frame that all places share. Keys are kept after their rotation. The gains of the four query and key norms lie in the published
files and are not used.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from worldpager.engine.models.matrix_game2.config import ACTION_ROWS, HEAD_CHANNELS, DitConfig

TURNING = 8
"""Channels of a head that turn with time; row and column positions are always 0 here."""
BASE = 256.0
ROWS_PER_FRAME = 4
NORM_EPS = 1e-6
MOUSE_NORM_EPS = 1e-5


def action_rotation(first_frame: int, frames: int, device: torch.device) -> tuple[Tensor, Tensor]:
    """(cos, sin), each float32 [frames, 4], of latent frames from ``first_frame`` on; any frame, however late."""
    frequencies = 1.0 / BASE ** (torch.arange(0, TURNING, 2, dtype=torch.float32) / TURNING)
    angle = torch.arange(first_frame, first_frame + frames, dtype=torch.float32)[:, None] * frequencies
    return angle.cos().to(device), angle.sin().to(device)


def rows_of(actions: Tensor, first_frame: int, frames: int, rows_start: int = 0) -> Tensor:
    """The rows [frames, 12, n] that latent frames from ``first_frame`` on listen to: 4j-12 .. 4j-1, row 0 standing in for earlier ones.

    ``actions`` [rows, n] begin at absolute row ``rows_start``.
    """
    newest = ROWS_PER_FRAME * torch.arange(first_frame, first_frame + frames)
    index = newest[:, None] + torch.arange(-ACTION_ROWS, 0)[None]
    return actions[(index.clamp(min=0) - rows_start).to(actions.device)]


@dataclass(frozen=True, slots=True)
class ActionInput:
    """What the modules hear of a chunk: ``mouse`` [frames, 12, 2] or None, ``keyboard`` [frames, 12, keys], and the rotation."""

    mouse: Tensor | None
    keyboard: Tensor
    cos: Tensor
    sin: Tensor


def turn(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """``x`` [..., frames, heads, 64] with the first 8 channels of each head turned by ``cos``, ``sin`` [frames, 4]; as ``x``'s type."""
    a, b = x[..., :TURNING].float().unflatten(-1, (-1, 2)).unbind(-1)
    cos, sin = cos[:, None], sin[:, None]
    turned = torch.stack([a * cos - b * sin, a * sin + b * cos], -1).flatten(-2)
    return torch.cat([turned.to(x.dtype), x[..., TURNING:]], -1)


def unit(x: Tensor) -> Tensor:
    """RMS norm over each head's channels, without a gain."""
    return F.rms_norm(x, (x.shape[-1],), eps=NORM_EPS)


class ActionModule(nn.Module):
    """Parameters under their published names; see the module's docstring for what it computes."""

    def __init__(self, config: DitConfig) -> None:
        super().__init__()
        action, width = config.action, config.action.width
        self.heads = action.heads
        hidden = action.key_hidden
        self.keyboard_embed = nn.Sequential(nn.Linear(action.keys, hidden), nn.SiLU(), nn.Linear(hidden, hidden))
        self.mouse_attn_q = nn.Linear(config.width, width, bias=False)
        self.keyboard_attn_kv = nn.Linear(ACTION_ROWS * hidden, 2 * width, bias=False)
        self.proj_keyboard = nn.Linear(width, config.width, bias=False)
        self.key_attn_q_norm, self.key_attn_k_norm = _Gain(), _Gain()
        if action.mouse:
            self.mouse_mlp = nn.Sequential(
                nn.Linear(config.width + ACTION_ROWS * action.mouse, width), nn.GELU(approximate="tanh"), nn.Linear(width, width),
                nn.LayerNorm(width, eps=MOUSE_NORM_EPS),
            )  # fmt: skip
            self.t_qkv = nn.Linear(width, 3 * width, bias=False)
            self.img_attn_q_norm, self.img_attn_k_norm = _Gain(), _Gain()
            self.proj_mouse = nn.Linear(width, config.width, bias=False)

    def mouse_qkv(self, x: Tensor, heard: ActionInput) -> tuple[Tensor, Tensor, Tensor]:
        """Queries, keys, values, each [places, frames, heads, 64], of tokens ``x`` [frames, places, width]; queries and keys turned."""
        assert heard.mouse is not None
        said = heard.mouse.flatten(1).to(x.dtype)[:, None].expand(-1, x.shape[1], -1)
        mixed = self.mouse_mlp(torch.cat([x, said], -1)).transpose(0, 1)
        q, k, v = self.t_qkv(mixed).unflatten(-1, (3, self.heads, HEAD_CHANNELS)).unbind(-3)
        return turn(unit(q), heard.cos, heard.sin), turn(unit(k), heard.cos, heard.sin), v

    def keyboard_kv(self, heard: ActionInput) -> tuple[Tensor, Tensor]:
        """Keys (turned) and values, each [1, frames, heads, 64]."""
        pressed = self.keyboard_embed(heard.keyboard.to(self.mouse_attn_q.weight.dtype)).flatten(1)
        k, v = self.keyboard_attn_kv(pressed).unflatten(-1, (2, self.heads, HEAD_CHANNELS)).unbind(-3)
        return turn(unit(k), heard.cos, heard.sin)[None], v[None]

    def keyboard_q(self, x: Tensor, heard: ActionInput) -> Tensor:
        """Queries [places, frames, heads, 64] of tokens ``x`` [frames, places, width], turned."""
        q = self.mouse_attn_q(x.transpose(0, 1)).unflatten(-1, (self.heads, HEAD_CHANNELS))
        return turn(unit(q), heard.cos, heard.sin)

    def add_mouse(self, x: Tensor, q: Tensor, keys: Tensor, values: Tensor) -> Tensor:
        """``x`` [frames, places, width] plus what each place hears of the mouse over ``keys``, ``values`` [places, window, heads, 64]."""
        q, keys, values = (t.transpose(1, 2) for t in (q, keys, values))
        heard = F.scaled_dot_product_attention(q, keys, values)
        return x + self.proj_mouse(heard.permute(2, 0, 1, 3).flatten(2))

    def add_keyboard(self, x: Tensor, q: Tensor, keys: Tensor, values: Tensor) -> Tensor:
        """``x`` [frames, places, width] plus what it hears of the keyboard over ``keys``, ``values`` [1, window, heads, 64]."""
        places, frames = q.shape[:2]
        heard = F.scaled_dot_product_attention(q.flatten(0, 1).transpose(0, 1), keys[0].transpose(0, 1), values[0].transpose(0, 1))
        return x + self.proj_keyboard(heard.transpose(0, 1).unflatten(0, (places, frames)).transpose(0, 1).flatten(2))


class _Gain(nn.Module):
    """A gain that the published files hold and nothing uses."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(HEAD_CHANNELS))
