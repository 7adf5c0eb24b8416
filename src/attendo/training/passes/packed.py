"""A batch without padding, and the Transformer's forward pass over it: the same arithmetic as `Transformer.hidden`.

Every sub-layer except attention works on each token separately, so the tokens of all sentences are rows of one matrix,
and only attention needs the sentences' ends. `Transformer` stays the plain definition of the model; this is how a CPU
trains it, and tests compare the two.

After the last sentence a few rows of filling, an unused sentence, round up the number of rows: for each new number of
rows the library of matrix products compiles its code again, which would take a small model a quarter of its time. They
are at most 8, or 1.6 % of a batch.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from attendo.model.batch import DistilledTokens, Ids
from attendo.model.config import START
from attendo.model.layers import DecoderLayer, EncoderLayer, FeedForward
from attendo.model.next_word import NextWord
from attendo.model.parser_stack import ParserStack, StackTop
from attendo.model.positions import LearnedPositions
from attendo.model.transformer import Embedding, Transformer
from attendo.training.passes.functions import Rows, Spans, add_and_norm, attention, embed, linear
from attendo.training.passes.kernels import TrainingKernels


@dataclass(frozen=True, kw_only=True)
class PackedSide:
    """One side of the pairs: the tokens of all sentences as rows."""

    ids: Tensor
    """int64 `(rows,)`, the filling's below 0."""
    positions: Tensor
    """int64 `(rows,)`, the position of each token in its sentence; 0 in the filling."""
    spans: Spans
    """Spans of the sentences, and of the filling after them."""


@dataclass(frozen=True, kw_only=True)
class PackedBatch:
    """Sentence pairs as rows of tokens, in main memory."""

    source: PackedSide
    """The source sentences, each with its `</s>`."""
    target: PackedSide
    """The decoder's inputs: the start, then the target without its last token."""
    tgt_ids: Tensor
    """int64 `(target tokens,)`: the targets with their `</s>`, without filling."""
    num_tokens: int
    """Target tokens."""
    distilled: DistilledTokens | None = None
    """The tokens learned from another model's probabilities; None if there are none."""

    def to(self, device: torch.device) -> "PackedBatch":
        """Itself: it is for the processor, in whose memory it is."""
        assert device.type == "cpu"
        return self


def pack(source: Sequence[Ids], target: Sequence[Ids], *, start: int = START) -> PackedBatch:
    """Pairs as a packed batch for teacher forcing.

    Args:
        source: each source sentence's ids with its `</s>`.
        target: each target sentence's ids with its `</s>`, in the same order.
        start: the decoder's first input (`ModelConfig.start_id`).
    """
    read, written = _pack_side(source), _pack_side(target)
    num_tokens = int(written.spans.starts[-2])
    shifted = torch.full_like(written.ids, START)
    shifted[1:num_tokens] = written.ids[: num_tokens - 1]
    shifted[written.spans.starts[:-2].long()] = start
    tgt = PackedSide(ids=shifted, positions=written.positions, spans=written.spans)
    return PackedBatch(source=read, target=tgt, tgt_ids=written.ids[:num_tokens], num_tokens=num_tokens)


def _pack_side(rows: Sequence[Ids]) -> PackedSide:
    num_tokens = sum(len(row) for row in rows)
    filling = _round_up(num_tokens + 1) - num_tokens  # at least one row, so that both sides have a last sentence
    lengths = np.array([*(len(row) for row in rows), filling], dtype=np.int64)
    starts = np.concatenate([[0], np.cumsum(lengths)])
    positions = np.arange(starts[-1]) - np.repeat(starts[:-1], lengths)
    positions[num_tokens:] = 0  # the filling may be longer than a learned table
    ids = np.concatenate([*(np.asarray(row, dtype=np.int64) for row in rows), np.full(filling, START)])
    spans = Spans(torch.from_numpy(starts.astype(np.int32)), int(lengths.max()))
    return PackedSide(ids=torch.from_numpy(ids), positions=torch.from_numpy(positions), spans=spans)


