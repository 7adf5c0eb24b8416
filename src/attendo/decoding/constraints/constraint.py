"""Constraints on translations, as the tokens that may follow a hypothesis.

Every rule except the maximum length is a `Constraint`: it reads a hypothesis and returns the tokens that may follow.
Constraints compose by intersection, and every search queries all of them in the same way, so a new one, such as a
grammar, needs one method. A sentence without rules costs nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol, runtime_checkable

import numpy as np

from attendo.decoding.config import SearchConfig
from attendo.decoding.constraints.forced import ForcedSequences, holds
from attendo.decoding.step import IntArray
from attendo.errors import DataError

Ids = tuple[int, ...]


@dataclass(frozen=True)
class AllowedTokens:
    """The tokens that may follow a hypothesis; make objects that are needed repeatedly only once."""

    only: frozenset[int] | None = None
    """The only tokens that may follow; None for the whole vocabulary."""
    banned: frozenset[int] = frozenset()
    """The tokens that are not allowed."""

    def __and__(self, other: "AllowedTokens") -> "AllowedTokens":
        """Returns the tokens that both allow; the same object if the other allows everything."""
        if other.is_everything:
            return self
        if self.is_everything:
            return other
        banned = self.banned | other.banned
        if self.only is None or other.only is None:
            return AllowedTokens(other.only if self.only is None else self.only, banned)
        return AllowedTokens(self.only & other.only, banned)

    @cached_property
    def is_everything(self) -> bool:
        """Whether any token may follow."""
        return self.only is None and not self.banned

    @cached_property
    def listed(self) -> IntArray:
        """int64, ascending: the only tokens that may follow or, if `only` is None, the tokens that may not."""
        listed = self.banned if self.only is None else self.only - self.banned
        return np.array(sorted(listed), dtype=np.int64)

    def __contains__(self, token: int) -> bool:
        return token not in self.banned and (self.only is None or token in self.only)


EVERYTHING = AllowedTokens()
"""Any token may follow."""


class Constraint(Protocol):
    """A rule that depends only on a hypothesis' ids, such as a grammar."""

    def following(self, ids: Sequence[int]) -> AllowedTokens:
        """Returns the tokens that may follow a hypothesis which the constraint has allowed so far.

        Args:
            ids: the hypothesis, without `</s>`.

        Returns:
            The tokens, `</s>` among them where the hypothesis may end here.
        """


class Place(Protocol):
    """The state of a constraint after a hypothesis."""

    @property
    def allowed(self) -> AllowedTokens:
        """The tokens that may follow, including `</s>` if the hypothesis may end here."""

    def after(self, token: int) -> "Place":
        """The state after one more token, which need not be allowed."""


@runtime_checkable
class TracingConstraint(Constraint, Protocol):
    """A constraint that follows a hypothesis token by token instead of rereading it from its beginning."""

    @property
    def beginning(self) -> Place:
        """The state before the first token; `following` gives the same tokens as the state reached from here."""


@dataclass(frozen=True, kw_only=True)
class Rules:
    """All constraints on the translation of one sentence; ids never include `</s>`.

    Raises:
        DataError: the rules contradict each other, so that no translation can satisfy them.
    """

    max_len: int
    """Maximum number of tokens."""
    min_len: int = 0
    """Minimum number of tokens."""
    prefix: Ids = ()
    """Tokens that the translation begins with."""
    forbidden: tuple[Ids, ...] = ()
    """Sequences that must not occur."""
    forced: tuple[Ids, ...] = ()
    """Sequences that must occur at least once each, in any order; they may overlap."""
    forced_any: tuple[tuple[Ids, ...], ...] = ()
    """Groups of sequences; at least one of each group must occur, as for `forced`."""
    constraints: tuple[Constraint, ...] = ()
    """Further constraints, which the search applies like its own."""
    seed: int = 0
    """Random seed of this sentence, so that its samples do not depend on its batch."""

    def __post_init__(self) -> None:
        """Refuses contradictions."""
        if self.max_len < 0 or self.min_len > self.max_len:
            raise DataError(
                f"a translation of at least {self.min_len} and at most {self.max_len} tokens is impossible; take a "
                "min_len of at most max_len"
            )
        if self.seed < 0:
            raise DataError(f"a sentence's seed is {self.seed}; take 0 or more")
        if self.prefix or self.forbidden or self.has_forced:
            self._check_sequences()

    @property
    def has_forced(self) -> bool:
        """Whether any sequence has to occur."""
        return bool(self.forced or self.forced_any)

    def _check_sequences(self) -> None:
        if len(self.prefix) > self.max_len:
            raise DataError(
                f"the forced prefix has {len(self.prefix)} tokens, but the translation at most {self.max_len}; "
                "shorten it, or take a larger max_len"
            )
        if () in self.forbidden or () in self.forced or any(not group or () in group for group in self.forced_any):
            raise DataError("a forced or forbidden sequence without tokens; leave it out")
        for sequence in self.forbidden:
            for name, given in (("prefix", self.prefix), *(("sequence", forced) for forced in self.forced)):
                if holds(given, sequence):
                    raise DataError(
                        f"the forced {name} {list(given)} holds {list(sequence)}, which is forbidden; drop one of them"
                    )
        for group in self.forced_any:
            if all(any(holds(ids, sequence) for sequence in self.forbidden) for ids in group):
                raise DataError(
                    f"each of the forced sequences {list(map(list, group))} holds one that is forbidden; drop one of "
                    "them"
                )
        if self.has_forced:
            needed = len(self.prefix) + ForcedSequences(self.forced, self.forced_any).shortest_after(self.prefix)
            if needed > self.max_len:
                raise DataError(
                    f"the forced sequences need a translation of {needed} tokens, but it has at most {self.max_len}; "
                    "force fewer, or take a larger max_len"
                )


