"""The workload of all systems of a bench: the same weights, the same sentences and the same rules."""

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
"""A sentence as ids; a source ends with `</s>`, a translation does not."""


@dataclass(frozen=True, kw_only=True)
class Work:
    """A model and the sentences that it is to translate."""

    model: Transformer
    """The model in float32, in evaluation mode, on the CPU; systems convert it for themselves without changing it."""
    sources: tuple[Sentence, ...]
    """Ids of each source, with `</s>` at the end."""
    length: int | None
    """Number of tokens in every translation, `</s>` not counted; None lets the model end its translations."""
    length_penalty: float
    """Alpha. attendo divides by ((5 + length) / 6)^alpha, as Wu et al., the peers divide by length^alpha."""
    max_len_offset: int
    """Maximum number of tokens by which a translation may exceed its source, if the model ends it."""
    description: str
    """Description in one line."""

    def rules(self, sources: Sequence[Sentence]) -> list[Rules]:
        """Returns the limits on the length of each source's translation."""
        if self.length is not None:
            return [Rules(min_len=self.length, max_len=self.length)] * len(sources)
        config = self.model.config
        # The start token needs a learned position, too.
        longest = config.max_positions - 1 if config.positions == "learned" else sys.maxsize
        return [Rules(max_len=min(len(source) - 1 + self.max_len_offset, longest)) for source in sources]

    def max_len(self, sources: Sequence[Sentence]) -> int:
        """Returns the largest number of tokens that the translation of any source may have."""
        return max((rules.max_len for rules in self.rules(sources)), default=0)

    @property
    def max_positions(self) -> int:
        """Number of positions that a table needs for the longest side, `</s>` and the start token included."""
        longest = max((len(source) for source in self.sources), default=0)
        return max(longest, self.max_len(self.sources) + 1)


def random_work(config: ModelConfig, vocab_size: int, *, length: int, sentences: int, seed: int = 1) -> Work:
    """Makes random weights and random sentences; every translation is as long as its source.

    Args:
        config: the model's shape.
        vocab_size: size of its joint vocabulary.
        length: number of tokens in a source, `</s>` included, and in a translation, without it.
        sentences: number of sentences; the first ones do not depend on it.
        seed: seed of both weights and sentences.
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
    """Makes an untrained model whose translations do not repeat a single token.

    An untrained model with one matrix for embeddings and logits repeats its last token forever, because that token's
    embedding is a large part of the decoder's output. Agreement would then mean nothing, since wrong arithmetic repeats
    it too. Scales of random sign in the last normalisation make the output differ from the embedding; the next token
    then depends on the token, the position and the source. Biases and scales are random too, so that each matters.
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
    """Returns a trained model with real sentences, whose translations end where the model ends them.

    Args:
        model: a model in float32, on the CPU.
        sources: ids of each line with its `</s>`; empty lines are skipped.
        name: name of the model and the text, for the description.
        length_penalty: alpha.
        max_len_offset: maximum number of tokens by which a translation may exceed its source.

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
    """Returns the first `count` sentences, starting again from the first if there are fewer."""
    return list(itertools.islice(itertools.cycle(work.sources), count))


def operations(config: ModelConfig, vocab_size: int, *, source: float, target: float, beam: int) -> float:
    """Returns the additions and multiplications of one sentence's matrix products, for time estimates.

    Args:
        config: the model's shape.
        vocab_size: size of the target vocabulary.
        source: number of source tokens.
        target: number of target tokens.
        beam: beam size.
    """
    keys, values = (config.num_heads * size for size in (config.key_size, config.value_size))
    attention = 2 * config.d_model * (keys + values)
    feed_forward = 2 * config.d_model * config.d_ff
    per_source = config.encoder_layers * (attention + feed_forward) + config.decoder_layers * config.d_model * (
        keys + values
    )
    per_target = config.decoder_layers * (attention + config.d_model * (keys + values) + feed_forward)
    per_target += config.d_model * vocab_size
    return 2.0 * (source * per_source + beam * target * per_target)
