"""Figure 2: the statements beside the paper's, Equation 1 worked out again, and the page."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch

from attendo.diagrams.attention import attention_of
from attendo.errors import AttendoError
from attendo.model import attention as model_attention
from attendo.model.config import ModelConfig
from attendo.paper.drawn import page as equality
from attendo.paper.drawn.figure2 import FIGURE2, statements
from attendo.paper.experiment import StudyRequest

SMALL: dict[str, Any] = {"d_model": 16, "d_ff": 40, "num_layers": 1, "num_heads": 2}


class Quiet:
    """A reporter that says nothing."""

    def message(self, text: str) -> None:
        """Nothing."""

    def preparing(self, progress: object) -> None:
        """Nothing."""

    def running(self, done: int, total: int, note: str) -> None:
        """Nothing."""


def request(folder: Path, scale: Any, data: Path | None = None) -> StudyRequest:
    return StudyRequest(scale=scale, folder=folder, seeds=2, jobs=1, data=data, command="attendo reproduce figure2")


def differing(**changes: Any) -> set[str]:
    config = ModelConfig(**changes)
    return {row.what for row in statements(attention_of(config, "a model"), config) if not row.agrees}


def test_the_base_model_differs_in_the_order_of_two_steps_alone() -> None:
    assert differing() == {"steps in one head"}
    rows = statements(attention_of(ModelConfig(), "base"), ModelConfig())
    (steps,) = (row for row in rows if row.what == "steps in one head")
    assert sorted(steps.here.split(", ")) == sorted(steps.paper.split(", "))


@pytest.mark.parametrize(
    ("changes", "rows"),
    [
        ({"attention_function": "dot-product"}, {"function", "scale"}),
        ({"attention_function": "additive"}, {"function", "scale"}),  # its vectors do not show in two decimals
        ({"num_heads": 16, "d_k": 64, "d_v": 64}, {"h", "parameters, by those of one wide head"}),
        ({"num_heads": 16}, {"h", "d_k", "d_v"}),
    ],
)
def test_what_differs_is_told(changes: dict[str, Any], rows: set[str]) -> None:
    assert differing(**changes) - {"steps in one head"} == rows


@pytest.mark.parametrize("changes", [{}, {"d_k": 3, "d_v": 5, "attention_bias": True}])
def test_the_models_attention_is_equation_1_in_every_head(changes: dict[str, Any]) -> None:
    found = equality.measured_equality(ModelConfig(**SMALL, **changes), 3)
    assert found.equation < 1e-5
    assert found.heads < 1e-5


def test_a_wrong_scale_would_be_found(monkeypatch: pytest.MonkeyPatch) -> None:
    config = ModelConfig(**SMALL)
    right = model_attention.scaled_dot_product_attention

    def wrong(query: torch.Tensor, *given: Any, **options: Any) -> model_attention.Attended:
        return right(query * 1.01, *given, **options)

    monkeypatch.setattr(equality, "scaled_dot_product_attention", wrong)
    monkeypatch.setattr(model_attention, "scaled_dot_product_attention", wrong)
    found = equality.measured_equality(config, 1)
    assert found.equation > 1e-4
    assert found.heads > 1e-4


@pytest.mark.parametrize("scale", ["tiny", "small", "paper"])
def test_the_page_has_figure_table_and_files(tmp_path: Path, scale: str) -> None:
    outcome = FIGURE2.reproduce(request(tmp_path, scale), Quiet(), lambda: False)
    assert outcome.report is not None
    data = json.loads((tmp_path / "result.json").read_text(encoding="utf-8"))
    assert data["equality"]["seeds"] == 2
    assert 0 < data["equality"]["heads"] < 1e-5
    page = (tmp_path / "index.html").read_text(encoding="utf-8")
    assert "attendo draw multi-head" in page
    told = "8 of 9 statements of the paper hold for the recipe base, the paper&#x27;s base model. What differs: steps"
    assert (told in page) == (scale != "paper")
    assert "Scaled Dot-Product Attention, from below: Scale" in page
    for name in ("attention.svg", "attention.png", "attention.json", "index.md"):
        assert (tmp_path / name).stat().st_size > 1000


def test_a_dry_run_writes_nothing(tmp_path: Path) -> None:
    assert "attention.svg" in FIGURE2.forecast(request(tmp_path / "new", "paper"), Quiet()).to_text()
    assert not (tmp_path / "new").exists()


def test_corpora_are_refused(tmp_path: Path) -> None:
    with pytest.raises(AttendoError, match="--data: figure2 draws a model and reads no corpora"):
        FIGURE2.forecast(request(tmp_path, "tiny", data=tmp_path), Quiet())
