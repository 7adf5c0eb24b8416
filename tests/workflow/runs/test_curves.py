"""Reading a run's metrics after crashes and resumptions, and drawing them."""

import json
import math
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from attendo.errors import DataError
from attendo.workflow.runs.curves import draw_curves, read_metrics, smooth


def train(step: int, loss: float = 3.0) -> str:
    return json.dumps({"kind": "train", "step": step, "loss": loss, "learning_rate": 1e-4, "elapsed_s": step / 2})


def valid(step: int, *, bleu: float | None = 20.0, loss: float = 2.0, best: bool = False) -> str:
    record = {"kind": "valid", "step": step, "loss": loss, "perplexity": math.exp(loss), "best": best}
    return json.dumps(record if bleu is None else record | {"bleu": bleu})


def written(tmp_path: Path, *lines: str) -> Path:
    path = tmp_path / "metrics.jsonl"
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def png_size(path: Path) -> tuple[int, int]:
    content = path.read_bytes()
    assert content[:8] == b"\x89PNG\r\n\x1a\n"
    assert content.endswith(b"IEND\xaeB`\x82")  # the last chunk: the file is whole
    return int.from_bytes(content[16:20], "big"), int.from_bytes(content[20:24], "big")


def test_torn_last_line_is_skipped_and_told(tmp_path: Path) -> None:
    metrics = read_metrics(written(tmp_path, train(10), train(20), '{"kind": "train", "st'))
    assert [point.step for point in metrics.train] == [10, 20]
    assert metrics.skipped_lines == (3,)


@pytest.mark.parametrize("broken", ["[]", "3", "null", '{"kind": "train"}', '{"kind": "valid", "step": "x"}', "\ufffd"])
def test_unreadable_lines_anywhere_are_skipped_and_told(tmp_path: Path, broken: str) -> None:
    metrics = read_metrics(written(tmp_path, train(10), broken, train(20)))
    assert [point.step for point in metrics.train] == [10, 20]
    assert metrics.skipped_lines == (2,)


def test_what_a_line_tells_of_time_and_tokens_is_read(tmp_path: Path) -> None:
    new = {"kind": "valid", "step": 20, "loss": 2.0, "perplexity": 7.4, "elapsed_s": 11, "target_tokens": 900}
    metrics = read_metrics(written(tmp_path, train(10), json.dumps(new)))
    assert (metrics.train[0].elapsed_s, metrics.train[0].target_tokens) == (5.0, None), "an earlier version's line"
    assert (metrics.valid[0].elapsed_s, metrics.valid[0].target_tokens) == (11.0, 900)


def test_lines_of_other_kinds_are_left_alone(tmp_path: Path) -> None:
    metrics = read_metrics(written(tmp_path, '{"kind": "checkpoint", "step": 5}', train(10), "", train(20)))
    assert len(metrics.train) == 2
    assert metrics.skipped_lines == ()


def test_resumed_run_takes_the_place_of_what_it_repeats(tmp_path: Path) -> None:
    # Stopped after step 40, resumed from a checkpoint of step 15: steps 20 to 40 of before never count.
    before = [train(10, 5.0), train(20, 4.0), valid(20, bleu=9, best=True), train(30, 3.5), train(40, 3.0)]
    after = [train(20, 4.5), valid(20, bleu=8, best=True), train(32, 3.4)]
    metrics = read_metrics(written(tmp_path, *before, *after))
    assert [(point.step, point.loss) for point in metrics.train] == [(10, 5.0), (20, 4.5), (32, 3.4)]
    assert [(point.step, point.bleu) for point in metrics.valid] == [(20, 8.0)]


def test_training_and_validation_of_one_step_stand_beside_each_other(tmp_path: Path) -> None:
    metrics = read_metrics(written(tmp_path, train(10), valid(10), train(20), valid(20)))
    assert len(metrics.train) == len(metrics.valid) == 2


def test_training_loss_is_the_one_without_label_smoothing(tmp_path: Path) -> None:
    record = {"kind": "train", "step": 10, "loss": 3.5, "log_loss": 2.5, "learning_rate": 1e-4}
    (point,) = read_metrics(written(tmp_path, json.dumps(record))).train
    assert point.loss == 2.5


def test_validation_may_come_before_training_of_its_step(tmp_path: Path) -> None:
    metrics = read_metrics(written(tmp_path, valid(10), train(10), train(20), valid(10, bleu=3.0), train(10, 4.0)))
    assert [(point.step, point.loss) for point in metrics.train] == [(10, 4.0)]
    assert [(point.step, point.bleu) for point in metrics.valid] == [(10, 3.0)]


