"""A Transformer on the native kernels: the weights packed once, and each batch a session that runs without Python."""

import ctypes
import math
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from threading import Lock
from typing import Literal

import numpy as np
import torch
from torch import Tensor, nn

from attendo.decoding.step import Block, FloatArray, IntArray, Limits, Written
from attendo.model.config import ModelConfig
from attendo.model.drafter import Drafter
from attendo.model.layers import DecoderLayer, EncoderLayer
from attendo.model.next_word import NextWord
from attendo.model.parser_stack import MAX_DEPTH, ParserStack
from attendo.model.quantization import quantize_rows
from attendo.model.transformer import Transformer
from attendo.native.library import PADDED, PRECISIONS, Kernels, Shape
from attendo.text.tokenization import EOS_ID

Dtype = Literal["float32", "bfloat16", "int8"]
"""The numbers that products are calculated with."""

_PROJECTION, _ENCODER, _DECODER, _DRAFTER, _NEXT_WORD, _PARSER_STACK = 0, 1, 5, 12, 18, 19
"""Where the numbers of matrices begin in `model.h`."""

_PASSAGES = 8
"""That one call of the kernels makes at most: a signal, or another thread's wish, is seen between two calls."""
_KEPT_BYTES = 1 << 30
"""Of memory that a session nobody uses may keep: more than 128 sentences of usual lengths need with a beam of 4."""


def can_run(transformer: Transformer) -> bool:
    """Whether the kernels know this architecture, and its weights are where and what they read."""
    config, weights = transformer.config, transformer.parameters()
    known = config.d_model % PADDED == 0 and config.attention_function != "additive" and not config.other_layers
    return known and all(weight.dtype == torch.float32 and weight.device.type == "cpu" for weight in weights)


