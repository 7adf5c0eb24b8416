"""Sampling: translations drawn from the model's probabilities, optionally sharpened or truncated."""

from collections.abc import Sequence

import numpy as np

from attendo.decoding.config import SearchConfig
from attendo.decoding.constraints.constraint import AllowedTokens, Rules
from attendo.decoding.limits import excluded_by
from attendo.decoding.searches.choices import (
    DoubleArray,
    Guard,
    PermittedTokens,
    best_tokens,
    check_numbers,
    eos_log_probs,
    permitted_from,
)
from attendo.decoding.searches.hypothesis import GrowingHypotheses, Hypothesis
from attendo.decoding.step import BoolArray, FloatArray, IntArray, Limits, NextTokens, Step
from attendo.decoding.watch import UNWATCHED, Watch

_BLOCK = 256
"""Neighbouring tokens whose weights are summed up together when all tokens may be drawn."""
_FIRST_K = 64
"""Number of most probable tokens searched first for those that make up `sample_top_p`; then doubled repeatedly."""


def sample(
    step: Step, rules: Sequence[Rules], *, eos_id: int, config: SearchConfig, watch: Watch = UNWATCHED
) -> list[list[Hypothesis]]:
    """Draws `n_best` independent translations of each sentence, token by token.

    A token is drawn from those that the rules permit, in proportion to their probabilities to the power of 1 /
    temperature; of these only the `sample_top_k` most probable, and of these again only the most probable that make up
    `sample_top_p` of the remaining mass. Among equal probabilities the lower id comes first.

    While forced tokens are missing, `</s>` may be drawn, but does not end the translation: from then on only missing
    tokens may be drawn, until none is missing.

    Args:
        step: a new step with one row per sentence.
        rules: the rules of each sentence; the samples depend only on their seeds and that of the settings.
        eos_id: the id of `</s>`.
        config: the settings.
        watch: the watch over the sentences.

    Returns:
        For each sentence its samples, best score first, none for a cancelled sentence; duplicates are possible.
        Log-probabilities are the model's own. A sample is finished if `</s>` was drawn.

    Raises:
        ModelError: a log-probability is not a number.
    """
    return _Sampler(step, rules, eos_id, config, watch).run() if rules else []


