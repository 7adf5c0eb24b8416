"""Comparisons of made-up runs, by hand."""

from typing import Any

import pytest

from attendo.paper.statistics import Verdict
from attendo.paper.table3.comparison import compare, with_verdict


def test_rows_against_the_base_row(make_result: Any) -> None:
    results = [
        # The paper: h 1 has 0.37 more perplexity and 0.9 less BLEU; 8 layers have 0.04 less and 0.3 less.
        *(make_result("c-n8", seed, 7.0 + seed, 33.0 + seed) for seed in (3, 2, 1)),
        *(make_result("base", seed, 7.5 + seed, 32.0 + seed) for seed in (1, 2, 3)),
        *(make_result("a-h1", seed, 8.0 + seed, 31.9 + (-1) ** seed) for seed in (1, 2)),
    ]
    base, single, deep = compare(results)
    assert (base.row.name, single.row.name, deep.row.name) == ("base", "a-h1", "c-n8")  # the paper's order
    assert base.bleu_difference is None
    assert base.bleu.mean == pytest.approx(34.0)
    # By seed all differences are the same, though the figures themselves spread by whole points: no interval at all.
    assert deep.bleu_difference is not None
    assert deep.perplexity_difference is not None
    assert deep.bleu_difference.ours.mean == pytest.approx(1.0)
    assert deep.bleu_difference.ours.half_width == pytest.approx(0.0, abs=1e-9)
    assert deep.bleu_difference.printed == pytest.approx(-0.3)
    assert deep.bleu_difference.verdict is Verdict.OTHER_WAY_ROUND
    assert deep.perplexity_difference.ours.mean == pytest.approx(-0.5)
    assert deep.perplexity_difference.verdict is Verdict.AS_IN_THE_PAPER
    # BLEU of the two seeds that there are: 30.9 - 33 = -2.1 and 32.9 - 34 = -1.1, so -1.6 +- 12.706 x 0.5.
    assert single.bleu_difference is not None
    assert single.bleu_difference.ours.mean == pytest.approx(-1.6)
    assert single.bleu_difference.ours.half_width == pytest.approx(12.706 * 0.5, rel=1e-4)
    assert single.bleu_difference.verdict is Verdict.NOT_TOLD_APART
    assert with_verdict([base, single, deep], Verdict.OTHER_WAY_ROUND, bleu=True) == ["c-n8"]
    assert with_verdict([base, single, deep], Verdict.AS_IN_THE_PAPER, bleu=False) == ["a-h1", "c-n8"]


def test_without_the_base_row_nothing_is_compared(make_result: Any) -> None:
    (alone,) = compare([make_result("big", 1, 6.0, 34.0)])
    assert alone.bleu_difference is None
    assert alone.bleu.mean == 34.0
