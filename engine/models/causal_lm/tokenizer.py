"""Text to token numbers and back, and chat turns. The vocabulary comes from the model's own file.

Text from users and files is never read as control tokens: a source that contains ``<|im_end|>`` ends no turn.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jinja2 import TemplateError
from jinja2.sandbox import ImmutableSandboxedEnvironment
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers

from worldpager.engine.errors import WeightsError

CONTROL, USER_DEFINED = 3, 4
"""Token types of GGUF files that stand for themselves in text."""
GPT4_LIKE = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|%s| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
"""How text is cut before merging; the gap is for digits."""
PLAIN_CHAT = "{% for m in messages %}{{ m['role'] }}: {{ m['content'] }}\n{% endfor %}{% if add_generation_prompt %}assistant:{% endif %}"
"""For models without a template of their own."""


@dataclass(frozen=True, slots=True)
class Rendered:
    """A chat in tokens. ``contents`` are the [first, last) places of each message's own text."""

    tokens: list[int]
    contents: list[tuple[int, int]]


@dataclass(frozen=True, slots=True)
class Frame:
    """The control tokens around a user's turn that stays open: ``opening`` begins it, ``ask`` ends it and opens the answer, ``reopen``
    ends the answer and opens the user's next turn.
    """

    opening: tuple[int, ...]
    ask: tuple[int, ...]
    reopen: tuple[int, ...]


class ChatTokenizer:
    """``stops`` are the tokens that end a turn."""

    def __init__(self, inner: Tokenizer, template: str | None, stops: frozenset[int]) -> None:
        self._inner, self.stops = inner, stops
        self._template = template or PLAIN_CHAT

    @property
    def size(self) -> int:
        """Tokens known."""
        return int(self._inner.get_vocab_size())

    def encode(self, text: str) -> list[int]:
        """Tokens of plain text."""
        self._inner.encode_special_tokens = True
        return list(self._inner.encode(text, add_special_tokens=False).ids)

    def decode(self, tokens: Sequence[int]) -> str:
        """Text of tokens, control tokens left out."""
        return str(self._inner.decode(list(tokens), skip_special_tokens=True))

    def chat(self, messages: Sequence[Mapping[str, str]], *, answer: bool = True) -> Rendered:
        """Messages (``role``, ``content``) by the model's template, with the opening of an answer unless told otherwise.

        Raises `WeightsError` when the template can't be used.
        """
        marks = [f"\x02{number}\x03" for number in range(len(messages))]
        marked = [{"role": m["role"], "content": mark} for m, mark in zip(messages, marks, strict=True)]
        text = self._render(marked, answer)
        tokens: list[int] = []
        contents = []
        for mark, message in zip(marks, messages, strict=True):
            before, found, text = text.partition(mark)
            if not found:
                raise WeightsError("The model's chat template leaves messages out.", "Use another model file.")
            tokens += self._control(before)
            first = len(tokens)
            tokens += self.encode(message["content"])
            contents.append((first, len(tokens)))
        return Rendered(tokens + self._control(text), contents)

    def frame(self, system: str) -> Frame:
        """The turns of a conversation that begins with the instructions ``system``. Raises `WeightsError` like `chat`."""
        roles = ("system", "user", "assistant", "user")
        chat = self.chat([{"role": role, "content": system if role == "system" else "-"} for role in roles], answer=False)
        (_, _), (user, ask), (answer, end), (again, _) = chat.contents
        return Frame(tuple(chat.tokens[:user]), tuple(chat.tokens[ask:answer]), tuple(chat.tokens[end:again]))

    def _control(self, text: str) -> list[int]:
        """Tokens of the template's own text, in which control tokens count."""
        self._inner.encode_special_tokens = False
        return list(self._inner.encode(text, add_special_tokens=False).ids)

    def _render(self, messages: Sequence[Mapping[str, str]], answer: bool) -> str:
        environment = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True)
        try:
            return environment.from_string(self._template).render(messages=messages, add_generation_prompt=answer, enable_thinking=False)
        except TemplateError as error:
            raise WeightsError(f"The model's chat template fails: {error}.", "Use another model file.") from error


