"""Section 3.2.1: the attention functions that the paper compares, their recipes, and what the trained rows say."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

from attendo.model.config import AttentionFunction
from attendo.paper.attention_functions.measures import (
    ADDITIVE,
    FUNCTIONS,
    SCALED,
    UNSCALED,
    HeadMeasures,
    MeasuredHeads,
)
from attendo.paper.experiment import Order, Scale
from attendo.paper.phrasebook_texts import corpora_folder, taken_from
from attendo.paper.rows_study import MeasuredRun
from attendo.paper.run_results import RunResult
from attendo.paper.statistics import Estimate, estimate, paired
from attendo.recipe import Recipe, load_recipe

SHORT: Mapping[AttentionFunction, str] = {SCALED: "scaled", UNSCALED: "unscaled", ADDITIVE: "additive"}
"""What tables call them."""

KEY_SIZES: Mapping[Scale, tuple[int, ...]] = {"tiny": (4, 32), "small": (4, 64, 128), "paper": (16, 64, 256)}
"""d_k of the trained rows, from the smallest up; 64 is the paper's."""


@dataclass(frozen=True, kw_only=True)
class Row:
    """A function with a d_k."""

    function: AttentionFunction
    d_k: int

    @property
    def name(self) -> str:
        """That of its runs."""
        return f"{SHORT[self.function]}-dk{self.d_k}"


def rows(scale: Scale) -> tuple[Row, ...]:
    """What is trained, by d_k and then by function."""
    return tuple(Row(function=function, d_k=d_k) for d_k in KEY_SIZES[scale] for function in FUNCTIONS)


def row_of(name: str) -> Row:
    """The row of a name."""
    short, _, d_k = name.rpartition("-dk")
    return Row(function=next(each for each in FUNCTIONS if SHORT[each] == short), d_k=int(d_k))


def recipe_name(scale: Scale) -> str:
    """The shipped recipe that rows change; at full size it is Table 3's base row."""
    return "table3/base" if scale == "paper" else f"attention-functions/{scale}"


def recipes(order: Order) -> dict[Row, Recipe]:
    """The rows' recipes, which differ in function and d_k alone.

    Args:
        order: the scale, and where the corpora are.

    Raises:
        RecipeError: a folder of corpora is given where the phrasebook is the text.
    """
    folder = taken_from(corpora_folder(order))
    return {
        row: load_recipe(
            recipe_name(order.scale),
            [
                f"name=attention-functions-{order.scale}-{row.name}",
                *folder,
                f"model.attention_function={row.function}",
                f"model.d_k={row.d_k}",
            ],
        )
        for row in rows(order.scale)
    }


PAIRS: tuple[tuple[AttentionFunction, AttentionFunction], ...] = (
    (UNSCALED, SCALED),
    (ADDITIVE, SCALED),
    (UNSCALED, ADDITIVE),
)
"""What is compared with what."""

Run = MeasuredRun[MeasuredHeads]
"""A run with the logits of its heads."""


@dataclass(frozen=True, kw_only=True)
class RowSummary:
    """A row of which at least one run is done; means over seeds."""

    row: Row
    runs: tuple[RunResult, ...]
    perplexity: Estimate
    bleu: Estimate
    heads: tuple[MeasuredHeads, ...]

    @property
    def function(self) -> str:
        """What tables call its function."""
        return SHORT[self.row.function]

    @property
    def new(self) -> Mapping[str, float]:
        """Means over runs of the heads' figures with new weights, by the fields of `HeadMeasures`."""
        return _means([heads.new for heads in self.heads])

    @property
    def trained(self) -> Mapping[str, float]:
        """The same of trained weights."""
        return _means([heads.trained for heads in self.heads])

    def to_json(self) -> dict[str, Any]:
        """The row for `result.json`."""
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
        each.name: float(sum(getattr(one, each.name) for one in heads)) / len(heads) for each in fields(HeadMeasures)
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
        """What tables call it."""
        return f"{SHORT[self.function]} - {SHORT[self.other]}"

    @property
    def told(self) -> Mapping[str, str]:
        """Both with their intervals."""
        return {"perplexity": with_interval(self.perplexity), "bleu": with_interval(self.bleu)}


def with_interval(found: Estimate) -> str:
    """A difference with its sign, and its interval where there is one."""
    if found.low is None or found.high is None:
        return f"{found.mean:+.2f} (one seed)"
    return f"{found.mean:+.2f} ({found.low:+.2f} to {found.high:+.2f})"


def summarise(runs: Sequence[Run]) -> tuple[RowSummary, ...]:
    """Rows of which something is done, by d_k and then by function."""
    found: dict[Row, list[Run]] = {}
    for run in runs:
        found.setdefault(row_of(run.result.row), []).append(run)
    return tuple(
        RowSummary(
            row=row,
            runs=tuple(run.result for run in found[row]),
            perplexity=estimate([run.result.perplexity for run in found[row]]),
            bleu=estimate([run.result.bleu for run in found[row]]),
            heads=tuple(run.measured for run in found[row]),
        )
        for row in sorted(found, key=lambda row: (row.d_k, FUNCTIONS.index(row.function)))
    )


def differences(runs: Sequence[Run]) -> tuple[Difference, ...]:
    """The difference of each of `PAIRS` at each d_k where a seed has both."""
    by_row: dict[Row, dict[int, RunResult]] = {}
    for run in runs:
        by_row.setdefault(row_of(run.result.row), {})[run.result.seed] = run.result
    found = []
    for d_k in sorted({row.d_k for row in by_row}):
        for function, other in PAIRS:
            ours, theirs = (by_row.get(Row(function=each, d_k=d_k), {}) for each in (function, other))
            perplexity = paired(ours, theirs, lambda run: run.perplexity)
            bleu = paired(ours, theirs, lambda run: run.bleu)
            if perplexity is not None and bleu is not None:
                found.append(Difference(d_k=d_k, function=function, other=other, perplexity=perplexity, bleu=bleu))
    return tuple(found)
