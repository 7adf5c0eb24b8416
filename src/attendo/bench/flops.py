"""The size of a model, and the additions and multiplications of its training, counted without allocating weights."""

import torch
from torch.utils.flop_counter import FlopCounterMode

from attendo.model.batch import collate
from attendo.model.config import ModelConfig
from attendo.model.transformer import Transformer
from attendo.text.prepared import PreparedData


def num_parameters(config: ModelConfig, src_vocab_size: int, tgt_vocab_size: int) -> int:
    """The number of a model's parameters, counted without allocating them."""
    with torch.device("meta"):
        return Transformer(config, src_vocab_size, tgt_vocab_size).num_parameters


def training_flops(
    config: ModelConfig, vocab_sizes: tuple[int, int], lengths: tuple[int, int], target_tokens: int
) -> float:
    """Estimates the additions and multiplications in the matrix products of a training, from a pair of average length.

    Args:
        config: config of the model.
        vocab_sizes: vocabulary sizes of source and target.
        lengths: mean lengths of source and target, in tokens with `</s>`.
        target_tokens: number of target tokens of the training, without padding.
    """
    return target_tokens / lengths[1] * pair_flops(config, vocab_sizes, lengths)


def pair_flops(config: ModelConfig, vocab_sizes: tuple[int, int], lengths: tuple[int, int]) -> float:
    """Counts the additions and multiplications in the matrix products of one pair's forward and backward pass.

    The count is that of torch's `FlopCounterMode`; it excludes products that the backward pass does not need, such as
    the gradient of the first layer's input.

    Args:
        config: config of the model.
        vocab_sizes: vocabulary sizes of source and target.
        lengths: lengths of source and target, in tokens with `</s>`.
    """
    with torch.device("meta"):
        model = Transformer(config, *vocab_sizes)
    batch = collate([[0] * lengths[0]], [[0] * lengths[1]])
    with FlopCounterMode(display=False) as counter:
        model(batch.to(torch.device("meta"))).sum().backward()
    return float(counter.get_total_flops())


def mean_lengths(prepared: PreparedData) -> tuple[int, int]:
    """The mean lengths of a source and of a target over all corpora, in tokens, rounded."""
    corpora = prepared.corpora.values()
    pairs = sum(len(corpus) for corpus in corpora)
    return (
        round(sum(int(corpus.source_lengths.sum()) for corpus in corpora) / pairs),
        round(sum(int(corpus.target_lengths.sum()) for corpus in corpora) / pairs),
    )
