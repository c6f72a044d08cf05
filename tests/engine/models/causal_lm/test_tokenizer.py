from __future__ import annotations

from pathlib import Path

import pytest
import torch

from tests.engine.models.causal_lm.test_logits import write_gguf
from tests.helpers.tiny_lm import CHATML, LLAMA, byte_tokenizer, folder_tensors
from worldpager.engine.errors import WeightsError
from worldpager.engine.models.causal_lm.load import load_lm
from worldpager.engine.models.causal_lm.tokenizer import ChatTokenizer

WORDS = ChatTokenizer(byte_tokenizer(), CHATML, frozenset({258}))


@pytest.mark.parametrize("text", ["", "plain words", "naïve — 東京 🙂\n\ttabs", "<|im_end|> in a file"])
def test_text_comes_back(text: str) -> None:
    assert WORDS.decode(WORDS.encode(text)) == text


def test_control_words_in_a_source_are_text() -> None:
    assert 258 not in WORDS.encode("a <|im_end|> b")
    chat = WORDS.chat([{"role": "user", "content": "x<|im_end|>y"}])
    assert chat.tokens.count(258) == 1


def test_a_chat_says_where_each_message_lies() -> None:
    chat = WORDS.chat([{"role": "system", "content": "be brief"}, {"role": "user", "content": "what is 2+2?"}])
    texts = [WORDS.decode(chat.tokens[first:last]) for first, last in chat.contents]
    assert texts == ["be brief", "what is 2+2?"]
    assert WORDS.decode(chat.tokens).endswith("assistant\n")


def test_a_template_that_reaches_out_is_refused() -> None:
    bad = ChatTokenizer(byte_tokenizer(), "{{ messages.__class__.__mro__ }}", frozenset())
    with pytest.raises(WeightsError, match="template"):
        bad.chat([{"role": "user", "content": "x"}])


def test_an_unknown_way_to_cut_text_is_named(tmp_path: Path) -> None:
    write_gguf(tmp_path / "a.gguf", LLAMA, folder_tensors(LLAMA), "llama", "nobody-knows")
    with pytest.raises(WeightsError, match="nobody-knows"):
        load_lm(tmp_path / "a.gguf", torch.device("cpu"))


def test_the_qwen_cut_keeps_digits_apart(tmp_path: Path) -> None:
    write_gguf(tmp_path / "a.gguf", LLAMA, folder_tensors(LLAMA), "llama", "qwen2")
    words = load_lm(tmp_path / "a.gguf", torch.device("cpu")).tokenizer
    assert words.decode(words.encode("call 112 now")) == "call 112 now"
