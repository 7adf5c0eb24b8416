"""The gate: decides whether a new model replaces the old one, by their translations of text neither was trained on."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, Self

from attendo.evaluation.difference import BleuDifference, bleu_difference
from attendo.evaluation.kept import kept_report
from attendo.evaluation.significance import MetricComparison, compare_outputs
from attendo.terms.expected import expected_terms, lines_with_all_terms
from attendo.terms.glossary import Glossary
from attendo.text_tables import aligned

Outcome = Literal["accepted", "refused", "not enough to tell"]

SIGNIFICANT = 0.05
"""The level of significance: differences with a p-value below it are significant."""
_HEAD: tuple[str, ...] = (
    *("", "before", "after", "difference", "95%", "p bootstrap", "p randomised", "wanted", "met"),
)
_NOT_DECISIVE = "not decisive"
_USEFUL_GAIN = 0.5
"""The smallest useful gain in BLEU; if the interval excludes it, more corrections would not show a useful gain."""


@dataclass(frozen=True, kw_only=True)
class JudgedText:
    """A text with the translations of both models."""

    name: str
    sources: Sequence[str]
    references: Sequence[str]
    before: Sequence[str]
    """Translations by the model before learning."""
    after: Sequence[str]
    """Translations by the new model."""
    domains: Sequence[tuple[str, int]] = ()
    """Names of the domains of the text, in its order, with their numbers of pairs; empty if it has a single domain."""


@dataclass(frozen=True, kw_only=True)
class Check:
    """One condition of the gate."""

    name: str
    before: float
    after: float
    low: float | None
    """Lower end of the 95 % interval of the difference; None if there is no interval."""
    high: float | None
    """Upper end of that interval."""
    p_bootstrap: float | None
    """p-value of the paired bootstrap; None if the test was not made."""
    p_randomization: float | None
    """p-value of the paired approximate randomisation; None if the test was not made."""
    wanted: str
    """The condition, in words."""
    is_met: bool


@dataclass(frozen=True, kw_only=True)
class DomainDifference:
    """The difference on one domain of the general set, which is reported but does not decide."""

    name: str
    pairs: int
    before: float
    after: float
    low: float
    """Lower end of the 95 % interval of the difference."""
    high: float
    """Upper end of that interval."""


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """The decision of the gate, with its conditions."""

    outcome: Outcome
    reason: str
    checks: tuple[Check, ...]
    smallest_visible: float | None = None
    """The smallest gain in BLEU that this number of corrections could have shown."""
    by_domain: tuple[DomainDifference, ...] = ()
    """The differences by domain of the general set."""

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> Self:
        """Returns the verdict that `to_json` returned as a dictionary.

        Raises:
            TypeError: the content is not a verdict.
        """
        checks = tuple(Check(**check) for check in content["checks"])
        by_domain = tuple(DomainDifference(**domain) for domain in content["by_domain"])
        return cls(**{**content, "checks": checks, "by_domain": by_domain})

    def to_json(self) -> dict[str, Any]:
        """Returns the verdict as a dictionary for `json.dumps`."""
        return asdict(self)

    def to_text(self) -> str:
        """Returns the conditions as a table, and the outcome with its reason."""
        lines = [line.rstrip() for line in aligned([_HEAD, *self._rows()], words=1)] if self.checks else []
        return "\n".join([*lines, f"{self.outcome}: {self.reason}"])

    def to_markdown(self) -> list[str]:
        """Returns the conditions as the lines of a Markdown table for a card."""
        return [f"| {' | '.join(row)} |" for row in (_HEAD, ("---",) * len(_HEAD), *self._rows())]

    def _rows(self) -> list[tuple[str, ...]]:
        # The domains of the general set follow it; it is the second condition.
        return [*map(_cells, self.checks[:2]), *map(_domain_cells, self.by_domain), *map(_cells, self.checks[2:])]


def judge(
    held_out: JudgedText,
    general: JudgedText,
    *,
    languages: tuple[str, str],
    max_loss: float,
    glossary: Glossary | None = None,
) -> Verdict:
    """Compares the new model with the one it was made from.

    Args:
        held_out: corrections that the new model was not trained on.
        general: the general set.
        languages: codes of source and target.
        max_loss: maximum loss on the general set in BLEU, by the lower end of the interval.
        glossary: terms that must be used as often as before; None for no terms.
    """
    gain, compared = _difference(held_out, languages[1])
    loss, _ = _difference(general, languages[1], tests=False)
    assert compared is not None
    corrections_check = _gain_check(held_out, gain, compared)
    checks = [corrections_check, _loss_check(general, loss, max_loss)]
    for text in (held_out, general):
        checks.append(_kept_check(text, languages))
        if glossary is not None:
            checks.append(_terms_check(text, glossary))
    outcome, reason = _outcome(corrections_check, checks[1:], gain)
    return Verdict(
        outcome=outcome,
        reason=reason,
        checks=tuple(checks),
        smallest_visible=gain.smallest_visible,
        by_domain=_by_domain(general, languages[1]),
    )


def _outcome(corrections: Check, others: Sequence[Check], gain: BleuDifference) -> tuple[Outcome, str]:
    """Returns the outcome that follows from the conditions, with its reason."""
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
    difference = bleu_difference(text.before, text.after, text.references, target_language=target_language)
    if not tests:
        return difference, None
    compared = compare_outputs(
        text.before, text.after, text.references,
        name_a="before", name_b="after", target_language=target_language, metric_names=("bleu",),
    )  # fmt: skip
    return difference, compared.metrics[0]


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
    """Checks that lines keep numbers, placeholders and other values no worse than before, by a sign test over lines."""
    before, after = (_good_lines(text, outputs, languages) for outputs in (text.before, text.after))
    return _lines_check(f"{text.name}: lines with all values kept, %", before, after)


def _terms_check(text: JudgedText, glossary: Glossary) -> Check:
    """Checks that lines use the terms of their references no worse than before, by a sign test over the lines."""
    expected = expected_terms(glossary, text.sources, text.references)
    before, after = (list(lines_with_all_terms(expected, outputs).values()) for outputs in (text.before, text.after))
    return _lines_check(f"{text.name}, {len(before):,} lines with terms: all used, %", before, after)


def _lines_check(name: str, before: Sequence[bool], after: Sequence[bool]) -> Check:
    """Checks that the number of good lines is not significantly lower than before."""
    worse = sum(was and not now for was, now in zip(before, after, strict=True))
    better = sum(now and not was for was, now in zip(before, after, strict=True))
    p_value = _sign_test(worse, better)
    total = max(len(before), 1)
    return Check(
        name=name,
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
    """Returns for each line whether it keeps all values that source and reference share, and invents none."""
    codes = {"source_language": languages[0], "target_language": languages[1]}
    reports = (
        kept_report([s], [o], [r], **codes) for s, o, r in zip(text.sources, outputs, text.references, strict=True)
    )
    return [report.good_lines == report.lines for report in reports]


def _sign_test(worse: int, better: int) -> float:
    """Returns the probability that chance alone makes at least `worse` of the changed lines worse (one-sided)."""
    changed = worse + better
    return float(sum(math.comb(changed, number) for number in range(worse, changed + 1)) / 2**changed)


def _by_domain(text: JudgedText, target_language: str) -> tuple[DomainDifference, ...]:
    differences, start = [], 0
    for name, number in text.domains:
        rows = slice(start, start + number)
        start += number
        if not number:
            continue
        difference = bleu_difference(
            text.before[rows], text.after[rows], text.references[rows], target_language=target_language
        )
        differences.append(
            DomainDifference(
                name=name,
                pairs=number,
                before=difference.a,
                after=difference.b,
                low=difference.low,
                high=difference.high,
            )
        )
    return tuple(differences)


def _cells(check: Check) -> tuple[str, ...]:
    interval = "" if check.low is None or check.high is None else f"{check.low:+.2f} to {check.high:+.2f}"
    p_values = ("" if p is None else f"{p:.4f}" for p in (check.p_bootstrap, check.p_randomization))
    figures = (*_figures(check), interval, *p_values)
    return (check.name, *figures, check.wanted, "yes" if check.is_met else "no")


def _domain_cells(domain: DomainDifference) -> tuple[str, ...]:
    interval = f"{domain.low:+.2f} to {domain.high:+.2f}"
    return (
        f"of which {domain.name}, {domain.pairs:,} pairs: BLEU",
        *_figures(domain),
        interval,
        "",
        "",
        _NOT_DECISIVE,
        "",
    )


def _figures(row: Check | DomainDifference) -> tuple[str, str, str]:
    return f"{row.before:.2f}", f"{row.after:.2f}", f"{row.after - row.before:+.2f}"
