"""Learning rates and positional encodings: the paper's formulas worked out again; files of charts."""

import math
import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from matplotlib.figure import Figure

from attendo.checkpoint.model_folder import ModelDescription
from attendo.checkpoint.saving import save_model
from attendo.checkpoint.weights import named_weights
from attendo.errors import DataError, ModelError
from attendo.model.config import ModelConfig
from attendo.model.transformer import Transformer
from attendo.plots.figure_files import figure_bytes, write_figure
from attendo.plots.positions import draw_positions, table_of
from attendo.plots.schedule import draw_schedules, rates_of
from attendo.plots.subject import Subject, find_subject
from attendo.recipe import load_recipe
from attendo.text.prepared import Vocabulary


@pytest.mark.parametrize(("name", "d_model"), [("base", 512), ("big", 1024)])
def test_the_learning_rate_is_equation_3(name: str, d_model: int) -> None:
    rates = rates_of(load_recipe(name))
    expected = [d_model**-0.5 * min(step**-0.5, step * 4000**-1.5) for step in rates.steps]
    assert rates.rates == pytest.approx(expected, rel=1e-12)
    assert rates.peak_step == 4000
    assert rates.peak == pytest.approx((d_model * 4000) ** -0.5)
    assert (rates.steps[0], rates.steps[-1]) == (1, load_recipe(name).training.max_steps)


def test_fewer_steps_may_be_asked_for() -> None:
    rates = rates_of(load_recipe("base"), max_steps=1000)
    assert (rates.steps[-1], rates.peak_step) == (1000, 1000)


def test_every_recipe_has_its_curve_and_its_star() -> None:
    schedules = [rates_of(load_recipe(name)) for name in ("base", "big")]
    (axes,) = draw_schedules(schedules).axes
    curves = {str(line.get_label()): line for line in axes.get_lines()}
    assert list(np.asarray(curves[schedules[1].text].get_xdata())) == list(schedules[1].steps)
    assert schedules[0].text == "base: 0.000699 at step 4,000"


def subject(**changes: object) -> Subject:
    config = replace(ModelConfig(d_model=64, num_heads=4), **changes)  # type: ignore[arg-type]
    return Subject(name="a model", config=config, src_vocab_size=9, tgt_vocab_size=9, folder=None, note="")


def test_the_positions_are_the_papers_formula() -> None:
    table = table_of(subject(), 50)
    assert table.shape == (50, 64)
    for position, dimension in ((0, 0), (0, 1), (7, 0), (7, 1), (31, 20), (31, 21), (49, 63)):
        angle = position / 10000 ** (2 * (dimension // 2) / 64)
        assert table[position, dimension] == pytest.approx((math.sin, math.cos)[dimension % 2](angle), abs=1e-6)
    halves = table_of(subject(positions="halves"), 50)
    assert np.array_equal(np.concatenate((table[:, ::2], table[:, 1::2]), axis=1), halves)


@pytest.mark.parametrize(
    ("layout", "titles"),
    [
        ("interleaved", ["Even dimensions: sines", "Odd dimensions: cosines"]),
        ("halves", ["First half: sines", "Second half: cosines"]),
        ("learned", ["Learned, all dimensions"]),
    ],
)
@pytest.mark.parametrize("width", [4, 512])
def test_positions_are_drawn_as_they_are(layout: str, titles: list[str], width: int) -> None:
    table = np.random.default_rng(0).standard_normal((20, width)).astype(np.float32)
    figure = draw_positions(table, layout, "a model")
    *maps, curves = [axes for axes in figure.axes if axes.get_xlabel()]
    assert [axes.get_title(loc="left") for axes in maps] == titles
    shown = np.concatenate([np.asarray(axes.images[0].get_array()) for axes in maps], axis=1)
    assert sorted(shown[0]) == sorted(table[0]), "every dimension once"
    for line in curves.get_lines():
        column = int(str(line.get_label()).removeprefix("dimension "))
        assert np.array_equal(line.get_ydata(), table[:, column])


def test_learned_positions_are_a_trained_models(model_folder: Path, tmp_path: Path) -> None:
    vocabulary = Vocabulary.of_model(model_folder)
    size = vocabulary.source.vocab_size
    config = ModelConfig(d_model=16, d_ff=32, num_layers=1, num_heads=2, positions="learned", max_positions=12)
    transformer = Transformer(config, size, size)
    description = ModelDescription(src_vocab_size=size, tgt_vocab_size=size, model=config, search={}, training={})
    save_model(tmp_path / "m", description, named_weights(transformer), vocabulary.source, vocabulary.target, "# M\n")
    named = find_subject(str(tmp_path / "m"))
    expected = dict(transformer.named_parameters())["source_embedding.positions.table"].detach()
    assert torch.equal(torch.from_numpy(table_of(named, 12)), expected)
    with pytest.raises(DataError, match="has 12 learned positions"):
        table_of(named, 13)
    with pytest.raises(ModelError, match="learned in training, and this is a recipe"):
        table_of(subject(positions="learned"), 12)


def test_a_chart_is_written_whole_and_read_out(tmp_path: Path) -> None:
    figure = Figure()
    figure.subplots().set_title("a <b> & c")
    write_figure(figure, tmp_path / "chart.SVG", "Title <1>", "Told & shown")
    root = ElementTree.parse(tmp_path / "chart.SVG").getroot()
    ids = {element.get("id"): element.text for element in root.iter() if element.get("id") in ("title", "description")}
    assert ids == {"title": "Title <1>", "description": "Told & shown"}
    assert (root.get("role"), root.get("aria-labelledby")) == ("img", "title description")
    assert any("a <b> & c" in (element.text or "") for element in root.iter()), "text stays text"
    assert figure_bytes(figure, ".svg", "t", "d") == figure_bytes(figure, ".svg", "t", "d"), "no date, no chance"
    assert figure_bytes(figure, ".png", "t", "d").startswith(b"\x89PNG")
    with pytest.raises(DataError, match=r"must end in one of .png, .svg"):
        write_figure(figure, tmp_path / "chart.pdf", "t", "d")
