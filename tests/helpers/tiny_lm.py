"""Small random language models with a byte-level tokenizer, as files and in memory."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers
from torch import Tensor

from worldpager.engine.models.causal_lm.config import LMConfig
from worldpager.engine.models.causal_lm.load import LoadedLM
from worldpager.engine.models.causal_lm.network import CausalLM
from worldpager.engine.models.causal_lm.tokenizer import ChatTokenizer
from worldpager.engine.models.causal_lm.weights import random_weights

LLAMA: dict[str, Any] = {
    "model_type": "llama", "num_hidden_layers": 2, "hidden_size": 48, "intermediate_size": 80, "num_attention_heads": 6,
    "num_key_value_heads": 2, "head_dim": 8, "vocab_size": 260, "max_position_embeddings": 512, "rope_theta": 100000.0,
    "rms_norm_eps": 1e-5, "tie_word_embeddings": True, "eos_token_id": 258,
}  # fmt: skip
QWEN3: dict[str, Any] = LLAMA | {"model_type": "qwen3", "head_dim": 16, "rope_theta": 1e6, "tie_word_embeddings": False}
CHATML = (
    "{% for m in messages %}{{ '<|im_start|>' + m['role'] + '\n' + m['content'] + '<|im_end|>\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)


def byte_words() -> list[str]:
    """The 256 letters that stand for bytes, then control tokens."""
    return [*sorted(pre_tokenizers.ByteLevel.alphabet()), "<|pad|>", "<|im_start|>", "<|im_end|>", "<|more|>"]


def byte_tokenizer() -> Tokenizer:
    """One token a byte."""
    words = byte_words()
    inner = Tokenizer(models.BPE(vocab={word: i for i, word in enumerate(words)}, merges=[]))
    inner.pre_tokenizer, inner.decoder = pre_tokenizers.ByteLevel(add_prefix_space=False), decoders.ByteLevel()
    inner.add_special_tokens([AddedToken(word, special=True) for word in words[256:]])
    return inner


def folder_tensors(config: dict[str, Any], seed: int = 0) -> dict[str, Tensor]:
    """Random tensors under the names of a safetensors folder."""
    made = torch.Generator().manual_seed(seed)
    c, d = config, config["head_dim"]
    rows = {"q": c["num_attention_heads"] * d, "k": c["num_key_value_heads"] * d, "v": c["num_key_value_heads"] * d}
    shapes = {"model.embed_tokens.weight": (c["vocab_size"], c["hidden_size"]), "model.norm.weight": (c["hidden_size"],)}
    for i in range(c["num_hidden_layers"]):
        at = f"model.layers.{i}."
        shapes |= {f"{at}self_attn.{name}_proj.weight": (count, c["hidden_size"]) for name, count in rows.items()}
        shapes |= {
            f"{at}self_attn.o_proj.weight": (c["hidden_size"], rows["q"]),
            f"{at}mlp.down_proj.weight": (c["hidden_size"], c["intermediate_size"]),
            f"{at}mlp.gate_proj.weight": (c["intermediate_size"], c["hidden_size"]),
            f"{at}mlp.up_proj.weight": (c["intermediate_size"], c["hidden_size"]),
            f"{at}input_layernorm.weight": (c["hidden_size"],), f"{at}post_attention_layernorm.weight": (c["hidden_size"],),
        }  # fmt: skip
        if c["model_type"] == "qwen3":
            shapes |= {f"{at}self_attn.{name}_norm.weight": (d,) for name in "qk"}
    if not c["tie_word_embeddings"]:
        shapes["lm_head.weight"] = shapes["model.embed_tokens.weight"]
    return {name: torch.randn(shape, generator=made) * (0.3 if len(shape) > 1 else 1.0) for name, shape in shapes.items()}


def save_folder(folder: Path, config: dict[str, Any], seed: int = 0) -> dict[str, Tensor]:
    """A model folder of ``config``; returns its tensors."""
    tensors = folder_tensors(config, seed)
    save_file(tensors, folder / "model.safetensors")
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "tokenizer_config.json").write_text(json.dumps({"chat_template": CHATML, "eos_token": "<|im_end|>"}))
    byte_tokenizer().save(str(folder / "tokenizer.json"))
    return tensors


def tiny_lm(seed: int = 0, **changes: Any) -> LoadedLM:
    """A random model in memory, one token a byte."""
    sizes: dict[str, Any] = {
        "kind": "llama", "name": "random", "layers": 2, "width": 48, "hidden": 80, "heads": 6, "kv_heads": 2, "head_dim": 8, "vocab": 260,
        "context": 512, "rope_base": 1e4, "norm_eps": 1e-5, "qk_norm": False, "tied": True,
    }  # fmt: skip
    config = LMConfig(**(sizes | changes))
    model = CausalLM(config, random_weights(config, torch.device("cpu"), torch.float32, seed))
    return LoadedLM(model, ChatTokenizer(byte_tokenizer(), CHATML, frozenset({258})))
