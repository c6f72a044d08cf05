"""The configuration that lies beside a checkpoint of Matrix-Game 2.0, checked before anything is built from it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from worldpager.engine.errors import WeightsError

HEAD_CHANNELS = 64
"""Channels of a head in the action modules."""
ACTION_ROWS = 12
"""Rows of actions (one a video frame) that a latent frame listens to: 3 latent frames of 4."""
LARGEST = 1 << 16
"""No size in a configuration is larger."""
TAKE_PUBLISHED = "Take config.json from the published folder of the same weights."


@dataclass(frozen=True, slots=True)
class ActionConfig:
    """Sizes of the action modules. ``mouse`` 0 = the variant has no mouse; ``blocks`` are those that have a module."""

    blocks: tuple[int, ...]
    heads: int
    keys: int
    key_hidden: int
    mouse: int

    @property
    def width(self) -> int:
        """Channels of all heads."""
        return self.heads * HEAD_CHANNELS


@dataclass(frozen=True, slots=True)
class DitConfig:
    """Sizes of the network; ``window`` and ``sink`` are latent frames of the visual window, the chunk in the making included."""

    width: int
    ffn: int
    heads: int
    blocks: int
    window: int
    sink: int
    action: ActionConfig
    inputs: int = 36
    outputs: int = 16
    frequencies: int = 256

    @property
    def head_dim(self) -> int:
        """Channels of a visual head."""
        return self.width // self.heads


PUBLISHED = {
    "universal": DitConfig(1536, 8960, 12, 30, 6, 0, ActionConfig(tuple(range(15)), 16, 4, 128, 2)),
    "gta": DitConfig(1536, 8960, 12, 30, 4, 0, ActionConfig(tuple(range(15)), 16, 2, 128, 2)),
    "templerun": DitConfig(1536, 8960, 12, 30, 6, 0, ActionConfig(tuple(range(15)), 16, 7, 128, 0)),
}
"""The three distilled variants."""
VARIANT_OF_KEYS = {4: "universal", 2: "gta", 7: "templerun"}


def read_config(path: Path) -> DitConfig:
    """The configuration in ``path``. Raises `WeightsError` naming what is wrong with it."""
    try:
        values = json.loads(path.read_text())
    except FileNotFoundError as error:
        raise WeightsError(f"The configuration {path} is not there.", TAKE_PUBLISHED) from error
    except (OSError, ValueError) as error:
        raise WeightsError(f"The configuration {path} can't be read: {error}.", TAKE_PUBLISHED) from error
    if not isinstance(values, dict) or not isinstance(values.get("action_config"), dict):
        raise WeightsError(f"The configuration {path} is of another model: it has no action_config.", TAKE_PUBLISHED)
    try:
        return parse_config(values)
    except (KeyError, TypeError, ValueError) as error:
        reason = f"{error.args[0]} is missing" if isinstance(error, KeyError) else str(error)
        raise WeightsError(f"The configuration {path} can't be used: {reason}.", TAKE_PUBLISHED) from error


def parse_config(values: Mapping[str, Any]) -> DitConfig:
    """From the keys of the published files. Raises KeyError for a missing one, ValueError for one that can't be."""
    action, width = values["action_config"], _size(values, "dim")
    heads, blocks = _size(values, "num_heads"), _size(values, "num_layers")
    keys = _size(action, "keyboard_dim_in") if action.get("enable_keyboard") else 0
    modules = ActionConfig(
        blocks=tuple(action["blocks"]), heads=_size(action, "heads_num"), keys=keys, key_hidden=_size(action, "hidden_size"),
        mouse=_size(action, "mouse_dim_in") if action.get("enable_mouse") else 0,
    )  # fmt: skip
    if keys not in VARIANT_OF_KEYS or bool(modules.mouse) != (keys != 7):
        raise ValueError(f"{keys} keys and {modules.mouse} mouse values are none of the three variants")
    if _size(action, "keyboard_hidden_dim") != modules.width or any(type(b) is not int or not 0 <= b < blocks for b in modules.blocks):
        raise ValueError("its action_config doesn't go together")
    if int(values["local_attn_size"]) < 3:
        raise ValueError("local_attn_size is not that of a streaming model (the foundation model can't be played: it makes noise)")
    if width % heads or (width // heads) % 2 or values.get("in_dim") != 36 or values.get("out_dim") != 16 or values.get("freq_dim") != 256:
        raise ValueError("its sizes don't go together")
    return DitConfig(
        width, _size(values, "ffn_dim"), heads, blocks, _size(values, "local_attn_size"), int(values.get("sink_size", 0)), modules
    )


def _size(values: Mapping[str, Any], name: str) -> int:
    value = values[name]
    if type(value) is not int or not 0 < value <= LARGEST:
        raise ValueError(f"{name} = {value!r} is no size")
    return value