class NativeModel:
    """Decodes on the processor with the native kernels.

    Batches do not wait for each other, and a sentence's result has the same bits in any batch and with any number of
    threads. A process that is forked off has none of the threads of its parent, so it needs a model of its own.

    Args:
        transformer: float32, on the CPU; its norms and, but for int8, its embeddings are used in place.
        dtype: of the products; bfloat16 sums up in float32, int8 has a scale for each row of weights and activations.
        kernels: the variant to run on.
    """

    concurrent = True

    def __init__(self, transformer: Transformer, *, dtype: Dtype, kernels: Kernels) -> None:
        self.transformer = transformer
        self.tgt_vocab_size = transformer.tgt_vocab_size
        self.kernel = f"native {kernels.variant} {dtype}"
        self._kernels = kernels
        self._kept: list[object] = []  # what the kernels point to
        self._int8, self._precision = dtype == "int8", PRECISIONS.index(dtype)
        self._handle = kernels.new("model_new", ctypes.byref(_shape(transformer)))
        _when_gone(self, kernels.call, "model_free", self._handle)
        self._fill(transformer)
        self._idle: dict[int, list[Session]] = {}
        self._lock = Lock()
        self._encodings: dict[str, FloatArray] = {}

    def step(self, sources: Sequence[Sequence[int]], *, threads: int = 1) -> "NativeStep":
        """A batch at its start.

        Args:
            sources: each sentence's ids with its `</s>`.
            threads: that share each product; more than one pays for very few sentences only.
        """
        return NativeStep(self, sources, threads)

    @contextmanager
    def at_work(self) -> Iterator[None]:
        """Nothing needs to be set up."""
        yield

    def token_log_probs(
        self,
        sources: Sequence[Sequence[int]],
        targets: Sequence[Sequence[int]],
        *,
        between: Callable[[], object] = lambda: None,
    ) -> Tensor:
        """Log-probabilities of given translations, float32 `(all target tokens,)`; see `DecodingModel`."""
        return _forced_log_probs(self.step(sources), targets, between)

    def borrow(self, threads: int) -> "Session":
        """A session nobody uses: one that is there already has its memory, which costs time to get."""
        try:
            return self._idle.setdefault(threads, []).pop()
        except IndexError:
            return Session(self._kernels, self._kernels.new("session_new", self._handle, threads))

    def give_back(self, session: "Session", threads: int) -> None:
        """Ends a loan; a session that had to do with an unusually large batch is gone with it."""
        if session.num_bytes <= _KEPT_BYTES:
            self._idle[threads].append(session)

    def encodings(self, side: Literal["source", "target"], length: int) -> FloatArray:
        """Encodings of at least so many positions, float32 `(positions, d_model)`.

        Raises:
            DataError: there are not so many learned ones.
        """
        known = self._encodings.get(side)
        if known is not None and len(known) >= length:
            return known
        transformer = self.transformer
        positions = (transformer.source_embedding if side == "source" else transformer.target_embedding).positions
        with self._lock, torch.no_grad():
            positions(0, length)  # sinusoids' table grows
            table: FloatArray = positions.table.detach().numpy()
        self._encodings[side] = table
        return table

    def _fill(self, transformer: Transformer) -> None:
        config = transformer.config
        self._embedding(0, transformer.source_embedding.weight)
        self._embedding(1, transformer.target_embedding.weight)
        self._matrix(_PROJECTION, 0, transformer.output_weight, transformer.output_bias)
        for index, layer in enumerate(transformer.encoder_layers):
            assert isinstance(layer, EncoderLayer)
            own = layer.self_attention
            self._linear(_ENCODER, index, own.query_key_value, outputs=_head_places(config, "qkv"))
            self._linear(_ENCODER + 1, index, own.output, inputs=_head_places(config, "v"))
            self._feed_forward(_ENCODER + 2, index, layer)
            self._norms(0, index, layer.self_attention_norm.norm, layer.feed_forward_norm.norm)
        for index, layer in enumerate(transformer.decoder_layers):
            assert isinstance(layer, DecoderLayer)
            own, across = layer.self_attention, layer.encoder_attention
            self._linear(_DECODER, index, own.query_key_value, outputs=_head_places(config, "qkv"))
            self._linear(_DECODER + 1, index, own.output, inputs=_head_places(config, "v"))
            self._linear(_DECODER + 2, index, across.query, outputs=_head_places(config, "q"))
            self._linear(_DECODER + 3, index, across.key_value, outputs=_head_places(config, "kv"))
            self._linear(_DECODER + 4, index, across.output, inputs=_head_places(config, "v"))
            self._feed_forward(_DECODER + 5, index, layer)
            norms = (layer.self_attention_norm, layer.encoder_attention_norm, layer.feed_forward_norm)
            self._norms(2, index, *(each.norm for each in norms))
        if transformer.drafter is not None:
            self._fill_drafter(transformer, transformer.drafter)
        if transformer.next_word is not None:
            self._fill_next_word(transformer.next_word)
        if transformer.parser_stack is not None:
            self._fill_parser_stack(transformer.parser_stack)

    def _fill_drafter(self, transformer: Transformer, drafter: Drafter) -> None:
        config = transformer.config
        self._linear(_DRAFTER, 0, drafter.joined)
        self._linear(_DRAFTER + 1, 0, drafter.attention.query, outputs=_head_places(config, "q"))
        self._linear(_DRAFTER + 2, 0, drafter.attention.output, inputs=_head_places(config, "v"))
        self._feed_forward(_DRAFTER + 3, 0, drafter)
        norms = (drafter.joined_norm, drafter.attention_norm, drafter.feed_forward_norm)
        for number, each in enumerate(norms, start=5):
            self._norms(number, 0, each.norm)
        with torch.no_grad():
            self._fill_proposals(transformer, drafter)

    def _fill_proposals(self, transformer: Transformer, drafter: Drafter) -> None:
        """What tokens are chosen by, some of it multiplied out beforehand: `Drafter.adjusted` and its projection."""
        ids, adjustment = drafter.ids, drafter.adjustment
        rows = transformer.output_weight[ids]
        bias = rows.new_zeros(len(ids)) if transformer.output_bias is None else transformer.output_bias[ids]
        size = transformer.config.d_model
        own, before = drafter.beside.weight[:, :size], drafter.beside.weight[:, size:]
        self._matrix(_DRAFTER + 5, 0, torch.cat((own, rows)), torch.cat((drafter.beside.bias, bias)))
        befores = transformer.target_embedding.scaled(ids) @ before.T
        tables = (drafter.places, ids, befores, rows @ adjustment.weight, rows @ adjustment.bias)
        self._kernels.call("model_drafter", self._handle, *map(self._keep, tables))

    def _fill_next_word(self, next_word: NextWord) -> None:
        self._linear(_NEXT_WORD, 0, next_word.memory)
        begins, writes = self._keep(next_word.begins), self._keep(next_word.writes)
        self._kernels.call("model_next_word", self._handle, begins, writes, EOS_ID)

    def _fill_parser_stack(self, stack: ParserStack) -> None:
        self._linear(_PARSER_STACK, 0, stack.memory)
        tables = stack.depths, stack.opened, stack.completed, stack.kinds
        self._kernels.call("model_parser_stack", self._handle, *map(self._keep, tables), MAX_DEPTH)

    def _feed_forward(self, which: int, index: int, layer: EncoderLayer | DecoderLayer | Drafter) -> None:
        inner, outer = layer.feed_forward.inner, layer.feed_forward.outer
        places = _Places.plain(inner.out_features)
        self._linear(which, index, inner, outputs=places)
        self._linear(which + 1, index, outer, inputs=places)

    def _linear(
        self,
        which: int,
        layer: int,
        linear: nn.Linear,
        *,
        outputs: "_Places | None" = None,
        inputs: "_Places | None" = None,
    ) -> None:
        self._matrix(which, layer, linear.weight, linear.bias, outputs=outputs, inputs=inputs)

    def _matrix(
        self,
        which: int,
        layer: int,
        weight: Tensor,
        bias: Tensor | None,
        *,
        outputs: "_Places | None" = None,
        inputs: "_Places | None" = None,
    ) -> None:
        """Hands over a weight `(outputs, inputs)`, its rows or columns moved to where the kernels look for them."""
        weight, bias = weight.detach(), None if bias is None else bias.detach()
        codes, scales = quantize_rows(weight) if self._int8 else (None, None)
        values = weight if codes is None else codes
        if outputs is not None:
            values = outputs.spread(values, 0)
            scales = None if scales is None else outputs.spread(scales, 0)
            bias = None if bias is None else outputs.spread(bias, 0)
        if inputs is not None:
            values = inputs.spread(values, 1)
        values = values.contiguous()
        floats, int8 = (None, values) if self._int8 else (values, None)
        pointers = (_pointer(each) for each in (floats, int8, scales, bias))
        self._kernels.call("model_matrix", self._handle, which, layer, self._precision, *values.shape, *pointers)

    def _norms(self, which: int, layer: int, *norms: nn.LayerNorm) -> None:
        for number, norm in enumerate(norms, start=which):
            gain, bias = self._keep(norm.weight), self._keep(norm.bias)
            self._kernels.call("model_norm", self._handle, number, layer, gain, bias)

    def _embedding(self, target: int, weight: Tensor) -> None:
        floats, codes, scales = None, None, None
        if self._int8:
            codes, scales = (self._keep(values) for values in quantize_rows(weight.detach()))
        else:
            floats = self._keep(weight)
        self._kernels.call("model_embedding", self._handle, target, floats, codes, scales)

    def _keep(self, values: Tensor) -> int:
        """The address of values that stay where they are as long as this model."""
        kept = values.detach().contiguous()
        self._kept.append(kept)
        return kept.data_ptr()