def test_best_is_the_last_marked(tmp_path: Path) -> None:
    lines = [valid(10, bleu=10, best=True), valid(20, bleu=30, best=True), valid(30, bleu=31)]
    best = read_metrics(written(tmp_path, *lines)).best
    assert best is not None
    assert best.step == 20


def test_best_without_a_mark_is_the_highest_bleu_then_the_lowest_loss(tmp_path: Path) -> None:
    best = read_metrics(written(tmp_path, valid(10, bleu=30), valid(20, bleu=31), valid(30, bleu=29))).best
    assert best is not None
    assert best.step == 20
    best = read_metrics(written(tmp_path, valid(10, bleu=None, loss=2), valid(20, bleu=None, loss=1))).best
    assert best is not None
    assert best.step == 20
    assert read_metrics(written(tmp_path, train(10))).best is None


def test_smoothing_is_a_centred_mean() -> None:
    # By hand: a straight line stays as it is but for its end, where one neighbour is missing.
    assert smooth([1, 2, 3, 4, 5, 6], half_width=1).tolist() == pytest.approx([1, 2, 3, 4, 5, 5.5])
    assert smooth([4, 2, 9, 1], half_width=0).tolist() == pytest.approx([4, 2, 9, 1])


def test_smoothing_leaves_out_what_is_not_finite() -> None:
    found = smooth([math.nan, 2, math.inf, 4], half_width=1)
    assert np.isnan(found[0])
    assert found[1:].tolist() == pytest.approx([2, 3, 4])


def test_draws_a_whole_png_over_an_older_one(tmp_path: Path) -> None:
    output = tmp_path / "curves.png"
    output.write_bytes(b"old")
    lines = [train(step, 9 - step / 20) for step in range(10, 110, 10)] + [valid(100, bleu=12.5, best=True)]
    metrics = draw_curves(written(tmp_path, *lines), output)
    assert len(metrics.train) == 10
    assert png_size(output) == (1200, 792)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["curves.png", "metrics.jsonl"]


@pytest.mark.parametrize(
    "lines",
    [
        [train(10)],
        [valid(10)],
        [valid(10, bleu=None)],
        [train(10, math.nan), train(20, math.inf), valid(20, loss=math.inf)],
        [train(0), valid(0, bleu=0.0, loss=0.0)],
    ],
)
def test_draws_whatever_there_is_yet(tmp_path: Path, lines: list[str]) -> None:
    draw_curves(written(tmp_path, *lines), tmp_path / "curves.png")
    assert png_size(tmp_path / "curves.png") == (1200, 792)


def test_missing_or_empty_metrics_are_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"metrics\.jsonl: cannot be read \(No such file"):
        draw_curves(tmp_path / "metrics.jsonl", tmp_path / "curves.png")
    with pytest.raises(DataError, match=r"no line of training or validation yet \(1 unreadable\)"):
        draw_curves(written(tmp_path, "{"), tmp_path / "curves.png")
    assert not (tmp_path / "curves.png").exists()


def test_drawing_touches_neither_pyplot_nor_torch() -> None:
    unwanted = "{'matplotlib.pyplot', 'torch'} & set(sys.modules)"
    code = f"import sys, attendo.workflow.runs.curves; sys.exit(bool({unwanted}))"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_parsers_f1_stands_where_bleu_does(tmp_path: Path) -> None:
    def parsed(step: int, f1: float) -> str:
        return json.dumps(json.loads(valid(step, bleu=None)) | {"bleu": None, "f1": f1})

    path = written(tmp_path, train(10), parsed(20, 71.5), parsed(40, 80.25), parsed(60, 79.0))
    metrics = read_metrics(path)
    assert [(point.f1, point.bleu, point.score) for point in metrics.valid] == [
        (71.5, None, 71.5), (80.25, None, 80.25), (79.0, None, 79.0)
    ]  # fmt: skip
    assert metrics.score_name == "F1"
    assert metrics.best == metrics.valid[1]
    drawn: list[str] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("matplotlib.axes.Axes.set_title", lambda axes, title, **options: drawn.append(title))
        draw_curves(path, tmp_path / "curves.png")
    assert "Validation F1" in drawn
    assert "Validation BLEU" not in drawn
