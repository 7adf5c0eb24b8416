"""Greedy and beam search (Section 6.1) over anything that gives log-probabilities of a next token.

A hypothesis' score is its log-probability over Wu et al.'s (2016, Equation 14) length penalty. Both count `</s>`.
The search is exact about its own rule: a sentence is left as soon as nothing open can reach its n best, never before,
and what else is in the batch changes nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

from attendo.decoding.config import SearchConfig
from attendo.decoding.top_k import top_k
from attendo.errors import ModelError


class Step(Protocol):
    """What is searched: a batch of sentences with hypotheses, each a row, those of a sentence side by side."""

    def start(self) -> Tensor:
        """Log-probabilities of each sentence's first token, float32 `(sentences, vocab_size)`; called once."""

    def advance(self, last_ids: Tensor) -> Tensor:
        """Adds a token, int64 `(rows,)`, to each row; gives the next one's log-probabilities, `(rows, vocab_size)`."""

    def select(self, rows: Tensor) -> None:
        """Goes on from other rows, int64 `(sentences, hypotheses)`: the old row that each new row continues.

        Rows of one line are of one sentence; a sentence that is in no line has left.
        """


@dataclass(frozen=True, kw_only=True)
class Hypothesis:
    """A translation that the search found, as ids."""

    ids: tuple[int, ...]
    """Target ids without `</s>`."""
    log_prob: float
    """Natural logarithm of its probability, `</s>` included."""
    score: float
    """`log_prob` over the length penalty: what hypotheses are ranked by; higher is better."""
    token_log_probs: tuple[float, ...]
    """One of each id, and of `</s>` at the end."""
    finished: bool
    """False where the length limit ended it though another token than `</s>` was the most probable."""


def length_penalty(length: int, alpha: float) -> float:
    """Wu et al.'s (2016) penalty ((5 + length) / 6)^alpha of a translation of `length` tokens, `</s>` included."""
    return float(((5 + length) / 6) ** alpha)


def search(step: Step, max_lens: Sequence[int], *, eos_id: int, config: SearchConfig) -> list[list[Hypothesis]]:
    """Greedy search for a beam of 1, beam search for more; see there."""
    if config.beam_size == 1:
        return [[found] for found in greedy_search(step, max_lens, eos_id=eos_id, config=config)]
    return beam_search(step, max_lens, eos_id=eos_id, config=config)


@torch.no_grad()
def greedy_search(step: Step, max_lens: Sequence[int], *, eos_id: int, config: SearchConfig) -> list[Hypothesis]:
    """Takes the most probable token, again and again.

    Args:
        step: at its start, with one row a sentence.
        max_lens: the most tokens each sentence's translation may have, without `</s>`, which then has to follow.
        eos_id: the id of `</s>`.
        config: its length penalty is for the score only.

    Returns:
        A hypothesis a sentence.

    Raises:
        ModelError: a log-probability is not a number.
    """
    found: dict[int, Hypothesis] = {}
    sentences = list(range(len(max_lens)))
    log_probs = step.start() if sentences else torch.empty(0, 1)
    ids = torch.empty((len(sentences), 0), dtype=torch.int64, device=log_probs.device)
    token_log_probs = torch.empty((len(sentences), 0), device=log_probs.device)
    while sentences:
        values, best_ids = top_k(log_probs, 1)
        at_limit = torch.tensor([max_lens[s] == ids.shape[1] for s in sentences], device=ids.device)[:, None]
        tokens = best_ids.masked_fill(at_limit, eos_id)
        ids = torch.cat((ids, tokens), dim=1)
        token_log_probs = torch.cat((token_log_probs, log_probs.gather(1, tokens)), dim=1)
        _check_numbers(values.isnan().any())
        ended = (tokens == eos_id).flatten()
        chosen = (best_ids == eos_id).flatten()
        for row in ended.nonzero().flatten().tolist():
            found[sentences[row]] = _hypothesis(
                ids[row].tolist(), token_log_probs[row].tolist(), finished=bool(chosen[row]), config=config
            )
        rows = (~ended).nonzero()
        if len(rows) < len(sentences):
            sentences = [sentences[row] for row in rows.flatten().tolist()]
            ids, token_log_probs = ids[rows[:, 0]], token_log_probs[rows[:, 0]]
            if sentences:
                step.select(rows)
        if sentences:
            log_probs = step.advance(ids[:, -1])
    return [found[sentence] for sentence in range(len(max_lens))]


