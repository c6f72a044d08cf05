"""A prompt as vectors, encoded once and kept on disk by the text's hash, so that playing needs no text encoder.

Encoding goes through the encoder's file layer by layer in float32: it takes minutes on a small machine and about 2 GB of main memory, not
the 11 GB of the whole encoder.
"""

from __future__ import annotations

import hashlib
import html
import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from worldpager.engine.errors import InputError, WeightsError
from worldpager.engine.models.wan.checkpoint import Tensors, check_names, load_module, open_tensors, shapes_of
from worldpager.engine.models.wan.umt5 import EncoderBlock, Umt5Config, Umt5Encoder, relative_buckets

LONGEST = 512
"""Tokens of a prompt, the end token included."""
END = "</s>"
TOKENIZER = "google/umt5-xxl/tokenizer.json"
ENCODER = "models_t5_umt5-xxl-enc-bf16.pth"
Tell = Callable[[float], object]
"""Hears the share of the encoding that is done."""


@dataclass(frozen=True, slots=True)
class Encoder:
    """Where the published text encoder and its tokenizer lie."""

    weights: Path
    tokenizer: Path


def cleaned(prompt: str) -> str:
    """``prompt`` as the models were trained to hear it: mended characters, no markup codes, single spaces."""
    from ftfy import fix_text  # here, so that play without a prompt needs neither this nor the next two

    return re.sub(r"\s+", " ", html.unescape(html.unescape(fix_text(prompt)))).strip()


def prompt_file(prompt: str, folder: Path | None = None) -> Path:
    """Where the vectors of ``prompt`` are kept."""
    if folder is None:
        from platformdirs import user_cache_path

        folder = user_cache_path("worldpager") / "prompts"
    return folder / f"{hashlib.sha256(cleaned(prompt).encode()).hexdigest()[:32]}.safetensors"


def keep_prompt(prompt: str, vectors: Tensor, path: Path) -> None:
    """Write ``vectors`` [L, width] of ``prompt`` to ``path`` as bfloat16, whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    half = path.with_suffix(f".{os.getpid()}.part")
    save_file({"vectors": vectors.to(torch.bfloat16).contiguous()}, str(half), {"prompt": cleaned(prompt)})
    half.replace(path)


def read_prompt(path: Path, width: int) -> Tensor:
    """The vectors [L, width] in ``path``. Raises `WeightsError` when they are damaged or of another encoder."""
    try:
        with safe_open(path, "pt") as file:
            vectors: Tensor = file.get_tensor("vectors")
    except (OSError, SafetensorError) as error:
        raise WeightsError(f"The prompt's vectors {path} can't be read: {error}.", "Delete the file; it will be made anew.") from error
    if vectors.dim() != 2 or vectors.shape[1] != width or not 0 < len(vectors) <= LONGEST or not vectors.isfinite().all():
        raise WeightsError(f"The prompt's vectors {path} are {list(vectors.shape)}, not [1 to {LONGEST}, {width}].", "Delete the file.")
    return vectors


def prompt_vectors(
    prompt: str, encoder: Encoder | None, width: int, *, folder: Path | None = None, tell: Tell = lambda share: None
) -> Tensor:
    """The vectors [L, width] of ``prompt``: kept ones, or made by the ``encoder`` and kept.

    An empty prompt has none. Raises `InputError` when they aren't kept and there is no encoder.
    """
    if not prompt.strip():
        return torch.zeros(0, width)
    path = prompt_file(prompt, folder)
    if not path.is_file():
        if encoder is None:
            what = f"The prompt {cleaned(prompt)[:60]!r} has not been encoded on this machine."
            raise InputError(what, f"Put {ENCODER} and {TOKENIZER} beside the model's other files and add them again, or give no prompt.")
        keep_prompt(prompt, encode(prompt, encoder, tell), path)
    return read_prompt(path, width)


def encode(prompt: str, encoder: Encoder, tell: Tell = lambda share: None, config: Umt5Config | None = None) -> Tensor:
    """Vectors [L, width] of ``prompt``. Raises `WeightsError`."""
    return encode_ids(token_ids(prompt, encoder.tokenizer), open_tensors(encoder.weights), config or Umt5Config(), tell)


def token_ids(prompt: str, tokenizer: Path) -> list[int]:
    """Numbers of the prompt's tokens, the end token last, `LONGEST` at most."""
    from tokenizers import Tokenizer

    try:
        words = Tokenizer.from_file(str(tokenizer))
    except Exception as error:  # the library raises Exception itself
        raise WeightsError(f"The tokenizer {tokenizer} can't be read: {error}.", "It comes with the text encoder.") from error
    end = words.token_to_id(END)
    if end is None:
        raise WeightsError(f"The tokenizer {tokenizer} knows no {END}.", "Take the one that comes with the text encoder.")
    return [*words.encode(cleaned(prompt), add_special_tokens=False).ids[: LONGEST - 1], end]


@torch.no_grad()
def encode_ids(ids: list[int], tensors: Tensors, config: Umt5Config, tell: Tell = lambda share: None) -> Tensor:
    """Vectors [L, width] of token ``ids``, with one layer of the encoder in memory at a time. Raises `WeightsError`."""
    check_names(shapes_of(lambda: Umt5Encoder(config)), tensors)
    if max(ids) >= config.vocabulary:
        raise WeightsError(f"{tensors.source} and the tokenizer don't belong together.", "Take both from the same published folder.")
    cpu, buckets = torch.device("cpu"), relative_buckets(len(ids))
    x = tensors.take("token_embedding.weight")[torch.tensor(ids)].float()
    for layer in range(config.layers):
        block = load_module(lambda: EncoderBlock(config), _layer(tensors, layer), cpu, lambda name: torch.float32)
        x = block(x, buckets)
        tell((layer + 1) / config.layers)
    return torch.nn.functional.rms_norm(x, (config.width,), tensors.take("norm.weight").float(), 1e-6)


def _layer(tensors: Tensors, number: int) -> Tensors:
    prefix = f"blocks.{number}."
    names = {name.removeprefix(prefix): shape for name, shape in tensors.shapes.items() if name.startswith(prefix)}
    return Tensors(tensors.source, names, lambda name: tensors.take(prefix + name))
