"""Alignment error rate by worked examples."""

import pytest

from attendo.errors import DataError
from attendo.evaluation.alignment_error import alignment_score

Links = list[frozenset[tuple[int, int]]]


def links(text: str) -> frozenset[tuple[int, int]]:
    pairs = (each.split("-") for each in text.split())
    return frozenset((int(source), int(target)) for source, target in pairs)


def test_a_worked_example() -> None:
    # Found 4 links: 2 sure, 1 possible, 1 wrong. Sure are 3. Precision 3/4, recall 2/3, AER 1 - (2 + 3) / (4 + 3).
    found, sure, possible = links("0-0 1-1 2-1 3-3"), links("0-0 1-1 2-2"), links("2-1")
    score = alignment_score([found], [sure], [possible])
    assert score.precision == pytest.approx(3 / 4)
    assert score.recall == pytest.approx(2 / 3)
    assert score.aer == pytest.approx(2 / 7)


def test_sure_links_are_possible_and_links_count_over_all_sentences() -> None:
    found: Links = [links("0-0"), links("0-0 1-1 2-2")]
    sure: Links = [links("0-0 1-1"), links("0-0")]
    score = alignment_score(found, sure)
    assert (score.precision, score.recall) == (2 / 4, 2 / 3)
    assert score.aer == pytest.approx(1 - (2 + 2) / (4 + 3))
    assert alignment_score(sure, sure, [frozenset(), frozenset()]).aer == 0
    # Alone the sentences would have an error of 1/3 and of 1/2, of which this is no mean.
    assert score.aer != pytest.approx((1 / 3 + 1 / 2) / 2)


def test_nothing_found_and_nothing_sure() -> None:
    none: Links = [frozenset()]
    score = alignment_score(none, [links("0-0")])
    assert (score.precision, score.recall, score.aer) == (1.0, 0.0, 1.0)
    score = alignment_score([links("0-0")], none, [links("0-0")])
    assert (score.precision, score.recall, score.aer) == (1.0, 1.0, 0.0)


def test_what_cannot_be_scored_is_told() -> None:
    with pytest.raises(DataError, match="alignments of 1 sentences, sure links of 2 and possible ones of 2"):
        alignment_score([links("0-0")], [links("0-0")] * 2)
    with pytest.raises(DataError, match="no sentence has a link"):
        alignment_score([frozenset()], [frozenset()])
