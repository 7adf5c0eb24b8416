"""Learning curves of several runs: what is drawn where, what is left out and told, and what is refused."""

import math
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.axes import Axes
from tests.plots.conftest import train_line, valid_line

from attendo.errors import AttendoError, DataError, ModelError
from attendo.plots.runs import MEASURES, By, described, draw_runs, read_runs, usual_measures

MakeRun = Callable[..., Path]


def line_of(axes: Axes, label: str) -> Any:
    (line,) = (line for line in axes.get_lines() if line.get_label() == label)
    return line


@pytest.mark.parametrize(
    ("by", "last", "words"),
    [
        ("steps", 400, "training step"),
        ("tokens", 40_000, "target tokens trained on"),
        ("hours", 200 / 3600, "hours of the run"),
    ],
)
def test_curves_stand_where_their_lines_say(make_run: MakeRun, by: By, last: float, words: str) -> None:
    runs = read_runs([make_run("one"), make_run("two", bleu=25.0)])
    loss, perplexity, bleu = draw_runs(runs, by).axes
    assert [axes.get_xlabel() for axes in (loss, perplexity, bleu)] == [words] * 3
    assert line_of(loss, "one").get_xdata()[-1] == pytest.approx(last)
    assert list(line_of(perplexity, "two").get_xdata()) == pytest.approx([last / 2, last])
    assert list(line_of(perplexity, "two").get_ydata()) == pytest.approx([math.exp(5 / 3), math.exp(1)])
    assert list(line_of(bleu, "two").get_ydata()) == [25.0, 25.0]
    faint = next(line for line in loss.get_lines() if line.get_alpha() == 0.2)
    assert np.asarray(faint.get_ydata()).flat[0] == pytest.approx(6 / 1.1), "without label smoothing"


def test_every_run_is_in_the_legend_with_its_own_look(make_run: MakeRun) -> None:
    runs = read_runs([make_run(f"run-{number}") for number in range(9)])
    figure = draw_runs(runs, "steps")
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == [f"run-{number}" for number in range(9)]
    looks = {
        (line.get_color(), line.get_linestyle())
        for line in figure.axes[1].get_lines()
        if str(line.get_label()).startswith("run-")
    }
    assert len(looks) == 9


def test_only_what_is_asked_for(make_run: MakeRun) -> None:
    runs = read_runs([make_run("one")])
    assert [axes.get_title(loc="left") for axes in draw_runs(runs, "steps", ("bleu",)).axes] == ["Validation BLEU"]
    assert len(draw_runs(runs, "steps", MEASURES).axes) == 4


def test_a_run_without_a_validation_yet_is_drawn_so_far(make_run: MakeRun) -> None:
    runs = read_runs([make_run("one"), make_run("young", [train_line(10, 7.0)])])
    figure = draw_runs(runs, "steps")
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["one", "young"]
    alone = draw_runs(read_runs([make_run("younger", [train_line(10, 7.0)])]), "steps")
    assert [axes.texts[0].get_text() for axes in alone.axes[1:]] == ["not measured yet"] * 2


def test_what_is_no_number_is_left_out(make_run: MakeRun) -> None:
    run = make_run("odd", [train_line(10, 7.0), valid_line(10, math.inf, None), valid_line(20, 2.0, None)])
    (perplexity,) = draw_runs(read_runs([run]), "steps", ("perplexity",)).axes
    assert np.isfinite(line_of(perplexity, "odd").get_ydata()).all()
    assert list(line_of(perplexity, "odd").get_xdata()) == [20]


def test_damaged_lines_are_counted(make_run: MakeRun) -> None:
    (run,) = read_runs([make_run("torn", [train_line(10, 7.0), '{"kind": "tra', train_line(20, 6.5), "[]"])])
    assert run.metrics.skipped_lines == (2, 4)
    assert [point.step for point in run.metrics.train] == [10, 20]


