"""Whether a model says the same in another program: log-probabilities under teacher forcing, and greedy outputs.

Both sides are asked in ids, so that nothing but the model is compared. Each target is scored twice over: behind its own
source, where it is probable, and behind another one, where it is not and where errors show that the best token hides.
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
"""The most that a token's log-probability may differ in float32, in nats."""
INT8_MEAN_TOLERANCE = 0.1
"""The most that tokens' log-probabilities may differ in int8, in nats and on the average."""
_BATCH_SENTENCES, _BATCH_TOKENS = 32, 1024


class ParityError(ModelError):
    """A model does not say the same in the other program."""


class Runtime(Protocol):
    """A model in some program, asked in ids."""

    @property
    def name(self) -> str:
        """The program, its version and what it computes with, for people."""

    def token_log_probs(self, sources: Sequence[Sentence], targets: Sequence[Sentence]) -> list[list[float]]:
        """Natural logarithms of the probabilities of the targets' tokens.

        Args:
            sources: each sentence's ids with its `</s>`.
            targets: the same of any translations.

        Returns:
            For each pair one number a target token, `</s>` included.
        """

    def greedy(self, sources: Sequence[Sentence], max_len: int) -> list[list[int]]:
        """The most probable token after the other, ids without `</s>`.

        Args:
            sources: each sentence's ids with its `</s>`.
            max_len: tokens after which a translation is cut.
        """


class AttendoRuntime:
    """A model as `attendo translate` runs it.

    Args:
        model: ready for decoding.
        threads: that may work.
        version: of attendo.
    """

    def __init__(self, model: DecodingModel, *, threads: int, version: str) -> None:
        self.name = f"attendo {version} ({model.kernel})"
        self._model = model
        self._search = IdSearch([model], SearchConfig(beam_size=1), threads=threads)

    def token_log_probs(self, sources: Sequence[Sentence], targets: Sequence[Sentence]) -> list[list[float]]:
        """See `Runtime`."""
        return score_batch([self._model], sources, targets)

    def greedy(self, sources: Sequence[Sentence], max_len: int) -> list[list[int]]:
        """See `Runtime`."""
        found = self._search.search(sources, [Rules(max_len=max_len)] * len(sources))
        return [list(hypotheses[0].ids) for hypotheses in found]


@dataclass(frozen=True, kw_only=True)
class Parity:
    """What comparing found."""

    ours: str
    theirs: str
    sentences: int
    tokens: int
    """Target tokens scored, each `</s>` included."""
    max_difference: float
    """The largest difference of a token's log-probability, in nats."""
    mean_difference: float
    """The mean of the absolute differences, in nats."""
    identical: int
    """Greedy outputs with the same ids."""
    ties: int
    """Further ones that part where our two tokens are as probable as each other, up to the tolerance."""
    our_outputs: tuple[tuple[int, ...], ...]
    """Greedy ids, a sentence each, without `</s>`."""
    their_outputs: tuple[tuple[int, ...], ...]

    def problems(self, *, exact: bool) -> list[str]:
        """Why this is no parity; empty where it is one.

        Args:
            exact: whether both compute in float32; int8 is only near.
        """
        found = []
        if exact and not self.max_difference <= FLOAT32_TOLERANCE:  # also where it is no number
            found.append(
                f"log-probabilities differ by up to {self.max_difference:.2g}, more than {FLOAT32_TOLERANCE:g}"
            )
        if exact and self.identical + self.ties < self.sentences:
            found.append(f"{self.sentences - self.identical - self.ties} greedy outputs differ")
        if not exact and not self.mean_difference <= INT8_MEAN_TOLERANCE:
            found.append(
                f"log-probabilities differ by {self.mean_difference:.2g} on the average, more than "
                f"{INT8_MEAN_TOLERANCE:g}"
            )
        return found


def compare(ours: Runtime, theirs: Runtime, sources: Sequence[Sentence]) -> Parity:
    """Has both programs score and write the same.

    Args:
        ours: the reference.
        theirs: what is compared with it.
        sources: each sentence's ids with its `</s>`.

    Raises:
        ParityError: the other program gives another number of log-probabilities than there are tokens.
    """
    our_outputs: list[tuple[int, ...]] = [()] * len(sources)
    their_outputs: list[tuple[int, ...]] = [()] * len(sources)
    differences: list[float] = []
    ties = 0
    for batch in _batches(sources):
        some = [sources[index] for index in batch]
        max_len = _max_len(some)
        written, theirs_written = ours.greedy(some, max_len), theirs.greedy(some, max_len)
        for index, mine, other in zip(batch, written, theirs_written, strict=True):
            our_outputs[index], their_outputs[index] = tuple(mine), tuple(other)
            ties += mine != other and _is_tie(ours, sources[index], mine, other)
        targets = [[*ids, EOS_ID] for ids in written]
        # Behind its own source, and behind the next sentence's.
        for its_targets in (targets, [*targets[1:], *targets[:1]]):
            differences += _differences(ours, theirs, some, its_targets)
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
    """Room for a translation; a model that repeats itself for ever would prove nothing more beyond it."""
    return max(map(len, sources)) * 3 // 2 + 10


def _differences(
    ours: Runtime, theirs: Runtime, sources: Sequence[Sentence], targets: Sequence[Sentence]
) -> list[float]:
    """The absolute difference of each target token's log-probability."""
    found: list[float] = []
    scored = zip(ours.token_log_probs(sources, targets), theirs.token_log_probs(sources, targets), strict=True)
    for mine, other in scored:
        if len(mine) != len(other):
            raise ParityError(f"{theirs.name} gives {len(other)} log-probabilities where there are {len(mine)} tokens")
        found += [abs(here - there) for here, there in zip(mine, other, strict=True)]
    return found


def _is_tie(ours: Runtime, source: Sentence, mine: Sequence[int], other: Sequence[int]) -> bool:
    """Whether two outputs part where we find both tokens equally probable, so that rounding decides."""
    shared = next(
        (place for place, pair in enumerate(zip(mine, other, strict=False)) if pair[0] != pair[1]),
        min(len(mine), len(other)),
    )
    ways = [[*mine[:shared], (*ids, EOS_ID)[shared]] for ids in (tuple(mine), tuple(other))]
    first, second = ours.token_log_probs([source, source], ways)
    return abs(first[-1] - second[-1]) <= 2 * FLOAT32_TOLERANCE


def _badness(difference: float) -> float:
    """Orders differences so that what is not a number is the largest."""
    return float("inf") if difference != difference else difference
