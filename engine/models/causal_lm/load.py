"""A language model with its tokenizer, from wherever the user's files are."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

from worldpager.engine.errors import InputError
from worldpager.engine.models.causal_lm import tokenizer as tokenizers
from worldpager.engine.models.causal_lm.network import CausalLM
from worldpager.engine.models.causal_lm.tokenizer import ChatTokenizer
from worldpager.engine.models.causal_lm.view import ExecutionView
from worldpager.engine.models.causal_lm.weights import load_folder, load_gguf


@dataclass(frozen=True, slots=True)
class LoadedLM:
    """A model and its words."""

    model: CausalLM
    tokenizer: ChatTokenizer


def load_lm(path: Path, device: torch.device, dtype: torch.dtype | None = None) -> LoadedLM:
    """The model in ``path``, a GGUF file or a folder of safetensors. ``dtype`` None: bfloat16 on a GPU, float32 elsewhere.

    Raises `InputError` when there is nothing at ``path``, `WeightsError` for files that can't be used.
    """
    kind = dtype or (torch.bfloat16 if device.type == "cuda" else torch.float32)
    if path.is_dir():
        config, weights = load_folder(path, device, kind)
        return LoadedLM(CausalLM(config, weights), tokenizers.from_folder(path))
    if not path.is_file():
        raise InputError(f"There is no model at {path}.", "Give a GGUF file or a folder of safetensors (--model).")
    config, weights, fields = load_gguf(path, device, kind)
    return LoadedLM(CausalLM(config, weights), tokenizers.from_fields(fields, config.name))


def greedy(model: CausalLM, view: ExecutionView, logits: Tensor, stops: frozenset[int], limit: int) -> Iterator[int]:
    """The likeliest tokens after ``logits`` [.., vocab], one by one, until a stop token or ``limit``. Each yielded one is in ``view``,
    the stop token isn't.
    """
    for _ in range(limit):
        token = int(logits[-1].argmax())
        if token in stops or view.length >= view.capacity:
            return
        made = model.forward(torch.tensor([token]), view).logits
        assert made is not None
        logits = made
        yield token
