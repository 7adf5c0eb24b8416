"""The gate: whether a new model takes the old one's place, by what both write on text that neither was trained on."""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from attendo.evaluation.difference import BleuDifference, bleu_difference
from attendo.evaluation.kept import kept_report
from attendo.evaluation.significance import MetricComparison, compare_outputs
from attendo.text_tables import aligned

Outcome = Literal["accepted", "refused", "not enough to tell"]

SIGNIFICANT = 0.05
"""A p-value below this one is no chance."""
_HEAD: tuple[str, ...] = (
    *("", "before", "after", "difference", "95%", "p bootstrap", "p randomised", "wanted", "met"),
)
_USEFUL_GAIN = 0.5
"""BLEU; where the interval excludes as much, more corrections would show no gain worth having."""


@dataclass(frozen=True, kw_only=True)
class JudgedText:
    """A text with what both models wrote."""

    name: str
    sources: Sequence[str]
    references: Sequence[str]
    before: Sequence[str]
    """Translations by the model as it was."""
    after: Sequence[str]
    """Translations by the new one."""


@dataclass(frozen=True, kw_only=True)
class Check:
    """One condition of the gate."""

    name: str
    before: float
    after: float
    low: float | None
    """Lower end of the 95 % interval of the difference; None where it has none."""
    high: float | None
    p_bootstrap: float | None
    """Of the paired bootstrap; None where it was not asked for."""
    p_randomization: float | None
    """Of the paired approximate randomisation."""
    wanted: str
    """The condition, in words."""
    is_met: bool


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """What the gate says."""

    outcome: Outcome
    reason: str
    checks: tuple[Check, ...]
    smallest_visible: float | None = None
    """The smallest gain in BLEU that this many corrections could have shown."""

    def to_json(self) -> dict[str, Any]:
        """A dictionary for `json.dumps`."""
        return asdict(self)

    def to_text(self) -> str:
        """The conditions as a table, and the outcome with its reason."""
        rows = [_HEAD, *map(_cells, self.checks)]
        lines = [line.rstrip() for line in aligned(rows, words=1)] if self.checks else []
        return "\n".join([*lines, f"{self.outcome}: {self.reason}"])

    def to_markdown(self) -> list[str]:
        """The conditions as a table for a card."""
        rows = [_HEAD, ("---",) * len(_HEAD), *map(_cells, self.checks)]
        return [f"| {' | '.join(row)} |" for row in rows]


def judge(held_out: JudgedText, general: JudgedText, *, languages: tuple[str, str], max_loss: float) -> Verdict:
    """Compares the new model with the one it was made from.

    Args:
        held_out: corrections that the new model did not read.
        general: other text.
        languages: codes of source and target.
        max_loss: BLEU that the general set may lose, by the lower end of the interval.
    """
    gain, compared = _difference(held_out, languages[1])
    loss, _ = _difference(general, languages[1], tests=False)
    assert compared is not None
    corrections_check = _gain_check(held_out, gain, compared)
    general_check = _loss_check(general, loss, max_loss)
    checks = [corrections_check, general_check, *(_kept_check(text, languages) for text in (held_out, general))]
    outcome, reason = _outcome(corrections_check, checks[1:], gain)
    return Verdict(outcome=outcome, reason=reason, checks=tuple(checks), smallest_visible=gain.smallest_visible)


def _outcome(corrections: Check, others: Sequence[Check], gain: BleuDifference) -> tuple[Outcome, str]:
    """What follows from the conditions, and why."""
    if failed := [check for check in others if not check.is_met]:
        return "refused", "; ".join(f"{check.name}: {check.wanted} is not met" for check in failed)
    if corrections.is_met:
        return "accepted", f"corrections {gain.gain:+.2f} BLEU, and nothing else is worse"
    smallest = f"a gain of {gain.smallest_visible:.2f} BLEU could have been seen, and {gain.gain:+.2f} was"
    if gain.high < _USEFUL_GAIN:
        return "refused", f"nothing was learned from the corrections: {smallest}"
    return "not enough to tell", f"{smallest}: collect more corrections"


def _difference(
    text: JudgedText, target_language: str, *, tests: bool = True
) -> tuple[BleuDifference, MetricComparison | None]:
    found = bleu_difference(text.before, text.after, text.references, target_language=target_language)
    if not tests:
        return found, None
    compared = compare_outputs(
        text.before, text.after, text.references,
        name_a="before", name_b="after", target_language=target_language, metric_names=("bleu",),
    )  # fmt: skip
    return found, compared.metrics[0]


def _gain_check(text: JudgedText, gain: BleuDifference, compared: MetricComparison) -> Check:
    p_values = compared.bootstrap.p_value, compared.randomization.p_value
    return Check(
        name=f"{text.name}, {len(text.references):,} pairs: BLEU",
        before=gain.a,
        after=gain.b,
        low=gain.low,
        high=gain.high,
        p_bootstrap=p_values[0],
        p_randomization=p_values[1],
        wanted=f"better, p < {SIGNIFICANT}",
        is_met=compared.better == "b" and max(p_values) < SIGNIFICANT,
    )


def _loss_check(text: JudgedText, loss: BleuDifference, max_loss: float) -> Check:
    return Check(
        name=f"{text.name}, {len(text.references):,} pairs: BLEU",
        before=loss.a,
        after=loss.b,
        low=loss.low,
        high=loss.high,
        p_bootstrap=None,
        p_randomization=None,
        wanted=f"interval above -{max_loss:g}",
        is_met=loss.low > -max_loss,
    )


def _kept_check(text: JudgedText, languages: tuple[str, str]) -> Check:
    """Whether lines keep their numbers, placeholders and other values as before, by a sign test over the lines."""
    before, after = (_good_lines(text, outputs, languages) for outputs in (text.before, text.after))
    worse = sum(was and not now for was, now in zip(before, after, strict=True))
    better = sum(now and not was for was, now in zip(before, after, strict=True))
    p_value = _sign_test(worse, better)
    total = max(len(before), 1)
    return Check(
        name=f"{text.name}: lines with all values kept, %",
        before=100 * sum(before) / total,
        after=100 * sum(after) / total,
        low=None,
        high=None,
        p_bootstrap=None,
        p_randomization=None,
        wanted=f"not worse (sign test, p {p_value:.3f})",
        is_met=worse <= better or p_value >= SIGNIFICANT,
    )


def _good_lines(text: JudgedText, outputs: Sequence[str], languages: tuple[str, str]) -> list[bool]:
    """Of each line, whether all values are kept that both source and reference have, and none is invented."""
    codes = {"source_language": languages[0], "target_language": languages[1]}
    reports = (
        kept_report([s], [o], [r], **codes) for s, o, r in zip(text.sources, outputs, text.references, strict=True)
    )
    return [report.good_lines == report.lines for report in reports]


def _sign_test(worse: int, better: int) -> float:
    """How often chance alone makes this many lines worse of those that changed, or more."""
    changed = worse + better
    return float(sum(math.comb(changed, number) for number in range(worse, changed + 1)) / 2**changed)


def _cells(check: Check) -> tuple[str, ...]:
    interval = "" if check.low is None or check.high is None else f"{check.low:+.2f} to {check.high:+.2f}"
    p_values = ("" if p is None else f"{p:.4f}" for p in (check.p_bootstrap, check.p_randomization))
    difference = f"{check.after - check.before:+.2f}"
    figures = (f"{check.before:.2f}", f"{check.after:.2f}", difference, interval)
    return (check.name, *figures, *p_values, check.wanted, "yes" if check.is_met else "no")
