"""Logits against an implementation of its own kind, and against transformers where it is installed."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import gguf
import numpy as np
import pytest
import torch
from torch import Tensor

from tests.helpers.tiny_lm import LLAMA, QWEN3, byte_words, save_folder
from worldpager.engine.errors import WeightsError
from worldpager.engine.models.causal_lm import network
from worldpager.engine.models.causal_lm.load import greedy, load_lm
from worldpager.engine.models.causal_lm.network import CausalLM

CPU = torch.device("cpu")
CONFIGS = pytest.mark.parametrize("config", [LLAMA, QWEN3], ids=["llama", "qwen3"])


def plain_logits(config: dict[str, Any], tensors: dict[str, Tensor], tokens: list[int]) -> Tensor:
    """The published formulas, straight down, in float64: halves of a head turn against each other, no cache, heads one by one."""
    w = {name: tensor.double() for name, tensor in tensors.items()}
    d, heads, kv = config["head_dim"], config["num_attention_heads"], config["num_key_value_heads"]
    angle = torch.arange(len(tokens))[:, None] / config["rope_theta"] ** (torch.arange(0, d, 2) / d).double()

    def norm(x: Tensor, name: str) -> Tensor:
        scaled: Tensor = x / (x.pow(2).mean(-1, keepdim=True) + config["rms_norm_eps"]).sqrt() * w[name]
        return scaled

    def turn(x: Tensor) -> Tensor:
        a, b = x[:, : d // 2], x[:, d // 2 :]
        return torch.cat([a * angle.cos() - b * angle.sin(), b * angle.cos() + a * angle.sin()], 1)

    x = w["model.embed_tokens.weight"][tokens]
    for i in range(config["num_hidden_layers"]):
        at = f"model.layers.{i}."
        h = norm(x, f"{at}input_layernorm.weight")
        q, k, v = (h @ w[f"{at}self_attn.{name}_proj.weight"].T for name in "qkv")
        mixed = []
        for head in range(heads):
            other = head * kv // heads
            one_q, one_k = q[:, head * d : head * d + d], k[:, other * d : other * d + d]
            if config["model_type"] == "qwen3":
                one_q, one_k = norm(one_q, f"{at}self_attn.q_norm.weight"), norm(one_k, f"{at}self_attn.k_norm.weight")
            score = (turn(one_q) @ turn(one_k).T / math.sqrt(d)).masked_fill(torch.ones(len(tokens), len(tokens)).triu(1).bool(), -math.inf)
            mixed.append(score.softmax(-1) @ v[:, other * d : other * d + d])
        x = x + torch.cat(mixed, 1) @ w[f"{at}self_attn.o_proj.weight"].T
        h = norm(x, f"{at}post_attention_layernorm.weight")
        gate, up = h @ w[f"{at}mlp.gate_proj.weight"].T, h @ w[f"{at}mlp.up_proj.weight"].T
        x = x + (gate * gate.sigmoid() * up) @ w[f"{at}mlp.down_proj.weight"].T
    return norm(x, "model.norm.weight") @ w["model.embed_tokens.weight" if config["tie_word_embeddings"] else "lm_head.weight"].T


def all_logits(model: CausalLM, tokens: list[int], pieces: list[int]) -> Tensor:
    """Logits of every token, the text run in ``pieces``."""
    view, made, at = model.new_view(len(tokens)), [], 0
    for piece in pieces:
        logits = model.forward(torch.tensor(tokens[at : at + piece]), view, logits="all").logits
        assert logits is not None
        made.append(logits)
        at += piece
    return torch.cat(made)


@pytest.fixture
def exact_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keys and values as they leave the projection, not rounded to bfloat16."""
    real = CausalLM._project

    def unrounded(self: CausalLM, layer: Any, x: Tensor) -> Any:
        with monkeypatch.context() as patch:
            patch.setattr(torch, "bfloat16", torch.float32)
            return real(self, layer, x)

    monkeypatch.setattr(CausalLM, "_project", unrounded)


