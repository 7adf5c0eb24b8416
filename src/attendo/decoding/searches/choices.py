"""The tokens that each row of a batch may choose at a step: the sentences' rules combined for the step."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from attendo.decoding.config import SearchConfig
from attendo.decoding.constraints.constraint import (
    EVERYTHING,
    AllowedTokens,
    Place,
    Rules,
    TracingConstraint,
    constraints_of,
)
from attendo.decoding.constraints.forced import ForcedSequences, State
from attendo.decoding.step import FloatArray, IntArray, Limits, NextTokens
from attendo.errors import ModelError

DoubleArray = npt.NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class ForcedRow:
    """The state of a row's forced sequences, as long as some are missing."""

    sequences: ForcedSequences
    """The forced sequences of its sentence."""
    state: State
    """The number of their tokens that it has."""
    may_end: bool
    """Whether it could end here if nothing were missing."""


@dataclass(frozen=True, kw_only=True)
class PermittedTokens:
    """The tokens that the rows may choose at one step."""

    allowed: Sequence[AllowedTokens]
    """The tokens of each row; empty if `limits` has all of it."""
    limits: Limits | None
    """The tokens in the form that a step takes; None if no row has limits."""
    forced: dict[int, ForcedRow]
    """The rows that miss something that is forced."""

    def eos_banned(self, eos_id: int) -> list[int]:
        """The rows that may not end here."""
        return [row for row, allowed in enumerate(self.allowed) if eos_id not in allowed]


