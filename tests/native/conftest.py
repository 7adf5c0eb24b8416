"""Variants of the kernels, tiny models with random weights, and sentences whose decoding is settled beforehand."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

import numpy as np
import pytest
import torch

from attendo.decoding.step import FloatArray, IntArray, Step
from attendo.model.config import ModelConfig
from attendo.model.transformer import Transformer
from attendo.native.build import problem
from attendo.native.library import VARIANTS, available_kernels

SHAPE: dict[str, Any] = {"d_model": 32, "d_ff": 48, "num_layers": 2, "num_heads": 2}


def _variants() -> list[Any]:
    found = {kernels.variant: kernels for kernels in available_kernels()}
    reason = problem() or "this processor or this build does not have them"
    return [
        pytest.param(found.get(name), id=name, marks=[] if name in found else pytest.mark.skip(reason=reason))
        for name in VARIANTS
    ]


each_variant = pytest.mark.parametrize("kernels", _variants())
"""Runs a test with `kernels` of each variant that was built and that this processor can run; skips the others."""
one_variant = pytest.mark.parametrize("kernels", _variants()[-1:])
"""With one of them, for what does not depend on the instruction set."""


def random_model(vocab_size: int | tuple[int, int] = 40, **options: Any) -> Transformer:
    """A model in evaluation mode whose biases and norms are random too; two vocabularies where two sizes are given.

    Where the decoder is told the next word, every third piece begins one, and every second symbol stands for one; of
    the others some open constituents and some close them.
    """
    torch.manual_seed(0)
    sizes = vocab_size if isinstance(vocab_size, tuple) else (vocab_size, vocab_size)
    model = Transformer(ModelConfig(**(SHAPE | options)), *sizes)
    with torch.no_grad():
        for name, values in model.named_parameters():
            if name.endswith("bias"):
                values.normal_(std=0.3)
            elif "norm" in name:
                values.uniform_(0.5, 1.5)
    if model.next_word is not None:
        model.next_word.know(torch.arange(sizes[0]) % 3 == 1, torch.arange(sizes[1]) % 2 == 1)
    if model.parser_stack is not None:
        model.parser_stack.know(torch.tensor([(0, 1, 2, 1, 4, 1, 3, 1)[number % 8] for number in range(sizes[1])]))
    return model.eval()


def model_with_hidden(hidden: Sequence[float], output: FloatArray, bias: FloatArray | None = None) -> Transformer:
    """A model whose last hidden state is always the same, whatever it has read, in front of a projection.

    The last norm multiplies by 0 and adds what is wanted, so that logits are known without the rest of the model.
    """
    sizes = (5, len(output))
    model = random_model(
        sizes, d_model=len(hidden), num_layers=1, shared_embeddings="none", output_bias=bias is not None
    )
    norm = model.decoder_layers[-1].get_submodule("feed_forward_norm.norm")
    with torch.no_grad():
        norm.get_parameter("weight").zero_()
        norm.get_parameter("bias").copy_(torch.tensor(hidden))
        model.output_weight.copy_(torch.from_numpy(output))
        if bias is not None and model.output_bias is not None:
            model.output_bias.copy_(torch.from_numpy(bias))
    return model


@dataclass(frozen=True)
class Story:
    """One sentence's decoding: which hypotheses are kept at each position, and what they go on with."""

    source: list[int]
    parents: list[list[int]]
    """At each position, for each hypothesis to come, which one of before it continues."""
    tokens: list[list[int]]


def make_stories(
    lengths: Sequence[int], sizes: tuple[int, int], *, seed: int = 0, with_eos: bool = False
) -> list[Story]:
    """Stories of so many target positions each, in which hypotheses are repeated, reordered and dropped.

    Args:
        lengths: of each sentence's translation; it leaves afterwards.
        sizes: of the vocabularies.
        seed: of tokens and parents.
        with_eos: whether sources end with `</s>`, which is 0; where words are told apart it matters.
    """
    rng = np.random.default_rng(seed)
    widths = [3, 3, 2, 2, 5, 1, 1, 4] + [5] * max(lengths)
    stories = []
    for length in lengths:
        before = [1, *widths]
        parents = [rng.integers(before[at], size=widths[at]).tolist() for at in range(length)]
        tokens = [rng.integers(sizes[1], size=widths[at]).tolist() for at in range(length)]
        source = rng.integers(sizes[0], size=rng.integers(1, 38)).tolist()
        stories.append(Story(source + [0] * with_eos, parents, tokens))
    return stories


def decode(
    make_step: Callable[[list[list[int]]], Step], stories: Sequence[Story], *, reverse_at: int = 7
) -> list[list[FloatArray]]:
    """Decodes a batch; gives all log-probabilities, `(hypotheses, vocab_size)` at each position of each sentence.

    Args:
        make_step: begins with sources.
        stories: of the sentences, in the batch's order.
        reverse_at: the sentences change places at every position that it divides.
    """
    step = make_step([story.source for story in stories])
    found: list[list[FloatArray]] = [[] for _ in stories]
    active, width = list(range(len(stories))), 1
    next_tokens = step.start()
    for at in count():
        by_sentence = next_tokens.all().reshape(len(active), width, -1)
        for line, sentence in enumerate(active):
            found[sentence].append(by_sentence[line])
        left = [sentence for sentence in active if len(stories[sentence].tokens) > at]
        if not left:
            return found
        left = left[::-1] if at % reverse_at == 0 else left
        rows = [[active.index(each) * width + parent for parent in stories[each].parents[at]] for each in left]
        active, width = left, len(rows[0])
        step.select(np.array(rows))
        next_tokens = step.advance(as_ids([token for each in active for token in stories[each].tokens[at]]))
    raise AssertionError


def as_ids(ids: Sequence[int]) -> IntArray:
    return np.array(ids, dtype=np.int64)


def assert_same_bits(one: Sequence[FloatArray], other: Sequence[FloatArray]) -> None:
    assert len(one) == len(other)
    for first, second in zip(one, other, strict=True):
        np.testing.assert_array_equal(first.view(np.int32), second.view(np.int32))
