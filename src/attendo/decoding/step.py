"""The interface of a decoder step: hypotheses that grow by one token, and the next token's log-probabilities.

A Transformer with its cache, one without, the native kernels, an ensemble of several and a test's table of
probabilities are all steps. What a search keeps is small and lies in numpy arrays; what a step keeps is its own affair.
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
    """Log-probabilities of each row's next token; to be asked before the step selects or advances.

    They are of the whole vocabulary: a limit takes tokens out of the choice and leaves the others' as they are.
    """

    def top_k(self, k: int, limits: Limits | None = None) -> tuple[FloatArray, IntArray]:
        """The k most probable tokens that each row may choose.

        Args:
            k: how many; of a smaller vocabulary all.
            limits: what may be chosen; None for anything.

        Returns:
            Log-probabilities, float32 `(rows, min(k, vocab_size))`, largest first and of equal ones the lower id first,
            and the tokens, int64 of the same shape. Where fewer are left, the rest is -inf with any token. A step may
            rank by logits: log-probabilities that only rounding makes equal may then come in either order.
            Log-probabilities that are not numbers are given as they are.
        """

    def of(self, ids: IntArray) -> FloatArray:
        """Log-probabilities of given tokens, int64 `(rows, n)`: float32 of the same shape."""

    def all(self) -> FloatArray:
        """Log-probabilities of all tokens, float32 `(rows, vocab_size)`."""


class Step(Protocol):
    """A batch of sentences with hypotheses, each a row, those of a sentence side by side."""

    def start(self) -> NextTokens:
        """Returns the first tokens' log-probabilities, a row per sentence; called once."""

    def advance(self, last_ids: IntArray) -> NextTokens:
        """Adds a token, int64 `(rows,)`, to each row; gives what may come next."""

    def select(self, rows: IntArray) -> None:
        """Goes on from other rows, int64 `(sentences, hypotheses)`: the old row that each new row continues.

        Rows of one line are of one sentence; a sentence that is in no line has left.
        """


@dataclass(frozen=True, kw_only=True)
class Block:
    """The result of a token and of the proposals after it."""

    log_probs: list[float]
    """Log-probability of the most probable token after each kept token."""
    ids: list[int]
    """These most probable tokens, as many as were kept: the first of them are the proposals that were right."""
    proposed: list[int]
    """Proposals after the last of them; none if that is `</s>`."""
    last: NextTokens
    """The log-probabilities after the last kept token; to be used before the next block."""


class DraftingStep(Step, Protocol):
    """A step that, of a model with a drafter and with one sentence, takes several tokens at once."""

    @property
    def start_id(self) -> int:
        """The decoder's first input, which the first block begins with in the place of a token."""

    def draft(self, next_id: int) -> list[int]:
        """Proposals for what follows the token that comes next, `draft_tokens` of them; at first that is the start."""

    def block(self, ids: Sequence[int], eos_id: int) -> Block:
        """Adds a token and what was proposed behind it, and keeps what is right of that.

        Args:
            ids: the token, which is kept in any case, and proposals.
            eos_id: the id of `</s>`, which is never kept as a proposal: the sentence ends with it.
        """


@dataclass(frozen=True, kw_only=True)
class Written:
    """A sentence that was written from its start to its end."""

    ids: list[int]
    """Without `</s>`."""
    log_probs: list[float]
    """Log-probability of each of them, and of `</s>`."""
    finished: bool
    """Whether `</s>` was the most probable token there, and not the longest length the end."""
    passages: int
    """Through the decoder."""


class WritingStep(DraftingStep, Protocol):
    """A step that writes a whole sentence by itself, as `blockwise_search` would have it do block by block."""

    def write(self, max_len: int, eos_id: int, between: Callable[[], object] = lambda: None) -> Written:
        """Takes the most probable token again and again; at its start, with one sentence.

        Args:
            max_len: tokens at most, without `</s>`.
            eos_id: the id of `</s>`.
            between: called every few passages; what it raises ends the writing.
        """


class ReadingStep(Step, Protocol):
    """A step whose sources can be read part by part, where that takes long; left out, `start` reads them."""

    def read(self, between: Callable[[], object] = lambda: None) -> None:
        """Reads the sources.

        Args:
            between: called between two layers of the encoder; what it raises ends the reading.
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
