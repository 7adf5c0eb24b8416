"""The formula by hand and by torch, the rows' recipes against the paper's, and comparisons of made-up runs."""

import math
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest
import torch

from attendo.evaluation.estimates import Verdict
from attendo.paper.experiment import Scale, StudyRequest
from attendo.paper.label_smoothing.study import (
    BY_NAME,
    EPSILONS,
    PRINTED,
    Read,
    best_probability,
    compare_rows,
    recipes,
)
from attendo.paper.rows_study import MeasuredRun
from attendo.paper.table3.study import ROWS, full_size
from attendo.recipe import Recipe
from attendo.training.passes.loss import token_loss
from attendo.workflow.evaluation.token_calibration import Predictions, calibration, pooled

Runs = list[Read]


def test_the_smoothed_loss_by_hand_and_by_torch() -> None:
    # Four words, of which the model gives 1/2, 1/4, 1/8 and 1/8; the first is right. With eps_ls 0.2 the target is
    # 0.85, 0.05, 0.05 and 0.05, so the loss is ln 2 times 0.85 x 1 + 0.05 x (2 + 3 + 3) = 1.25 ln 2, and plain ln 2.
    logits = torch.tensor([[1 / 2, 1 / 4, 1 / 8, 1 / 8]]).log()
    found = token_loss(logits, torch.eye(4), None, torch.tensor([0]), 0.2)
    assert float(found.smoothed) == pytest.approx(1.25 * math.log(2))
    assert float(found.log_loss) == pytest.approx(math.log(2))
    theirs = torch.nn.CrossEntropyLoss(label_smoothing=0.2)(logits, torch.tensor([0]))
    assert float(found.smoothed) == pytest.approx(float(theirs))


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_every_rows_loss_and_gradient_are_torchs(epsilon: float) -> None:
    drawn = torch.Generator().manual_seed(3)
    logits = torch.randn(30, 11, generator=drawn).requires_grad_()
    targets = torch.randint(11, (30,), generator=drawn)
    theirs = torch.nn.CrossEntropyLoss(label_smoothing=epsilon, reduction="sum")(logits, targets)
    [their_gradient] = torch.autograd.grad(theirs, logits)
    ours = token_loss(logits, torch.eye(11), None, targets, epsilon).smoothed
    [our_gradient] = torch.autograd.grad(ours, logits)
    assert float(ours.detach()) == pytest.approx(float(theirs.detach()), rel=1e-6)
    assert torch.allclose(our_gradient, their_gradient, atol=1e-6)


@pytest.mark.parametrize("epsilon", EPSILONS[1:])
def test_the_loss_is_least_at_the_probability_that_is_told(epsilon: float) -> None:
    best, size = best_probability(epsilon, 5), 5
    others = [(1 - best) / (size - 1)] * (size - 1)
    logits = torch.tensor([[best, *others]]).log().requires_grad_()
    loss = torch.nn.CrossEntropyLoss(label_smoothing=epsilon)(logits, torch.tensor([0]))
    [gradient] = torch.autograd.grad(loss, logits)
    assert gradient.abs().max() < 1e-6


def test_the_printed_figures_are_those_of_table_3() -> None:
    rows = {row.name: row for row in ROWS}
    for epsilon, printed in PRINTED.items():
        row = rows[printed.name]
        assert (row.perplexity, row.bleu) == (printed.perplexity, printed.bleu)
        assert row.changes.get("label_smoothing", 0.1) == epsilon


def by_epsilon(scale: Scale) -> dict[float, Recipe]:
    found = recipes(StudyRequest(scale=scale, folder=Path("/nowhere"), seeds=1, jobs=1, data=None, command=""))
    return {BY_NAME[name]: recipe for name, recipe in found.items()}


@pytest.mark.parametrize("scale", get_args(Scale))
def test_the_rows_differ_in_smoothing_alone(scale: Scale) -> None:
    found = by_epsilon(scale)
    assert tuple(found) == EPSILONS
    first = found[0.0]
    for epsilon, recipe in found.items():
        assert recipe.training.label_smoothing == epsilon
        same = replace(recipe, name=first.name, training=replace(recipe.training, label_smoothing=0.0))
        assert same == first
    assert first.training.average_last == 1  # as in Table 3
    assert (first.search.beam_size, first.search.length_penalty) == (4, 0.6)