class Session:
    """A batch inside the kernels; ends with this object. Who has borrowed it holds its model, to which it points."""

    def __init__(self, kernels: Kernels, handle: int) -> None:
        self._kernels, self._handle = kernels, handle
        _when_gone(self, kernels.call, "session_free", handle)

    @property
    def num_bytes(self) -> int:
        """Of memory that it has."""
        found = ctypes.c_int64()
        self.call("bytes", ctypes.byref(found))
        return found.value

    def call(self, name: str, *arguments: object) -> None:
        """Calls a function of the session; arrays among the arguments have to be contiguous."""
        pointers = (each.ctypes.data if isinstance(each, np.ndarray) else each for each in arguments)
        self._kernels.call(f"session_{name}", self._handle, *pointers)


class NativeStep:
    """A batch of sentences and the next tokens' log-probabilities at once: a `Step` that is its own `NextTokens`.

    Args:
        model: with the packed weights.
        sources: each sentence's ids with its `</s>`.
        threads: that share each product.
    """

    def __init__(self, model: NativeModel, sources: Sequence[Sequence[int]], threads: int) -> None:
        self._model, self._threads = model, threads
        self._session = model.borrow(threads)
        _when_gone(self, model.give_back, self._session, threads)
        self._rows, self._length = len(sources), 0
        self._answers = False
        self._source_ids = np.concatenate([np.asarray(source, dtype=np.int64) for source in sources])
        lengths = np.array([len(source) for source in sources], dtype=np.int32)
        positions = model.encodings("source", int(lengths.max()))
        self._session.call("start", self._source_ids, lengths, len(sources), positions)
        self._is_read = False
        self._positions = model.encodings("target", 1)
        self.start_id = model.transformer.config.start_id
        self._proposed = np.empty(model.transformer.config.draft_tokens, dtype=np.int64)

    def read(self, between: Callable[[], object] = lambda: None) -> None:
        """Reads the sources, where that is not done; see `ReadingStep`."""
        more = ctypes.c_int32(not self._is_read)
        while more.value:
            self._session.call("read", self._source_ids, ctypes.byref(more))
            self._is_read = not more.value
            if more.value:
                between()

    def start(self) -> "NativeStep":
        """What may come first."""
        self.read()
        return self._advance(None)

    def advance(self, last_ids: IntArray) -> "NativeStep":
        """Adds a token, int64 `(rows,)`, to each row; gives what may come next."""
        assert last_ids.shape == (self._rows,)
        return self._advance(np.ascontiguousarray(last_ids, dtype=np.int64))

    def select(self, rows: IntArray) -> None:
        """Goes on from other rows, int64 `(sentences, hypotheses)`."""
        self._session.call("select", np.ascontiguousarray(rows, dtype=np.int64), *rows.shape)
        self._rows, self._answers = rows.size, False

    def draft(self, next_id: int) -> list[int]:
        """Proposals for what follows the token that comes next, `draft_tokens` of them."""
        self.read()
        assert self._answers or not self._length, "asked after the step has selected other rows"
        self._session.call("draft", next_id, self._proposed)
        proposed: list[int] = self._proposed.tolist()
        return proposed

    def write(self, max_len: int, eos_id: int, between: Callable[[], object] = lambda: None) -> Written:
        """Writes the whole sentence; see `WritingStep`."""
        self.read()
        self._require_positions(max_len + 1)
        ids, log_probs = np.empty(max_len, dtype=np.int64), np.empty(max_len + 1, dtype=np.float32)
        passages, count, ended = ctypes.c_int32(), ctypes.c_int32(), ctypes.c_int32()
        results = ctypes.byref(passages), ctypes.byref(count), ctypes.byref(ended)
        while True:
            self._session.call("write", max_len, self._positions, eos_id, _PASSAGES, ids, log_probs, *results)
            if ended.value:
                break
            between()
        finished = count.value >= 0
        num = count.value if finished else -count.value - 1
        self._length, self._answers = num + 1, True
        return Written(
            ids=ids[:num].tolist(), log_probs=log_probs[: num + 1].tolist(), finished=finished, passages=passages.value
        )

    def block(self, ids: Sequence[int], eos_id: int) -> Block:
        """Adds a token and what was proposed behind it, and keeps what is right of that; see `DraftingStep`."""
        self.read()
        count, kept = len(ids), ctypes.c_int32()
        self._require_positions(count)
        values, best = np.empty(count, dtype=np.float32), np.empty(count, dtype=np.int64)
        self._session.call(
            "block", np.array(ids, dtype=np.int64), count, self._positions, eos_id, values, best, self._proposed,
            ctypes.byref(kept),
        )  # fmt: skip
        self._length += kept.value
        self._answers = True
        found = best[: kept.value].tolist()
        return Block(
            log_probs=values[: kept.value].tolist(),
            ids=found,
            proposed=[] if found[-1] == eos_id else self._proposed.tolist(),
            last=self,
        )

    def top_k(self, k: int, limits: Limits | None = None) -> tuple[FloatArray, IntArray]:
        """The k most probable tokens that each row may choose; see `NextTokens`.

        They are ranked by their logits, which may differ where their log-probabilities round to the same number.
        """
        assert self._answers, "asked after the step has selected other rows"
        k = min(k, self._model.tgt_vocab_size)
        values = np.empty((self._rows, k), dtype=np.float32)
        ids = np.empty((self._rows, k), dtype=np.int64)
        offsets, listed, only = None, None, None
        if limits is not None:
            assert len(limits.offsets) - 1 == len(limits.only) == self._rows
            offsets = np.ascontiguousarray(limits.offsets, dtype=np.int64)
            listed = np.ascontiguousarray(limits.ids, dtype=np.int64)
            only = np.ascontiguousarray(limits.only, dtype=np.bool_)
        self._session.call("top_k", k, offsets, listed, only, values, ids)
        return values, ids

    def of(self, ids: IntArray) -> FloatArray:
        """Log-probabilities of given tokens, int64 `(rows, n)`."""
        assert self._answers, "asked after the step has selected other rows"
        assert len(ids) == self._rows
        ids = np.ascontiguousarray(ids, dtype=np.int64)
        values = np.empty(ids.shape, dtype=np.float32)
        self._session.call("of", ids, ids.shape[1], values)
        return values

    def all(self) -> FloatArray:
        """Log-probabilities of all tokens, float32 `(rows, vocab_size)`."""
        assert self._answers, "asked after the step has selected other rows"
        values = np.empty((self._rows, self._model.tgt_vocab_size), dtype=np.float32)
        self._session.call("all", values)
        return values

    def _advance(self, last_ids: IntArray | None) -> "NativeStep":
        self._require_positions(1)
        self._session.call("advance", last_ids, self._positions)
        self._length += 1
        self._answers = True
        return self

    def _require_positions(self, count: int) -> None:
        """Has encodings of so many positions to come."""
        if self._length + count > len(self._positions):
            self._positions = self._model.encodings("target", self._length + count)


