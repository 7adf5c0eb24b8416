"""Probabilities of given translations by teacher forcing; independent of padding and of the rest of the batch."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

from attendo.decoding.backends.ensemble import mean_probability
from attendo.decoding.backends.models import DecodingModel


@dataclass(frozen=True, kw_only=True)
class PairScore:
    """The log-probability of a given translation."""

    log_prob: float
    """Natural logarithm of the target's probability, `</s>` included."""
    token_log_probs: tuple[float, ...]
    """The log-probability of each target token, `</s>` last."""
    pieces: tuple[str, ...] = ()
    """The piece of each target token, if the translation was given as text."""
    truncated: bool = False
    """Whether the source or the target was cut because it was too long."""

    @property
    def num_tokens(self) -> int:
        """The number of target tokens, `</s>` included."""
        return len(self.token_log_probs)


@dataclass(frozen=True, kw_only=True)
class Perplexity:
    """The perplexity of a corpus, and the sums that it is computed from."""

    nll: float
    """Negative log-likelihood of all targets, in nats."""
    num_tokens: int
    """Target tokens, each `</s>` included."""

    @property
    def per_token(self) -> float:
        """exp(nll / tokens), per subword; 1 for no tokens, and infinite beyond the range of a float."""
        try:
            return math.exp(self.nll / max(1, self.num_tokens))
        except OverflowError:
            return math.inf


def perplexity(scores: Iterable[PairScore]) -> Perplexity:
    """Computes the perplexity of a corpus from the scores of its pairs."""
    nll, num_tokens = 0.0, 0
    for score in scores:
        nll -= score.log_prob
        num_tokens += score.num_tokens
    return Perplexity(nll=nll, num_tokens=num_tokens)


def score_batch(
    models: Sequence[DecodingModel],
    source: Sequence[Sequence[int]],
    target: Sequence[Sequence[int]],
    *,
    between: Callable[[], object] = lambda: None,
) -> list[list[float]]:
    """Log-probabilities of the targets' tokens, all pairs at once.

    Args:
        models: the models; several are combined by the mean of their probabilities.
        source: each source sentence's ids with its `</s>`.
        target: each target sentence's ids with its `</s>`, in the same order.
        between: called between two steps; an exception from it ends the scoring.

    Returns:
        For each pair, one number per target token, `</s>` included.
    """
    by_model = []
    for model in models:
        with model.at_work():
            by_model.append(model.token_log_probs(source, target, between=between))
    flat = mean_probability(by_model).tolist()
    ends = accumulate((len(ids) for ids in target), initial=0)
    return [flat[first:end] for first, end in pairwise(ends)]
