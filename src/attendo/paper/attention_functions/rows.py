"""Section 3.2.1: the trained rows of the attention functions that the paper compares, their recipes and results."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

from attendo.evaluation.estimates import Estimate, estimate, paired
from attendo.model.config import AttentionFunction
from attendo.paper.attention_functions.measures import (
    ADDITIVE,
    FUNCTIONS,
    SCALED,
    UNSCALED,
    HeadMeasures,
    MeasuredHeads,
)
from attendo.paper.experiment import Scale, StudyRequest
from attendo.paper.phrasebook_texts import corpora_folder, taken_from
from attendo.paper.rows_study import MeasuredRun
from attendo.paper.run_results import RunResult
from attendo.recipe import Recipe, load_recipe

SHORT: Mapping[AttentionFunction, str] = {SCALED: "scaled", UNSCALED: "unscaled", ADDITIVE: "additive"}
"""Names of the functions in tables and in the rows' names."""

KEY_SIZES: Mapping[Scale, tuple[int, ...]] = {"tiny": (4, 32), "small": (4, 64, 128), "paper": (16, 64, 256)}
"""Values of d_k of the trained rows, in rising order; 64 is the paper's."""


@dataclass(frozen=True, kw_only=True)
class Row:
    """An attention function with a value of d_k."""

    function: AttentionFunction
    d_k: int

    @property
    def name(self) -> str:
        """The name of the row, which its runs carry."""
        return f"{SHORT[self.function]}-dk{self.d_k}"


def rows(scale: Scale) -> tuple[Row, ...]:
    """Returns the trained rows of a scale, by d_k and then by function."""
    return tuple(Row(function=function, d_k=d_k) for d_k in KEY_SIZES[scale] for function in FUNCTIONS)


def row_of(name: str) -> Row:
    """Returns the row with a name."""
    short, _, d_k = name.rpartition("-dk")
    return Row(function=next(function for function in FUNCTIONS if SHORT[function] == short), d_k=int(d_k))


def recipe_name(scale: Scale) -> str:
    """Returns the name of the shipped recipe that the rows change; at full size it is Table 3's base row."""
    return "table3/base" if scale == "paper" else f"attention-functions/{scale}"


def recipes(request: StudyRequest) -> dict[Row, Recipe]:
    """Returns the rows' recipes, which differ only in the attention function and d_k.

    Args:
        request: options with the scale and the folder of the corpora.

    Raises:
        RecipeError: a folder of corpora is given at the scale `tiny`, which always uses the phrasebook.
    """
    folder = taken_from(corpora_folder(request))
    return {
        row: load_recipe(
            recipe_name(request.scale),
            [
                f"name=attention-functions-{request.scale}-{row.name}",
                *folder,
                f"model.attention_function={row.function}",
                f"model.d_k={row.d_k}",
            ],
        )
        for row in rows(request.scale)
    }


PAIRS: tuple[tuple[AttentionFunction, AttentionFunction], ...] = (
    (UNSCALED, SCALED),
    (ADDITIVE, SCALED),
    (UNSCALED, ADDITIVE),
)
"""The compared functions: the second is subtracted from the first."""

Run = MeasuredRun[MeasuredHeads]
"""A finished run with the measures of its heads."""


@dataclass(frozen=True, kw_only=True)
class RowSummary:
    """A row with at least one finished run, with means over seeds."""

    row: Row
    runs: tuple[RunResult, ...]
    perplexity: Estimate
    bleu: Estimate
    heads: tuple[MeasuredHeads, ...]

    @property
    def function(self) -> str:
        """The name of its function in tables."""
        return SHORT[self.row.function]

    @property
    def new(self) -> Mapping[str, float]:
        """Means over runs of the heads' measures with new weights, by the fields of `HeadMeasures`."""
        return _means([heads.new for heads in self.heads])

    @property
    def trained(self) -> Mapping[str, float]:
        """Means over runs of the heads' measures with trained weights, by the fields of `HeadMeasures`."""
        return _means([heads.trained for heads in self.heads])

    def to_json(self) -> dict[str, Any]:
        """Returns the row for `result.json`."""
        return {
            "function": self.row.function,
            "d_k": self.row.d_k,
            "parameters": self.runs[0].parameters,
            "perplexity": asdict(self.perplexity),
            "bleu": asdict(self.bleu),
            "heads": [asdict(heads) for heads in self.heads],
        }


def _means(heads: Sequence[HeadMeasures]) -> dict[str, float]:
    return {
        field.name: float(sum(getattr(measures, field.name) for measures in heads)) / len(heads)
        for field in fields(HeadMeasures)
    }


@dataclass(frozen=True, kw_only=True)
class Difference:
    """The difference of one function to another at one d_k, paired by seed."""

    d_k: int
    function: AttentionFunction
    other: AttentionFunction
    perplexity: Estimate
    bleu: Estimate

    @property
    def name(self) -> str:
        """The name of the difference in tables."""
        return f"{SHORT[self.function]} - {SHORT[self.other]}"

    @property
    def told(self) -> Mapping[str, str]:
        """The differences in perplexity and BLEU as texts with their intervals."""
        return {"perplexity": with_interval(self.perplexity), "bleu": with_interval(self.bleu)}


def with_interval(difference: Estimate) -> str:
    """Formats a difference with its sign and, if there is one, its interval."""
    if difference.low is None or difference.high is None:
        return f"{difference.mean:+.2f} (one seed)"
    return f"{difference.mean:+.2f} ({difference.low:+.2f} to {difference.high:+.2f})"


def summarise(runs: Sequence[Run]) -> tuple[RowSummary, ...]:
    """Summarises the rows with finished runs, by d_k and then by function."""
    by_row: dict[Row, list[Run]] = {}
    for run in runs:
        by_row.setdefault(row_of(run.result.row), []).append(run)
    return tuple(
        RowSummary(
            row=row,
            runs=tuple(run.result for run in by_row[row]),
            perplexity=estimate([run.result.perplexity for run in by_row[row]]),
            bleu=estimate([run.result.bleu for run in by_row[row]]),
            heads=tuple(run.measured for run in by_row[row]),
        )
        for row in sorted(by_row, key=lambda row: (row.d_k, FUNCTIONS.index(row.function)))
    )


def differences(runs: Sequence[Run]) -> tuple[Difference, ...]:
    """Returns the differences of `PAIRS` at each d_k for which a seed has both functions."""
    by_row: dict[Row, dict[int, RunResult]] = {}
    for run in runs:
        by_row.setdefault(row_of(run.result.row), {})[run.result.seed] = run.result
    result = []
    for d_k in sorted({row.d_k for row in by_row}):
        for function, other in PAIRS:
            ours, theirs = (
                by_row.get(Row(function=compared_function, d_k=d_k), {}) for compared_function in (function, other)
            )
            perplexity = paired(ours, theirs, lambda run: run.perplexity)
            bleu = paired(ours, theirs, lambda run: run.bleu)
            if perplexity is not None and bleu is not None:
                result.append(Difference(d_k=d_k, function=function, other=other, perplexity=perplexity, bleu=bleu))
    return tuple(result)
