"""Paired significance tests of two outputs by sacreBLEU: the paired bootstrap and approximate randomisation."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, cast

from sacrebleu.metrics.base import Signature
from sacrebleu.significance import PairedTest, Result

from attendo.errors import DataError
from attendo.evaluation.scores import BleuTokenizer, check_parallel, metrics
from attendo.text_tables import aligned

METRIC_NAMES = {"bleu": "BLEU", "chrf": "chrF2", "ter": "TER"}
"""Attendo's key of each metric, with the name of its results in sacreBLEU."""

PairedOutcome = tuple[dict[str, Signature], dict[str, list[str | Result]]]
"""The result of sacreBLEU's `PairedTest`: signatures, and columns of both systems' results, each by metric name."""


@dataclass(frozen=True, kw_only=True)
class ComparedScore:
    """One system's figure under one metric, with its 95% bootstrap interval (sacreBLEU's mean and half width)."""

    score: float
    low: float
    high: float


@dataclass(frozen=True, kw_only=True)
class PairedResult:
    """The result of one paired test for a difference.

    Attributes:
        p_value: the probability that chance alone gives a difference this large; below 0.05 counts as significant. It
            is 1 if the two scores are equal: sacreBLEU only counts strictly larger differences, and would therefore
            call two identical outputs significantly different.
        signature: sacreBLEU's signature, with the number of samples and the seed.
    """

    p_value: float
    signature: str


@dataclass(frozen=True, kw_only=True)
class MetricComparison:
    """The comparison of both systems under one metric.

    Attributes:
        metric: `bleu`, `chrf` or `ter`.
        a: the figure of the first system, which the tests take as the baseline.
        b: the figure of the second system.
        bootstrap: the result of paired bootstrap resampling (Koehn 2004).
        randomization: the result of paired approximate randomisation (Riezler and Maxwell 2005).
    """

    metric: str
    a: ComparedScore
    b: ComparedScore
    bootstrap: PairedResult
    randomization: PairedResult

    @property
    def better(self) -> Literal["a", "b", "neither"]:
        """The system with the better score, significant or not; for TER, which counts errors, lower is better."""
        if self.a.score == self.b.score:
            return "neither"
        return "a" if (self.a.score > self.b.score) != (self.metric == "ter") else "b"


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """The comparison of two outputs of one test set under each metric."""

    name_a: str
    name_b: str
    num_sentences: int
    metrics: tuple[MetricComparison, ...]

    def to_json(self) -> dict[str, object]:
        """Returns a dictionary for `json.dumps`: the systems' names, then a row for each metric."""
        return {
            "systems": {"a": self.name_a, "b": self.name_b},
            "num_sentences": self.num_sentences,
            **{row.metric: _row_json(row) for row in self.metrics},
        }

    def to_text(self) -> str:
        """Returns a table with a line for each metric and the p-values of both tests, followed by the signatures."""
        header = ("", "A", "95%", "B", "95%", "B - A", "p bootstrap", "p randomised", "better")
        rows = [header, *(_row_text(row) for row in self.metrics)]
        lines = [f"A: {self.name_a}", f"B: {self.name_b}", f"{self.num_sentences} sentences", ""]
        lines += [line.rstrip() for line in aligned(rows, words=1)]
        lines += ["", "* p < 0.05: unlikely to be chance", ""]
        for compared in self.metrics:
            name = METRIC_NAMES[compared.metric]
            lines += [f"{name}|{compared.bootstrap.signature}", f"{name}|{compared.randomization.signature}"]
        return "\n".join(lines)