@torch.no_grad()
def beam_search(step: Step, max_lens: Sequence[int], *, eos_id: int, config: SearchConfig) -> list[list[Hypothesis]]:
    """Keeps the `beam_size` most probable hypotheses at each step; those that end with `</s>` make room.

    A sentence is left when its n best have been found for certain: log-probabilities only fall, so an open hypothesis
    can at most reach its present log-probability over the mildest length penalty it may still get, the one of the
    longest translation (of the next token for a negative alpha). Of equal scores the one found first wins; of equal
    log-probabilities the continuation of the better hypothesis, then the lower id. With a beam of 1 this is greedy
    search, with one as wide as the language an exhaustive one.

    Args:
        step: at its start, with one row a sentence.
        max_lens: the most tokens each sentence's translation may have, without `</s>`, which then has to follow.
        eos_id: the id of `</s>`.
        config: beam size, length penalty and how many to give.

    Returns:
        For each sentence its `n_best` hypotheses, all distinct, best first; fewer where there are no more.

    Raises:
        ModelError: a log-probability is not a number.
    """
    found: list[list[Hypothesis]] = [[] for _ in max_lens]
    if not max_lens:
        return found
    log_probs = step.start()
    beam = _first_beam(max_lens, config, log_probs.device)
    while beam.sentences:
        at_limit = [max_lens[sentence] == beam.ids.shape[2] for sentence in beam.sentences]
        grown = _grow(beam, log_probs, at_limit, eos_id, config.beam_size)
        to_beat = _keep_finished(found, beam, grown, eos_id, config)
        unmoved = torch.arange(beam.log_probs.numel(), device=to_beat.device).view_as(beam.log_probs)
        rows, beam = _go_on(beam, grown, to_beat, eos_id, config)
        if beam.sentences:
            if not torch.equal(rows, unmoved):
                step.select(rows)
            log_probs = step.advance(beam.ids[:, :, -1].flatten())
    return found


@dataclass(frozen=True, kw_only=True)
class _Beam:
    """The open hypotheses of the sentences that have not left."""

    sentences: list[int]
    """Which they are; the tensors' first axis."""
    ids: Tensor
    """int64 `(sentences, beam, tgt_len)`."""
    token_log_probs: Tensor
    """float32 `(sentences, beam, tgt_len)`."""
    log_probs: Tensor
    """float64 `(sentences, beam)`, so that long sums keep their digits; -inf where there is no hypothesis."""
    to_beat: Tensor
    """float64 `(sentences,)`: the last score of a full n-best list; -inf before it is full."""
    mildest_penalty: Tensor
    """float64 `(sentences,)`: the length penalty that is best for a hypothesis at the length limit."""


@dataclass(frozen=True, kw_only=True)
class _Grown:
    """The most probable continuations of a beam, `(sentences, wider beam)` each, best first."""

    parents: Tensor
    """int64: which hypothesis of the sentence goes on."""
    tokens: Tensor
    """int64: with which token."""
    token_log_probs: Tensor
    """float32: the token's."""
    log_probs: Tensor
    """float64: the sum."""
    finished: Tensor
    """boolean: False where the length limit put `</s>`."""


def _first_beam(max_lens: Sequence[int], config: SearchConfig, device: torch.device) -> _Beam:
    """One empty hypothesis a sentence."""
    penalties = [length_penalty(max_len + 1, config.length_penalty) for max_len in max_lens]
    count = len(max_lens)
    return _Beam(
        sentences=list(range(count)),
        ids=torch.empty((count, 1, 0), dtype=torch.int64, device=device),
        token_log_probs=torch.empty((count, 1, 0), device=device),
        log_probs=torch.zeros((count, 1), dtype=torch.float64, device=device),
        to_beat=torch.full((count,), -torch.inf, dtype=torch.float64, device=device),
        mildest_penalty=torch.tensor(penalties, dtype=torch.float64, device=device),
    )


