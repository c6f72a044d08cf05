"""The numbers of a causal language model, from a safetensors folder, a GGUF file, or drawn at random for measurements.

In memory channel pairs that turn together lie side by side (0, 1), (2, 3), ..., as everywhere in this program. Folders and Qwen GGUF files
keep them half a head apart; loading sorts the rows of the projections once, which changes no result.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor

from worldpager.engine.errors import WeightsError
from worldpager.engine.models.causal_lm.config import LMConfig, from_fields, from_folder

Take = Callable[[str], Tensor]
"""Gives the tensor of a name as the file has it."""


@dataclass(frozen=True, slots=True)
class Layer:
    """Matrices are [out, in]; ``q_norm``, ``k_norm`` None where the model has none."""

    attention_norm: Tensor
    qkv: Tensor
    out: Tensor
    q_norm: Tensor | None
    k_norm: Tensor | None
    mlp_norm: Tensor
    gate_up: Tensor
    down: Tensor


@dataclass(frozen=True, slots=True)
class LMWeights:
    """``embedding`` [vocab, width]; ``head`` is the same tensor where the model ties them."""

    embedding: Tensor
    layers: tuple[Layer, ...]
    norm: Tensor
    head: Tensor


def load_folder(folder: Path, device: torch.device, dtype: torch.dtype) -> tuple[LMConfig, LMWeights]:
    """A folder with ``config.json`` and one or more ``*.safetensors``. Raises `WeightsError`."""
    config = from_folder(folder)
    place = _places(folder)

    def take(name: str) -> Tensor:
        try:
            with safe_open(place[name], "pt") as file:
                return file.get_tensor(name)
        except (KeyError, OSError, SafetensorError) as error:
            raise WeightsError(f"{folder} has no readable tensor {name}: {error}.", "Get the model's files anew.") from error

    return config, _assemble(config, take, FOLDER_NAMES, device, dtype, sort=True)


def load_gguf(path: Path, device: torch.device, dtype: torch.dtype) -> tuple[LMConfig, LMWeights, dict[str, Any]]:
    """A GGUF file: configuration, weights (de-quantised) and all fields by key. Raises `WeightsError`."""
    from gguf import GGUFReader, dequantize

    try:
        reader = GGUFReader(path)
        fields: dict[str, Any] = {key: field.contents() for key, field in reader.fields.items()}
    except (OSError, ValueError, IndexError, KeyError, UnicodeDecodeError, struct.error) as error:
        raise WeightsError(f"{path} is no readable GGUF file: {error}.", "Get the file anew.") from error
    tensors = {tensor.name: tensor for tensor in reader.tensors}
    if "token_embd.weight" not in tensors:
        raise WeightsError(f"{path} has no token_embd.weight.", "Give the GGUF file of a causal language model.")
    vocab = len(tensors["token_embd.weight"].data)
    config = from_fields(fields, tied="output.weight" not in tensors, vocab=vocab, name=str(fields.get("general.name", path.stem)))

    def take(name: str) -> Tensor:
        if name not in tensors:
            raise WeightsError(f"{path} has no tensor {name}.", "Get the file anew.")
        tensor = tensors[name]
        return torch.from_numpy(dequantize(tensor.data, tensor.tensor_type).copy())

    weights = _assemble(config, take, GGUF_NAMES, device, dtype, sort=config.kind != "llama")
    return config, weights, fields


def random_weights(config: LMConfig, device: torch.device, dtype: torch.dtype, seed: int = 0) -> LMWeights:
    """Weights of the right shapes that know nothing: for measuring speed and space, and for tests."""
    generator = torch.Generator().manual_seed(seed)

    def draw(*shape: int) -> Tensor:
        return (torch.randn(shape, generator=generator) * shape[-1] ** -0.5).to(device, dtype)

    def ones(count: int) -> Tensor:
        return torch.ones(count, device=device, dtype=dtype)

    c = config
    embedding = draw(c.vocab, c.width)
    norm = ones(c.head_dim) if c.qk_norm else None
    rows = (c.heads + 2 * c.kv_heads) * c.head_dim
    layers = tuple(
        Layer(
            ones(c.width), draw(rows, c.width), draw(c.width, c.heads * c.head_dim), norm, norm, ones(c.width),
            draw(2 * c.hidden, c.width), draw(c.width, c.hidden),
        )
        for _ in range(c.layers)
    )  # fmt: skip
    return LMWeights(embedding, layers, ones(c.width), embedding if c.tied else draw(c.vocab, c.width))


FOLDER_NAMES = {
    "embedding": "model.embed_tokens.weight", "norm": "model.norm.weight", "head": "lm_head.weight", "layer": "model.layers.{}.",
    "attention_norm": "input_layernorm.weight", "q": "self_attn.q_proj.weight", "k": "self_attn.k_proj.weight",
    "v": "self_attn.v_proj.weight", "out": "self_attn.o_proj.weight", "q_norm": "self_attn.q_norm.weight",
    "k_norm": "self_attn.k_norm.weight", "mlp_norm": "post_attention_layernorm.weight", "gate": "mlp.gate_proj.weight",
    "up": "mlp.up_proj.weight", "down": "mlp.down_proj.weight",
}  # fmt: skip
GGUF_NAMES = {
    "embedding": "token_embd.weight", "norm": "output_norm.weight", "head": "output.weight", "layer": "blk.{}.",
    "attention_norm": "attn_norm.weight", "q": "attn_q.weight", "k": "attn_k.weight", "v": "attn_v.weight", "out": "attn_output.weight",
    "q_norm": "attn_q_norm.weight", "k_norm": "attn_k_norm.weight", "mlp_norm": "ffn_norm.weight", "gate": "ffn_gate.weight",
    "up": "ffn_up.weight", "down": "ffn_down.weight",
}  # fmt: skip


def _assemble(
    config: LMConfig, take: Take, names: Mapping[str, str], device: torch.device, dtype: torch.dtype, *, sort: bool
) -> LMWeights:
    """All tensors, checked, on ``device``; projections that read the same input are stacked."""
    c = config

    def get(name: str, *shape: int) -> Tensor:
        tensor = take(name)
        if tuple(tensor.shape) != shape:
            raise WeightsError(f"{c.name}: {name} is {tuple(tensor.shape)} instead of {shape}.", "Get the model's files anew.")
        return tensor.to(device, dtype)

    def sorted_rows(tensor: Tensor, heads: int) -> Tensor:
        return pairs_together(tensor, heads) if sort else tensor

    def layer(number: int) -> Layer:
        def own(key: str, *shape: int) -> Tensor:
            return get(names["layer"].format(number) + names[key], *shape)

        q = sorted_rows(own("q", c.heads * c.head_dim, c.width), c.heads)
        k = sorted_rows(own("k", c.kv_heads * c.head_dim, c.width), c.kv_heads)
        return Layer(
            own("attention_norm", c.width), torch.cat([q, k, own("v", c.kv_heads * c.head_dim, c.width)]),
            own("out", c.width, c.heads * c.head_dim),
            sorted_rows(own("q_norm", c.head_dim), 1) if c.qk_norm else None,
            sorted_rows(own("k_norm", c.head_dim), 1) if c.qk_norm else None,
            own("mlp_norm", c.width), torch.cat([own("gate", c.hidden, c.width), own("up", c.hidden, c.width)]),
            own("down", c.width, c.hidden),
        )  # fmt: skip

    embedding = get(names["embedding"], c.vocab, c.width)
    head = embedding if c.tied else get(names["head"], c.vocab, c.width)
    return LMWeights(embedding, tuple(layer(number) for number in range(c.layers)), get(names["norm"], c.width), head)


def pairs_together(rows: Tensor, heads: int) -> Tensor:
    """Rows [heads * head_dim, ...] whose pairs lie half a head apart, sorted so that they are neighbours."""
    sorted_rows: Tensor = rows.unflatten(0, (heads, 2, -1)).transpose(1, 2).reshape(rows.shape)
    return sorted_rows


def _places(folder: Path) -> dict[str, Path]:
    """Which file holds each tensor. Names in an index that lead out of the folder are refused."""
    index = folder / "model.safetensors.index.json"
    if index.is_file():
        try:
            named: dict[str, str] = json.loads(index.read_text(encoding="utf-8"))["weight_map"]
        except (OSError, ValueError, KeyError) as error:
            raise WeightsError(f"{index} can't be read: {error}.", "Get the model's files anew.") from error
        if any(Path(file).name != file for file in named.values()):
            raise WeightsError(f"{index} names files outside its folder.", "Don't use this model.")
        return {tensor: folder / file for tensor, file in named.items()}
    places = {}
    for path in sorted(folder.glob("*.safetensors")):
        try:
            with safe_open(path, "pt") as file:
                places.update(dict.fromkeys(file.keys(), path))
        except (OSError, SafetensorError) as error:
            raise WeightsError(f"{path} can't be read: {error}.", "Get the file anew.") from error
    if not places:
        raise WeightsError(f"{folder} holds no safetensors.", "Give a folder with config.json, tokenizer.json and *.safetensors.")
    return places