def _round_up(size: int) -> int:
    """The next multiple of a power of 2 that is 8 at least, and above that not more than 1/64 of the size."""
    step = 8
    while 128 * step <= size:
        step *= 2
    return -(-size // step) * step


def packed_hidden(model: Transformer, batch: PackedBatch, kernels: TrainingKernels, dtype: torch.dtype) -> Tensor:
    """The decoder's output for every row of the target.

    Args:
        model: a model that the kernels can train.
        batch: the pairs.
        kernels: the result of `training_kernels`.
        dtype: the type of the matrix products.

    Returns:
        `(target rows, d_model)`, of that type: the rows of the tokens, then of the filling.
    """
    source, target = batch.source.spans, batch.target.spans
    memory = _embed(kernels, model.source_embedding, batch.source, dtype)
    for layer in model.encoder_layers:
        assert isinstance(layer, EncoderLayer)
        memory = _encode(kernels, layer, memory, source)
    hidden = _embed(kernels, model.target_embedding, batch.target, dtype)
    if model.next_word is not None:
        hidden = _with_word_inputs(kernels, model.next_word, model.parser_stack, hidden, memory, batch)
    for layer in model.decoder_layers:
        assert isinstance(layer, DecoderLayer)
        hidden = _decode(kernels, layer, hidden, target, memory, source)
    return hidden.low


def _embed(kernels: TrainingKernels, embedding: Embedding, side: PackedSide, dtype: torch.dtype) -> Rows:
    table = embedding.positions(0, int(side.positions.max()) + 1)
    if isinstance(embedding.positions, LearnedPositions):  # which get gradients, as no table of the kernels does
        looked_up = embedding.look_up(side.ids.clamp(min=0)) * embedding.scale * (side.ids >= 0).unsqueeze(1)
        exact = embedding.dropout(looked_up + functional.embedding(side.positions, table))
        return Rows(exact, exact.to(dtype))
    p = embedding.dropout.p if embedding.training else 0.0
    return embed(kernels, embedding.weight, side.ids, side.positions, table, p, dtype)


def _with_word_inputs(
    kernels: TrainingKernels,
    next_word: NextWord,
    stack: ParserStack | None,
    hidden: Rows,
    memory: Rows,
    batch: PackedBatch,
) -> Rows:
    """Adds the next word and the parser's stack to the decoder's input."""
    counted = next_word.written(batch.target.ids)
    starts = batch.target.spans.starts.long()
    earlier = torch.cat((counted.new_zeros(1), counted))[starts[:-1]]
    number = counted - torch.repeat_interleave(earlier, starts.diff())
    numbers, words = [number], [linear(kernels, memory.low, next_word.memory)]
    exact = hidden.exact
    if stack is not None:
        top = _stack_top(stack, batch.target)
        numbers += [top.opened_at, top.completed_at]
        words += linear(kernels, memory.low, stack.memory).chunk(2, dim=1)
        exact = exact + stack.labelled(top)
    for of_words, places in zip(words, _word_places(next_word, batch, torch.stack(numbers)), strict=True):
        exact = exact + of_words.index_select(0, places).float()
    return Rows(exact, exact.to(hidden.low.dtype))


def _stack_top(stack: ParserStack, target: PackedSide) -> StackTop:
    """Returns the top of the stack for each row, `(target rows,)`."""
    starts = target.spans.starts.long()
    lengths = starts.diff()
    sentence = torch.repeat_interleave(torch.arange(len(lengths)), lengths)
    place = torch.arange(len(target.ids)) - starts[sentence]
    ids = target.ids.new_full((len(lengths), target.spans.longest), START)
    ids[sentence, place] = target.ids
    return StackTop(*(each[sentence, place] for each in stack.read(ids)))


def _word_places(next_word: NextWord, batch: PackedBatch, number: Tensor) -> Tensor:
    """Returns the source row of each word, and that of `</s>` after the last.

    The filling of both sides counts as a sentence too, without words on either side.

    Args:
        next_word: has the table of pieces that begin words.
        batch: the pairs.
        number: int64 `(..., target rows)`: the numbers of the words, from 0 in each sentence.

    Returns:
        int64, of the same shape.
    """
    sources, targets = batch.source.spans.starts.long(), batch.target.spans.starts.long()
    ids = batch.source.ids
    begins = (next_word.begins[ids.clamp(min=0)] & (ids >= 0)).long()
    beginnings = torch.cat((begins.nonzero().squeeze(1), sources.new_zeros(1)))
    before = torch.cat((begins.new_zeros(1), begins.cumsum(0)))[sources]  # number of beginnings before each sentence
    sentence = torch.repeat_interleave(torch.arange(len(targets) - 1), targets.diff())
    number = before[sentence] + number
    last = sources[1:][sentence] - 1  # </s>
    return torch.where(number < before[sentence + 1], beginnings[number.clamp(max=len(beginnings) - 1)], last)


def _feed_forward(kernels: TrainingKernels, layer: FeedForward, hidden: Tensor) -> Tensor:
    if layer.activation is functional.relu:
        inner = linear(kernels, hidden, layer.inner, relu=True)
    else:
        inner = layer.activation(linear(kernels, hidden, layer.inner))
    return linear(kernels, layer.dropout(inner), layer.outer)


def _encode(kernels: TrainingKernels, layer: EncoderLayer, hidden: Rows, source: Spans) -> Rows:
    own = layer.self_attention
    beside = linear(kernels, hidden.low, own.query_key_value)
    context = attention(kernels, own, beside, None, source, source, causal=False)
    hidden = add_and_norm(kernels, hidden, linear(kernels, context, own.output), layer.self_attention_norm)
    output = _feed_forward(kernels, layer.feed_forward, hidden.low)
    return add_and_norm(kernels, hidden, output, layer.feed_forward_norm)


def _decode(
    kernels: TrainingKernels, layer: DecoderLayer, hidden: Rows, target: Spans, memory: Rows, source: Spans
) -> Rows:
    own, other = layer.self_attention, layer.encoder_attention
    beside = linear(kernels, hidden.low, own.query_key_value)
    context = attention(kernels, own, beside, None, target, target, causal=True)
    hidden = add_and_norm(kernels, hidden, linear(kernels, context, own.output), layer.self_attention_norm)
    query, key_value = linear(kernels, hidden.low, other.query), linear(kernels, memory.low, other.key_value)
    context = attention(kernels, other, query, key_value, target, source, causal=False)
    hidden = add_and_norm(kernels, hidden, linear(kernels, context, other.output), layer.encoder_attention_norm)
    output = _feed_forward(kernels, layer.feed_forward, hidden.low)
    return add_and_norm(kernels, hidden, output, layer.feed_forward_norm)
