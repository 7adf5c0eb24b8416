"""`attendo reproduce figure2`: one head and all heads, drawn from a model, beside the paper's statements."""

import time

from attendo.diagrams.attention import INNER, OUTER, attention_of
from attendo.diagrams.attention_layout import draw_attention
from attendo.diagrams.structure import Structure
from attendo.model.config import ModelConfig
from attendo.paper.drawn.page import (
    DrawnFigure,
    Equality,
    FigureContent,
    Row,
    drawn_model,
    measured_equality,
    of_base,
    stated,
    verdict,
)
from attendo.paper.experiment import StudyRequest
from attendo.paper.page_text import page_text

_TEXT = "drawn/figure2.md"
_SYMBOLS = {"Scale": "Scale", "Mask (opt.)": "Mask", "Mask": "Mask"}


def statements(structure: Structure, config: ModelConfig) -> tuple[Row, ...]:
    """Compares a structure with the paper's statements on attention.

    Args:
        structure: structure of an attention.
        config: config of its model.
    """
    heads = structure.layers[0]
    single = 4 * config.d_model * config.d_model
    total = sum(block.parameters for block in structure.column(OUTER))
    return stated(
        "figure2",
        function=structure.block(INNER).title,
        one_head=", ".join(one_head(structure)),
        scale=_scale(structure, config),
        all_heads=_all_heads(structure),
        h=str(heads.times),
        d_k=str(config.key_size),
        d_v=str(config.value_size),
        output=_output(structure, config),
        parameters=f"{total / single:.2f}",
    )


def one_head(structure: Structure) -> list[str]:
    """Returns the steps of one head, in order."""
    return [_SYMBOLS.get(block.title, block.title) for block in structure.column(INNER) if block.kind != "input"]


def _scale(structure: Structure, config: ModelConfig) -> str:
    factors = [block.details[0] for block in structure.column(INNER) if block.title == "Scale"]
    return "1/√d_k" if factors == [f"by 1/√{config.key_size}"] else ", ".join(factors) or "none"


def _all_heads(structure: Structure) -> str:
    above = [block for block in structure.column(OUTER) if block.kind != "input"]
    linear = [block.name.removeprefix("linear ") for block in above if block.name.startswith("linear ")]
    rest = ["attention" if block.name == INNER else block.title for block in above[len(linear) :]]
    return f"Linear of {', '.join(linear[:-1])} and {linear[-1]}; {'; '.join(rest)}"


def _output(structure: Structure, config: ModelConfig) -> str:
    size = f"{config.num_heads * config.value_size:,} → {config.d_model:,}"
    return "h d_v × d_model" if structure.block("output").details == (size,) else structure.block("output").details[0]


def _drawn(request: StudyRequest) -> FigureContent:
    started = time.process_time()
    subject = drawn_model(request)
    structure = attention_of(subject.config, f"Attention: {subject.name}")
    rows = statements(structure, subject.config)
    equality = measured_equality(subject.config, request.seeds)
    return FigureContent(
        structure=structure,
        diagram=draw_attention(structure),
        statements=rows,
        findings=(
            verdict(rows, "this model"),
            *of_base(request, lambda base: statements(attention_of(base.config, base.name), base.config)),
            *_on_the_order(one_head(structure), equality),
        ),
        values={
            "subject": subject.name,
            "num_seeds": request.seeds,
            "of_equation": f"{equality.equation:.1e}",
            "of_heads": f"{equality.heads:.1e}",
        },
        data={"model": subject.name, "parameters": structure.parameters, "equality": equality.to_json()},
        processor_s=time.process_time() - started,
    )


def _on_the_order(steps: list[str], equality: Equality) -> tuple[str, ...]:
    if "Scale" not in steps or steps.index("Scale") > steps.index("MatMul"):
        return ()
    return (page_text(_TEXT).note("order", of_equation=f"{equality.equation:.1e}"),)


FIGURE2 = DrawnFigure(
    name="figure2",
    file="attention",
    title="Figure 2: attention in one head and in all, drawn from what a model does",
    text=_TEXT,
    draw=_drawn,
    other_models="attendo draw multi-head RECIPE -o attention.svg",
)
