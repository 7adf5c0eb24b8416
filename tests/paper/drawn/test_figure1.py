"""Figure 1: the statements beside the paper's, and the page."""

import dataclasses
import json
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from attendo.checkpoint.finding import shipped_models
from attendo.checkpoint.model_folder import load_model
from attendo.diagrams.architecture import architecture
from attendo.diagrams.structure import Edge, Structure
from attendo.errors import AttendoError
from attendo.model.config import ModelConfig
from attendo.paper.drawn.figure1 import FIGURE1, POST_NORM, PRE_NORM, statements, sub_layers, surroundings
from attendo.paper.experiment import StudyRequest

MakeOrder = Callable[..., StudyRequest]


class Quiet:
    """A reporter that says nothing."""

    def message(self, text: str) -> None:
        """Nothing."""

    def preparing(self, progress: object) -> None:
        """Nothing."""

    def running(self, done: int, total: int, note: str) -> None:
        """Nothing."""


def request(folder: Path, scale: Any, data: Path | None = None) -> StudyRequest:
    return StudyRequest(scale=scale, folder=folder, seeds=1, jobs=1, data=data, command="attendo reproduce figure1")


def found(**changes: Any) -> Structure:
    return architecture(ModelConfig(**changes), 37_000, 37_000, "a model")


def differing(**changes: Any) -> set[str]:
    config = ModelConfig(**changes)
    return {row.what for row in statements(found(**changes), config) if not row.agrees}


def test_the_base_model_is_as_the_paper_says() -> None:
    assert differing() == set()


@pytest.mark.parametrize(
    ("changes", "rows"),
    [
        ({"num_encoder_layers": 5}, {"N, layers of the encoder"}),
        ({"encoder_layer": "recurrent"}, {"sub-layers of an encoder layer"}),
        ({"dropout": 0.2}, {"dropout of each sub-layer's output", "dropout of the sums with positions"}),
        ({"dropout": 0.0}, {"dropout of each sub-layer's output", "dropout of the sums with positions"}),
        ({"positions": "learned"}, {"positions"}),
        ({"shared_embeddings": "target"}, {"embedding and projection matrices"}),
        ({"d_model": 256, "d_k": 64, "d_v": 64}, {"d_model"}),
        ({"d_ff": 1024}, {"d_ff"}),
        ({"num_heads": 4, "d_k": 64, "d_v": 32}, {"h", "d_k = d_v"}),
    ],
)
def test_what_differs_is_told(changes: dict[str, Any], rows: set[str]) -> None:
    assert differing(**changes) == rows


def test_norms_before_the_sub_layers_are_told() -> None:
    structure = found(num_layers=1)
    assert surroundings(structure) == POST_NORM
    # The same blocks with each norm before its sub-layer, as a pre-norm model is found (tests/diagrams).
    group = structure.layers[0]
    blocks = {name: structure.block(name) for name in group.blocks}
    attention, norm, _, _ = group.blocks
    moved = (
        dataclasses.replace(blocks[norm], name="n", title="Norm"),
        dataclasses.replace(blocks[attention], name="a"),
        dataclasses.replace(blocks[norm], name="s", title="Add"),
    )
    pre = Structure(
        title="pre-norm",
        blocks=(structure.block("source_embedding.sum"), *moved),
        edges=(
            Edge(source="source_embedding.sum", target="n", role="flow"),
            Edge(source="n", target="a", role="flow"),
            Edge(source="a", target="s", role="flow"),
            Edge(source="source_embedding.sum", target="s", role="residual"),
        ),
        layers=(dataclasses.replace(group, blocks=("n", "a", "s")),),
    )
    assert surroundings(pre) == PRE_NORM
    past_the_norm = dataclasses.replace(pre.edges[-1], source="n")
    assert surroundings(dataclasses.replace(pre, edges=(*pre.edges[:-1], past_the_norm))) == "another connection"
    assert sub_layers(structure, [group]) == "attention, feed forward"


@pytest.mark.parametrize("scale", ["tiny", "small", "paper"])
def test_the_page_has_figure_table_and_files(tmp_path: Path, scale: str) -> None:
    outcome = FIGURE1.reproduce(request(tmp_path, scale), Quiet(), lambda: False)
    assert outcome.report is not None
    data = json.loads((tmp_path / "result.json").read_text(encoding="utf-8"))
    assert data["structure"]["parameters"] == data["parameters"]
    svg = (tmp_path / "architecture.svg").read_text(encoding="utf-8")
    assert ElementTree.fromstring(svg.encode()).get("role") == "img"
    assert f"{data['parameters']:,} parameters" in svg
    assert (tmp_path / "architecture.png").read_bytes().startswith(b"\x89PNG")
    page = (tmp_path / "index.html").read_text(encoding="utf-8")
    assert "attendo draw architecture" in page
    assert ("All 15 statements of the paper hold for the recipe base" in page) == (scale != "paper")
    assert f'alt="The Transformer: {data["model"]}. Encoder, from below: Inputs;' in page
    assert json.loads((tmp_path / "architecture.json").read_text(encoding="utf-8")) == data["structure"]
    if scale == "small":
        weights = load_model(shipped_models()["en-de"]).transformer.parameters()
        assert data["parameters"] == sum(weight.numel() for weight in weights)
    agreeing = sum(statement["agrees"] for statement in data["statements"])
    assert (agreeing == len(data["statements"])) == (scale == "paper")


def test_a_dry_run_writes_nothing(tmp_path: Path) -> None:
    report = FIGURE1.forecast(request(tmp_path / "new", "paper"), Quiet())
    assert "architecture.svg" in report.to_text()
    assert not (tmp_path / "new").exists()


def test_corpora_are_refused_and_a_stop_is_heard(tmp_path: Path) -> None:
    for do in (FIGURE1.forecast, lambda given, quiet: FIGURE1.reproduce(given, quiet, lambda: False)):
        with pytest.raises(AttendoError, match="--data: figure1 draws a model and reads no corpora"):
            do(request(tmp_path, "tiny", data=tmp_path), Quiet())
    assert FIGURE1.reproduce(request(tmp_path, "tiny"), Quiet(), lambda: True).interrupted
