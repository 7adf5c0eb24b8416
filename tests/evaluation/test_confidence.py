"""How sure a translation is: by hand, with round figures."""

import math
from dataclasses import replace

import pytest

from attendo.decoding.lines.translation import Candidate, Translation
from attendo.evaluation.confidence import (
    Confidence,
    FeatureWeight,
    features,
    is_junk,
    length_ratio,
    shortness,
    surprise,
)

LEARNED = Confidence(
    bias=1.0,
    log_ratio=0.0,
    surprise=FeatureWeight(mean=0.5, scale=0.25, weight=-2.0),
    shortness=FeatureWeight(mean=0.0, scale=1.0, weight=-1.0),
)


def candidate(text: str, *token_log_probs: float) -> Candidate:
    return Candidate(
        text=text,
        ids=(),
        pieces=(),
        log_prob=sum(token_log_probs),
        score=0.0,
        token_log_probs=token_log_probs,
        finished=True,
    )


def translation(source: str, *candidates: Candidate) -> Translation:
    return Translation(source=source, text=candidates[0].text, score=0, log_prob=0, n_best=candidates, read=source)


def test_surprise_is_the_root_of_what_a_token_costs() -> None:
    assert surprise([-0.04, -0.04]) == pytest.approx(0.2)
    assert surprise([0.0, -0.5]) == pytest.approx(0.5)
    assert surprise([1e-12]) == 0, "a rounding error above probability 1 is none"


def test_shortness_counts_what_is_missing_and_not_what_is_more() -> None:
    # 15 and 25 characters, and 5 added to each: half as long and half as long again as 45 are.
    assert length_ratio("x" * 15, "y" * 35) == pytest.approx(math.log(2))
    assert shortness("x" * 35, "y" * 15, log_ratio=0.0) == pytest.approx(math.log(2))
    assert shortness("x" * 35, "y" * 15, log_ratio=math.log(2)) == pytest.approx(math.log(4))
    assert shortness("x" * 15, "y" * 35, log_ratio=0.0) == 0


def test_the_probability_is_the_logistic_function_of_both() -> None:
    # Surprise 1 is two deviations above the mean; half the length is log 2: 1 - 2 * 2 - log 2.
    best = candidate("y" * 15, -1.0, -1.0)
    expected = 1 / (1 + math.exp(3 + math.log(2)))
    assert LEARNED(translation("x" * 35, best), best) == pytest.approx(expected)


def test_length_and_total_surprise_count_where_they_were_learned() -> None:
    # Four tokens of probability 1/e cost 4 in all; 15 characters and 5 are 20; the translation is 10 for 20.
    long = math.log(20)
    short = math.log(2)
    found = features("x" * 15, "y" * 5, [-1.0] * 4, 0.0, {"x" * 15: 1.5})
    assert found == pytest.approx((1.0, short, 2.0, long, long**2, short * math.sqrt(20), 1.5, 3.0))
    learned = replace(
        LEARNED,
        total_surprise=FeatureWeight(mean=1.0, scale=0.5, weight=-1.0),
        length=FeatureWeight(mean=0.0, scale=2.0, weight=3.0),
        squared_length=FeatureWeight(mean=1.0, scale=1.0, weight=-0.5),
        scaled_shortness=FeatureWeight(mean=0.0, scale=2.0, weight=-1.0),
    )
    # The two of before add -3 - log 2 to the bias; total surprise is two deviations above the mean.
    logit = -3 - short - 2 + 1.5 * long - 0.5 * (long**2 - 1) - short * math.sqrt(20) / 2
    assert learned.of("x" * 15, "y" * 5, [-1.0] * 4) == pytest.approx(1 / (1 + math.exp(-logit)))


def test_an_extreme_translation_is_no_overflow() -> None:
    assert LEARNED.of("a", "b", [-1e9]) == 0.0
    assert LEARNED.of("a", "b", [-0.0]) == pytest.approx(1 / (1 + math.exp(-5)))


def test_only_the_best_candidate_has_one() -> None:
    best, other = candidate("one", -0.1), candidate("two", -0.1)
    found = translation("eins", best, other)
    assert LEARNED(found, best) is not None
    assert LEARNED(found, other) is None


def test_what_the_model_has_not_written_has_none() -> None:
    nothing = candidate("")
    assert LEARNED(translation("   ", nothing), nothing) is None


@pytest.mark.parametrize(
    ("source", "is_no_sentence"),
    [
        ("x" * 1000, True),
        ("SGVsbG8gd29ybGQhIFRoaXMgaXMgYmFzZTY0IGVuY29kZWQgdGV4dCwgMTIzNDU2Nzg5MA==", True),
        ("see SGVsbG8gd29ybGQhIFRoaXMgaXMgYmFzZTY0IGVuY29kZWQgdGV4dCwgMTIzNDU2Nzg5MA", True),
        ("Ich wei\u00df nicht, wo das Haus ist.", True),
        ("Je ne sais pas o\u00f9 est la maison.", True),
        ("I do not know where the house is.", False),
        ("The house.", False),
        ("", False),
    ],
)
def test_junk_has_hardly_any_confidence(source: str, is_no_sentence: bool) -> None:
    best = candidate("y" * max(1, len(source)), -0.01)
    english = replace(LEARNED, source_language="en")
    sure = english(translation(source, best), best)
    assert sure is not None
    assert (sure <= 0.1) is is_no_sentence
    assert is_junk(source, "en") is is_no_sentence


def test_junk_that_is_given_back_has_none_at_all() -> None:
    nothing = candidate("x")
    for guard in ("verbatim", "scripts"):
        given_back = replace(translation("x", nothing), guards=(guard,))
        assert LEARNED(given_back, nothing) == 0.0


def test_a_language_is_only_looked_at_where_it_is_known() -> None:
    assert not is_junk("Ich wei\u00df nicht, wo das Haus ist.", "")
