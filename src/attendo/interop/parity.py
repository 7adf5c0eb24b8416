"""Compares a model with its export in another program: log-probabilities under teacher forcing, and greedy outputs.

Both programs take ids, so that only the model is compared. Each target is scored twice: with its own source, where it
is probable, and with another one, where it is improbable, which reveals errors that leave the best token unchanged.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from attendo.decoding.backends.models import DecodingModel
from attendo.decoding.batches import length_batches
from attendo.decoding.config import SearchConfig
from attendo.decoding.constraints.constraint import Rules
from attendo.decoding.parallel import IdSearch
from attendo.decoding.scoring import score_batch
from attendo.errors import ModelError
from attendo.text.subwords.tokenization import EOS_ID

Sentence = Sequence[int]

FLOAT32_TOLERANCE = 1e-4
"""Maximum difference of any token's log-probability in float32, in nats."""
INT8_MEAN_TOLERANCE = 0.1
"""Maximum mean difference of the tokens' log-probabilities in int8, in nats."""
_BATCH_SENTENCES, _BATCH_TOKENS = 32, 1024


class ParityError(ModelError):
    """A model gives other results in the other program."""


class Runtime(Protocol):
    """A model in some program, with ids as input and output."""

    @property
    def name(self) -> str:
        """Name of the program, its version and the number type or kernels it computes with, for people."""

    def token_log_probs(self, sources: Sequence[Sentence], targets: Sequence[Sentence]) -> list[list[float]]:
        """Returns the natural logarithms of the probabilities of the targets' tokens.

        Args:
            sources: the ids of each source sentence, with its `</s>`.
            targets: the ids of a translation of each sentence, with its `</s>`.

        Returns:
            For each pair one number per target token, `</s>` included.
        """

    def greedy(self, sources: Sequence[Sentence], max_len: int) -> list[list[int]]:
        """Returns greedy translations as ids without `</s>`.

        Args:
            sources: the ids of each source sentence, with its `</s>`.
            max_len: number of tokens after which a translation is cut.
        """


class AttendoRuntime:
    """A model as `attendo translate` runs it.

    Args:
        model: the model, ready for decoding.
        threads: number of threads.
        version: version of attendo.
    """

    def __init__(self, model: DecodingModel, *, threads: int, version: str) -> None:
        self.name = f"attendo {version} ({model.kernel})"
        self._model = model
        self._search = IdSearch([model], SearchConfig(beam_size=1), threads=threads)

    def token_log_probs(self, sources: Sequence[Sentence], targets: Sequence[Sentence]) -> list[list[float]]:
        """Returns the log-probabilities of the targets' tokens; see `Runtime`."""
        return score_batch([self._model], sources, targets)

    def greedy(self, sources: Sequence[Sentence], max_len: int) -> list[list[int]]:
        """Returns greedy translations; see `Runtime`."""
        results = self._search.search(sources, [Rules(max_len=max_len)] * len(sources))
        return [list(hypotheses[0].ids) for hypotheses in results]


@dataclass(frozen=True, kw_only=True)
class Parity:
    """The result of a comparison."""

    ours: str
    """Name of the reference program."""
    theirs: str
    """Name of the program that is compared with it."""
    sentences: int
    tokens: int
    """Number of scored target tokens, each `</s>` included."""
    max_difference: float
    """The largest difference of a token's log-probability, in nats."""
    mean_difference: float
    """The mean of the absolute differences, in nats."""
    identical: int
    """Number of greedy outputs with the same ids."""
    ties: int
    """Number of other greedy outputs that diverge at two tokens of equal probability, within the tolerance."""
    our_outputs: tuple[tuple[int, ...], ...]
    """Greedy ids of each sentence in the reference program, without `</s>`."""
    their_outputs: tuple[tuple[int, ...], ...]
    """Greedy ids of each sentence in the other program, without `</s>`."""

    def problems(self, *, exact: bool) -> list[str]:
        """Returns the reasons why the programs do not agree; empty if they do.

        Args:
            exact: whether both compute in float32; in int8 results only have to be close.
        """
        problems = []
        if exact and not self.max_difference <= FLOAT32_TOLERANCE:  # also refuses NaN
            problems.append(
                f"log-probabilities differ by up to {self.max_difference:.2g}, more than {FLOAT32_TOLERANCE:g}"
            )
        if exact and self.identical + self.ties < self.sentences:
            problems.append(f"{self.sentences - self.identical - self.ties} greedy outputs differ")
        if not exact and not self.mean_difference <= INT8_MEAN_TOLERANCE:
            problems.append(
                f"log-probabilities differ by {self.mean_difference:.2g} on the average, more than "
                f"{INT8_MEAN_TOLERANCE:g}"
            )
        return problems


