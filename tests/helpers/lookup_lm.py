"""A language model made by hand that looks things up: asked anything, it answers with the digit that stands in what it sees.

One layer, one head. Letters of a question ask for the feature "digit"; every digit's key has it, its value says which digit it is, and the
output is that digit. Without a digit in sight all keys look alike and no digit comes out.
"""

from __future__ import annotations

import torch

from tests.helpers.tiny_lm import byte_tokenizer
from worldpager.engine.models.causal_lm.config import LMConfig
from worldpager.engine.models.causal_lm.load import LoadedLM
from worldpager.engine.models.causal_lm.network import CausalLM
from worldpager.engine.models.causal_lm.tokenizer import ChatTokenizer
from worldpager.engine.models.causal_lm.weights import Layer, LMWeights

TEMPLATE = "{% for m in messages %}{{ m['content'] }}{{ '?' if m['role'] == 'user' else ';' }}{% endfor %}"
VOCAB, HEAD = 260, 64


def lookup_lm(context: int = 4096) -> LoadedLM:
    """The model. It stops after one token: ``digit``, then the stop."""
    words = ChatTokenizer(byte_tokenizer(), TEMPLATE, frozenset({258}))
    digits = [words.encode(str(digit))[0] for digit in range(10)]
    config = LMConfig("llama", "lookup", 1, VOCAB, 8, 1, 1, HEAD, VOCAB, context, 1e12, 1e-6, False, True)
    q, k, v = (torch.zeros(HEAD, VOCAB) for _ in range(3))
    slow = HEAD - 2  # the pair that hardly turns
    q[slow] = 10.0
    k[slow, digits] = 10.0
    for place, token in enumerate(digits):
        v[place, token] = 1.0
    out = torch.zeros(VOCAB, HEAD)
    for place, token in enumerate(digits):
        out[token, place] = 10.0
    ones = torch.ones(VOCAB)
    layer = Layer(ones, torch.cat([q, k, v]) / VOCAB**0.5, out, None, None, ones, torch.zeros(16, VOCAB), torch.zeros(VOCAB, 8))
    head = torch.zeros(VOCAB, VOCAB)
    head[258, words.encode("?")[0]] = -100.0  # asked, it doesn't stop
    for token in digits:  # having said a digit, it does
        head[token, token], head[258, token] = 1.0, 1.5
    return LoadedLM(CausalLM(config, LMWeights(torch.eye(VOCAB) * 4, (layer,), ones, head)), words)
