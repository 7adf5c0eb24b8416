"""Comparisons of made-up runs, by hand."""

from typing import Any

import pytest

from attendo.evaluation.estimates import Verdict
from attendo.paper.comparison import with_verdict
from attendo.paper.table3.study import compare_rows


def test_rows_against_the_base_row(make_result: Any) -> None:
    results = [
        # The paper: h 1 has 0.37 more perplexity and 0.9 less BLEU; 8 layers have 0.04 less and 0.3 less.
        *(make_result("c-n8", seed, 7.0 + seed, 33.0 + seed) for seed in (3, 2, 1)),
        *(make_result("base", seed, 7.5 + seed, 32.0 + seed) for seed in (1, 2, 3)),
        *(make_result("a-h1", seed, 8.0 + seed, 31.9 + (-1) ** seed) for seed in (1, 2)),
    ]
    base, single, deep = compare_rows(results)
    assert (base.row, single.row, deep.row) == ("base", "a-h1", "c-n8")  # the paper's order
    assert not base.differences
    assert base.figures["bleu"].mean == pytest.approx(34.0)
    # By seed all differences are the same, though the figures themselves spread by whole points: no interval at all.
    assert deep.differences["bleu"].ours.mean == pytest.approx(1.0)
    assert deep.differences["bleu"].ours.half_width == pytest.approx(0.0, abs=1e-9)
    assert deep.differences["bleu"].expected.printed == pytest.approx(-0.3)
    assert deep.differences["bleu"].verdict is Verdict.OTHER_WAY_ROUND
    assert deep.differences["perplexity"].ours.mean == pytest.approx(-0.5)
    assert deep.differences["perplexity"].verdict is Verdict.AS_IN_THE_PAPER
    # BLEU of the two seeds that there are: 30.9 - 33 = -2.1 and 32.9 - 34 = -1.1, so -1.6 +- 12.706 x 0.5.
    assert single.differences["bleu"].ours.mean == pytest.approx(-1.6)
    assert single.differences["bleu"].ours.half_width == pytest.approx(12.706 * 0.5, rel=1e-4)
    assert single.differences["bleu"].verdict is Verdict.NOT_TOLD_APART
    assert with_verdict([base, single, deep], "bleu", Verdict.OTHER_WAY_ROUND) == ["c-n8"]
    assert with_verdict([base, single, deep], "perplexity", Verdict.AS_IN_THE_PAPER) == ["a-h1", "c-n8"]


def test_without_the_base_row_nothing_is_compared(make_result: Any) -> None:
    (alone,) = compare_rows([make_result("big", 1, 6.0, 34.0)])
    assert not alone.differences
    assert alone.figures["bleu"].mean == 34.0