def compare(ours: Runtime, theirs: Runtime, sources: Sequence[Sentence]) -> Parity:
    """Compares the scores and greedy outputs of two programs.

    Args:
        ours: the reference.
        theirs: the program that is compared with it.
        sources: the ids of each source sentence, with its `</s>`.

    Raises:
        ParityError: the other program returns another number of log-probabilities than there are tokens.
    """
    our_outputs: list[tuple[int, ...]] = [()] * len(sources)
    their_outputs: list[tuple[int, ...]] = [()] * len(sources)
    differences: list[float] = []
    ties = 0
    for batch in _batches(sources):
        batch_sources = [sources[index] for index in batch]
        max_len = _max_len(batch_sources)
        our_ids, their_ids = ours.greedy(batch_sources, max_len), theirs.greedy(batch_sources, max_len)
        for index, mine, other in zip(batch, our_ids, their_ids, strict=True):
            our_outputs[index], their_outputs[index] = tuple(mine), tuple(other)
            ties += mine != other and _is_tie(ours, sources[index], mine, other)
        targets = [[*ids, EOS_ID] for ids in our_ids]
        # Each target is scored with its own source, and with that of another sentence.
        for shifted_targets in (targets, [*targets[1:], *targets[:1]]):
            differences += _differences(ours, theirs, batch_sources, shifted_targets)
    return Parity(
        ours=ours.name,
        theirs=theirs.name,
        sentences=len(sources),
        tokens=len(differences),
        max_difference=max(differences, key=_badness, default=0.0),
        mean_difference=sum(differences) / max(1, len(differences)),
        identical=sum(mine == other for mine, other in zip(our_outputs, their_outputs, strict=True)),
        ties=ties,
        our_outputs=tuple(our_outputs),
        their_outputs=tuple(their_outputs),
    )


def _batches(sources: Sequence[Sentence]) -> Iterator[list[int]]:
    yield from length_batches([len(ids) for ids in sources], max_tokens=_BATCH_TOKENS, max_sentences=_BATCH_SENTENCES)


def _max_len(sources: Sequence[Sentence]) -> int:
    """Returns the maximum length of translations; more tokens of a model that repeats itself would show nothing new."""
    return max(map(len, sources)) * 3 // 2 + 10


def _differences(
    ours: Runtime, theirs: Runtime, sources: Sequence[Sentence], targets: Sequence[Sentence]
) -> list[float]:
    """Returns the absolute difference of each target token's log-probability."""
    differences: list[float] = []
    scored = zip(ours.token_log_probs(sources, targets), theirs.token_log_probs(sources, targets), strict=True)
    for mine, other in scored:
        if len(mine) != len(other):
            raise ParityError(f"{theirs.name} gives {len(other)} log-probabilities where there are {len(mine)} tokens")
        differences += [
            abs(our_log_prob - their_log_prob) for our_log_prob, their_log_prob in zip(mine, other, strict=True)
        ]
    return differences


def _is_tie(ours: Runtime, source: Sentence, mine: Sequence[int], other: Sequence[int]) -> bool:
    """Returns whether two outputs diverge at tokens of equal probability in the reference, so that rounding decides."""
    shared = next(
        (place for place, pair in enumerate(zip(mine, other, strict=False)) if pair[0] != pair[1]),
        min(len(mine), len(other)),
    )
    prefixes = [[*mine[:shared], (*ids, EOS_ID)[shared]] for ids in (tuple(mine), tuple(other))]
    first, second = ours.token_log_probs([source, source], prefixes)
    return abs(first[-1] - second[-1]) <= 2 * FLOAT32_TOLERANCE


def _badness(difference: float) -> float:
    """Returns a sort key of differences in which NaN is the largest."""
    return float("inf") if difference != difference else difference
