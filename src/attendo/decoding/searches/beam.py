"""Beam search (Section 6.1), also in groups that are kept from saying the same (Vijayakumar et al., 2016)."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from attendo.decoding.config import SearchConfig
from attendo.decoding.constraints.constraint import Rules
from attendo.decoding.searches.allocation import Allocation
from attendo.decoding.searches.choices import DoubleArray, Guard, PermittedTokens, best_tokens, eos_log_probs
from attendo.decoding.searches.hypothesis import GrowingHypotheses, Hypothesis, length_penalty
from attendo.decoding.step import BoolArray, FloatArray, IntArray, NextTokens, Step
from attendo.decoding.watch import UNWATCHED, Watch


def beam_search(
    step: Step, rules: Sequence[Rules], *, eos_id: int, config: SearchConfig, watch: Watch = UNWATCHED
) -> list[list[Hypothesis]]:
    """Keeps the `beam_size` most probable hypotheses at each step; those that end with `</s>` make room.

    A sentence is finished when its n best are certain: log-probabilities only fall, so an open hypothesis can at most
    reach its present log-probability over the mildest length penalty it may still get, the one of the longest
    translation (of the next token for a negative alpha). Among equal scores the first one found wins; of equal
    log-probabilities the continuation of the better hypothesis, then the lower id. With a beam of 1 this is greedy
    search, with an unlimited one exhaustive search.

    With `beam_groups` each group is a beam of its own, and the groups choose one after the other: a token that earlier
    groups' hypotheses have just taken costs `diversity_penalty` for each of them. The cost affects only which
    hypotheses are kept, not their log-probabilities; `</s>` costs nothing. Each group returns as many of its best as it
    has hypotheses.

    Args:
        step: a new step with one row per sentence.
        rules: the rules of each sentence.
        eos_id: the id of `</s>`.
        config: beam size, groups, length penalty and number of results.
        watch: the watch over the sentences.

    Returns:
        For each sentence its `n_best` hypotheses, all distinct, best first; fewer if there are no more. If the search
        ends without one that the rules permit, the best open one is returned, cut there and unfinished. A cancelled
        sentence has none.

    Raises:
        ModelError: a log-probability is not a number.
    """
    return _BeamSearch(step, rules, eos_id, config, watch).run() if rules else []


@dataclass(frozen=True, kw_only=True)
class _Grown:
    """The continuations that a step keeps, `(sentences, beam)` each; the best of each group first."""

    rows: IntArray
    """The rows that are continued."""
    tokens: IntArray
    """The token of each continuation."""
    token_log_probs: FloatArray
    """The token's log-probability."""
    log_probs: DoubleArray
    """The log-probability of the whole hypothesis."""
    is_eos: BoolArray
    """Whether the token is `</s>`."""
    row_ends_well: BoolArray | None
    """`(rows,)`: False where the length limit put `</s>`; None where there was no limit."""


