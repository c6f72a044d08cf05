"""What a causal language model is made of, read from ``config.json`` or from a GGUF file's fields."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from worldpager.engine.errors import WeightsError
from worldpager.engine.models.base import KVShape

KINDS = ("llama", "qwen3")
"""Architectures that load. Llama covers SmolLM2."""


@dataclass(frozen=True, slots=True)
class LMConfig:
    """Sizes and constants of one model. ``context`` in tokens is the native horizon: positions beyond it were never trained."""

    kind: str
    name: str
    layers: int
    width: int
    hidden: int
    heads: int
    kv_heads: int
    head_dim: int
    vocab: int
    context: int
    rope_base: float
    norm_eps: float
    qk_norm: bool
    tied: bool

    @property
    def group(self) -> int:
        """Query heads that share one KV head."""
        return self.heads // self.kv_heads

    def block(self, tokens: int) -> KVShape:
        """The shape of a block of ``tokens`` tokens."""
        return KVShape(self.layers, tokens, self.kv_heads, self.head_dim)

    @property
    def parameters(self) -> int:
        """Numbers that the model learned."""
        attention = self.width * self.head_dim * (2 * self.heads + 2 * self.kv_heads) + 2 * self.head_dim * self.qk_norm
        layer = attention + 3 * self.width * self.hidden + 2 * self.width
        return self.layers * layer + self.width * (1 + self.vocab * (1 if self.tied else 2))


def from_folder(folder: Path) -> LMConfig:
    """The configuration in ``folder/config.json``. Raises `WeightsError` for a model that doesn't load here."""
    path = folder / "config.json"
    try:
        given = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise WeightsError(f"{path} can't be read: {error}.", "Give the folder that holds config.json and the safetensors.") from error
    return from_json(given, str(folder.name))


def from_json(given: Mapping[str, Any], name: str) -> LMConfig:
    """The configuration in a parsed ``config.json``."""
    kind = str(given.get("model_type", ""))
    _refuse_unless(kind in KINDS, name, f"is a model of the kind {kind!r}", f"Known kinds: {', '.join(KINDS)}.")
    rope = given.get("rope_scaling") or given.get("rope_parameters") or {}
    scaling = rope.get("rope_type", rope.get("type", "default"))
    _refuse_unless(scaling == "default", name, f"scales its positions ({scaling})", "Only plain rotary positions are supported.")
    _refuse_unless(not given.get("attention_bias"), name, "has biases in its attention", "Take a Llama, SmolLM2 or Qwen3 model.")
    _refuse_unless(not given.get("use_sliding_window"), name, "attends within a sliding window", "Take one with full attention.")
    heads, width = int(given["num_attention_heads"]), int(given["hidden_size"])
    return LMConfig(
        kind=kind, name=name, layers=int(given["num_hidden_layers"]), width=width, hidden=int(given["intermediate_size"]), heads=heads,
        kv_heads=int(given.get("num_key_value_heads") or heads), head_dim=int(given.get("head_dim") or width // heads),
        vocab=int(given["vocab_size"]), context=int(given.get("max_position_embeddings", 2048)),
        rope_base=float(rope.get("rope_theta") or given.get("rope_theta") or 10000.0), norm_eps=float(given.get("rms_norm_eps", 1e-6)),
        qk_norm=kind == "qwen3", tied=bool(given.get("tie_word_embeddings", False)),
    )  # fmt: skip


def from_fields(fields: Mapping[str, Any], *, tied: bool, vocab: int, name: str) -> LMConfig:
    """The configuration in a GGUF file's fields (plain values by key)."""
    kind = str(fields.get("general.architecture", ""))
    _refuse_unless(kind in KINDS, name, f"is a model of the kind {kind!r}", f"Known kinds: {', '.join(KINDS)}.")
    scaling = fields.get(f"{kind}.rope.scaling.type", "none")
    _refuse_unless(scaling == "none", name, f"scales its positions ({scaling})", "Only plain rotary positions are supported.")

    def number(key: str, default: float | None = None) -> float:
        value = fields.get(f"{kind}.{key}", default)
        if value is None:
            raise WeightsError(f"{name} lacks the field {kind}.{key}.", "The file is incomplete: get it anew.")
        return float(value)

    heads, width = int(number("attention.head_count")), int(number("embedding_length"))
    return LMConfig(
        kind=kind, name=name, layers=int(number("block_count")), width=width, hidden=int(number("feed_forward_length")), heads=heads,
        kv_heads=int(number("attention.head_count_kv", heads)), head_dim=int(number("attention.key_length", width // heads)), vocab=vocab,
        context=int(number("context_length")), rope_base=number("rope.freq_base", 10000.0),
        norm_eps=number("attention.layer_norm_rms_epsilon", 1e-6), qk_norm=kind == "qwen3", tied=tied,
    )  # fmt: skip


def _refuse_unless(fits: bool, name: str, what: str, hint: str) -> None:
    if not fits:
        raise WeightsError(f"{name} {what}, which doesn't load here.", hint)
