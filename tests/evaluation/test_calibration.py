"""Learning to be as sure as one may be, from sentences whose truth is known because it was drawn."""

import random
from collections.abc import Sequence
from dataclasses import asdict, replace

import numpy as np
import pytest
import torch

from attendo.errors import DataError
from attendo.evaluation.calibration import (
    JudgedTranslation,
    chrf,
    confidence_of,
    fit,
    held_out,
    is_close,
    people_agree,
    token_probability,
    weighted,
)
from attendo.evaluation.confidence import features
from attendo.evaluation.reliability import reliability


def drawn(count: int, seed: int = 1) -> list[JudgedTranslation]:
    """Sentences that come close the less often the more their tokens cost and the shorter they are."""
    generator = random.Random(seed)
    found = []
    for number in range(count):
        cost, length = generator.uniform(0, 2) ** 2, generator.randrange(10, 40)
        logit = 3 - 2.5 * cost**0.5 - 1.5 * max(0.0, np.log(45 / (length + 5)) - 0.4)
        close = generator.random() < 1 / (1 + np.exp(-logit))
        found.append(
            JudgedTranslation(source=f"{number:040}", text="x" * length, token_log_probs=(-cost,) * 3, close=close)
        )
    return found


def test_what_is_learned_holds_for_others() -> None:
    learned = fit(drawn(3000))
    others = drawn(3000, seed=2)
    found = reliability([confidence_of(learned, one) for one in others], [one.close for one in others])
    assert found.error <= 0.035, "as good as chance allows on 3,000 sentences, twice"
    without = reliability([token_probability(one) for one in others], [one.close for one in others])
    assert without.error > 3 * found.error


def test_each_set_counts_as_much_as_another() -> None:
    small, large = drawn(200), drawn(600, seed=3)
    both = weighted([small, large])
    assert [one.weight for one in both] == pytest.approx([2.0] * 200 + [2 / 3] * 600)
    # A weight of 3 to 1 is each of the small set three times.
    assert asdict(fit(both))["surprise"] == pytest.approx(asdict(fit([*small * 3, *large]))["surprise"], rel=1e-3)


def test_sets_count_by_their_weights() -> None:
    small, large = drawn(200), drawn(600, seed=3)
    once, twice = weighted([small, large], [1.0, 3.0]), weighted([small, large], [2.0, 6.0])
    assert [one.weight for one in once] == pytest.approx([1.0] * 800)
    assert once == twice


def test_familiar_words_are_learned_from() -> None:
    # Translations of sentences about servers come close twice as often at the same probabilities.
    words = {"server": 2.0, "kitten": -1.0}
    judged = [
        replace(one, source=f"{'server' if number % 2 else 'kitten'} {number:030}", close=one.close or number % 2 > 0)
        for number, one in enumerate(drawn(2000))
    ]
    with_words, without = (
        max(
            reliability([confidence_of(learned, one) for one in half], [one.close for one in half]).error
            for half in (judged[0::2], judged[1::2])
        )
        for learned in (fit(judged, words), fit(judged))
    )
    assert with_words < 0.5 * without
    assert held_out(judged, words) == pytest.approx(
        [confidence_of(fit(judged, words), one) for one in judged], abs=0.05
    )


def test_the_weights_are_the_best_by_torchs_own_gradients() -> None:
    words = {"a": 1.0, "b": -2.0}
    judged = [replace(one, source=f"{'a b a a'[: number % 7]} {one.source}") for number, one in enumerate(drawn(400))]
    learned = fit(judged, words)
    figures = torch.tensor(
        [features(one.source, one.text, one.token_log_probs, learned.log_ratio, words) for one in judged],
        dtype=torch.float64,
    )
    scaled = (figures - figures.mean(dim=0)) / figures.std(dim=0, correction=0).clamp(min=1e-6)
    names = (
        "surprise",
        "shortness",
        "total_surprise",
        "length",
        "squared_length",
        "scaled_shortness",
        "familiarity",
        "familiar_surprise",
    )
    weights = torch.tensor([getattr(learned, name).weight for name in names], dtype=torch.float64, requires_grad=True)
    bias = torch.tensor(learned.bias, dtype=torch.float64, requires_grad=True)
    outcomes = torch.tensor([float(one.close) for one in judged], dtype=torch.float64)
    loss = torch.nn.functional.binary_cross_entropy_with_logits(scaled @ weights + bias, outcomes, reduction="sum")
    ridged = loss + 0.05 * (weights**2).sum()  # a ridge of 0.1, halved as it is differentiated
    for slope in torch.autograd.grad(ridged, (weights, bias)):
        assert slope.abs().max() < 1e-6


def test_no_sentence_is_judged_by_itself() -> None:
    judged = drawn(200)
    before = held_out(judged)
    for place in (0, 17, 199):
        changed = [*judged]
        changed[place] = replace(judged[place], close=not judged[place].close)
        after = held_out(changed)
        assert after[place] == before[place]
        assert after != before


def test_held_out_is_near_to_what_all_teach() -> None:
    judged = drawn(1000)
    learned = fit(judged)
    assert held_out(judged) == pytest.approx([confidence_of(learned, one) for one in judged], abs=0.05)


@pytest.mark.parametrize("judge", [fit, held_out])
def test_too_little_to_learn_from(judge: object) -> None:
    assert callable(judge)
    with pytest.raises(DataError, match="99 different sentences are too few to learn from; take 100 or more"):
        judge(drawn(99))
    for close, count in ((True, 200), (False, 0)):
        with pytest.raises(DataError, match=f"{count} of 200 translations are close to their references"):
            judge([replace(one, close=close) for one in drawn(200)])


def test_close_is_so_much_chrf_to_one_of_the_references() -> None:
    metric = chrf()
    text, references = "The cat sat on the mat.", ("A dog barked.", "The cat sat on a mat.")
    score = metric.sentence_score(text, ["The cat sat on a mat."]).score
    assert is_close(metric, text, references, score)
    assert not is_close(metric, text, references, score + 0.01)
    assert not is_close(metric, text, references[:1], 50)


@pytest.mark.parametrize(
    ("references", "expected"),
    [
        ([("a", "b"), ("The cat sat there.", "The cat sat here."), ("alone",)], (2, 0.5)),
        ([("same", "same")], (0, 0.0)),
    ],
)
def test_people_agree_so_often(references: Sequence[Sequence[str]], expected: tuple[int, float]) -> None:
    assert people_agree(chrf(), references, 50) == expected