TOKENS = [int(i * i * 7 + 3 * i) % 256 for i in range(37)]


@CONFIGS
@pytest.mark.usefixtures("exact_keys")
def test_logits_are_those_of_the_published_formulas(config: dict[str, Any], tmp_path: Path) -> None:
    tensors = save_folder(tmp_path, config)
    logits = all_logits(load_lm(tmp_path, CPU).model, TOKENS, [37])
    torch.testing.assert_close(logits.double(), plain_logits(config, tensors, TOKENS), rtol=1e-4, atol=1e-4)


@CONFIGS
@pytest.mark.usefixtures("exact_keys")
def test_logits_are_those_of_transformers(config: dict[str, Any], tmp_path: Path) -> None:
    transformers = pytest.importorskip("transformers", reason="the reference implementation is an extra: pip install '.[reference]'")
    tensors = save_folder(tmp_path, config)
    theirs = transformers.AutoModelForCausalLM.from_config(transformers.AutoConfig.from_pretrained(tmp_path)).float().eval()
    missing, unexpected = theirs.load_state_dict(tensors, strict=False)
    assert not unexpected
    assert set(missing) <= {"lm_head.weight"}
    with torch.no_grad():
        expected = theirs(torch.tensor([TOKENS])).logits[0]
    torch.testing.assert_close(all_logits(load_lm(tmp_path, CPU).model, TOKENS, [20, 17]), expected, rtol=1e-4, atol=1e-4)


@CONFIGS
def test_bfloat16_keys_cost_little(config: dict[str, Any], tmp_path: Path) -> None:
    tensors = save_folder(tmp_path, config)
    ours = all_logits(load_lm(tmp_path, CPU).model, TOKENS, [37]).double().log_softmax(-1)
    exact = plain_logits(config, tensors, TOKENS).log_softmax(-1)
    divergence = (exact.exp() * (exact - ours)).sum(-1)
    assert 0 < divergence.mean() < 1e-3


