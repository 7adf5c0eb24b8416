"""A tiny Transformer with random weights, a language model as a table, and a tokenizer whose pieces are characters."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from attendo.decoding.backends.next_tokens import DenseNext
from attendo.decoding.step import IntArray
from attendo.model.config import ModelConfig
from attendo.model.transformer import Transformer

EOS = 0
ALPHABET = "\0?abcdefghijklmnopqrstuvwxyz .,"


@dataclass
class TreeStep:
    """A language model as a table: a row of log-probabilities for every prefix of every sentence."""

    table: Tensor
    """float32 `(sentences, prefixes, vocab_size)`; prefix 0 is empty, n * vocab_size + token + 1 is n and a token."""
    calls: list[int] = field(default_factory=list)
    """Rows of each step."""
    selects: list[list[list[int]]] = field(default_factory=list)
    """The rows of each reordering."""

    def start(self) -> DenseNext:
        self.sentences = np.arange(len(self.table))
        self.prefixes = np.zeros(len(self.table), dtype=np.int64)
        return self._next()

    def advance(self, last_ids: IntArray) -> DenseNext:
        self.prefixes = self.prefixes * self.table.shape[2] + last_ids + 1
        return self._next()

    def select(self, rows: IntArray) -> None:
        chosen = self.sentences[rows]
        assert (chosen == chosen[:, :1]).all(), "rows of one line belong to one sentence"
        self.sentences, self.prefixes = chosen.ravel(), self.prefixes[rows.ravel()]
        self.selects.append(rows.tolist())

    def _next(self) -> DenseNext:
        self.calls.append(len(self.prefixes))
        # A dead row may run out of the table; nobody looks at what it gets.
        places = self.prefixes.clip(max=self.table.shape[1] - 1)
        return DenseNext(self.table[torch.from_numpy(self.sentences), torch.from_numpy(places)])


def random_table(seed: int, sentences: int, vocab_size: int, max_len: int, *, sharpness: float = 1.0) -> Tensor:
    prefixes = sum(vocab_size**length for length in range(max_len + 1))
    logits = torch.randn(sentences, prefixes, vocab_size, generator=torch.Generator().manual_seed(seed))
    return (sharpness * logits).log_softmax(-1)


def score_of(log_prob: float, length: int, alpha: float) -> float:
    return float(log_prob / ((5 + length) / 6) ** alpha)


def token_log_probs(table: Tensor, ids: Sequence[int]) -> list[float]:
    """The tokens' log-probabilities in one sentence's table, looked up one by one."""
    prefix, found = 0, []
    for token in ids:
        found.append(float(table[prefix, token]))
        prefix = prefix * table.shape[1] + token + 1
    return found


class Letters:
    """A character a token; id 0 is `</s>`, id 1 any other character."""

    vocab_size = len(ALPHABET)
    placeholders = ()

    def encode_batch(self, texts: Sequence[str]) -> list[list[int]]:
        return [[max(1, ALPHABET.find(character)) for character in text] + [0] for text in texts]

    def decode(self, ids: Sequence[int]) -> str:
        return "".join(ALPHABET[i] for i in ids)

    def pieces(self, ids: Sequence[int]) -> list[str]:
        return [("\u2581" if ALPHABET[i] == " " else ALPHABET[i]) if i else "</s>" for i in ids]


@pytest.fixture
def letters() -> Letters:
    return Letters()


@pytest.fixture
def make_model() -> Callable[..., Transformer]:
    def make(seed: int = 0, *, end: float = 2.0, vocab_size: int = len(ALPHABET), **options: Any) -> Transformer:
        """A model in evaluation mode; `end` is added to the logit of `</s>`, so that lengths vary."""
        torch.manual_seed(seed)
        shape: dict[str, Any] = {"d_model": 16, "d_ff": 24, "num_layers": 2, "num_heads": 2, "output_bias": True}
        model = Transformer(ModelConfig(**(shape | options)), vocab_size, vocab_size)
        if model.output_bias is not None:
            torch.nn.init.normal_(model.output_bias)
            with torch.no_grad():
                model.output_bias[0] = end
        return model.eval()

    return make
