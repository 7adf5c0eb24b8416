"""The gate by hand: made-up outputs whose scores and significance can be told without attendo."""

import random
from dataclasses import replace

import pytest
import sacrebleu

from attendo.evaluation.difference import bleu_difference
from attendo.learning.gate import JudgedText, Verdict, judge
from attendo.terms.glossary import Glossary
from attendo.terms.term import Term

WORDS = [f"{first}{second}" for first in "bdfgklmnprst" for second in ("a", "ei", "ong", "ur")]


def lines(number: int, seed: int) -> list[str]:
    generator = random.Random(seed)
    return [" ".join(generator.choices(WORDS, k=8)) for _ in range(number)]


def damaged(references: list[str], share: float, seed: int) -> list[str]:
    """Lines of which some have all their words in another order."""
    generator = random.Random(seed)
    return [
        " ".join(sorted(line.split())) if generator.random() < share else line for line in references
    ]  # fmt: skip


def text(references: list[str], before: list[str], after: list[str], name: str = "text") -> JudgedText:
    return JudgedText(name=name, sources=references, references=references, before=before, after=after)


def verdict(corrections: JudgedText, general: JudgedText, glossary: Glossary | None = None) -> Verdict:
    return judge(corrections, general, languages=("en", "de"), max_loss=0.5, glossary=glossary)


REFERENCES = lines(200, seed=1)
GENERAL = text(REFERENCES, damaged(REFERENCES, 0.3, 2), damaged(REFERENCES, 0.3, 2), name="general")


def test_the_interval_of_a_difference_by_hand() -> None:
    # All right against nothing right: 100 BLEU whatever is drawn. Equal outputs: no difference at all.
    nothing = ["x y z v w"] * 200
    assert bleu_difference(nothing, REFERENCES, REFERENCES).low == pytest.approx(100, abs=0.01)
    same = bleu_difference(REFERENCES, REFERENCES, REFERENCES)
    assert (same.gain, same.low, same.high, same.smallest_visible) == (0, 0, 0, 0)


def test_the_interval_has_the_width_that_chance_gives() -> None:
    # A sentence in ten differs; an error of the share has 1.96 sqrt(0.1 * 0.9 / 200) = 0.042, hence 4.2 BLEU or so.
    found = bleu_difference(damaged(REFERENCES, 0.1, 3), REFERENCES, REFERENCES)
    assert found.low < found.gain < found.high
    assert 2.5 < found.smallest_visible < 6.0


def test_what_is_better_is_accepted() -> None:
    better = text(REFERENCES, damaged(REFERENCES, 0.6, 4), damaged(REFERENCES, 0.2, 4))
    found = verdict(better, GENERAL)
    assert found.outcome == "accepted"
    assert all(check.is_met for check in found.checks)


def test_what_loses_general_text_is_refused() -> None:
    better = text(REFERENCES, damaged(REFERENCES, 0.6, 4), damaged(REFERENCES, 0.2, 4))
    worse = text(REFERENCES, damaged(REFERENCES, 0.3, 2), damaged(REFERENCES, 0.4, 2), name="general")
    found = verdict(better, worse)
    assert found.outcome == "refused"
    assert "interval above -0.5" in found.reason


def test_few_that_are_hardly_better_tell_nothing() -> None:
    few = REFERENCES[:100]
    hardly = text(few, damaged(few, 0.30, 4), damaged(few, 0.29, 4))
    found = verdict(hardly, GENERAL)
    assert found.outcome == "not enough to tell"
    assert found.smallest_visible is not None
    assert f"a gain of {found.smallest_visible:.2f} BLEU could have been seen" in found.reason


def test_what_gains_nothing_is_refused() -> None:
    # As of shuffled pairs: both wrong everywhere, and no chance that hides a gain.
    wrong = [line[::-1] for line in REFERENCES]
    found = verdict(text(REFERENCES, wrong, wrong), GENERAL)
    assert found.outcome == "refused"
    assert "nothing was learned" in found.reason


def test_lost_numbers_are_refused() -> None:
    numbered = [f"{line} {number + 100}" for number, line in enumerate(REFERENCES)]
    before = [" ".join(sorted(line.split()[:-1])) + " " + line.split()[-1] for line in numbered]
    # Far better words, but eight lines have lost their numbers: by chance once in 2^8.
    after = [line if number >= 8 else line.rsplit(" ", 1)[0] for number, line in enumerate(numbered)]
    found = verdict(text(numbered, before, after), GENERAL)
    assert found.outcome == "refused"
    assert "values kept" in found.reason
    assert "p 0.004" in found.reason


def test_terms_that_are_no_longer_used_are_refused() -> None:
    glossary = Glossary(terms=(Term(source="saw", target="Säge"),), source_language="en", target_language="de")
    sources = [f"{line} saws" for line in REFERENCES]
    # The last forty references do not use the term, which is then not expected of a translation.
    references = [f"{line} {'Sägen' if number < 160 else 'Werkzeuge'}" for number, line in enumerate(REFERENCES)]
    before = [f"{' '.join(sorted(line.split()))} Sägen" for line in REFERENCES]
    after = [f"{line} {'Messer' if number < 8 else 'Sägen'}" for number, line in enumerate(REFERENCES)]
    corrections = replace(text(references, before, after), sources=sources)
    found = verdict(corrections, GENERAL, glossary)
    assert found.outcome == "refused"
    # Nothing else is worse; and eight lines lost their term: by chance once in 2^8.
    wanted = "not worse (sign test, p 0.004) is not met"
    assert found.reason == f"text, 160 lines with terms: all used, %: {wanted}"
    *_, in_corrections, _, in_general = found.checks
    assert (in_corrections.before, in_corrections.after) == (100.0, 95.0)
    assert (in_general.name, in_general.is_met) == ("general, 0 lines with terms: all used, %", True)


def test_the_general_set_is_shown_by_domains() -> None:
    before, after = damaged(REFERENCES, 0.3, 2), damaged(REFERENCES, 0.3, 5)
    general = JudgedText(
        name="general", sources=REFERENCES, references=REFERENCES, before=before, after=after,
        domains=[("talk", 150), ("nothing", 0), ("news", 50)],
    )  # fmt: skip
    better = text(REFERENCES, damaged(REFERENCES, 0.6, 4), damaged(REFERENCES, 0.2, 4))
    found = verdict(better, general)
    assert [(each.name, each.pairs) for each in found.by_domain] == [("talk", 150), ("news", 50)]
    for each, rows in zip(found.by_domain, (slice(150), slice(150, None)), strict=True):
        scores = [sacrebleu.corpus_bleu(side[rows], [REFERENCES[rows]]).score for side in (before, after)]
        assert [each.before, each.after] == pytest.approx(scores)
        assert each.low < each.after - each.before < each.high
    assert "of which talk, 150 pairs: BLEU" in found.to_text()
    assert any("of which news, 50 pairs: BLEU" in row and "not decisive" in row for row in found.to_markdown())
    assert Verdict.from_json(found.to_json()) == found
