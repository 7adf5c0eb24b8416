"""The trained rows held beside each other, d_k by d_k, and what that says about the sentences of Section 3.2.1."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from attendo.model.config import AttentionFunction
from attendo.paper.attention_functions.cost import WHOLE, Cost
from attendo.paper.attention_functions.heads import MeasuredHeads
from attendo.paper.attention_functions.rows import ADDITIVE, FUNCTIONS, SCALED, SHORT, UNSCALED, Row
from attendo.paper.run_results import RunResult
from attendo.paper.statistics import Estimate, estimate

PAIRS: tuple[tuple[AttentionFunction, AttentionFunction], ...] = (
    (UNSCALED, SCALED),
    (ADDITIVE, SCALED),
    (UNSCALED, ADDITIVE),
)
"""What is held against what."""


@dataclass(frozen=True, kw_only=True)
class MeasuredRun:
    """A run that is done."""

    row: Row
    result: RunResult
    heads: MeasuredHeads


@dataclass(frozen=True, kw_only=True)
class RowSummary:
    """A row of which at least one run is done; means over seeds."""

    row: Row
    runs: tuple[RunResult, ...]
    perplexity: Estimate
    bleu: Estimate
    heads: tuple[MeasuredHeads, ...]

    def to_json(self) -> dict[str, Any]:
        """For `result.json`."""
        return {
            "function": self.row.function,
            "d_k": self.row.d_k,
            "parameters": self.runs[0].parameters,
            "perplexity": asdict(self.perplexity),
            "bleu": asdict(self.bleu),
            "heads": [asdict(heads) for heads in self.heads],
        }


@dataclass(frozen=True, kw_only=True)
class Difference:
    """Of a function to another one at one d_k, paired by seed."""

    d_k: int
    function: AttentionFunction
    other: AttentionFunction
    perplexity: Estimate
    bleu: Estimate

    def to_json(self) -> dict[str, Any]:
        """For `result.json`."""
        return asdict(self)


@dataclass(frozen=True, kw_only=True)
class Claim:
    """A sentence of the paper, and what was found here."""

    text: str
    found: str
    verdict: str

    def to_json(self) -> dict[str, Any]:
        """For `result.json`."""
        return asdict(self)


HOLDS, FAILS, OPEN = "holds here", "does not hold here", "not told apart at this scale"


def summarise(runs: Sequence[MeasuredRun]) -> tuple[RowSummary, ...]:
    """Rows of which something is done, by d_k and then by function."""
    found: dict[Row, list[MeasuredRun]] = {}
    for run in runs:
        found.setdefault(run.row, []).append(run)
    order = sorted(found, key=lambda row: (row.d_k, FUNCTIONS.index(row.function)))
    return tuple(
        RowSummary(
            row=row,
            runs=tuple(run.result for run in found[row]),
            perplexity=estimate([run.result.perplexity for run in found[row]]),
            bleu=estimate([run.result.bleu for run in found[row]]),
            heads=tuple(run.heads for run in found[row]),
        )
        for row in order
    )


def differences(runs: Sequence[MeasuredRun]) -> tuple[Difference, ...]:
    """Of each of `PAIRS` at each d_k where a seed has both."""
    by_row: dict[Row, dict[int, RunResult]] = {}
    for run in runs:
        by_row.setdefault(run.row, {})[run.result.seed] = run.result
    found = []
    for d_k in sorted({row.d_k for row in by_row}):
        for function, other in PAIRS:
            ours, theirs = (by_row.get(Row(function=each, d_k=d_k), {}) for each in (function, other))
            if both := sorted(ours.keys() & theirs.keys()):
                found.append(
                    Difference(
                        d_k=d_k,
                        function=function,
                        other=other,
                        perplexity=estimate([ours[seed].perplexity - theirs[seed].perplexity for seed in both]),
                        bleu=estimate([ours[seed].bleu - theirs[seed].bleu for seed in both]),
                    )
                )
    return tuple(found)


def sign(found: Estimate) -> int:
    """1 or -1 where a difference's interval leaves out zero, on that side; 0 where it cannot say."""
    if found.low is None or found.high is None or found.low <= 0 <= found.high:
        return 0
    return 1 if found.mean > 0 else -1


def claims(found: Sequence[Difference], costs: Sequence[Cost], key_sizes: Sequence[int]) -> tuple[Claim, ...]:
    """The paper's sentences, each with what is known here already.

    Args:
        found: the differences.
        costs: of the functions.
        key_sizes: d_k of the rows, from the smallest up.
    """
    by_key = {(one.d_k, one.function, one.other): one.perplexity for one in found}
    smallest, largest = key_sizes[0], key_sizes[-1]
    told = (
        (
            f"For small d_k additive and unscaled dot-product attention do about as well (here d_k {smallest}).",
            by_key.get((smallest, UNSCALED, ADDITIVE)),
            (OPEN, FAILS, FAILS),
            "unscaled less additive",
        ),
        (
            f"For large d_k additive attention does better than the unscaled dot product (here d_k {largest}).",
            by_key.get((largest, UNSCALED, ADDITIVE)),
            (OPEN, HOLDS, FAILS),
            "unscaled less additive",
        ),
        (
            f"The scale repairs that: scaled does better than unscaled (here d_k {largest}).",
            by_key.get((largest, UNSCALED, SCALED)),
            (OPEN, HOLDS, FAILS),
            "unscaled less scaled",
        ),
    )
    quality = [
        Claim(
            text=text,
            found=f"{name}: perplexity {with_interval(difference)}",
            verdict=verdicts[sign(difference)],
        )
        for text, difference, verdicts, name in told
        if difference is not None
    ]
    return (*quality, *_cost_claims(costs))


def _cost_claims(costs: Sequence[Cost]) -> tuple[Claim, ...]:
    if not costs:
        return ()
    medians = [cost.ratios[ADDITIVE].median for cost in costs]
    whole = [cost.bytes[WHOLE] / cost.bytes[SCALED] for cost in costs]
    here = [cost.bytes[ADDITIVE] / cost.bytes[SCALED] for cost in costs]
    is_slower = all(cost.ratios[ADDITIVE].low > 1 for cost in costs)
    return (
        Claim(
            text="Dot-product attention is much faster than additive attention.",
            found=f"additive takes {min(medians):.1f} to {max(medians):.1f} times the scaled function's time",
            verdict=HOLDS if is_slower else OPEN,
        ),
        Claim(
            text="Dot-product attention needs less memory.",
            found=f"written as usual, additive needs {min(whole):.1f} to {max(whole):.1f} times as much; as attendo "
            f"computes it, some queries at a time, {min(here):.1f} to {max(here):.1f} times",
            verdict=HOLDS if min(whole) > 1 else FAILS,
        ),
    )


def with_interval(found: Estimate, digits: int = 2) -> str:
    """A difference with its sign, and its interval where there is one."""
    if found.low is None or found.high is None:
        return f"{found.mean:+.{digits}f} (one seed)"
    return f"{found.mean:+.{digits}f} ({found.low:+.{digits}f} to {found.high:+.{digits}f})"


def difference_names() -> Mapping[tuple[AttentionFunction, AttentionFunction], str]:
    """What tables call the pairs."""
    return {pair: f"{SHORT[pair[0]]} - {SHORT[pair[1]]}" for pair in PAIRS}