class _BeamSearch:
    """The state of one search; it covers only sentences that are still in the batch."""

    def __init__(self, step: Step, rules: Sequence[Rules], eos_id: int, config: SearchConfig, watch: Watch) -> None:
        count, self._groups = len(rules), config.beam_groups
        self._step, self._eos_id, self._config, self._watch = step, eos_id, config, watch
        self._group_size = config.beam_size // self._groups
        self._keep = config.n_best if self._groups == 1 else self._group_size
        self._guard = Guard(rules, eos_id, config)
        self._allocation = Allocation(eos_id) if self._guard.any_forced else None
        self._found: list[list[list[Hypothesis]]] = [[[] for _ in range(self._groups)] for _ in rules]
        self._written = GrowingHypotheses(count)
        self._sentences = np.arange(count)
        self._max_lens = self._guard.max_lens
        self._shortest_max = int(self._max_lens.min())
        # In float64, so that long sums keep their digits; -inf where there is no hypothesis.
        self._log_probs = np.zeros((count, 1))
        # The lowest score of a full list, for each group; -inf before it is full.
        self._to_beat = np.full((count, self._groups), -np.inf)
        self._mildest = np.array([[length_penalty(each.max_len + 1, config.length_penalty)] for each in rules])
        self._unmoved = np.arange(count)
        self._last_ids = np.empty(0, dtype=np.int64)

    def run(self) -> list[list[Hypothesis]]:
        next_tokens = self._step.start()
        while True:
            grown = self._grow(next_tokens)
            if grown.is_eos.any():
                self._keep_finished(grown)
            self._go_on(grown, next_tokens)
            if not len(self._sentences):
                return [self._best_of(groups) for groups in self._found]
            next_tokens = self._step.advance(self._last_ids)

    def _grow(self, next_tokens: NextTokens) -> _Grown:
        """Continues each hypothesis by its best tokens, at the length limit only by `</s>`, and ranks the results."""
        sentences, width = self._log_probs.shape
        permitted = self._guard.permitted(self._sentences, self._written.ids, self._log_probs.ravel())
        at_limit = None
        if self._written.length >= self._shortest_max:
            at_limit = self._max_lens == self._written.length
        k = 1 if at_limit is not None and at_limit.all() else self._config.beam_size
        values, tokens = best_tokens(next_tokens, k, permitted)
        ends_well = None
        if at_limit is not None:
            values, tokens, ends_well = self._end(next_tokens, at_limit.repeat(width), permitted, values, tokens)
        if self._allocation is not None:
            values, tokens = self._allocation.with_forced(next_tokens, permitted, values, tokens)
        # Ranking each row's tokens and then the rows' best gives the same result as one ranking of all sums, without
        # them.
        sums = self._log_probs[:, :, None] + values.reshape(sentences, width, -1)
        picked = self._pick(sums, tokens.reshape(sums.shape))
        chosen = tokens.take(picked)
        return _Grown(
            rows=picked // sums.shape[2],
            tokens=chosen,
            token_log_probs=values.take(picked),
            log_probs=sums.take(picked),
            is_eos=chosen == self._eos_id,
            row_ends_well=ends_well,
        )

    def _end(
        self,
        next_tokens: NextTokens,
        rows: BoolArray,
        permitted: PermittedTokens | None,
        values: FloatArray,
        tokens: IntArray,
    ) -> tuple[FloatArray, IntArray, BoolArray]:
        """Leaves only `</s>` to the rows at the length limit, and returns which rows chose their ending freely."""
        ends_well = ~rows | ((tokens[:, 0] == self._eos_id) & ~np.isneginf(values[:, 0]))
        ending = eos_log_probs(next_tokens, len(rows), self._eos_id)
        if permitted is not None:
            ending = np.array(ending)
            ending[permitted.eos_banned(self._eos_id)] = -np.inf
        values, tokens = np.where(rows[:, None], np.float32(-np.inf), values), np.array(tokens)
        values[rows, 0], tokens[rows] = ending[rows], self._eos_id
        return values, tokens, ends_well

    def _pick(self, sums: DoubleArray, tokens: IntArray) -> IntArray:
        """The flat places in `sums`, `(sentences, width, k)`, of the continuations to keep, group after group."""
        sentences, width, k = sums.shape
        firsts = np.arange(0, sums.size, width * k)[:, None]
        if self._groups == 1:
            return self._rank(sums.reshape(sentences, -1), tokens.reshape(sentences, -1), first_row=0, k=k) + firsts
        # At the start the groups share one row.
        rows = width // self._groups
        earlier_tokens = np.empty((sentences, 0), dtype=np.int64)
        picked = []
        for group in range(self._groups):
            within = slice(group * rows, (group + 1) * rows) if rows else slice(0, 1)
            its_sums = sums[:, within].reshape(sentences, -1)
            its_tokens = tokens[:, within].reshape(sentences, -1)
            repeats = (its_tokens[:, :, None] == earlier_tokens[:, None, :]).sum(axis=2)
            ranked = its_sums - self._config.diversity_penalty * repeats
            order = self._rank(ranked, its_tokens, first_row=within.start, k=k)
            chosen = np.take_along_axis(its_tokens, order, axis=1)
            free = np.isneginf(np.take_along_axis(its_sums, order, axis=1)) | (chosen == self._eos_id)
            earlier_tokens = np.concatenate((earlier_tokens, np.where(free, -1, chosen)), axis=1)
            picked.append(order + within.start * k + firsts)
        return np.concatenate(picked, axis=1)

    def _rank(self, ranked: DoubleArray, tokens: IntArray, *, first_row: int, k: int) -> IntArray:
        """The places in `ranked`, `(sentences, continuations)`, of each group's continuations to keep, best first."""
        order = (-ranked).argsort(axis=1, kind="stable")
        kept = order[:, : self._group_size]
        if self._allocation is None:
            return kept
        width = self._log_probs.shape[1]
        for line in range(len(order)):
            alive = order[line, : np.count_nonzero(~np.isneginf(ranked[line]))]
            rows = alive // k + (line * width + first_row)
            if self._allocation.concerns(rows):
                dealt = self._allocation.choose(rows.tolist(), tokens[line, alive].tolist(), self._group_size)
                kept[line] = np.concatenate((alive[dealt], order[line, len(alive) :]))[: kept.shape[1]]
        return kept

    def _keep_finished(self, grown: _Grown) -> None:
        """Puts hypotheses that end with `</s>` into their sentences' lists."""
        alpha = self._config.length_penalty
        to_beat = self._to_beat if self._groups == 1 else self._to_beat.repeat(self._group_width(grown), axis=1)
        scores = grown.log_probs / length_penalty(self._written.length + 1, alpha)
        for line, place in np.argwhere(grown.is_eos & (scores > to_beat)).tolist():
            row, group = int(grown.rows[line, place]), place // self._group_width(grown)
            self._keep_hypothesis(
                line,
                group,
                self._written.hypothesis(
                    row,
                    float(grown.token_log_probs[line, place]),
                    finished=grown.row_ends_well is None or bool(grown.row_ends_well[row]),
                    alpha=alpha,
                ),
            )

    def _keep_hypothesis(self, line: int, group: int, hypothesis: Hypothesis) -> None:
        best = self._found[self._sentences[line]][group]
        best.append(hypothesis)
        best.sort(key=lambda each: -each.score)
        del best[self._keep :]
        if len(best) == self._keep:
            self._to_beat[line, group] = best[-1].score

    def _go_on(self, grown: _Grown, next_tokens: NextTokens) -> None:
        """Leaves the sentences that are certain, and puts the open continuations of the others in place."""
        open_log_probs = np.where(grown.is_eos, -np.inf, grown.log_probs)
        penalty: DoubleArray | float = self._mildest
        if self._config.length_penalty < 0:
            penalty = length_penalty(self._written.length + 2, self._config.length_penalty)
        by_group = open_log_probs.reshape(len(open_log_probs), self._groups, -1)
        done = (self._to_beat >= by_group.max(axis=2) / penalty).all(axis=1)
        rows, tokens, token_log_probs = grown.rows, grown.tokens, grown.token_log_probs
        leaving = done
        if cancelled := self._watch.cancelled():
            is_cancelled = np.isin(self._sentences, list(cancelled)) & ~done
            for sentence in self._sentences[is_cancelled].tolist():
                self._found[sentence] = [[] for _ in range(self._groups)]
            leaving = done | is_cancelled
        if leaving.any():
            self._end_without_any(done, next_tokens)
            kept = (~leaving).nonzero()[0]
            rows, tokens, token_log_probs = rows[kept], tokens[kept], token_log_probs[kept]
            self._leave(kept)
            open_log_probs = open_log_probs[kept]
        self._log_probs = open_log_probs
        if not len(rows):
            return
        self._move(rows)
        self._last_ids = tokens.ravel()
        self._written.append(self._last_ids, token_log_probs.ravel())

    def _move(self, rows: IntArray) -> None:
        """Continues from other rows, int64 `(sentences, hypotheses)`, unless they are the present ones."""
        flat = rows.ravel()
        if not np.array_equal(flat, self._unmoved):
            self._step.select(rows)
            self._written.select(flat)
            self._guard.select(flat)
            if self._allocation is not None:
                self._allocation.select(flat)
            if len(flat) != len(self._unmoved):
                self._unmoved = np.arange(len(flat))

    def _leave(self, kept: IntArray) -> None:
        """Keeps some of the sentences."""
        self._sentences, self._to_beat = self._sentences[kept], self._to_beat[kept]
        self._max_lens, self._mildest = self._max_lens[kept], self._mildest[kept]
        self._shortest_max = int(self._max_lens.min(initial=np.iinfo(np.int64).max))

    def _end_without_any(self, done: BoolArray, next_tokens: NextTokens) -> None:
        """Ends finished sentences that have no hypothesis with their best earlier one."""
        empty = [line for line in done.nonzero()[0].tolist() if not any(self._found[self._sentences[line]])]
        if not empty:
            return
        width = self._log_probs.shape[1]
        ending = eos_log_probs(next_tokens, self._log_probs.size, self._eos_id)
        for line in empty:
            row = line * width + int(self._log_probs[line].argmax())
            last_resort = self._written.hypothesis(
                row, float(ending[row]), finished=False, alpha=self._config.length_penalty
            )
            self._keep_hypothesis(line, 0, last_resort)

    def _group_width(self, grown: _Grown) -> int:
        width: int = grown.rows.shape[1] // self._groups
        return width

    def _best_of(self, groups: list[list[Hypothesis]]) -> list[Hypothesis]:
        """A sentence's n best of all groups, distinct."""
        if self._groups == 1:
            return groups[0]
        distinct: dict[tuple[int, ...], Hypothesis] = {}
        for group in groups:
            for hypothesis in group:
                distinct.setdefault(hypothesis.ids, hypothesis)
        return sorted(distinct.values(), key=lambda each: -each.score)[: self._config.n_best]