def _forced_log_probs(step: NativeStep, targets: Sequence[Sequence[int]], between: Callable[[], object]) -> Tensor:
    """Log-probabilities of given translations by a step, a token at a time: `DecodingModel.token_log_probs`.

    Args:
        step: at its start.
        targets: each sentence's ids with its `</s>`.
        between: called between two steps; what it raises ends the scoring.
    """
    longest = max(len(target) for target in targets)
    ids = np.zeros((len(targets), longest), dtype=np.int64)
    for row, target in enumerate(targets):
        ids[row, : len(target)] = target
    found = np.empty(ids.shape, dtype=np.float32)
    next_tokens = step.start()
    for position in range(longest):
        found[:, position] = next_tokens.of(ids[:, position : position + 1])[:, 0]
        if position + 1 < longest:
            between()
            next_tokens = step.advance(np.ascontiguousarray(ids[:, position]))
    return torch.from_numpy(np.concatenate([found[row, : len(target)] for row, target in enumerate(targets)]))


class _Places:
    """Where rows or columns go when every head is filled up with zeros to a multiple of `PADDED`."""

    def __init__(self, places: Tensor, size: int) -> None:
        self._places, self._size = places, size

    @classmethod
    def plain(cls, size: int) -> "_Places":
        """As they are, and zeros behind."""
        return cls(torch.arange(size), _padded(size))

    @classmethod
    def heads(cls, num_heads: int, sizes: Sequence[int]) -> "_Places":
        """Blocks of `num_heads` heads of each of the sizes."""
        parts, first = [], 0
        for size in sizes:
            starts = first + torch.arange(num_heads) * _padded(size)
            parts.append((starts[:, None] + torch.arange(size)).flatten())
            first += num_heads * _padded(size)
        return cls(torch.cat(parts), first)

    def spread(self, values: Tensor, dim: int) -> Tensor:
        """The values with zeros between them."""
        if len(self._places) == self._size:
            return values
        shape = list(values.shape)
        shape[dim] = self._size
        return values.new_zeros(shape).index_copy_(dim, self._places, values)