@pytest.mark.parametrize("pieces", [[1] * 37, [5, 31, 1], [36, 1]])
def test_a_text_in_pieces_is_the_text_at_once(pieces: list[int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    save_folder(tmp_path, QWEN3)
    model = load_lm(tmp_path, CPU).model
    at_once = all_logits(model, TOKENS, [37])
    monkeypatch.setattr(network, "TILE", 4)
    torch.testing.assert_close(all_logits(model, TOKENS, pieces), at_once, rtol=1e-3, atol=1e-3)


def write_gguf(path: Path, config: dict[str, Any], tensors: dict[str, Tensor], architecture: str, cut: str = "gpt-2") -> None:
    """The model as a GGUF file: Llama's rotated rows interleaved, as that format wants them, Qwen's not."""
    writer = gguf.GGUFWriter(path, architecture)
    writer.add_block_count(config["num_hidden_layers"])
    writer.add_context_length(config["max_position_embeddings"])
    writer.add_embedding_length(config["hidden_size"])
    writer.add_feed_forward_length(config["intermediate_size"])
    writer.add_head_count(config["num_attention_heads"])
    writer.add_head_count_kv(config["num_key_value_heads"])
    writer.add_key_length(config["head_dim"])
    writer.add_rope_freq_base(config["rope_theta"])
    writer.add_layer_norm_rms_eps(config["rms_norm_eps"])
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre(cut)
    writer.add_token_list(byte_words())
    writer.add_token_types([1] * 256 + [3] * 4)
    writer.add_token_merges([])
    writer.add_eos_token_id(258)
    renamed = {
        "model.embed_tokens.": "token_embd.", "model.norm.": "output_norm.", "lm_head.": "output.", "model.layers.": "blk.",
        "self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k", "self_attn.v_proj": "attn_v", "self_attn.o_proj": "attn_output",
        "self_attn.q_norm": "attn_q_norm", "self_attn.k_norm": "attn_k_norm", "input_layernorm": "attn_norm",
        "post_attention_layernorm": "ffn_norm", "mlp.gate_proj": "ffn_gate", "mlp.up_proj": "ffn_up", "mlp.down_proj": "ffn_down",
    }  # fmt: skip
    for name, tensor in tensors.items():
        numbers = tensor.numpy()
        if architecture == "llama" and ("q_proj" in name or "k_proj" in name):
            d = config["head_dim"]
            numbers = np.ascontiguousarray(numbers.reshape(-1, 2, d // 2, numbers.shape[1]).swapaxes(1, 2).reshape(numbers.shape))
        for old, new in renamed.items():
            name = name.replace(old, new)
        writer.add_tensor(name, numbers)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


@CONFIGS
def test_a_gguf_file_is_the_folder(config: dict[str, Any], tmp_path: Path) -> None:
    tensors = save_folder(tmp_path, config)
    write_gguf(tmp_path / "model.gguf", config, tensors, config["model_type"])
    folder, file = load_lm(tmp_path, CPU), load_lm(tmp_path / "model.gguf", CPU)
    torch.testing.assert_close(all_logits(file.model, TOKENS, [37]), all_logits(folder.model, TOKENS, [37]), rtol=0, atol=0)
    assert file.tokenizer.stops == folder.tokenizer.stops == {258}


def test_greedy_takes_the_likeliest_token_until_a_stop(tmp_path: Path) -> None:
    tensors = save_folder(tmp_path, LLAMA)
    lm = load_lm(tmp_path, CPU)
    view = lm.model.new_view(60)
    start = lm.model.forward(torch.tensor(TOKENS), view).logits
    assert start is not None
    made = list(greedy(lm.model, view, start, frozenset(), 6))
    assert view.length == 37 + 6
    expected = list(TOKENS)
    for _ in range(6):
        expected.append(int(plain_logits(LLAMA, tensors, expected)[-1].argmax()))
    assert made == expected[37:]
    view.truncate(37)
    stop = frozenset({made[2]})
    assert list(greedy(lm.model, view, start, stop, 6)) == made[: made.index(made[2])]


def test_a_view_that_is_full_ends_the_answer(tmp_path: Path) -> None:
    save_folder(tmp_path, LLAMA)
    lm = load_lm(tmp_path, CPU)
    view = lm.model.new_view(40)
    start = lm.model.forward(torch.tensor(TOKENS), view).logits
    assert start is not None
    assert len(list(greedy(lm.model, view, start, frozenset(), 50))) == 3


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"model_type": "mamba"}, "mamba"),
        ({"rope_scaling": {"rope_type": "yarn"}}, "yarn"),
        ({"attention_bias": True}, "biases"),
        ({"hidden_size": 50}, "instead of"),
    ],
)
def test_models_that_do_not_fit_are_named(change: dict[str, Any], words: str, tmp_path: Path) -> None:
    save_folder(tmp_path, LLAMA)
    (tmp_path / "config.json").write_text(json.dumps(LLAMA | change))
    with pytest.raises(WeightsError, match=words):
        load_lm(tmp_path, CPU)


def test_damaged_files_are_named(tmp_path: Path) -> None:
    save_folder(tmp_path, LLAMA)
    (tmp_path / "model.safetensors").write_bytes(b"nothing")
    with pytest.raises(WeightsError, match=r"model\.safetensors"):
        load_lm(tmp_path, CPU)
    (tmp_path / "broken.gguf").write_bytes(b"GGUF" + b"\0" * 40)
    with pytest.raises(WeightsError, match=r"broken\.gguf"):
        load_lm(tmp_path / "broken.gguf", CPU)
    (tmp_path / "model.safetensors.index.json").write_text('{"weight_map": {"model.norm.weight": "../model.safetensors"}}')
    with pytest.raises(WeightsError, match="outside"):
        load_lm(tmp_path, CPU)