def _grow(beam: _Beam, log_probs: Tensor, at_limit: list[bool], eos_id: int, beam_size: int) -> _Grown:
    """Continues each hypothesis by each of its best tokens, at the length limit by `</s>` alone, and ranks them."""
    num_sentences, width = beam.log_probs.shape
    values, tokens = top_k(log_probs, min(beam_size, log_probs.shape[1]))
    values, tokens = values.view(num_sentences, width, -1), tokens.view(num_sentences, width, -1)
    finished = torch.ones_like(tokens, dtype=torch.bool)
    if any(at_limit):
        limited = torch.tensor(at_limit, device=values.device)[:, None, None]
        forced = torch.full_like(values, -torch.inf)
        forced[:, :, 0] = log_probs[:, eos_id].view(num_sentences, width)
        values = torch.where(limited, forced, values)
        finished = ~limited | (tokens[:, :, :1] == eos_id).expand_as(tokens)
        tokens = tokens.masked_fill(limited, eos_id)
    # Two rankings, of a row's tokens and of the rows' best, give what one ranking of all sums would, without the sums.
    sums = (beam.log_probs[:, :, None] + values).flatten(1)
    best, order = sums.sort(dim=1, descending=True, stable=True)
    best, order = best[:, :beam_size], order[:, :beam_size]
    return _Grown(
        parents=order // values.shape[2],
        tokens=tokens.flatten(1).gather(1, order),
        token_log_probs=values.flatten(1).gather(1, order),
        log_probs=best,
        finished=finished.flatten(1).gather(1, order),
    )


def _keep_finished(
    found: list[list[Hypothesis]], beam: _Beam, grown: _Grown, eos_id: int, config: SearchConfig
) -> Tensor:
    """Puts hypotheses that ended with `</s>` into their sentences' n-best lists; gives what there is to beat now."""
    penalty = length_penalty(beam.ids.shape[2] + 1, config.length_penalty)
    scores = (grown.log_probs / penalty).masked_fill(grown.tokens != eos_id, -torch.inf)
    lines, places = (scores > beam.to_beat[:, None]).nonzero(as_tuple=True)
    to_beat = beam.to_beat.clone()
    parents = grown.parents[lines, places]
    ids = torch.cat((beam.ids[lines, parents], grown.tokens[lines, places][:, None]), dim=1)
    log_probs = torch.cat((beam.token_log_probs[lines, parents], grown.token_log_probs[lines, places][:, None]), dim=1)
    ended = zip(lines.tolist(), ids.tolist(), log_probs.tolist(), grown.finished[lines, places].tolist(), strict=True)
    for line, its_ids, its_log_probs, finished in ended:
        best = found[beam.sentences[line]]
        best.append(_hypothesis(its_ids, its_log_probs, finished=finished, config=config))
        best.sort(key=lambda hypothesis: -hypothesis.score)
        del best[config.n_best :]
        if len(best) == config.n_best:
            to_beat[line] = best[-1].score
    return to_beat


def _go_on(beam: _Beam, grown: _Grown, to_beat: Tensor, eos_id: int, config: SearchConfig) -> tuple[Tensor, _Beam]:
    """The open continuations of the sentences that still need them, and the rows they continue."""
    open_log_probs = grown.log_probs.masked_fill(grown.tokens == eos_id, -torch.inf)
    penalty: Tensor | float = beam.mildest_penalty
    if config.length_penalty < 0:
        penalty = length_penalty(beam.ids.shape[2] + 2, config.length_penalty)
    reachable = open_log_probs.amax(1) / penalty
    state = torch.stack((to_beat >= reachable, reachable.isnan())).tolist()
    _check_numbers(any(state[1]))
    staying = [line for line, done in enumerate(state[0]) if not done]
    kept = torch.tensor(staying, dtype=torch.int64, device=open_log_probs.device)
    rows = (grown.parents + torch.arange(len(grown.parents), device=kept.device)[:, None] * beam.ids.shape[1])[kept]
    return rows, _Beam(
        sentences=[beam.sentences[line] for line in staying],
        ids=torch.cat((beam.ids.flatten(0, 1)[rows], grown.tokens[kept][:, :, None]), dim=2),
        token_log_probs=torch.cat(
            (beam.token_log_probs.flatten(0, 1)[rows], grown.token_log_probs[kept][:, :, None]), dim=2
        ),
        log_probs=open_log_probs[kept],
        to_beat=to_beat[kept],
        mildest_penalty=beam.mildest_penalty[kept],
    )


def _hypothesis(ids: list[int], token_log_probs: list[float], *, finished: bool, config: SearchConfig) -> Hypothesis:
    """Ids that end with `</s>`, and their log-probabilities, as a hypothesis."""
    log_prob = float(sum(token_log_probs))
    return Hypothesis(
        ids=tuple(ids[:-1]),
        log_prob=log_prob,
        score=log_prob / length_penalty(len(ids), config.length_penalty),
        token_log_probs=tuple(token_log_probs),
        finished=finished,
    )


def _check_numbers(not_a_number: bool | Tensor) -> None:
    if not_a_number:
        raise ModelError(
            "the model gives probabilities that are not numbers; its weights are damaged, or too large for its dtype: "
            "see `attendo info MODEL --verify`, or translate with --dtype float32"
        )
