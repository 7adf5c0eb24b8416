"""The interface of a decoder step: hypotheses that grow by one token, and the next token's log-probabilities.

A Transformer with its cache, one without, the native kernels, an ensemble of several and a test's table of
probabilities are all steps. A search's state is small and held in numpy arrays; a step's state is internal to it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeGuard

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float32]
IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True, kw_only=True)
class Limits:
    """The tokens that may come next, as a list per row: forbidden ones, or the only allowed ones."""

    offsets: IntArray
    """`(rows + 1,)`: row r's tokens are `ids[offsets[r]:offsets[r + 1]]`."""
    ids: IntArray
    """Ascending and distinct within a row."""
    only: BoolArray
    """`(rows,)`: True where a row may choose from its list alone, False where from all others."""


class NextTokens(Protocol):
    """Log-probabilities of each row's next token; valid until the step selects or advances.

    They are normalised over the whole vocabulary: a limit excludes tokens without changing the others.
    """

    def top_k(self, k: int, limits: Limits | None = None) -> tuple[FloatArray, IntArray]:
        """The k most probable tokens that each row may choose.

        Args:
            k: number of tokens; at most the whole vocabulary.
            limits: the tokens that may be chosen; None for any token.

        Returns:
            Log-probabilities, float32 `(rows, min(k, vocab_size))`, largest first, ties by lower id, and the tokens,
            int64 of the same shape. If fewer are permitted, the rest is -inf with arbitrary tokens. A step may rank by
            logits: log-probabilities made equal only by rounding may then be in either order. NaN log-probabilities are
            returned unchanged.
        """

    def of(self, ids: IntArray) -> FloatArray:
        """Log-probabilities of given tokens, int64 `(rows, n)`: float32 of the same shape."""

    def all(self) -> FloatArray:
        """Log-probabilities of all tokens, float32 `(rows, vocab_size)`."""


class Step(Protocol):
    """A batch of sentences with hypotheses as rows; those of a sentence are adjacent."""

    def start(self) -> NextTokens:
        """Returns the first tokens' log-probabilities, a row per sentence; called once."""

    def advance(self, last_ids: IntArray) -> NextTokens:
        """Adds a token, int64 `(rows,)`, to each row; returns the next tokens' log-probabilities."""

    def select(self, rows: IntArray) -> None:
        """Continues from other rows, int64 `(sentences, hypotheses)`: the old row for each new row.

        Rows in one row of the array belong to one sentence; a sentence that is in no line has left.
        """


@dataclass(frozen=True, kw_only=True)
class Block:
    """The result of a token and of the proposals after it."""

    log_probs: list[float]
    """Log-probability of the most probable token after each kept token."""
    ids: list[int]
    """The most probable token after each kept token: the proposals that were right, then the next token."""
    proposed: list[int]
    """Proposals after the last of them; empty if that is `</s>`."""
    last: NextTokens
    """The log-probabilities after the last kept token; to be used before the next block."""


class DraftingStep(Step, Protocol):
    """A step for a single sentence of a model with a drafter, which can take several tokens at once."""

    @property
    def start_id(self) -> int:
        """The decoder's first input, which the first block begins with in the place of a token."""

    def draft(self, next_id: int) -> list[int]:
        """Proposes `draft_tokens` tokens to follow the next token, which at first is the start."""

    def block(self, ids: Sequence[int], eos_id: int) -> Block:
        """Adds a token and the proposals after it, and keeps those that are correct.

        Args:
            ids: the token, which is kept in any case, and proposals.
            eos_id: the id of `</s>`, which is never kept as a proposal: the sentence ends with it.
        """


@dataclass(frozen=True, kw_only=True)
class WrittenSentence:
    """A sentence that was written from its start to its end."""

    ids: list[int]
    """The ids without `</s>`."""
    log_probs: list[float]
    """Log-probability of each id, and of `</s>`."""
    finished: bool
    """Whether `</s>` was the most probable token at the end, rather than the maximum length reached."""
    passages: int
    """Number of passages through the decoder."""


class WritingStep(DraftingStep, Protocol):
    """A step that writes a whole sentence by itself, as `blockwise_search` does block by block."""

    def write(self, max_len: int, eos_id: int, between: Callable[[], object] = lambda: None) -> WrittenSentence:
        """Repeatedly takes the most probable token; for a new step with one sentence.

        Args:
            max_len: maximum number of tokens, without `</s>`.
            eos_id: the id of `</s>`.
            between: called every few passages; an exception from it ends the writing.
        """


class ReadingStep(Step, Protocol):
    """A step whose sources can be read part by part, if that takes long; otherwise `start` reads them."""

    def read(self, between: Callable[[], object] = lambda: None) -> None:
        """Reads the sources.

        Args:
            between: called between two layers of the encoder; an exception from it ends the reading.
        """


def can_read(step: Step) -> TypeGuard[ReadingStep]:
    """Whether a step is a `ReadingStep`."""
    return hasattr(step, "read")


def can_draft(step: Step) -> TypeGuard[DraftingStep]:
    """Whether a step is a `DraftingStep`; checks one method only, since it is called for every sentence."""
    return hasattr(step, "block")


def can_write(step: DraftingStep) -> TypeGuard[WritingStep]:
    """Whether a step is a `WritingStep`."""
    return hasattr(step, "write")