class Guard:
    """The rules of a batch's sentences, evaluated once per step; every `select` in between has to be repeated on it.

    Args:
        rules: one for each sentence.
        eos_id: the id of `</s>`.
        config: the settings, of which `no_repeat_ngram` is used.
    """

    def __init__(self, rules: Sequence[Rules], eos_id: int, config: SearchConfig) -> None:
        self.max_lens = np.array([each.max_len for each in rules], dtype=np.int64)
        """Maximum length of each sentence."""
        self.any_forced = any(each.has_forced for each in rules)
        """Whether any sentence has sequences that must occur."""
        self._eos_id = eos_id
        self._min_lens = np.array([each.min_len for each in rules], dtype=np.int64)
        self._longest_min = int(self._min_lens.max(initial=0))
        constraints = [constraints_of(each, config) for each in rules]
        self._any_constraints = self.any_forced or any(constraints)
        self._constraints = [[each for each in its if not isinstance(each, TracingConstraint)] for its in constraints]
        self._beginnings = [
            [each.beginning for each in its if isinstance(each, TracingConstraint)] for its in constraints
        ]
        self._places: list[list[Place]] = []  # for each row, one per tracing constraint of its sentence
        self._forced = [ForcedSequences(each.forced, each.forced_any) if each.has_forced else None for each in rules]

    def permitted(
        self, sentences: IntArray, ids: IntArray, log_probs: DoubleArray | None = None
    ) -> PermittedTokens | None:
        """Returns the tokens that the rows may choose.

        Args:
            sentences: the present ones, int64 `(sentences,)`.
            ids: int64 `(sentences * width, length)`, the rows of a sentence side by side.
            log_probs: `(sentences * width,)`; a row with -inf is dead and may choose anything. None: none is dead.

        Returns:
            None if every row may choose any token.
        """
        if not self._any_constraints:
            if ids.shape[1] >= self._longest_min:
                return None
            return self._only_not_shorter(sentences, ids)
        dead = [False] * len(ids) if log_probs is None else np.isneginf(log_probs).tolist()
        if any(self._beginnings):
            self._trace(sentences, ids, dead)
        return self._permitted(sentences, ids, dead)

    def select(self, rows: IntArray) -> None:
        """Continues from other rows, int64 `(new rows,)`."""
        if self._places:
            self._places = [self._places[row] for row in rows.tolist()]

    def _trace(self, sentences: IntArray, ids: IntArray, dead: Sequence[bool]) -> None:
        """Advances the states of each row by its last token; a dead row stays dead."""
        if ids.shape[1]:
            assert len(self._places) == len(ids), "the guard was not told of a select"
            # Row by row, so that old states are freed before new ones are made, and Python has no garbage to collect.
            for row, (token, is_dead) in enumerate(zip(ids[:, -1].tolist(), dead, strict=True)):
                self._places[row] = [] if is_dead else [place.after(token) for place in self._places[row]]
        else:
            width = len(ids) // len(sentences)
            self._places = [self._beginnings[sentence] for sentence in sentences.repeat(width).tolist()]

    def _only_not_shorter(self, sentences: IntArray, ids: IntArray) -> PermittedTokens | None:
        """Bans `</s>` in the sentences that are too short to end."""
        short = self._min_lens[sentences] > ids.shape[1]
        if not short.any():
            return None
        offsets = np.zeros(len(ids) + 1, dtype=np.int64)
        np.cumsum(short.repeat(len(ids) // len(sentences)), out=offsets[1:])
        listed, only = np.full(offsets[-1], self._eos_id), np.zeros(len(ids), dtype=np.bool_)
        return PermittedTokens(allowed=(), limits=Limits(offsets=offsets, ids=listed, only=only), forced={})

    def _permitted(self, sentences: IntArray, ids: IntArray, dead: Sequence[bool]) -> PermittedTokens:
        """Evaluates every constraint of every row."""
        width = len(ids) // len(sentences)
        allowed: list[AllowedTokens] = [EVERYTHING] * len(ids)
        forced: dict[int, ForcedRow] = {}
        for line, sentence in enumerate(sentences.tolist()):
            base = (
                AllowedTokens(banned=frozenset((self._eos_id,)))
                if self._min_lens[sentence] > ids.shape[1]
                else EVERYTHING
            )
            constraints, sequences = self._constraints[sentence], self._forced[sentence]
            for row in range(line * width, (line + 1) * width):
                if dead[row]:
                    continue
                its_allowed = base
                if self._places:
                    for place in self._places[row]:
                        its_allowed &= place.allowed
                its_ids = ids[row].tolist() if constraints or sequences else []
                for constraint in constraints:
                    its_allowed &= constraint.following(its_ids)
                if sequences is not None:
                    its_forced = _forced_row(sequences, its_ids, self._eos_id in its_allowed)
                    if its_forced is not None:
                        forced[row] = its_forced
                        room = int(self.max_lens[sentence]) - len(its_ids)
                        only = sequences.within(its_forced.state, room)
                        its_allowed &= AllowedTokens(only, frozenset((self._eos_id,)))
                allowed[row] = its_allowed
        return permitted_from(allowed, forced)


def _forced_row(sequences: ForcedSequences, ids: Sequence[int], may_end: bool) -> ForcedRow | None:
    state = sequences.state(ids)
    if not sequences.need(state):
        return None
    return ForcedRow(sequences=sequences, state=state, may_end=may_end)


def permitted_from(allowed: Sequence[AllowedTokens], forced: dict[int, ForcedRow]) -> PermittedTokens:
    """Returns the tokens that each row may choose, with their array form."""
    if all(each.is_everything for each in allowed):
        return PermittedTokens(allowed=allowed, limits=None, forced=forced)
    lists = [each.listed for each in allowed]
    offsets = np.zeros(len(lists) + 1, dtype=np.int64)
    np.cumsum([len(listed) for listed in lists], out=offsets[1:])
    only = np.array([each.only is not None for each in allowed])
    return PermittedTokens(
        allowed=allowed, limits=Limits(offsets=offsets, ids=np.concatenate(lists), only=only), forced=forced
    )


def best_tokens(next_tokens: NextTokens, k: int, permitted: PermittedTokens | None) -> tuple[FloatArray, IntArray]:
    """The k most probable permitted tokens of each row.

    Returns:
        Log-probabilities, float32 `(rows, k or less)`, and tokens, as `NextTokens.top_k` returns them.

    Raises:
        ModelError: a log-probability is not a number.
    """
    values, tokens = next_tokens.top_k(k, None if permitted is None else permitted.limits)
    check_numbers(values)
    return values, tokens


def eos_log_probs(next_tokens: NextTokens, rows: int, eos_id: int) -> FloatArray:
    """Returns each row's log-probability of `</s>`, float32 `(rows,)`."""
    found: FloatArray = next_tokens.of(np.full((rows, 1), eos_id, dtype=np.int64))[:, 0]
    check_numbers(found)
    return found


def check_numbers(log_probs: FloatArray) -> None:
    """Refuses log-probabilities that are not numbers.

    Raises:
        ModelError: one of them is not.
    """
    # The sum of numbers that are at most 0 is a number, -inf included; this is the cheapest way to check all.
    if math.isnan(log_probs.sum()):
        raise ModelError(
            "the model gives probabilities that are not numbers; its weights are damaged, or too large for its dtype: "
            "see `attendo info MODEL --verify`, or translate with --dtype float32"
        )