def _head_places(config: ModelConfig, letters: str) -> _Places:
    """The layout of a row that holds these one after the other: q, k and v."""
    sizes = {"q": config.key_size, "k": config.key_size, "v": config.value_size}
    return _Places.heads(config.num_heads, [sizes[letter] for letter in letters])


def _shape(transformer: Transformer) -> Shape:
    config = transformer.config
    return Shape(
        d_model=config.d_model,
        d_ff=_padded(config.d_ff),
        num_heads=config.num_heads,
        d_k=_padded(config.key_size),
        d_v=_padded(config.value_size),
        encoder_layers=config.encoder_layers,
        decoder_layers=config.decoder_layers,
        src_vocab_size=transformer.src_vocab_size,
        tgt_vocab_size=transformer.tgt_vocab_size,
        start_id=config.start_id,
        swish=config.activation == "swish",
        draft_tokens=config.draft_tokens,
        next_word=config.next_word,
        parser_stack=config.parser_stack,
        scale=config.attention_scale,
        layer_norm_eps=config.layer_norm_eps,
        embedding_scale=math.sqrt(config.d_model),
    )


def _padded(size: int) -> int:
    return -(-size // PADDED) * PADDED


def _pointer(values: Tensor | None) -> int | None:
    return None if values is None else values.data_ptr()


def _when_gone(thing: object, call: Callable[..., None], *arguments: object) -> None:
    """Calls a function when an object is gone, but not at the end of the process.

    The system frees all then, and a thread may still be at work.
    """
    weakref.finalize(thing, call, *arguments).atexit = False
