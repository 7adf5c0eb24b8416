"""Ratios of BLEU: against sacreBLEU's own scores, and an interval whose ends are known."""

import pytest
import sacrebleu

from attendo.evaluation.ratios import Side, bleu_ratio_interval, ratio
from attendo.evaluation.scores import corpus_bleu, corpus_chrf

REFERENCES = ["the old ferry leaves at noon every day", "nobody waits for the last bus home tonight"]
CLEAN = ["the old ferry leaves at noon each day", "nobody waits for the last bus tonight"]
PERTURBED = ["the old ferry leaves", "nobody waits for the last bus home now"]


def test_a_ratio_is_one_score_over_the_other() -> None:
    clean, perturbed = (corpus_bleu(side, REFERENCES) for side in (CLEAN, PERTURBED))
    found = ratio(clean, perturbed)
    expected = [sacrebleu.corpus_bleu(side, [REFERENCES]).score for side in (CLEAN, PERTURBED)]
    assert (found.clean, found.perturbed) == pytest.approx(tuple(expected))
    assert found.ratio == pytest.approx(expected[1] / expected[0])
    nothing = corpus_bleu(["x", "y"], REFERENCES)
    assert ratio(nothing, clean).ratio is None


def test_scores_alone_are_sacrebleus() -> None:
    assert corpus_chrf(CLEAN, REFERENCES).score == pytest.approx(sacrebleu.corpus_chrf(CLEAN, [REFERENCES]).score)
    capitals = [line.upper() for line in CLEAN]
    found = corpus_bleu(capitals, REFERENCES, lowercase=True)
    assert found.score == pytest.approx(sacrebleu.corpus_bleu(capitals, [REFERENCES], lowercase=True).score)
    assert "case:lc" in found.signature


def test_the_interval_of_two_lines_by_hand() -> None:
    # Of two lines a resample has the first twice (one time in four), both, or the second twice: the ends of the
    # interval are the smallest and the largest ratio of these three.
    def score(side: list[str], lines: tuple[int, int]) -> float:
        return sacrebleu.corpus_bleu([side[i] for i in lines], [[REFERENCES[i] for i in lines]]).score

    ratios = [score(PERTURBED, lines) / score(CLEAN, lines) for lines in ((0, 0), (0, 1), (1, 1))]
    sides = [Side(outputs=side, references=REFERENCES) for side in (CLEAN, PERTURBED)]
    found = bleu_ratio_interval(*sides, target_language="de", num_resamples=400, seed=1)
    assert found == pytest.approx((min(ratios), max(ratios)))
    assert bleu_ratio_interval(*sides, target_language="de", num_resamples=0, seed=1) is None


def test_the_same_output_has_an_interval_of_nothing_and_no_bleu_has_none() -> None:
    side = Side(outputs=CLEAN, references=REFERENCES)
    assert bleu_ratio_interval(side, side, target_language="", num_resamples=50, seed=3) == (1.0, 1.0)
    nothing = Side(outputs=["x", "y"], references=REFERENCES)
    assert bleu_ratio_interval(nothing, side, target_language="", num_resamples=50, seed=3) is None
