"""What all systems of a bench translate: the same weights and the same sentences, by the same rules."""

import itertools
import sys
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import nn

from attendo.decoding.constraints.constraint import Rules
from attendo.errors import DataError
from attendo.model.config import ModelConfig
from attendo.model.transformer import Transformer
from attendo.text.subwords.tokenization import EOS_ID, UNK_ID

Sentence = tuple[int, ...]
"""Ids; a source ends with `</s>`, a translation does not."""


@dataclass(frozen=True, kw_only=True)
class Work:
    """A model and what it is to translate."""

    model: Transformer
    """float32, in evaluation mode, on the CPU; systems make their own of it and leave it as it is."""
    sources: tuple[Sentence, ...]
    """Each with its `</s>`."""
    length: int | None
    """Tokens that every translation has, `</s>` not counted; None lets the model end them."""
    length_penalty: float
    """Alpha. Ours divides by Wu et al.'s ((5 + length) / 6)^alpha, the peers by length^alpha."""
    max_len_offset: int
    """Where the model ends its translations: at most so many tokens more than the source has."""
    description: str
    """What it is, in a line."""

    def rules(self, sources: Sequence[Sentence]) -> list[Rules]:
        """What holds for each of some sources' translations."""
        if self.length is not None:
            return [Rules(min_len=self.length, max_len=self.length)] * len(sources)
        config = self.model.config
        # A learned position is for the start too.
        most = config.max_positions - 1 if config.positions == "learned" else sys.maxsize
        return [Rules(max_len=min(len(source) - 1 + self.max_len_offset, most)) for source in sources]

    def max_len(self, sources: Sequence[Sentence]) -> int:
        """The most tokens that any of some sources' translations may have."""
        return max((rules.max_len for rules in self.rules(sources)), default=0)

    @property
    def max_positions(self) -> int:
        """Positions that a table needs for the longest side, `</s>` and the start included."""
        longest = max((len(source) for source in self.sources), default=0)
        return max(longest, self.max_len(self.sources) + 1)


def random_work(config: ModelConfig, vocab_size: int, *, length: int, sentences: int, seed: int = 1) -> Work:
    """Random weights and random sentences; every translation is as long as its source.

    Args:
        config: the model's shape.
        vocab_size: of its joint vocabulary.
        length: tokens of a source, `</s>` included, and of a translation, without it.
        sentences: how many; the first ones are the same however many there are.
        seed: of both.
    """
    generator = torch.Generator().manual_seed(seed)
    ids = torch.randint(UNK_ID + 1, vocab_size, (sentences, length - 1), generator=generator).tolist()
    model = random_model(config, vocab_size, seed=seed)
    layers = f"{config.encoder_layers}+{config.decoder_layers} layers"
    shape = f"{layers}, d_model {config.d_model}, d_ff {config.d_ff}, vocabulary {vocab_size:,}"
    return Work(
        model=model,
        sources=tuple((*row, EOS_ID) for row in ids),
        length=length,
        length_penalty=0.0,
        max_len_offset=0,
        description=f"random weights, {shape}; {length} source tokens with </s>, {length} target tokens forced",
    )


def random_model(config: ModelConfig, vocab_size: int, *, seed: int) -> Transformer:
    """A model without training whose translations are not the same token again and again.

    As it begins, a model with one matrix for embeddings and logits repeats its last token for ever: that token's
    embedding is a good part of the decoder's output. Agreement would then say nothing, since wrong arithmetic repeats
    too. A scale of either sign in the last normalisation turns the embedding away from itself; what comes out then
    depends on the token, the position and the source. Biases and scales are drawn too, so that each of them counts.
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = Transformer(config, vocab_size, vocab_size)
        with torch.no_grad():
            for parameter in model.parameters():
                if parameter.dim() == 1:
                    parameter.add_(torch.randn_like(parameter), alpha=0.02)
            last = model.decoder_layers[-1].get_submodule("feed_forward_norm.norm")
            assert isinstance(last, nn.LayerNorm)
            last.weight.mul_(torch.randint(0, 2, last.weight.shape) * 2 - 1)
    return model.eval()


def text_work(
    model: Transformer, sources: Sequence[Sequence[int]], *, name: str, length_penalty: float, max_len_offset: int
) -> Work:
    """A trained model and real sentences, whose translations end where the model ends them.

    Args:
        model: float32, on the CPU.
        sources: ids of each line with its `</s>`; empty lines are left out.
        name: of the model.
        length_penalty: alpha.
        max_len_offset: a translation has at most so many tokens more than its source.

    Raises:
        DataError: there is no sentence.
    """
    full = tuple(tuple(source) for source in sources if len(source) > 1)
    if not full:
        raise DataError(f"{name}: no sentence to translate; give --source a file with one sentence per line")
    tokens = sum(map(len, full)) / len(full)
    return Work(
        model=model.eval(),
        sources=full,
        length=None,
        length_penalty=length_penalty,
        max_len_offset=max_len_offset,
        description=f"{name}; {len(full):,} sentences of {tokens:.1f} source tokens, translations of natural length",
    )


def take(work: Work, count: int) -> list[Sentence]:
    """So many sentences, from the first on and over again where there are fewer."""
    return list(itertools.islice(itertools.cycle(work.sources), count))


def operations(config: ModelConfig, vocab_size: int, *, source: float, target: float, beam: int) -> float:
    """Additions and multiplications of one sentence's matrix products, for estimates of time.

    Args:
        config: the model's shape.
        vocab_size: of the target.
        source: tokens.
        target: tokens.
        beam: hypotheses.
    """
    keys, values = (config.num_heads * size for size in (config.key_size, config.value_size))
    attention = 2 * config.d_model * (keys + values)
    feed_forward = 2 * config.d_model * config.d_ff
    read = config.encoder_layers * (attention + feed_forward) + config.decoder_layers * config.d_model * (keys + values)
    written = config.decoder_layers * (attention + config.d_model * (keys + values) + feed_forward)
    written += config.d_model * vocab_size
    return 2.0 * (source * read + beam * target * written)