def test_a_resumed_run_is_drawn_once(make_run: MakeRun) -> None:
    (run,) = read_runs([make_run("resumed", [*(train_line(step, 5) for step in (10, 20, 30)), train_line(20, 4)])])
    assert [(point.step, point.loss) for point in run.metrics.train] == [(10, 5.0), (20, 4.0)]


def test_names_tell_runs_apart(make_run: MakeRun) -> None:
    folders = [make_run("a/run"), make_run("b/run"), make_run("b/other")]
    assert [run.name for run in read_runs(folders)] == ["a/run", "b/run", "b/other"]
    assert [run.name for run in read_runs(folders[1:])] == ["run", "other"]


def test_what_cannot_be_drawn_is_refused(make_run: MakeRun, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "new" / "checkpoints").mkdir(parents=True)
    one = make_run("one")
    os.mkfifo(make_run("pipe", []) / "other")
    (tmp_path / "pipe" / "metrics.jsonl").unlink()
    (tmp_path / "pipe" / "other").rename(tmp_path / "pipe" / "metrics.jsonl")
    for folders, kind, message in (
        ([tmp_path / "gone"], ModelError, "gone: there is no such run folder"),
        ([tmp_path / "empty"], ModelError, "empty: is not a run folder"),
        ([tmp_path / "new"], DataError, "metrics.jsonl: cannot be read"),
        ([make_run("nothing", ["{}"])], DataError, "no line of training or validation yet"),
        ([one, tmp_path / "empty" / ".." / "one"], DataError, "is named twice"),
        ([tmp_path / "pipe"], OSError, "is not a regular file"),
    ):
        with pytest.raises(kind, match=message):
            read_runs(folders)


def test_lines_of_earlier_versions_tell_no_tokens(make_run: MakeRun) -> None:
    old = train_line(10, 7.0).replace('"target_tokens"', '"other"')
    runs = read_runs([make_run("old", [old, train_line(20, 6.0)])])
    draw_runs(runs, "steps")
    with pytest.raises(AttendoError, match=r"old: 1 of 2 lines of its metrics do not tell tokens.*--by steps"):
        draw_runs(runs, "tokens")


def test_perplexities_far_apart_take_a_logarithmic_axis(make_run: MakeRun) -> None:
    far = make_run("far", [valid_line(10, 6.0, None), valid_line(20, 1.0, None)])
    near = make_run("near", [valid_line(10, 1.2, None), valid_line(20, 1.0, None)])
    for run, scale, unit in ((far, "log", "per word piece, log scale"), (near, "linear", "per word piece")):
        (axes,) = draw_runs(read_runs([run]), "steps", ("perplexity",)).axes
        assert (axes.get_yscale(), axes.get_ylabel()) == (scale, unit)


def test_it_is_told_in_words(make_run: MakeRun) -> None:
    text = described(read_runs([make_run("one")]), "steps")
    assert text == (
        "Learning curves by steps. one: up to step 400, training loss 1.200, best validation perplexity 2.718, "
        "BLEU 20.00."
    )


def test_parsers_have_f1_in_the_place_of_bleu(make_run: MakeRun) -> None:
    def parsed(step: int, f1: float) -> str:
        return valid_line(step, 1.0, None).replace('"bleu": null', f'"bleu": null, "f1": {f1}')

    parser = make_run("parser", [train_line(10, 7.0), parsed(10, 60.0), parsed(20, 82.5)])
    runs = read_runs([parser])
    assert usual_measures(runs) == ("loss", "perplexity", "f1")
    *_, f1 = draw_runs(runs, "steps").axes
    assert f1.get_title(loc="left") == "Validation F1"
    assert list(line_of(f1, "parser").get_ydata()) == [60.0, 82.5]
    assert f1.get_ylim()[1] == pytest.approx(1.08 * 82.5)
    assert described(runs, "steps").endswith("best validation perplexity 2.718, F1 82.50.")
    assert usual_measures(read_runs([parser, make_run("translator")])) == ("loss", "perplexity", "bleu", "f1")
    assert usual_measures(read_runs([make_run("young", [train_line(10, 7.0)])])) == ("loss", "perplexity", "bleu")