def from_folder(folder: Path) -> ChatTokenizer:
    """The tokenizer of a folder with ``tokenizer.json``. Raises `WeightsError`."""
    path = folder / "tokenizer.json"
    try:
        inner = Tokenizer.from_file(str(path))
    except Exception as error:  # the library raises bare Exception
        raise WeightsError(f"{path} can't be read: {error}.", "Get the model's files anew.") from error
    settings = _json(folder / "tokenizer_config.json")
    template = settings.get("chat_template")
    apart = folder / "chat_template.jinja"
    if not isinstance(template, str):
        template = apart.read_text(encoding="utf-8") if apart.is_file() else None
    ends = _json(folder / "generation_config.json").get("eos_token_id") or _json(folder / "config.json").get("eos_token_id") or []
    named = settings.get("eos_token")
    named = named.get("content") if isinstance(named, dict) else named
    stops = {int(end) for end in (ends if isinstance(ends, list) else [ends])}
    number = inner.token_to_id(named) if isinstance(named, str) else None
    return ChatTokenizer(inner, template, frozenset(stops | ({number} if number is not None else set())))


def from_fields(fields: Mapping[str, Any], name: str) -> ChatTokenizer:
    """The tokenizer in a GGUF file's fields. Raises `WeightsError` for kinds that aren't known."""
    kind, cut = fields.get("tokenizer.ggml.model"), fields.get("tokenizer.ggml.pre", "default")
    if kind != "gpt2":
        raise WeightsError(f"{name} has a tokenizer of the kind {kind!r}, which doesn't load here.", "Take a model with a byte-level BPE.")
    words: list[str] = fields["tokenizer.ggml.tokens"]
    merges = [tuple(pair.split(" ", 1)) for pair in fields.get("tokenizer.ggml.merges", [])]
    inner = Tokenizer(models.BPE(vocab={word: number for number, word in enumerate(words)}, merges=merges))
    inner.pre_tokenizer = _cutting(str(cut), name)
    inner.decoder = decoders.ByteLevel()
    kinds: list[int] = fields.get("tokenizer.ggml.token_type", [])
    inner.add_special_tokens([AddedToken(words[i], special=True, normalized=False) for i, k in enumerate(kinds) if k == CONTROL])
    inner.add_tokens([AddedToken(words[i], special=False, normalized=False) for i, k in enumerate(kinds) if k == USER_DEFINED])
    stops = {int(fields[key]) for key in ("tokenizer.ggml.eos_token_id", "tokenizer.ggml.eot_token_id") if key in fields}
    return ChatTokenizer(inner, fields.get("tokenizer.chat_template"), frozenset(stops))


def _cutting(kind: str, name: str) -> pre_tokenizers.PreTokenizer:
    """How text is cut into words before merging."""
    if kind in ("default", "gpt-2"):
        return pre_tokenizers.ByteLevel(add_prefix_space=False)
    if kind == "smollm":
        return pre_tokenizers.Sequence([pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)])
    digits = {"qwen2": r"\p{N}", "llama-bpe": r"\p{N}{1,3}", "llama3": r"\p{N}{1,3}"}.get(kind)
    if digits is None:
        raise WeightsError(f"{name} cuts text by the rule {kind!r}, which isn't known here.", "Known: gpt-2, smollm, qwen2, llama-bpe.")
    split = pre_tokenizers.Split(Regex(GPT4_LIKE % digits), "isolated")
    return pre_tokenizers.Sequence([split, pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])


def _json(path: Path) -> dict[str, Any]:
    """The object in a JSON file; empty where there is none."""
    try:
        given = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return given if isinstance(given, dict) else {}
