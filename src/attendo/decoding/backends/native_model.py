"""A Transformer on the native kernels: the weights packed once, and each batch a session that runs without Python."""

import ctypes
import math
import os
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Literal

import numpy as np

from attendo.decoding.backends.array_attention import ArrayAttention, PairAttention
from attendo.decoding.backends.native_weights import pack_weights, padded
from attendo.decoding.step import Block, FloatArray, IntArray, Limits, WrittenSentence
from attendo.model.encodings import sinusoids, too_long
from attendo.model.weights.arrays import HasArrays, ModelArrays
from attendo.native.library import PADDED, Kernels, Shape

Dtype = Literal["float32", "bfloat16", "int8"]
"""The numbers that products are calculated with."""

_PASSAGES = 8
"""Maximum number of passes in one call of the kernels; signals and waiting threads are noticed between two calls."""
_POSITIONS = 256
"""Number of sinusoidal encodings computed at first."""
_KEPT_BYTES = 1 << 30
"""Bytes that an unused session may keep: more than 128 sentences of usual length need with a beam of 4."""


def can_run(model: HasArrays) -> bool:
    """Whether the kernels support this architecture and can read its weights."""
    arrays = model.arrays()
    if arrays is None:
        return False
    config = arrays.config
    return config.d_model % PADDED == 0 and config.attention_function != "additive" and not config.other_layers


class NativeModel:
    """Decodes on the processor with the native kernels.

    Batches do not wait for each other, and a sentence's result has the same bits in any batch and with any number of
    threads. A forked process has none of its parent's threads, so it needs its own model.

    Args:
        model: a `Transformer` in float32 on the CPU, or its arrays. The norms of a `Transformer` and, except for int8,
            its embeddings are used in place.
        dtype: the dtype of the matrix products; bfloat16 accumulates in float32, int8 has a scale per row of weights
            and activations.
        kernels: the variant to run on.
    """

    concurrent = True

    def __init__(self, model: HasArrays, *, dtype: Dtype, kernels: Kernels) -> None:
        arrays = model.arrays()
        assert arrays is not None, "the weights are not float32 or int8 in main memory"
        self.arrays, self.config = arrays, arrays.config
        self.src_vocab_size, self.tgt_vocab_size = arrays.src_vocab_size, arrays.tgt_vocab_size
        self.kernel = f"native {kernels.variant} {dtype}"
        self._kernels = kernels
        self._handle = kernels.new("model_new", ctypes.byref(_shape(arrays)))
        _when_gone(self, kernels.call, "model_free", self._handle)
        self._kept = pack_weights(kernels, self._handle, arrays, dtype)
        self._idle: dict[int, list[Session]] = {}
        self._attention = ArrayAttention(arrays)
        self._encodings: dict[str, FloatArray] = {}

    def step(self, sources: Sequence[Sequence[int]], *, threads: int = 1) -> "NativeStep":
        """A batch at its start.

        Args:
            sources: each sentence's ids with its `</s>`.
            threads: number of threads that share each product; more than one pays only for very few sentences.
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
    ) -> FloatArray:
        """Log-probabilities of given translations, float32 `(all target tokens,)`; see `DecodingModel`."""
        return _forced_log_probs(self.step(sources), targets, between)

    def encoder_decoder_attention(
        self,
        sources: Sequence[Sequence[int]],
        targets: Sequence[Sequence[int]],
        layer: int,
        *,
        between: Callable[[], object] = lambda: None,
    ) -> list[FloatArray]:
        """Computes the attention of every head of a decoder layer; see `DecodingModel`."""
        return self._attention.encoder_decoder(sources, targets, layer, between=between)

    def attention(
        self, source: Sequence[int], target: Sequence[int], *, between: Callable[[], object] = lambda: None
    ) -> PairAttention:
        """Computes the attention of every head and layer; see `DecodingModel`."""
        return self._attention.all(source, target, between=between)

    def borrow(self, threads: int) -> "Session":
        """Takes an unused session, or makes one; an existing one already has its memory, which is slow to allocate."""
        try:
            return self._idle.setdefault(threads, []).pop()
        except IndexError:
            return Session(self._kernels, self._kernels.new("session_new", self._handle, threads))

    def give_back(self, session: "Session", threads: int) -> None:
        """Returns a session; one that has grown unusually large is freed instead."""
        if session.num_bytes <= _KEPT_BYTES:
            self._idle[threads].append(session)

    def free_unused(self, most: int) -> int:
        """Frees the unused sessions; see `DecodingModel`."""
        taken: list[tuple[list[Session], Session]] = []  # taken off the list first: a session in use changes its size
        for sessions in list(self._idle.values()):
            with suppress(IndexError):
                while True:
                    taken.append((sessions, sessions.pop()))
        num_bytes = sum(session.num_bytes for _, session in taken) + self._attention.num_bytes
        if num_bytes > most:
            self._attention.free()
            return num_bytes
        for sessions, session in reversed(taken):
            sessions.append(session)
        return 0

    def encodings(self, side: Literal["source", "target"], length: int) -> FloatArray:
        """Returns the encodings of at least that many positions, float32 `(positions, d_model)`.

        Raises:
            DataError: there are fewer learned encodings.
        """
        known = self._encodings.get(side)
        if known is not None and len(known) >= length:
            return known
        table: FloatArray
        if self.config.positions == "learned":
            table = np.require(self.arrays.values[f"{side}_embedding.positions.table"], requirements=("C", "A", "W"))
            if length > len(table):
                raise too_long(length, len(table))
        else:
            rows = max(length, _POSITIONS if known is None else 2 * len(known))
            table = sinusoids(rows, self.config.d_model, self.config.positions)
        self._encodings[side] = table
        return table


class Session:
    """A batch inside the kernels; freed with this object. The borrower keeps the model alive to which it points."""

    def __init__(self, kernels: Kernels, handle: int) -> None:
        self._kernels, self._handle = kernels, handle
        _when_gone(self, kernels.call, "session_free", handle)

    @property
    def num_bytes(self) -> int:
        """Size of its memory in bytes."""
        found = ctypes.c_int64()
        self.call("bytes", ctypes.byref(found))
        return found.value

    def call(self, name: str, *arguments: object) -> None:
        """Calls a function of the session; arrays among the arguments have to be contiguous."""
        pointers = (each.ctypes.data if isinstance(each, np.ndarray) else each for each in arguments)
        self._kernels.call(f"session_{name}", self._handle, *pointers)


class NativeStep:
    """A batch of sentences together with the next tokens' log-probabilities: a `Step` that is its own `NextTokens`.

    Args:
        model: the model with the packed weights.
        sources: each sentence's ids with its `</s>`.
        threads: number of threads that share each product.
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
        self.start_id = model.config.start_id
        self._proposed = np.empty(model.config.draft_tokens, dtype=np.int64)

    def read(self, between: Callable[[], object] = lambda: None) -> None:
        """Reads the sources, if not yet done; see `ReadingStep`."""
        more = ctypes.c_int32(not self._is_read)
        while more.value:
            self._session.call("read", self._source_ids, ctypes.byref(more))
            self._is_read = not more.value
            if more.value:
                between()

    def start(self) -> "NativeStep":
        """Returns the first tokens' log-probabilities."""
        self.read()
        return self._advance(None)

    def advance(self, last_ids: IntArray) -> "NativeStep":
        """Adds a token, int64 `(rows,)`, to each row; returns the next tokens' log-probabilities."""
        assert last_ids.shape == (self._rows,)
        return self._advance(np.ascontiguousarray(last_ids, dtype=np.int64))

    def select(self, rows: IntArray) -> None:
        """Continues from other rows, int64 `(sentences, hypotheses)`."""
        self._session.call("select", np.ascontiguousarray(rows, dtype=np.int64), *rows.shape)
        self._rows, self._answers = rows.size, False

    def draft(self, next_id: int) -> list[int]:
        """Proposes `draft_tokens` tokens to follow the next token."""
        self.read()
        assert self._answers or not self._length, "asked after the step has selected other rows"
        self._session.call("draft", next_id, self._proposed)
        proposed: list[int] = self._proposed.tolist()
        return proposed

    def write(self, max_len: int, eos_id: int, between: Callable[[], object] = lambda: None) -> WrittenSentence:
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
        return WrittenSentence(
            ids=ids[:num].tolist(), log_probs=log_probs[: num + 1].tolist(), finished=finished, passages=passages.value
        )

    def block(self, ids: Sequence[int], eos_id: int) -> Block:
        """Adds a token and the proposals after it, and keeps those that are correct; see `DraftingStep`."""
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
        """Provides encodings for `count` further positions."""
        if self._length + count > len(self._positions):
            self._positions = self._model.encodings("target", self._length + count)