class _Sampler:
    """The state of one search; it covers only sentences that are still in the batch."""

    def __init__(self, step: Step, rules: Sequence[Rules], eos_id: int, config: SearchConfig, watch: Watch) -> None:
        self._step, self._eos_id, self._config, self._watch = step, eos_id, config, watch
        self._guard = Guard(rules, eos_id, config)
        self._samples: list[list[Hypothesis]] = [[] for _ in rules]
        self._sentences = np.arange(len(rules))
        self._uniforms = uniforms(rules, config)
        self._written = GrowingHypotheses(len(rules) * config.n_best)
        # Passed to the guard: 0 for an open sample, -inf for an ended one.
        self._state = np.zeros(len(rules) * config.n_best)
        self._owing = np.zeros(len(rules) * config.n_best, dtype=np.bool_)

    def run(self) -> list[list[Hypothesis]]:
        count = self._config.n_best
        next_tokens = self._step.start()
        if count > 1:
            next_tokens = _Repeated(next_tokens, count)
        # The step has one row per sentence until the first tokens are drawn.
        rows = self._sentences.repeat(count).reshape(-1, count)
        while True:
            tokens, log_probs = self._draw(next_tokens)
            tokens, log_probs = self._end(tokens, log_probs, next_tokens)
            kept = self._going_on()
            if not kept.any():
                return [sorted(found, key=lambda each: -each.score) for found in self._samples]
            if not kept.all() or (count > 1 and not self._written.length):
                self._step.select(rows[kept])
            if not kept.all():
                tokens, log_probs = self._leave(kept, tokens, log_probs)
            rows = np.arange(len(tokens)).reshape(-1, count)
            self._written.append(tokens, log_probs)
            next_tokens = self._step.advance(tokens)

    def _draw(self, next_tokens: NextTokens) -> tuple[IntArray, FloatArray]:
        """A token of each row and its log-probability, -inf if none is permitted."""
        permitted = self._guard.permitted(self._sentences, self._written.ids, self._state)
        first, second = self._uniforms[:, :, self._written.length].reshape(-1, 2).T
        if permitted is None or not permitted.forced:
            return draw(next_tokens, permitted, first, self._config)
        tokens, log_probs = draw(next_tokens, self._or_the_end(permitted), first, self._config)
        would_end = (tokens == self._eos_id) & ~np.isneginf(log_probs)
        again = np.array([row in permitted.forced and bool(would_end[row]) for row in range(len(tokens))])
        self._owing |= again
        if again.any():
            others, their_log_probs = draw(next_tokens, self._missing_only(permitted), second, self._config)
            tokens, log_probs = np.where(again, others, tokens), np.where(again, their_log_probs, log_probs)
        return tokens, log_probs

    def _or_the_end(self, permitted: PermittedTokens) -> PermittedTokens:
        """Also permits `</s>` in rows where only missing tokens forbid it; rows that owe tokens do not get it."""
        allowed = list(self._missing_only(permitted).allowed)
        for row, forced in permitted.forced.items():
            if forced.may_end and not self._owing[row]:
                only, banned = allowed[row].only, allowed[row].banned
                only = only if only is None else only | {self._eos_id}
                allowed[row] = AllowedTokens(only, banned - {self._eos_id})
        return permitted_from(allowed, permitted.forced)

    def _missing_only(self, permitted: PermittedTokens) -> PermittedTokens:
        """Permits rows that owe tokens only these, if the rules permit any."""
        allowed = list(permitted.allowed)
        for row, forced in permitted.forced.items():
            if self._owing[row]:
                missing = AllowedTokens(frozenset(forced.sequences.advancing(forced.state))) & allowed[row]
                allowed[row] = missing if any(token in missing for token in missing.only or ()) else allowed[row]
        return permitted_from(allowed, permitted.forced)

    def _end(self, tokens: IntArray, log_probs: FloatArray, next_tokens: NextTokens) -> tuple[IntArray, FloatArray]:
        """Ends samples that drew `</s>`, and those that may have no more tokens or found none."""
        going = self._state == 0
        drawn = (tokens == self._eos_id) & ~np.isneginf(log_probs)
        at_limit = self._guard.max_lens[self._sentences] == self._written.length
        ending = going & (drawn | np.isneginf(log_probs) | at_limit.repeat(self._config.n_best))
        if (ending & ~drawn).any():
            log_probs = np.where(ending, eos_log_probs(next_tokens, len(tokens), self._eos_id), log_probs)
        for row in ending.nonzero()[0].tolist():
            self._samples[self._sentences[row // self._config.n_best]].append(
                self._written.hypothesis(
                    row, float(log_probs[row]), finished=bool(drawn[row]), alpha=self._config.length_penalty
                )
            )
        self._state[ending] = -np.inf
        return tokens, log_probs

    def _going_on(self) -> BoolArray:
        """The sentences with unfinished samples, `(sentences,)`; cancelled sentences lose theirs."""
        going: BoolArray = (self._state.reshape(len(self._sentences), -1) == 0).any(axis=1)
        if cancelled := self._watch.cancelled():
            leaving = going & np.isin(self._sentences, list(cancelled))
            for sentence in self._sentences[leaving].tolist():
                self._samples[sentence] = []
            going &= ~leaving
        return going

    def _leave(self, kept: BoolArray, tokens: IntArray, log_probs: FloatArray) -> tuple[IntArray, FloatArray]:
        """Keeps some of the sentences, and of the rows' tokens theirs."""
        flat = np.arange(len(tokens)).reshape(len(kept), -1)[kept].ravel()
        self._sentences, self._uniforms = self._sentences[kept], self._uniforms[kept]
        self._state, self._owing = self._state[flat], self._owing[flat]
        self._written.select(flat)
        self._guard.select(flat)
        return tokens[flat], log_probs[flat]


def uniforms(rules: Sequence[Rules], config: SearchConfig) -> DoubleArray:
    """Draws all random numbers of a search, uniform over [0, 1): float64 `(sentences, n_best, longest + 1, 2)`.

    A sentence's numbers do not depend on other sentences, and those of its first samples not on the number of samples.
    """
    found = np.zeros((len(rules), config.n_best, 1 + max(each.max_len for each in rules), 2))
    for sentence, each in enumerate(rules):
        generator = np.random.Generator(np.random.PCG64(np.random.SeedSequence((config.seed, each.seed))))
        found[sentence, :, : each.max_len + 1] = generator.random((config.n_best, each.max_len + 1, 2))
    return found


def draw(
    next_tokens: NextTokens, permitted: PermittedTokens | None, uniform: DoubleArray, config: SearchConfig
) -> tuple[IntArray, FloatArray]:
    """Draws a token for each row.

    Args:
        next_tokens: the step's next tokens.
        permitted: the tokens that the rows may choose; None for any token.
        uniform: a random number from [0, 1) for each row.
        config: temperature, `sample_top_k` and `sample_top_p`.

    Returns:
        The tokens, int64 `(rows,)`, and their log-probabilities, -inf where no token is permitted.

    Raises:
        ModelError: a log-probability is not a number.
    """
    if config.sample_top_k:
        values, tokens = best_tokens(next_tokens, config.sample_top_k, permitted)
        cumulative = _weights(values, config.temperature).cumsum(axis=1, dtype=np.float64)
        mass = cumulative[:, -1]
        if config.sample_top_p < 1:
            mass = _nucleus(cumulative, config.sample_top_p * mass)
        return _at(tokens, values, _places(cumulative, mass, uniform))
    values = _all_permitted(next_tokens, permitted)
    highest = values.max(axis=1, keepdims=True)
    weights = _weights(values, config.temperature, highest)
    if config.sample_top_p < 1:
        wanted = config.sample_top_p * weights.sum(axis=1, dtype=np.float64)
        values, tokens, cumulative = _most_probable(next_tokens, permitted, wanted, highest, config)
        return _at(tokens, values, _places(cumulative, _nucleus(cumulative, wanted), uniform))
    tokens = _by_blocks(weights, uniform)
    return tokens[:, 0], np.take_along_axis(values, tokens, axis=1)[:, 0]


def _at(tokens: IntArray, values: FloatArray, places: IntArray) -> tuple[IntArray, FloatArray]:
    """The token at a position of each row and its value, int64 `(rows, 1)`."""
    return np.take_along_axis(tokens, places, axis=1)[:, 0], np.take_along_axis(values, places, axis=1)[:, 0]


def _places(cumulative: DoubleArray, mass: DoubleArray, uniform: DoubleArray) -> IntArray:
    """Finds where the cumulative weight of each row reaches a share, `(rows,)`: int64 `(rows, 1)`."""
    places = (cumulative <= (uniform * mass)[:, None]).sum(axis=1)
    # A product may round up to the whole mass, past the last token that has any.
    last = (cumulative < mass[:, None]).sum(axis=1)
    found: IntArray = np.minimum(places, last).clip(max=cumulative.shape[1] - 1)[:, None]
    return found


def _by_blocks(weights: FloatArray, uniform: DoubleArray) -> IntArray:
    """Draws by id from weights of all tokens, int64 `(rows, 1)`: first a block of ids, then one of them.

    The sums over blocks are a fifth of the work that cumulative sums over a vocabulary are.
    """
    sums = np.add.reduceat(weights, np.arange(0, weights.shape[1], _BLOCK), axis=1, dtype=np.float64)
    cumulative = sums.cumsum(axis=1)
    blocks = _places(cumulative, cumulative[:, -1], uniform)
    before = np.take_along_axis(cumulative - sums, blocks, axis=1)[:, 0]
    its_sum = np.take_along_axis(sums, blocks, axis=1)[:, 0]
    rest = np.divide(uniform * cumulative[:, -1] - before, its_sum, out=np.zeros_like(before), where=its_sum > 0)
    ids = blocks * _BLOCK + np.arange(_BLOCK)
    within = np.where(
        ids < weights.shape[1], np.take_along_axis(weights, ids.clip(max=weights.shape[1] - 1), axis=1), 0
    )
    places = within.cumsum(axis=1, dtype=np.float64)
    return blocks * _BLOCK + _places(places, places[:, -1], rest.clip(0, 1))


def _weights(values: FloatArray, temperature: float, highest: FloatArray | None = None) -> FloatArray:
    """Probabilities to the power of 1 / temperature, over that of the highest; 0 for -inf."""
    highest = values.max(axis=1, keepdims=True) if highest is None else highest
    # A row with only -inf has no token to draw: weights of 0.
    weights: FloatArray = values - np.where(np.isneginf(highest), np.float32(0), highest)
    if temperature != 1:
        weights /= np.float32(temperature)
    # In place: new arrays over a vocabulary cost as much as the exponentials.
    np.exp(weights, out=weights)
    return weights


def _nucleus(cumulative: DoubleArray, wanted: DoubleArray) -> DoubleArray:
    """The mass of the smallest set of most probable tokens that reaches the wanted mass."""
    last = (cumulative < wanted[:, None]).sum(axis=1).clip(max=cumulative.shape[1] - 1)
    return np.take_along_axis(cumulative, last[:, None], axis=1)[:, 0]


def _most_probable(
    next_tokens: NextTokens,
    permitted: PermittedTokens | None,
    wanted: DoubleArray,
    highest: FloatArray,
    config: SearchConfig,
) -> tuple[FloatArray, IntArray, DoubleArray]:
    """Returns each row's most probable tokens, enough for the required mass, with their cumulative weights."""
    k = _FIRST_K
    while True:
        values, tokens = best_tokens(next_tokens, k, permitted)
        cumulative = _weights(values, config.temperature, highest).cumsum(axis=1, dtype=np.float64)
        if values.shape[1] < k or (cumulative[:, -1] >= wanted).all() or np.isneginf(values[:, -1]).all():
            return values, tokens, cumulative
        k *= 2


def _all_permitted(next_tokens: NextTokens, permitted: PermittedTokens | None) -> FloatArray:
    """Log-probabilities of all tokens, float32 `(rows, vocab_size)`; -inf for forbidden tokens."""
    values = next_tokens.all()
    check_numbers(values)
    if permitted is None or permitted.limits is None:
        return values
    excluded = excluded_by(permitted.limits, values.shape[1])
    return np.where(excluded, np.float32(-np.inf), values)


class _Repeated:
    """The first step's next tokens, one row per sentence, repeated for several samples of each."""

    def __init__(self, next_tokens: NextTokens, times: int) -> None:
        self._next_tokens, self._times = next_tokens, times

    def top_k(self, k: int, limits: Limits | None = None) -> tuple[FloatArray, IntArray]:
        if limits is not None:
            limits = self._by_sentence(limits)
        values, tokens = self._next_tokens.top_k(k, limits)
        return values.repeat(self._times, axis=0), tokens.repeat(self._times, axis=0)

    def of(self, ids: IntArray) -> FloatArray:
        found: FloatArray = self._next_tokens.of(ids.reshape(len(ids) // self._times, -1)).reshape(ids.shape)
        return found

    def all(self) -> FloatArray:
        return self._next_tokens.all().repeat(self._times, axis=0)

    def _by_sentence(self, limits: Limits) -> Limits:
        """Selects one row per sentence; all rows of a sentence are equal."""
        rows = range(0, len(limits.only), self._times)
        ids = [limits.ids[limits.offsets[row] : limits.offsets[row + 1]] for row in rows]
        offsets = np.concatenate(([0], np.cumsum([len(each) for each in ids])))
        return Limits(offsets=offsets, ids=np.concatenate(ids), only=limits.only[:: self._times])