def compare_outputs(
    outputs_a: Sequence[str],
    outputs_b: Sequence[str],
    references: Sequence[str],
    *,
    name_a: str = "A",
    name_b: str = "B",
    target_language: str = "",
    bleu_tokenizer: BleuTokenizer | None = None,
    num_resamples: int = 1000,
    num_trials: int = 10000,
    metric_names: Sequence[str] = tuple(METRIC_NAMES),
) -> Comparison:
    """Tests whether two outputs differ by more than chance, under BLEU, chrF and TER.

    Args:
        outputs_a: translations of the first system, detokenised, one per sentence.
        outputs_b: translations of the second system.
        references: the reference translations.
        name_a: name of the first system in the table and in messages, such as its file.
        name_b: name of the second system.
        target_language: two-letter code; chooses BLEU's tokeniser.
        bleu_tokenizer: overrides that choice.
        num_resamples: number of resamples of the paired bootstrap.
        num_trials: number of shuffles of the approximate randomisation.
        metric_names: the metrics to test, from `METRIC_NAMES`.

    Raises:
        DataError: the three texts differ in length or one is empty; a number of samples is below 1; BLEU's tokeniser
            needs a package that is not installed.
    """
    _check_names(name_a, name_b)
    check_parallel({name_a: outputs_a, name_b: outputs_b, "the reference": references})
    if min(num_resamples, num_trials) < 1:
        raise DataError(f"num_resamples = {num_resamples}, num_trials = {num_trials}: both must be 1 or more")
    systems = [(name_a, outputs_a), (name_b, outputs_b)]
    bootstrap, randomization = (
        PairedTest(
            systems,
            {name: metric for name, metric in metrics(target_language, bleu_tokenizer).items() if name in metric_names},
            [references],
            test_type=test_type,
            n_samples=num_samples,
        )()
        for test_type, num_samples in (("bs", num_resamples), ("ar", num_trials))
    )
    rows = tuple(_row(metric, bootstrap, randomization) for metric in metric_names)
    return Comparison(name_a=name_a, name_b=name_b, num_sentences=len(references), metrics=rows)


def _row(metric: str, bootstrap: PairedOutcome, randomization: PairedOutcome) -> MetricComparison:
    name = METRIC_NAMES[metric]
    results = []
    for signatures, columns in (bootstrap, randomization):
        # Among sacreBLEU's columns only `System` holds strings.
        baseline, other = cast(list[Result], columns[name])
        assert other.p_value is not None, "sacreBLEU gives every system but the baseline a p-value"
        p_value = 1.0 if other.score == baseline.score else float(other.p_value)
        results.append(PairedResult(p_value=p_value, signature=str(signatures[name])))
    # The intervals come with the bootstrap only.
    baseline, other = cast(list[Result], bootstrap[1][name])
    return MetricComparison(
        metric=metric,
        a=_compared_score(baseline),
        b=_compared_score(other),
        bootstrap=results[0],
        randomization=results[1],
    )


def _check_names(name_a: str, name_b: str) -> None:
    if name_a == name_b:
        raise DataError(f"both outputs are called '{name_a}'; compare two different files, or name them apart")


def _compared_score(result: Result) -> ComparedScore:
    # The bootstrap always fills both; the annotation of sacreBLEU's class has to allow for the other test.
    mean, half_width = float(result.mean or 0.0), float(result.ci or 0.0)
    return ComparedScore(score=float(result.score), low=mean - half_width, high=mean + half_width)


def _row_json(row: MetricComparison) -> dict[str, object]:
    return {
        "a": {"score": row.a.score, "low": row.a.low, "high": row.a.high},
        "b": {"score": row.b.score, "low": row.b.low, "high": row.b.high},
        "difference": row.b.score - row.a.score,
        "better": row.better,
        "paired_bootstrap": {"p_value": row.bootstrap.p_value, "signature": row.bootstrap.signature},
        "paired_randomization": {"p_value": row.randomization.p_value, "signature": row.randomization.signature},
    }


def _row_text(row: MetricComparison) -> tuple[str, ...]:
    return (
        METRIC_NAMES[row.metric],
        f"{row.a.score:.2f}",
        f"{row.a.low:.2f}-{row.a.high:.2f}",
        f"{row.b.score:.2f}",
        f"{row.b.low:.2f}-{row.b.high:.2f}",
        f"{row.b.score - row.a.score:+.2f}",
        _p_value_text(row.bootstrap),
        _p_value_text(row.randomization),
        "-" if row.better == "neither" else row.better.upper(),
    )


def _p_value_text(result: PairedResult) -> str:
    return f"{result.p_value:.4f}{'*' if result.p_value < 0.05 else ' '}"