def _forced_log_probs(step: NativeStep, targets: Sequence[Sequence[int]], between: Callable[[], object]) -> FloatArray:
    """Log-probabilities of given translations, computed by a step token by token: `DecodingModel.token_log_probs`.

    Args:
        step: a new step.
        targets: each sentence's ids with its `</s>`.
        between: called between two steps; an exception from it ends the scoring.
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
    return np.concatenate([found[row, : len(target)] for row, target in enumerate(targets)])


def _shape(arrays: ModelArrays) -> Shape:
    config = arrays.config
    return Shape(
        d_model=config.d_model,
        d_ff=padded(config.d_ff),
        num_heads=config.num_heads,
        d_k=padded(config.key_size),
        d_v=padded(config.value_size),
        encoder_layers=config.encoder_layers,
        decoder_layers=config.decoder_layers,
        src_vocab_size=arrays.src_vocab_size,
        tgt_vocab_size=arrays.tgt_vocab_size,
        start_id=config.start_id,
        swish=config.activation == "swish",
        draft_tokens=config.draft_tokens,
        next_word=config.next_word,
        parser_stack=config.parser_stack,
        scale=config.attention_scale,
        layer_norm_eps=config.layer_norm_eps,
        embedding_scale=math.sqrt(config.d_model),
    )


def _when_gone(thing: object, call: Callable[..., None], *arguments: object) -> None:
    """Calls a function when an object is garbage-collected, but neither at process exit nor in a forked process.

    At exit the system frees everything, and a thread may still be working; a fork has no threads to join.
    """
    weakref.finalize(thing, _in_process, os.getpid(), call, *arguments).atexit = False


def _in_process(process: int, call: Callable[..., None], *arguments: object) -> None:
    if os.getpid() == process:
        call(*arguments)
