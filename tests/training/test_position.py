"""Where a run stands, as JSON and back, and what loss is usual."""

import json
import math
from dataclasses import asdict

import pytest

from attendo.training.position import LossSums, Position, UsualLoss, position_of

FULL = Position(
    step=7, epoch=1, batch=3, target_tokens=1234, elapsed_s=1.5, checkpoint_s=0.1, validation_due=True,
    best_score=0.1 + 0.2, best_step=4, evals_without_best=2,
    logged=LossSums(smoothed=1 / 3, log_loss=2 / 3, tokens=50.0), unseen=LossSums(smoothed=1e-300, tokens=1.0),
    usual_loss=UsualLoss(mean=math.pi, tokens=33.3, looks=9), skipped=((0, 4), (1, 2)), diverged_step=5, rollbacks=1,
    max_tokens_at_once=512,
)  # fmt: skip


@pytest.mark.parametrize("position", [Position(), FULL])
def test_json_and_back_to_the_bit(position: Position) -> None:
    assert position_of(json.loads(json.dumps(asdict(position)))) == position


def test_what_an_earlier_attendo_has_not_saved_is_as_at_the_start() -> None:
    """Checkpoints from before these fields were added can be gone on from."""
    found = position_of({"step": 5, "epoch": 1, "batch": 2, "target_tokens": 9, "elapsed_s": 1.0, "best_score": None})
    assert found == Position(step=5, epoch=1, batch=2, target_tokens=9, elapsed_s=1.0)


@pytest.mark.parametrize(
    "content",
    [None, [], "x", {"step": "seven"}, {"step": 1, "steps": 2}, {"skipped": [[1]]}, {"logged": {"tokens": None}},
     {"step": -1}, {"batch": -5}, {"max_tokens_at_once": 0}, {"skipped": [[0, -1]]},
     {"best_score": math.nan}, {"elapsed_s": math.inf},
     {"step": 10**400}],
)  # fmt: skip
def test_what_is_no_position_is_refused(content: object) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        position_of(content)


def usual(*losses: float, tokens: float = 100.0) -> UsualLoss:
    found = UsualLoss()
    for loss in losses:
        found = found.after(loss, tokens)
    return found


def test_the_usual_loss_is_a_mean_that_forgets() -> None:
    # By hand: a plain mean of the first fifty, then each new one counts a fiftieth.
    assert usual(1.0, 2.0, 6.0).mean == pytest.approx(3.0)
    assert usual(*[2.0] * 50, 7.0).mean == pytest.approx(2.1)
    assert usual(*[9.0] * 50, *[3.0] * 400).mean == pytest.approx(3.0, abs=0.01)


def test_what_leaves_it() -> None:
    late = usual(*[2.0] * 20)
    for loss in (math.nan, math.inf, -math.inf):
        assert UsualLoss().is_left_by(loss, 100.0, None, 9.0)
        assert late.is_left_by(loss, 100.0, 4.0, 9.0)
    assert late.is_left_by(6.01, 100.0, 4.0, 9.0)
    assert not late.is_left_by(5.99, 100.0, 4.0, 9.0)
    assert not late.is_left_by(1000.0, 100.0, None, 9.0)
    assert not late.is_left_by(0.0, 100.0, 4.0, 9.0), "a loss may fall as far as it likes"


def test_at_first_it_is_held_against_guessing() -> None:
    early = usual(*[2.0] * 19)
    assert not early.is_left_by(12.9, 100.0, 4.0, 9.0), "too little is known yet"
    assert early.is_left_by(13.1, 100.0, 4.0, 9.0)
    assert UsualLoss().is_left_by(13.1, 100.0, 4.0, 9.0), "a run may diverge with its first updates"
    assert not usual(12.0).is_left_by(15.9, 100.0, 4.0, 9.0), "a model may begin worse than guessing"


def test_a_small_batch_may_be_further_off() -> None:
    late = usual(*[2.0] * 20)
    # A quarter of the tokens: twice as far.
    assert not late.is_left_by(9.9, 25.0, 4.0, 5.0)
    assert late.is_left_by(10.1, 25.0, 4.0, 5.0)
    assert late.is_left_by(6.1, 400.0, 4.0, 5.0), "and a larger one no less"