def check_rules(rules: Rules, *, eos_id: int, vocab_size: int, config: SearchConfig) -> None:
    """Rejects rules that conflict with the vocabulary or the settings.

    Raises:
        DataError: an id is not in the vocabulary or is that of `</s>`, or a forced sequence repeats an n-gram.
    """
    named = [("prefix", rules.prefix)]
    forced = (*rules.forced, *(ids for group in rules.forced_any for ids in group))
    named += [("forced sequence", ids) for ids in forced]
    named += [("forbidden sequence", ids) for ids in rules.forbidden]
    for name, ids in named:
        for token in ids:
            if not 0 <= token < vocab_size:
                raise DataError(f"the {name} {list(ids)} holds {token}, but ids are 0 to {vocab_size - 1}")
            if token == eos_id:
                raise DataError(f"the {name} {list(ids)} holds {eos_id}, which is </s>; leave it out")
    size = config.no_repeat_ngram
    for ids in forced if size else ():
        ngrams = [ids[start : start + size] for start in range(len(ids) - size + 1)]
        if len(set(ngrams)) < len(ngrams):
            raise DataError(
                f"the forced sequence {list(ids)} repeats {size} tokens, which no_repeat_ngram = {size} forbids; "
                "take a larger no_repeat_ngram, or 0"
            )


def length_bounds(config: SearchConfig, source_tokens: int, max_positions: int | None = None) -> tuple[int, int]:
    """Fewest and most tokens of a translation by the settings; neither side counts its `</s>`.

    Args:
        config: `min_len` and `max_len` are absolute; `max_len_offset` gives way to `min_len`.
        source_tokens: number of tokens of the sentence.
        max_positions: number of tokens that the model can write, for learned positions.
    """
    most = source_tokens + config.max_len_offset
    if config.max_len is not None:
        most = min(most, config.max_len)
    most = max(most, config.min_len)
    if max_positions is not None:
        most = min(most, max_positions)
    return min(config.min_len, most), most


def constraints_of(rules: Rules, config: SearchConfig) -> list[Constraint]:
    """A sentence's rules as constraints, except its lengths and the sequences that must occur."""
    found: list[Constraint] = []
    if rules.prefix:
        found.append(Prefix(rules.prefix))
    if rules.forbidden:
        found.append(Forbidden(rules.forbidden))
    if config.no_repeat_ngram:
        found.append(NoRepeat(config.no_repeat_ngram, given=len(rules.prefix)))
    return [*found, *rules.constraints]


class Prefix:
    """A translation begins with the given tokens."""

    def __init__(self, prefix: Ids) -> None:
        self._only = [AllowedTokens(frozenset((token,))) for token in prefix]

    def following(self, ids: Sequence[int]) -> AllowedTokens:
        """The prefix's next token; after it everything."""
        return self._only[len(ids)] if len(ids) < len(self._only) else EVERYTHING


class Forbidden:
    """The given sequences do not occur."""

    def __init__(self, sequences: Sequence[Ids]) -> None:
        lasts: dict[Ids, set[int]] = {}
        for sequence in sequences:
            lasts.setdefault(sequence[:-1], set()).add(sequence[-1])
        self._lasts = {beginning: frozenset(tokens) for beginning, tokens in lasts.items()}
        self._lengths = sorted({len(beginning) for beginning in lasts})

    def following(self, ids: Sequence[int]) -> AllowedTokens:
        """Everything but the last tokens of sequences that the hypothesis ends with the beginning of."""
        banned: frozenset[int] = frozenset()
        for length in self._lengths:
            if length <= len(ids):
                banned |= self._lasts.get(tuple(ids[len(ids) - length :]), frozenset())
        return AllowedTokens(banned=banned) if banned else EVERYTHING


class NoRepeat:
    """No n-gram occurs twice, except those that a forced prefix repeats.

    Args:
        size: n.
        given: tokens of the prefix, within which anything may be repeated.
    """

    def __init__(self, size: int, given: int = 0) -> None:
        self._size, self._given = size, given

    def following(self, ids: Sequence[int]) -> AllowedTokens:
        """Everything but tokens that have followed the last n - 1 before."""
        length, before = len(ids), self._size - 1
        if length < max(self._given, self._size):
            return EVERYTHING
        last = ids[length - before :]
        banned = {ids[i + before] for i in range(length - before) if ids[i : i + before] == last}
        return AllowedTokens(banned=frozenset(banned)) if banned else EVERYTHING