def test_at_full_size_they_are_table_3s_own_recipes() -> None:
    rows = {row.name: row for row in ROWS}
    found = by_epsilon("paper")
    for epsilon, printed in PRINTED.items():
        assert replace(found[epsilon], name="") == replace(full_size(rows[printed.name]), name="")


@pytest.fixture
def make_run(make_result: Any) -> Any:
    """A run with figures of one's choice; of 200 tokens so many are right, all with one confidence."""

    def make(epsilon: float, seed: int, perplexity: float, bleu: float, right: int, confidence: float) -> Read:
        predictions = Predictions(
            log_prob=np.full(200, -math.log(perplexity)),
            confidence=np.full(200, confidence),
            is_right=np.arange(200) < right,
            entropy=np.full(200, 2 - confidence),
        )
        result = make_result(f"eps-{epsilon}", seed, perplexity, bleu)
        return MeasuredRun(result=result, measured=calibration(predictions))

    return make


@pytest.fixture
def runs(make_run: Any) -> Runs:
    """Two seeds: smoothing costs perplexity for sure, brings accuracy for sure, and BLEU perhaps."""
    return [
        make_run(0.0, 1, 7.0, 30.0, 120, 0.75),
        make_run(0.0, 2, 7.5, 30.5, 122, 0.75),
        make_run(0.1, 2, 7.8, 31.1, 124, 0.65),
        make_run(0.1, 1, 7.3, 30.5, 122, 0.65),
        make_run(0.3, 1, 9.0, 29.0, 118, 0.45),
    ]


def test_rows_against_the_one_without_smoothing(runs: Runs) -> None:
    plain, usual, much = compare_rows(runs)
    assert [one.row for one in (plain, usual, much)] == [0.0, 0.1, 0.3]
    assert plain.differences == {}
    assert [run.result.seed for run in usual.runs] == [1, 2]
    perplexity, accuracy, bleu = (usual.differences[key] for key in ("perplexity", "accuracy", "bleu"))
    # The same 0.3 with both seeds; the paper's 4.92 - 4.67.
    assert perplexity.ours.mean == pytest.approx(0.3)
    assert perplexity.ours.half_width == pytest.approx(0.0, abs=1e-9)
    assert perplexity.expected.printed == pytest.approx(0.25)
    assert perplexity.verdict is Verdict.AS_IN_THE_PAPER
    # Two of 200 tokens more with both seeds; the paper says "improves".
    assert accuracy.ours.mean == pytest.approx(1.0)
    assert (accuracy.expected.printed, accuracy.expected.direction) == (None, 1)
    assert accuracy.verdict is Verdict.AS_IN_THE_PAPER
    # 0.5 and 0.6: 0.55 +- 12.706 x 0.05.
    assert bleu.ours.half_width == pytest.approx(12.706 * 0.05, rel=1e-4)
    assert bleu.expected.printed == pytest.approx(0.5)
    assert bleu.verdict is Verdict.NOT_TOLD_APART
    # "Learns to be more unsure": entropy is up by a tenth.
    assert usual.differences["entropy"].ours.mean == pytest.approx(0.1)
    assert usual.differences["entropy"].verdict is Verdict.AS_IN_THE_PAPER
    # Of 0.3 the paper says nothing.
    assert {difference.verdict for difference in much.differences.values()} == {None}
    assert much.differences["perplexity"].ours.mean == pytest.approx(2.0)
    # 60% and 61% are right, each at a confidence of 75%.
    assert plain.figures["calibration_error"].mean == pytest.approx(75 - 60.5)
    assert pooled([run.measured.bins for run in plain.runs])[7].tokens == 400


def test_without_the_plain_row_nothing_is_compared(runs: Runs) -> None:
    (usual,) = compare_rows([run for run in runs if run.result.row == "eps-0.1"])
    assert usual.differences == {}
    assert usual.figures["bleu"].mean == pytest.approx(30.8)


def test_less_accuracy_is_the_other_way_round(make_run: Any) -> None:
    runs = [make_run(e, s, 7.0, 30.0, right, 0.7) for s in (1, 2) for e, right in ((0.0, 120), (0.1, 118))]
    assert compare_rows(runs)[1].differences["accuracy"].verdict is Verdict.OTHER_WAY_ROUND
